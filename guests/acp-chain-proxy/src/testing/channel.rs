//! The channel that a proxy under test talks to.

use std::time::{Duration, SystemTime};

use acp_chain_powers::{Actions, Kind, lacking};

use super::line::{self, LINE, OutstandingRequest, SentKind};
pub(crate) use super::line::{fail, settle};
pub(crate) use super::offers::{ask, changed, meta, progress};
use super::powers;
pub(crate) use super::values::{load_value, store_value};
use crate::{ChannelError, Json, Level, MessageId, Peer};

type Result<T> = std::result::Result<T, ChannelError>;

pub(crate) fn request(to: Peer, method: &str, params: Json) -> Result<MessageId> {
    allowed(to, Kind::Request, method, &params)?;
    Ok(line::request(to, method, params.at("/sessionId"), params))
}

pub(crate) fn notify(to: Peer, method: &str, params: Json) -> Result<()> {
    allowed(to, Kind::Notification, method, &params)?;
    let (id, method) = (line::next_id(), method.to_owned());
    LINE.with_borrow_mut(|line| line.send(to, id, SentKind::Notification, method, Ok(params)));
    Ok(())
}

pub(crate) fn now() -> SystemTime {
    LINE.with_borrow(|line| line.time)
        .unwrap_or_else(SystemTime::now)
}

pub(crate) fn wake_after(milliseconds: u32) -> Result<MessageId> {
    may_speak()?;
    if milliseconds > LONGEST_PAUSE {
        return Err(ChannelError::Invalid("a pause takes 1h at most".into()));
    }
    if LINE.with_borrow(|line| line.pauses.len()) >= MOST_PAUSES {
        return Err(ChannelError::Full);
    }
    let id = line::next_id();
    LINE.with_borrow_mut(|line| {
        let after = Duration::from_millis(milliseconds.max(SHORTEST_PAUSE).into());
        line.pauses.insert(id, line.now + after);
    });
    Ok(id)
}

pub(crate) fn cancel(id: MessageId) -> Result<()> {
    LINE.with_borrow_mut(|line| {
        if let Some(due) = line.pauses.get_mut(&id) {
            *due = line.now;
            return Ok(());
        }
        let Some(OutstandingRequest {
            to,
            method,
            own: true,
            ..
        }) = line.asked.get(&id)
        else {
            return Err(ChannelError::UnknownMessage);
        };
        let (to, method) = (*to, method.clone());
        line.send(to, id, SentKind::Cancel, method, Ok(Json::null()));
        Ok(())
    })
}

pub(crate) fn read(id: MessageId, pointer: &str) -> Result<Option<Json>> {
    LINE.with_borrow(|line| {
        let message = line.held.get(&id).ok_or(ChannelError::UnknownMessage)?;
        if message.body.is_err() {
            return Ok(None);
        }
        let shown = powers::shown(&line.grant(), message);
        let shown = shown.ok_or_else(|| {
            let subject = powers::subject(message);
            ChannelError::Denied(lacking(Actions::READ, &subject))
        })?;
        Ok(shown.at(pointer))
    })
}

pub(crate) fn id() -> String {
    powers::ID.to_owned()
}

pub(crate) fn log(level: Level, text: &str) {
    LINE.with_borrow_mut(|line| line.log.push((level, text.to_owned())));
}

/// The shortest pause that is possible, and the longest, in milliseconds.
const SHORTEST_PAUSE: u32 = 10;
const LONGEST_PAUSE: u32 = 60 * 60 * 1000;

/// How many pauses may last at once.
const MOST_PAUSES: usize = 16;

/// How many bytes can be saved, by default.
const MOST_STATE: usize = 1024 * 1024;

pub(crate) fn save(state: Json) -> Result<()> {
    let state = String::from(state);
    if state.len() > MOST_STATE {
        return Err(ChannelError::Full);
    }
    LINE.with_borrow_mut(|line| {
        line.saved = Some(state);
        line.unseen = true;
    });
    Ok(())
}

/// Whether the proxy may call a function that takes this power.
pub(super) fn granted(power: &str) -> Result<()> {
    may_speak()?;
    if LINE.with_borrow(|line| line.grant().has(power)) {
        return Ok(());
    }
    Err(ChannelError::Denied(format!(
        "it lacks the power `{power}`"
    )))
}

fn may_speak() -> Result<()> {
    if LINE.with_borrow(|line| line.open) {
        return Ok(());
    }
    Err(ChannelError::Denied("there are no neighbours yet".into()))
}

fn allowed(to: Peer, kind: Kind, method: &str, params: &Json) -> Result<()> {
    may_speak()?;
    if method == "initialize" || method.starts_with("proxy/") || method.starts_with("$/") {
        return Err(ChannelError::Denied(format!(
            "`{method}` belongs to the host"
        )));
    }
    LINE.with_borrow(|line| powers::may_send(&line.grant(), to, kind, method, params))
}
