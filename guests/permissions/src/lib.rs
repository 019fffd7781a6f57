//! Answers the agent's permission requests by rule, and lets all others through to the user.
//!
//! See the README for the rules, and for what they cannot know.

mod call;
mod place;
mod rule;
mod turns;

use acp_chain_proxy::{
    Action, Configure, FailurePolicy, Json, Level, Notification, Peer, Proxy, Request, Response,
    Result, Sessions, Subscription, export, log, save,
};
use serde::Deserialize;
use serde_json::json;

use call::Call;
use place::Place;
use rule::{Decision, Entry, Rule};
use turns::Turns;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// In order; the first that matches decides.
    #[serde(default)]
    rules: Vec<Entry>,
}

struct Permissions {
    rules: Vec<Rule>,
    sessions: Sessions,
    turns: Turns,
}

impl Configure for Permissions {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        let rules = (1..).zip(config.rules).map(|(number, entry)| {
            entry
                .check()
                .map_err(|wrong| format!("in rule {number} of `rules`: {wrong}"))
        });
        Ok(Self {
            rules: rules.collect::<std::result::Result<_, _>>()?,
            sessions: Sessions::default(),
            turns: Turns::default(),
        })
    }
}

const PERMISSION: &str = "session/request_permission";

impl Proxy for Permissions {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests(PERMISSION).from(Peer::Agent),
        Subscription::notifications("session/update")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/prompt")
            .from(Peer::Agent)
            .without_body(),
    ];

    /// To pass it over would leave to the user what a rule denies.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Refuse;

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.sessions = saved.parse()?;
        self.turns = Turns::late();
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        if request.head.method != PERMISSION {
            if self.sessions.on_request(&request) {
                save(&self.sessions)?;
            }
            return Ok(Action::Forward);
        }
        let asked: Asked = match request.parse() {
            Ok(asked) => asked,
            Err(error) => {
                log(
                    Level::Warn,
                    format_args!("the user is asked what cannot be read: {error}"),
                );
                return Ok(Action::Forward);
            }
        };
        let session = request.head.session.as_deref().unwrap_or_default();
        let mut call = asked.call();
        if let Some(id) = asked.id() {
            call.add(&self.turns.call(session, id));
        }
        let cwd = self.sessions.get(session).map(|session| session.cwd);
        Ok(self.decide(&call, cwd.as_deref(), &asked.options))
    }

    async fn on_notification(&self, update: Notification) -> Result {
        self.turns.on_update(&update.head);
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        if response.head.method == "session/prompt" {
            self.turns.on_answer(&response);
        } else if self.sessions.on_response(&response) {
            save(&self.sessions)?;
        }
        Ok(Action::Forward)
    }
}

impl Permissions {
    fn decide(&self, call: &Call, cwd: Option<&str>, options: &[Choice]) -> Action {
        let places: Vec<_> = call.paths.iter().map(|path| Place::of(path, cwd)).collect();
        let rules = (1..).zip(&self.rules);
        let Some((number, rule)) = rules
            .into_iter()
            .find(|(_, rule)| rule.matches(call, &places, cwd))
        else {
            return Action::Forward;
        };
        let title = call.title.as_deref().unwrap_or("a tool call");
        let Some(kinds) = rule.options() else {
            log(
                Level::Debug,
                format_args!("rule {number}: the user is asked about `{title}`"),
            );
            return Action::Forward;
        };
        let fitting = kinds
            .iter()
            .find_map(|kind| options.iter().find(|option| option.kind == *kind));
        let Some(option) = fitting else {
            let kinds = kinds.join("` or `");
            log(
                Level::Warn,
                format_args!("rule {number}: `{title}` offers no `{kinds}`, the user is asked"),
            );
            return Action::Forward;
        };
        let done = if rule.decision == Decision::Allow {
            "allowed"
        } else {
            "denied"
        };
        log(
            Level::Info,
            format_args!("rule {number}: {done} `{title}` ({})", option.kind),
        );
        let outcome = json!({ "outcome": "selected", "optionId": option.option_id });
        Action::Respond(json!({ "outcome": outcome }).into())
    }
}

/// The parameters of a permission request, in either version of the protocol.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    /// Version 1.
    tool_call: Option<call::Patch>,
    /// Version 2: what the request is about, if it is about a tool call.
    subject: Option<Subject>,
    /// Version 2: the question.
    title: Option<String>,
    #[serde(default)]
    options: Vec<Choice>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subject {
    tool_call: Option<call::Patch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    kind: String,
}

impl Asked {
    fn patch(&self) -> Option<&call::Patch> {
        let in_subject = self
            .subject
            .as_ref()
            .and_then(|subject| subject.tool_call.as_ref());
        self.tool_call.as_ref().or(in_subject)
    }

    fn id(&self) -> Option<&str> {
        Some(&self.patch()?.tool_call_id)
    }

    /// As far as the request tells.
    fn call(&self) -> Call {
        let mut call = Call::default();
        match self.patch() {
            Some(patch) => call.update(patch),
            None => call.title.clone_from(&self.title),
        }
        call
    }
}

export!(Permissions);

#[cfg(test)]
mod tests;
