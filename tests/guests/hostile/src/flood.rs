//! Too many or too large permitted calls.

use crate::bindings::acp_chain::proxy::channel;
use crate::bindings::acp_chain::proxy::types::{Action, Peer};
use crate::tally::{Tally, say};
use crate::{ATTACKED, size};

const PEERS: [Peer; 2] = [Peer::Client, Peer::Agent];

/// Parameters of about that many bytes.
fn params(size: usize) -> String {
    format!(r#"{{"sessionId":"{ATTACKED}","x":"{}"}}"#, size::huge(size))
}

#[inline(never)]
pub(crate) fn log(count: u32, size: usize) -> Action {
    let line = size::huge(size);
    for _ in 0..count {
        say(&line);
    }
    Action::Forward
}

#[inline(never)]
pub(crate) fn ask(count: u32) -> Action {
    let mut tally = Tally::default();
    for to in PEERS.into_iter().cycle().take(count as usize) {
        tally.count(channel::request(to, "_hostile/ask", "{}"));
    }
    tally.say("ask");
    Action::Forward
}

pub(crate) fn ask_by_long_names(count: u32, size: usize) -> Action {
    let params = format!(r#"{{"sessionId":"{}"}}"#, size::huge(size));
    for _ in 0..count {
        let _ = channel::request(Peer::Client, "_hostile/ask", &params);
    }
    Action::Forward
}

pub(crate) fn ask_again(count: u32) -> Action {
    let params = params(0);
    for _ in 0..count {
        // If there is no room for more requests, pending answers will make some.
        let _ = channel::request(Peer::Client, "_hostile/echo", &params);
    }
    Action::Forward
}

#[inline(never)]
pub(crate) fn emit(count: u32, size: usize) -> Action {
    let (mut tally, params) = (Tally::default(), params(size));
    for _ in 0..count {
        tally.count(channel::notify(Peer::Client, "_hostile/emitted", &params));
    }
    tally.say("emit");
    Action::Forward
}

pub(crate) fn ping(to: Peer, count: u32, size: usize) -> Action {
    let params = params(size);
    for _ in 0..count {
        let _ = channel::notify(to, "_hostile/ping", &params);
    }
    Action::Forward
}

#[inline(never)]
pub(crate) fn save(count: u32, size: usize) -> Action {
    let (mut tally, state) = (Tally::default(), size::huge(size));
    for _ in 0..count {
        tally.count(channel::save(&state));
    }
    tally.say("save");
    Action::Forward
}

pub(crate) fn methods(count: u32) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}
