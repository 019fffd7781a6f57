//! The messages that can wait: prompts, calls that hooks report, questions of the agent, and what it does through the
//! editor.

use acp_chain_calls::call::Call;
use acp_chain_calls::command;
use acp_chain_calls::gate::{self, refuse};
use acp_chain_calls::request::PermissionRequest;
use acp_chain_calls::title::LogTitle;
use acp_chain_proxy::acp::{READ, WRITE};
use acp_chain_proxy::{Action, Head, Json, Request};
use serde_json::json;

use crate::guard::{CallName, Guard};
use crate::label::Label;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::words::{Order, orders};

pub(crate) const CREATE: &str = "terminal/create";

/// The session of a message.
pub(crate) fn session(head: &Head) -> &str {
    head.session.as_deref().unwrap_or_default()
}

impl Guard {
    /// Decides about a prompt. An order to this proxy never reaches the agent.
    pub(crate) async fn prompt(&self, head: &Head) -> Action {
        let session = session(head);
        let directory = self.directory(session);
        let prompt = Prompt::read(head, &self.judge, &self.secrets, directory.as_ref());
        if let Some((order, is_alone)) = &prompt.order {
            let text = if *is_alone {
                self.obey(session, order).await
            } else {
                format!("not done, as the prompt has something else: {}", orders())
            };
            return self.answer(session, &text);
        }
        if let Err(why) = self.admit(session, &prompt.effects).await {
            return self.answer(
                session,
                &format!("the prompt was not sent to the agent: {why}"),
            );
        }
        self.with(session, Session::begin);
        self.keep();
        Action::Forward
    }

    /// Carries out an order. Returns what to tell the user.
    async fn obey(&self, session: &str, order: &Order) -> String {
        let outcome = match order {
            Order::Labels => self.prepare(session).await.map(|()| {
                let labels = self.labels(session);
                format!("{labels} {}", labels.sources())
            }),
            Order::Clear(what) => self.clear(session, what).await,
            Order::Unknown => Err(orders()),
        };
        outcome.unwrap_or_else(|why| format!("not done: {why}"))
    }

    /// Answers a prompt in place of the agent. In version 2, only the agent can end a turn.
    fn answer(&self, session: &str, text: &str) -> Action {
        gate::answer(self.state.version.get(), session, text)
    }

    /// Decides about a call that a hook reports before it runs.
    pub(crate) async fn before_tool(&self, request: &Request) -> Action {
        self.state.has_hooks.set(true);
        let session = session(&request.head);
        let asked = PermissionRequest::read_run(&request.params.spelling());
        let server: Option<String> = request.params.at("/server");
        let directory = self.directory(session);
        let mut effects = self
            .judge
            .effects(&asked.call, server.as_deref(), directory.as_ref());
        effects.look_at_text(&request.params.spelling());
        let name = CallName::of(&request.params, "/toolCall");
        match self.run(session, name, &effects).await {
            Ok(()) => Action::Forward,
            Err(why) => {
                self.tell(session, &format!("a call was not run: {why}"));
                refuse(&why)
            }
        }
    }

    /// Decides about the result of a call that a hook reports. What it brings by its tool was decided before it ran.
    pub(crate) async fn after_tool(&self, request: &Request) -> Action {
        self.state.has_hooks.set(true);
        let session = session(&request.head);
        let params = &request.params;
        if let Some(name) = CallName::of(params, "/toolCall") {
            self.with(session, |own| own.forget(name.exact()));
        }
        if self.labels(session).has(Label::B) {
            return Action::Forward;
        }
        let found = self.secrets.find(&params.spelling(), self.find_secrets);
        let Some(kind) = found else {
            return Action::Forward;
        };
        let title: Option<String> = params.at("/toolCall/title");
        let shown = LogTitle(title.as_deref()).to_string();
        match self.result(session, &shown, kind).await {
            Ok(()) => Action::Forward,
            Err(why) => {
                self.tell(session, &format!("a result was withheld: {why}"));
                refuse(&format!("the result is withheld: {why}"))
            }
        }
    }

    /// Decides about what the agent asks for, before the user is asked. Where hooks report calls, they did so before.
    pub(crate) async fn asked(&self, request: &Request) -> Action {
        if self.state.has_hooks.get() {
            return Action::Forward;
        }
        let session = session(&request.head);
        let mut asked = PermissionRequest::read(&request.params.spelling());
        let known: Vec<Call> = asked
            .ids
            .iter()
            .map(|id| self.turns.call(session, id))
            .collect();
        for call in &known {
            asked.call.add(call);
        }
        let directory = self.directory(session);
        let effects = self.judge.effects(&asked.call, None, directory.as_ref());
        let places = ["/toolCall", "/subject/toolCall", "/subject"];
        let mut names = places.iter();
        let name = names.find_map(|at| CallName::of(&request.params, at));
        match self.run(session, name, &effects).await {
            Ok(()) => Action::Forward,
            Err(why) => {
                self.tell(session, &format!("a call was refused: {why}"));
                let reject = asked.options.any(&["reject_once", "reject_always"]);
                let outcome = match reject {
                    Some((option, _)) => json!({ "outcome": "selected", "optionId": option }),
                    None => json!({ "outcome": "cancelled" }),
                };
                Action::Respond(json!({ "outcome": outcome }).into())
            }
        }
    }

    /// Decides about a file or a command that the agent reads, writes or runs through the editor. Where hooks report
    /// calls, they did so before.
    pub(crate) async fn by_editor(&self, request: &Request) -> Action {
        if self.state.has_hooks.get() {
            return Action::Forward;
        }
        let head = &request.head;
        let session = session(head);
        // With its spelling: half of a surrogate pair, which no `String` holds, would hide it.
        let path: Option<Json> = head.read("/path");
        let location = match &path {
            Some(path) => format!(r#"{{"path":{}}}"#, path.spelling()),
            None => String::new(),
        };
        let call = match &*head.method {
            READ => format!(r#"{{"title":"read","kind":"read","locations":[{location}]}}"#),
            WRITE => format!(r#"{{"title":"write","kind":"edit","locations":[{location}]}}"#),
            _ => {
                let input = request.params.spelling();
                format!(r#"{{"title":"terminal","kind":"execute","rawInput":{input}}}"#)
            }
        };
        let mut merged = Call::default();
        merged.merge(&call);
        let directory = self.directory(session);
        let mut effects = self.judge.effects(&merged, None, directory.as_ref());
        if let Some(path) = merged.paths.first() {
            let title = command::title(&merged).unwrap_or_default();
            effects.title = format!("to {title} {}", LogTitle(Some(path)));
        }
        match self.run(session, None, &effects).await {
            Ok(()) => Action::Forward,
            Err(why) => refuse(&why),
        }
    }
}
