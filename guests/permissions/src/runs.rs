//! Runs of tools that the agent's hooks report: the decision about one, the question to the user, and the memory of
//! those that the user has allowed.
//!
//! An allowed run answers one question of the agent in its turn: the one about this call with this input. Longer inputs
//! are not remembered, so the user is asked again.

use std::cell::RefCell;
use std::collections::VecDeque;

use acp_chain_calls::request::PermissionRequest;
use acp_chain_calls::title;
use acp_chain_proxy::acp::PERMISSION;
use acp_chain_proxy::{Action, Error, Json, Peer, Request, Result, Version, debug, id, info};
use serde_json::{Value, json};

use crate::reports::{self, Ruling};
use crate::rule::Decision;
use crate::{Judged, Judgement, Permissions};

/// The maximum number of allowed runs. Past it, the oldest is forgotten.
const MOST: usize = 256;
/// The longest input of a remembered run, in bytes.
const LONGEST: usize = 16 * 1024;

/// The option with which the user allows a run.
const ALLOW: &str = "allow";

/// The code of JSON-RPC's invalid request, with which a run is refused.
pub(crate) const REFUSED: i32 = -32600;

#[derive(Default)]
pub(crate) struct AllowedRuns(RefCell<VecDeque<AllowedRun>>);

struct AllowedRun {
    session: String,
    /// The `toolCallId`, which not every agent tells.
    id: Option<String>,
    kind: Option<String>,
    /// The `rawInput`: what the agent asks about may be another one by then.
    input: String,
}

