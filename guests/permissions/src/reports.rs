//! Reports of a rule's decision to the user and the agent.
//!
//! An unannounced call is shown to the user as if the agent had announced it, with the decision and its rule. Nothing
//! here decides anything: if it cannot be reported, the decision stands.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use acp_chain_calls::turns::hash;
use acp_chain_proxy::{Head, Json, Peer, Version, debug, id, mark};
use serde_json::{Value, json};

use crate::rule::Decision;

/// How many shown calls are remembered.
const MOST_SHOWN: usize = 1024;
/// How many sessions' denials are remembered until the turn ends.
const MOST_SESSIONS: usize = 256;

/// The rule that decided, and its decision.
#[derive(Clone)]
pub(crate) struct Ruling {
    pub(crate) number: usize,
    pub(crate) decision: Decision,
    /// The title of the call, safe to show.
    pub(crate) title: String,
}

/// The parts of a call that the client has received.
#[derive(Clone, Copy)]
pub(crate) struct ClientView {
    /// Whether the client has received the call.
    pub(crate) announced: bool,
    /// Whether the client may show content of the call.
    pub(crate) content: bool,
}

#[derive(Default)]
pub(crate) struct Reports {
    /// The calls that this proxy announced, as hashes, the oldest first.
    shown: RefCell<VecDeque<u64>>,
    /// The last denial in a turn that has not ended, by session.
    denied: RefCell<BTreeMap<String, (Version, String)>>,
    /// The calls whose content is a denial, as hashes, until the agent replaces the content; the oldest first.
    replaceable: RefCell<VecDeque<(u64, Version, Ruling)>>,
}

impl Ruling {
    fn words(&self) -> String {
        let (done, number, name) = (self.done(), self.number, id());
        format!("{done} by rule {number} of the proxy `{name}`, without asking you.")
    }

    fn done(&self) -> &'static str {
        match self.decision {
            Decision::Allow => "Allowed",
            Decision::Deny => "Denied",
            Decision::Ask => "Left to you",
        }
    }

    /// The reason for the agent.
    pub(crate) fn reason(&self) -> String {
        format!(
            "{} by rule {} of the user's settings (the proxy `{}`); the user was not asked",
            self.done(),
            self.number,
            id()
        )
    }

    /// The `_meta` for the agent, beside its answer.
    pub(crate) fn meta(&self) -> Value {
        let message = self.reason();
        json!({ mark(): { "decision": self.decision, "rule": self.number, "message": message } })
    }
}

impl Reports {
    /// Shows the user the call of a request, and a rule's decision.
    pub(crate) fn show(&self, session: &str, params: &Json, ruling: &Ruling, known: ClientView) {
        let denies = ruling.decision == Decision::Deny;
        let (version, call) = call_of(params);
        if denies {
            self.keep(session, version, ruling);
        }
        let shown = match call.at::<String>("/toolCallId") {
            Some(id) => {
                let name = hash(&(session, id));
                let is_again = known.announced || self.was_shown(name);
                // New content replaces the old, so it is sent only if the old content is known.
                let own: Vec<Json> = call.at("/content").unwrap_or_default();
                let has_place = !is_again || !own.is_empty() || !known.content;
                if denies && has_place {
                    self.may_be_replaced(name, version, ruling);
                }
                if is_again {
                    show_outcome(session, version, &call, ruling, has_place)
                } else {
                    announce(session, version, call, ruling)
                }
            }
            // A command or a question without a call.
            None if denies => denied(session, version, ruling),
            None => Ok(()),
        };
        if let Err(error) = shown {
            debug!("the user was not shown the outcome of the call: {error}");
        }
    }

    /// Notifies the user that a rule has refused a run. The agent may show the call, but not whose decision it was.
    pub(crate) fn refused(&self, version: Version, session: &str, ruling: &Ruling) {
        self.keep(session, version, ruling);
        if let Err(error) = denied(session, version, ruling) {
            debug!("the user was not notified of the refusal: {error}");
        }
    }

    /// The user has cancelled the turn, and knows why it ends.
    pub(crate) fn on_cancel(&self, session: &str) {
        self.denied.borrow_mut().remove(session);
    }

    /// A turn ends. If the agent cancelled it because of a denial, the user is notified of the rule.
    pub(crate) fn on_turn_end(&self, session: &str, reason: Option<&str>) {
        let denied = self.denied.borrow_mut().remove(session);
        let Some((version, why)) = denied.filter(|_| reason == Some("cancelled")) else {
            return;
        };
        if let Err(error) = version.tell(session, &why) {
            debug!("the user was not notified why the turn ended: {error}");
        }
    }

    fn keep(&self, session: &str, version: Version, ruling: &Ruling) {
        let Ruling { number, title, .. } = ruling;
        let why = format!(
            "rule {number} denied {title}, and the agent ended the turn; you did not cancel it"
        );
        let mut denied = self.denied.borrow_mut();
        if denied.len() < MOST_SESSIONS || denied.contains_key(session) {
            denied.insert(session.to_owned(), (version, why));
        }
    }

