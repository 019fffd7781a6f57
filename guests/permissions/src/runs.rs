//! Runs of tools that the agent's hooks report: the question to the user about one, and the memory of those that the
//! user has allowed.
//!
//! An allowed run answers one question of the agent in its turn: the one about this call with this input. Longer inputs
//! are not remembered, so the user is asked again.

use std::cell::RefCell;
use std::collections::VecDeque;

use acp_chain_proxy::acp::PERMISSION;
use acp_chain_proxy::{Json, MessageId, Peer, id};
use serde_json::{Value, json};

/// The maximum number of allowed runs. Past it, the oldest is forgotten.
const MOST: usize = 256;
/// The longest input of a remembered run, in bytes.
const LONGEST: usize = 16 * 1024;

/// The option with which the user allows a run.
const ALLOW: &str = "allow";

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
            _ => self.kind == other.kind,
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

/// Asks the user about the run of a call, under this title. An error if the user does not allow it, with the reason.
pub(crate) async fn ask(
    session: &str,
    request: MessageId,
    mut call: Json,
    title: &str,
) -> Result<(), String> {
    let wrong = |error: serde_json::Error| error.to_string();
    call.put("/title", title).map_err(wrong)?;
    if call.at::<String>("/toolCallId").is_none() {
        let own = format!("{}-{request}", id());
        call.put("/toolCallId", own).map_err(wrong)?;
    }
    let mut question = Json::from(json!({
        "sessionId": session,
        "toolCall": {},
        "options": [
            { "optionId": ALLOW, "name": "Allow", "kind": "allow_once" },
            { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
        ],
    }));
    question.put("/toolCall", call).map_err(wrong)?;
    let answer = Peer::Client.request(PERMISSION, question).await;
    let chosen: Option<String> = answer
        .map_err(|error| format!("the user could not be asked: {}", error.message))?
        .at("/outcome/optionId");
    match chosen.as_deref() {
        Some(ALLOW) => Ok(()),
        _ => Err("the user did not allow it".to_owned()),
    }
}
