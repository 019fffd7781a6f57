//! Files that proxies read through the client. If the client declares that it reads files, and does not answer, the
//! read is cancelled, the proxy gets an error, and the user is notified.
//!
//! A file of the project that is a link to another place is not read: whoever wrote the repository may have put the
//! link there.

use std::time::Duration;

use super::cancel::new_cancel;
use super::core::Core;
use super::mcp::Mcp;
use super::steps::Step;
use super::{waiting, withdraw};
use crate::clock::Timer;
use crate::reading::{FilePlace, FileRead};
use acp_chain_acp::READ;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Message, code, text_member};

/// How long a client may take for a read. Some reads get twice as long, since there is one timer for all.
pub const TIME: Duration = Duration::from_secs(10);

/// Why a read fails that the client does not answer.
const SILENT: &str = "acp-chain: the client declares that it reads files, but does not answer";

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
        fail(core, number, SILENT);
    }
    is_silent
}

/// Lets a read wait until it is known where its file is. Returns any other request, which goes on.
pub(super) fn check(core: &mut Core, mut routed: Routed) -> Option<Routed> {
    let is_read = routed.toward == Peer::Client && &*routed.method == READ;
    let Some(number) = routed.exchange.filter(|_| is_read) else {
        return Some(routed);
    };
    let path = text_member(routed.message.body(), "path");
    let Some(path) = path.filter(|_| core.reads.are_checked) else {
        begin(core, number);
        return Some(routed);
    };
    let session = routed.session();
    let folder = session.and_then(|session| core.sessions.folder(Peer::Client, session));
    core.reads.unchecked.push(FileRead {
        number,
        folder,
        path,
    });
    waiting::charge(core, &mut routed);
    core.reads.waiting.insert(number, routed);
    None
}

/// Handles the place of a file: a read of one in the project goes on, and others fail.
pub(super) fn located(core: &mut Core, number: ExchangeId, place: FilePlace) {
    let Some(routed) = core.reads.waiting.remove(&number) else {
        return;
    };
    let Some(Origin::Hop(index, _)) = core.exchanges.get(number).map(|read| &read.origin) else {
        return;
    };
    let path = text_member(routed.message.body(), "path").unwrap_or_default();
    let (path, name) = (quote(&path, MAX_QUOTE), core.hops[*index].name().to_owned());
    match place {
        FilePlace::Within => {
            begin(core, number);
            core.steps.push(Step::Send(routed));
        }
        FilePlace::Outside(real) => {
            let real = quote(&real.display().to_string(), MAX_QUOTE);
            let why = format!(
                "the proxy `{name}` does not get {path}, since a link leads out of the project there, to {real}. If \
                 its content is meant for the agent, replace the link by a copy"
            );
            core.tell_once(&format!("link {name} {path}"), &why);
            fail(core, number, &format!("acp-chain: {why}"));
        }
        FilePlace::Unknown(why) => {
            let why = format!("the proxy `{name}` does not get {path}: {why}");
            tracing::warn!("{why}");
            fail(core, number, &format!("acp-chain: {why}"));
        }
    }
}

/// A read is sent: the client has to answer it in time.
fn begin(core: &mut Core, number: ExchangeId) {
    if !std::mem::replace(&mut core.reads.are_timed, true) {
        core.clock.set_after(TIME, Timer::Reads(number));
    }
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
        fail(core, number, SILENT);
    }
}

fn fail(core: &mut Core, number: ExchangeId, text: &str) {
    let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
    core.answer_of_end(number, Peer::Client, error);
}
