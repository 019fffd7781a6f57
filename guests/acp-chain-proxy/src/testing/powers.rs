//! The powers that the fake host grants the proxy, as the user's manifest does for the real one.

use acp_chain_powers::{
    Actions, Grant, Kind, Mismatch, NamedMethods, Pattern, Sight, Subject, lacking,
};
use serde_json::value::RawValue;

use super::line::opposite;
use super::message::Message;
use crate::{Action, ChannelError, Json, Peer, subscription};

/// The proxy's id in the manifest of the fake host.
pub(super) const ID: &str = "proxy";

/// A grant of these powers, and of actions on methods that no power covers, as in `methods` of the manifest.
pub(super) fn grant(powers: &[&str], methods: &[(&str, &[&str])]) -> Grant {
    let methods = methods.iter().map(|(name, actions)| NamedMethods {
        methods: Pattern::new(name).unwrap_or_else(|error| panic!("{error}")),
        actions: actions
            .iter()
            .map(|action| {
                let known = Actions::NAMES.iter().find(|(name, _)| name == action);
                known
                    .unwrap_or_else(|| panic!("there is no action `{action}`"))
                    .1
            })
            .collect(),
    });
    let grant = Grant::new(ID, powers.iter().copied(), methods.collect());
    grant.unwrap_or_else(|error| panic!("{error}"))
}

/// The properties of a message that powers distinguish.
pub(super) fn subject(message: &Message) -> Subject<'_> {
    let kind = match (message.kind, &message.body) {
        (subscription::Kind::Request, _) => Kind::Request,
        (subscription::Kind::Notification, _) => Kind::Notification,
        (subscription::Kind::Response, Ok(_)) => Kind::Result,
        (subscription::Kind::Response, Err(_)) => Kind::Error,
    };
    let body = message.body.as_ref().ok();
    Subject {
        is_replayed: message.is_replayed,
        ..subject_of(message.head.sender, kind, &message.head.method, body)
    }
}

fn subject_of<'a>(sender: Peer, kind: Kind, method: &'a str, body: Option<&Json>) -> Subject<'a> {
    let update = body.and_then(|body| body.at::<String>("/update/sessionUpdate"));
    let known = acp_chain_acp::UPDATES.iter();
    let known = known
        .copied()
        .find(|known| Some(*known) == update.as_deref());
    Subject {
        sender: match sender {
            Peer::Client => acp_chain_powers::Peer::Client,
            Peer::Agent => acp_chain_powers::Peer::Agent,
        },
        kind,
        method,
        update: known,
        is_replayed: false,
    }
}

/// Whether the proxy may send such a message.
pub(super) fn may_send(
    grant: &Grant,
    to: Peer,
    kind: Kind,
    method: &str,
    params: &Json,
) -> Result<(), ChannelError> {
    let in_place_of = opposite(to);
    let subject = subject_of(in_place_of, kind, method, Some(params));
    need(grant, Actions::SEND, &subject)
}

/// The part of a body that the proxy may read, if any.
pub(super) fn shown(grant: &Grant, message: &Message) -> Option<Json> {
    let subject = subject(message);
    let body = message.body.as_ref().ok()?;
    match grant.sight(&subject) {
        Sight::Nothing => None,
        Sight::Part(places) => places.part_of(&raw(body)).try_into().ok(),
        Sight::All => Some(body.clone()),
    }
}

/// Whether the proxy may take this action on a message. Edits are given as the resulting body.
pub(super) fn covers(
    grant: &Grant,
    message: &Message,
    action: &Action,
) -> Result<(), ChannelError> {
    let mut subject = subject(message);
    match action {
        Action::Forward => return Ok(()),
        Action::Respond(_) => return need(grant, Actions::ANSWER, &subject),
        Action::Reject(_) | Action::Discard | Action::Hold => {
            return need(grant, Actions::REFUSE, &subject);
        }
        Action::Edit(_) | Action::Replace(_) => {}
    }
    // An edit turns an error into a result.
    if subject.kind == Kind::Error {
        subject.kind = Kind::Result;
    }
    need(grant, Actions::CHANGE, &subject)?;
    let places = grant.changeable(&subject);
    if let (Action::Replace(new), Ok(old)) = (action, &message.body)
        && session(new) != session(old)
        && !grant.covers(Actions::SEND, &subject)
    {
        return Err(ChannelError::Denied(format!(
            "it moves the message to another session, where it may not send {:?}",
            subject.method
        )));
    }
    if places.contain("") {
        return Ok(());
    }
    let (Action::Replace(new), Ok(old)) = (action, &message.body) else {
        return Err(ChannelError::Denied("an error is not a result".into()));
    };
    match places.compare(&raw(old), &raw(new), &mut usize::MAX.clone()) {
        Ok(_) => Ok(()),
        Err(Mismatch::TooMuch) => Err(ChannelError::Full),
        Err(Mismatch::Differs(place)) => Err(ChannelError::Denied(format!(
            "none of its powers lets it change {place:?} of {:?}: there, every byte has to stay",
            subject.method
        ))),
    }
}

fn need(grant: &Grant, actions: Actions, subject: &Subject) -> Result<(), ChannelError> {
    if grant.covers(actions, subject) {
        Ok(())
    } else {
        Err(ChannelError::Denied(format!(
            "none of its powers covers it: {}",
            lacking(actions, subject)
        )))
    }
}

fn session(body: &Json) -> Option<String> {
    body.at("/sessionId")
}

fn raw(json: &Json) -> Box<RawValue> {
    RawValue::from_string(json.to_string()).expect("JSON")
}