impl AllowedRun {
    /// The run of a call; `None` if its input is missing, or too long to be remembered.
    fn of(session: &str, call: &Json) -> Option<Self> {
        let input = call.at::<Value>("/rawInput")?.to_string();
        (input.len() <= LONGEST).then(|| Self {
            session: session.to_owned(),
            id: call.at("/toolCallId"),
            kind: call.at("/kind"),
            input,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same_call = match (&self.id, &other.id) {
            (Some(one), Some(other)) => one == other,
            // Tools of servers may take the same input for something else.
            _ => {
                let is_of_known_kind = self.kind.as_ref().is_some_and(|kind| kind != "other");
                is_of_known_kind && self.kind == other.kind
            }
        };
        is_same_call && self.session == other.session && self.input == other.input
    }
}

impl AllowedRuns {
    /// The user has allowed the run of this call.
    pub(crate) fn insert(&self, session: &str, call: &Json) {
        let mut runs = self.0.borrow_mut();
        runs.extend(AllowedRun::of(session, call));
        if runs.len() > MOST {
            runs.pop_front();
        }
    }

    /// Whether the user has allowed the run that a question is about. Forgets the run.
    pub(crate) fn take(&self, session: &str, call: &Json) -> bool {
        let Some(asked) = AllowedRun::of(session, call) else {
            return false;
        };
        let mut runs = self.0.borrow_mut();
        let place = runs.iter().position(|run| run.is_same(&asked));
        place.and_then(|place| runs.remove(place)).is_some()
    }

    /// A turn of this session ends.
    pub(crate) fn end(&self, session: &str) {
        self.0.borrow_mut().retain(|run| run.session != session);
    }
}

impl Permissions {
    /// Decides about a tool that is about to run. One that no rule is about passes: the agent asks for permission
    /// where it finds that necessary.
    pub(crate) async fn run(&self, request: &Request) -> Result {
        let name = request.head.session.as_deref();
        let session = name.unwrap_or_default();
        let asked = PermissionRequest::read_run(&request.params.spelling());
        let Judged { judgement, title } = self.judge(name, &asked);
        match judgement {
            Judgement::NoRule => {
                debug!("{title} runs, unless the agent asks");
                return Ok(Action::Forward);
            }
            Judgement::Rule(number, rule) if rule.decision == Decision::Deny => {
                info!("rule {number}: refused {title} before it ran");
                let decision = rule.decision;
                let ruling = Ruling {
                    number,
                    decision,
                    title,
                };
                let version = self.state.version.get();
                self.reports.refused(version, session, &ruling);
                return Ok(Action::Reject(Error::new(REFUSED, ruling.reason())));
            }
            Judgement::Rule(number, rule) if rule.decision == Decision::Allow => {
                debug!("rule {number}: {title} runs, unless the agent asks");
                return Ok(Action::Forward);
            }
            Judgement::Rule(number, _) => {
                debug!("rule {number}: {title} waits for the user's permission");
            }
            Judgement::Unclear => debug!("{title} waits for the user's permission"),
        }
        let call: Json = request.params.at("/toolCall").unwrap_or_else(Json::null);
        let question = Question {
            session,
            title: title::of_question(&call, title),
            is_known: self.client_view(session, &asked).announced,
            own_id: format!("{}-{}", id(), request.head.id),
        };
        let outcome = match question.of(&call, self.state.version.get()) {
            Ok(params) => ask(params).await,
            Err(error) => Err(error.to_string()),
        };
        Ok(match outcome {
            Ok(()) => {
                self.allowed.insert(session, &call);
                Action::Forward
            }
            Err(why) => Action::Reject(Error::new(REFUSED, why)),
        })
    }

    /// The answer to a question about a run that the user has just allowed; `None` if the user has to be asked.
    ///
    /// A question of version 2 has a text of its own, and so may be about more than the run.
    pub(crate) fn repeat(
        &self,
        session: &str,
        asked: &PermissionRequest,
        params: &Json,
    ) -> Option<Action> {
        let is_more = asked.call.unclear || asked.question.is_some() || asked.is_elicitation;
        if is_more {
            return None;
        }
        let (option, _) = asked.options.only(&["allow_once"])?;
        let (_, call) = reports::call_of(params);
        if !self.allowed.take(session, &call) {
            return None;
        }
        debug!("the user has allowed the run that the agent asks about");
        let outcome = json!({ "outcome": "selected", "optionId": option });
        Some(Action::Respond(json!({ "outcome": outcome }).into()))
    }
}

/// A question to the user about the run of a call.
struct Question<'a> {
    session: &'a str,
    title: String,
    /// Whether the client has received the call.
    is_known: bool,
    /// The id of a call that has none.
    own_id: String,
}

impl Question<'_> {
    /// The parameters of the request, in the form of this version.
    fn of(&self, call: &Json, version: Version) -> serde_json::Result<Json> {
        let mut named = call.clone();
        if call.at::<String>("/toolCallId").is_none() {
            named.put("/toolCallId", &self.own_id)?;
        }
        let mut question = Json::from(json!({
            "sessionId": self.session,
            "options": [
                { "optionId": ALLOW, "name": "Allow", "kind": "allow_once" },
                { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
            ],
        }));
        match version {
            Version::V1 => {
                named.put("/title", &self.title)?;
                question.put("/toolCall", named)?;
            }
            Version::V2 => {
                question.put("/title", &self.title)?;
                question.put("/subject", json!({ "type": "tool_call" }))?;
                question.put("/subject/toolCall", self.update(&named)?)?;
            }
        }
        Ok(question)
    }

    /// The call as an update of version 2. The client applies it to the call that it shows, so of a known call it has
    /// only the input, and of no call a status.
    fn update(&self, call: &Json) -> serde_json::Result<Json> {
        let members: &[&str] = if self.is_known {
            &["/toolCallId", "/rawInput"]
        } else {
            &["/toolCallId", "/title", "/kind", "/locations", "/rawInput"]
        };
        let mut update = Json::from(json!({}));
        for member in members {
            if let Some(value) = call.at::<Json>(member) {
                update.put(member, value)?;
            }
        }
        Ok(update)
    }
}

/// Asks the user. An error if the user does not allow the run, with the reason. The answer has the same form in both
/// versions.
async fn ask(question: Json) -> std::result::Result<(), String> {
    let answer = Peer::Client
        .request(PERMISSION, question)
        .await
        .map_err(|error| format!("the user could not be asked: {}", error.message))?;
    if Version::selected(&answer).as_deref() == Some(ALLOW) {
        Ok(())
    } else {
        Err("the user did not allow it".to_owned())
    }
}