    /// Marks a call as shown. Returns whether it was before.
    fn was_shown(&self, call: u64) -> bool {
        let mut shown = self.shown.borrow_mut();
        let was_shown = shown.contains(&call);
        if !was_shown {
            shown.push_back(call);
        }
        if shown.len() > MOST_SHOWN {
            shown.pop_front();
        }
        was_shown
    }

    fn may_be_replaced(&self, call: u64, version: Version, ruling: &Ruling) {
        let mut replaceable = self.replaceable.borrow_mut();
        replaceable.retain(|(other, ..)| *other != call);
        replaceable.push_back((call, version, ruling.clone()));
        if replaceable.len() > MOST_SESSIONS {
            replaceable.pop_front();
        }
    }

    /// The agent updates a call. If the update replaces a denial, often by a text such as "the user refused", the user
    /// is notified of the rule in a message.
    pub(crate) fn on_update(&self, session: &str, update: &Head) {
        if self.replaceable.borrow().is_empty() {
            return;
        }
        let Some(id) = update.read::<String>("/update/toolCallId") else {
            return;
        };
        let replaces = update.read::<Vec<Json>>("/update/content").is_some();
        let call = hash(&(session, id));
        let mut replaceable = self.replaceable.borrow_mut();
        let place = replaceable.iter().position(|(other, ..)| *other == call);
        let Some((_, version, ruling)) = place
            .filter(|_| replaces)
            .and_then(|place| replaceable.remove(place))
        else {
            return;
        };
        if let Err(error) = denied(session, version, &ruling) {
            debug!("the user was not notified of the denial again: {error}");
        }
    }
}

type SendResult = std::result::Result<(), Box<dyn std::error::Error>>;

/// The call of a request, with the protocol version of its form; an empty one if there is none.
pub(crate) fn call_of(params: &Json) -> (Version, Json) {
    if let Some(call) = params.at("/toolCall") {
        return (Version::V1, call);
    }
    let command = || {
        let command: String = params.at("/subject/command")?;
        let id: Value = params.at("/subject/toolCallId").unwrap_or_default();
        Some(json!({ "toolCallId": id, "title": command, "kind": "execute" }).into())
    };
    let call = params.at("/subject/toolCall").or_else(command);
    (Version::V2, call.unwrap_or_else(|| json!({}).into()))
}

/// Shows a call that the client has not seen.
fn announce(session: &str, version: Version, mut call: Json, ruling: &Ruling) -> SendResult {
    let kind = match version {
        Version::V1 => "tool_call",
        Version::V2 => "tool_call_update",
    };
    call.put("/sessionUpdate", kind)?;
    if call.at::<String>("/title").is_none() {
        call.put("/title", "Tool call")?;
    }
    let given = call.at::<String>("/status");
    match (ruling.decision, given.as_deref()) {
        (Decision::Deny, _) => call.put("/status", "failed")?,
        (_, None | Some("pending")) => call.put("/status", "in_progress")?,
        _ => {}
    }
    let content = with_words(&call, ruling);
    call.put("/content", content)?;
    send(session, call)
}

/// Shows the outcome of a call that the client has seen.
fn show_outcome(
    session: &str,
    version: Version,
    call: &Json,
    ruling: &Ruling,
    has_place: bool,
) -> SendResult {
    let id: Value = call.at("/toolCallId").unwrap_or_default();
    let mut update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": ruling.meta(),
    });
    if ruling.decision == Decision::Deny {
        update["status"] = "failed".into();
    }
    let mut update = Json::from(update);
    if has_place {
        update.put("/content", with_words(call, ruling))?;
    }
    send(session, update)?;
    if !has_place && version == Version::V2 {
        let chunk = json!({
            "sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": words(ruling),
        });
        return send(session, chunk.into());
    }
    if !has_place && ruling.decision == Decision::Deny {
        return denied(session, version, ruling);
    }
    Ok(())
}

/// Notifies the user of a denial that no call can show.
fn denied(session: &str, version: Version, ruling: &Ruling) -> SendResult {
    let text = format!("rule {} denied {}", ruling.number, ruling.title);
    Ok(version.tell(session, &text)?)
}

/// The content of the call, followed by the rule that decided.
fn with_words(call: &Json, ruling: &Ruling) -> Json {
    let mut content: Vec<Json> = call.at("/content").unwrap_or_default();
    content.push(words(ruling).into());
    content.into()
}

fn words(ruling: &Ruling) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": ruling.words() } })
}

fn send(session: &str, update: Json) -> SendResult {
    let mut params = Json::from(json!({ "sessionId": session }));
    params.put("/update", update)?;
    Peer::Client.notify("session/update", params)?;
    Ok(())
}
