//! Files that proxies read through the client. If the client declares that it reads files, and does not answer, the
//! read is cancelled, the proxy gets an error, and the user is notified.

use std::time::Duration;

use super::cancel::new_cancel;
use super::core::Core;
use super::mcp::Mcp;
use super::withdraw;
use crate::clock::Timer;
use acp_chain_acp::READ;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_rpc::{Error, Message, code};

/// How long a client may take for a read. Some reads get twice as long, since there is one timer for all.
pub const TIME: Duration = Duration::from_secs(10);

/// Handles a proxy's own request. A read is answered with an error at once if the client did not answer the previous
/// one in the session. Returns whether it was.
pub(super) fn ask(core: &mut Core, number: ExchangeId, to: Peer) -> bool {
    let Some(exchange) = core.exchanges.get(number) else {
        return false;
    };
    if to != Peer::Client || &*exchange.method != READ {
        return false;
    }
    let is_silent = exchange.session.is_some() && core.reads.missed == exchange.session;
    if is_silent {
        fail(core, number);
    } else if !std::mem::replace(&mut core.reads.are_timed, true) {
        core.clock.set_after(TIME, Timer::Reads(number));
    }
    is_silent
}

/// Ends the reads up to this number, as the client did not answer them in time.
pub(super) fn late(core: &mut Core, mcp: &mut Mcp, last: ExchangeId) {
    let open = core.exchanges.iter().filter(|(_, exchange)| {
        let is_own = matches!(exchange.origin, Origin::Hop(..)) && &*exchange.method == READ;
        let is_out = exchange.toward == Peer::Client && exchange.stage == Stage::Out;
        is_own && is_out && exchange.cancel.is_none()
    });
    let mut open: Vec<_> = open.map(|(number, _)| number).collect();
    open.sort_unstable();
    let (late, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|number| *number <= last);
    core.reads.are_timed = !others.is_empty();
    if let Some(number) = others.last() {
        core.clock.set_after(TIME, Timer::Reads(*number));
    }
    for number in late {
        withdraw::withdraw(core, mcp, number, new_cancel());
        let session = core
            .exchanges
            .get(number)
            .and_then(|read| read.session.clone());
        let seconds = TIME.as_secs();
        let text = format!(
            "this editor declares that it reads files for proxies, but did not answer within {seconds} s; the proxies \
             continue without them."
        );
        core.tell_once("files", &text);
        core.reads.missed = session;
        fail(core, number);
    }
}

fn fail(core: &mut Core, number: ExchangeId) {
    let text = "acp-chain: the client declares that it reads files, but does not answer";
    let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
    core.answer_of_end(number, Peer::Client, error);
}
