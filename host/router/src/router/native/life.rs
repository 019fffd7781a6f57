//! How native proxies start, break, and restart.
//!
//! A native proxy that was restarted, or joins a connection that has begun, is sent the client's first message again.
//! The parts behind it have received that message already, and do not get it a second time.

use crate::clock::Timer;
use crate::native::Dialect;
use crate::router::core::Core;
use crate::router::mcp::Mcp;
use crate::router::steps::Step;
use acp_chain_channel::limits::UNREAD;
use acp_chain_channel::{Failure, Peer};
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::hop::Hop;
use acp_chain_hops::native_peer::{Introduction, Order, START_UP};
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::State;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Id, Kind, Message, code, text_member};

/// Sends a native proxy its first message.
pub(super) fn introduce(
    core: &mut Core,
    index: HopIndex,
    number: ExchangeId,
    routed: Option<Routed>,
) {
    let Some(native) = core.hops[index].native_mut() else {
        return;
    };
    if let Some(routed) = &routed {
        native.beginning.initialize = Some(routed.message.clone());
    }
    native.introduce(number);
    native.introduction = Some(Introduction {
        number,
        is_repeated: routed.is_none(),
        routed,
    });
    core.clock.set_after(START_UP, Timer::Introduction(index));
}

/// Why a program is not a proxy, if this request of it is its own first message, sent back.
pub(super) fn echo(core: &Core, index: HopIndex, id: &Id, request: &Message) -> Option<Failure> {
    let native = core.hops[index].native()?;
    let introduction = native.introduction.as_ref()?;
    let method = native.dialect.initialize();
    let is_first = id.number() == Some(introduction.number) && &**request.method() == method;
    is_first.then(|| {
        Failure::new(format!(
            "it sent `{method}` back as it was, so its program is not a proxy; correct its `command`"
        ))
    })
}

/// Handles a native proxy's answer to its first message.
pub(super) fn introduced(core: &mut Core, index: HopIndex, number: ExchangeId, message: Message) {
    let hop = &mut core.hops[index];
    let name = hop.name().to_owned();
    let Some(native) = hop.native_mut() else {
        return;
    };
    let Some(introduction) = &native.introduction else {
        return;
    };
    let is_repeated = introduction.is_repeated;
    // If the proxy passed the message on, it has accepted it, and this is the answer of another part.
    let has_begun = !is_repeated && introduction.routed.is_none();
    if message.kind() == Kind::Error && !has_begun {
        let tried = native.dialect;
        let is_unknown = message.is_error(code::METHOD_NOT_FOUND);
        if is_unknown && !native.is_settled {
            native.dialect = Dialect::Underscore;
            native.is_settled = true;
            tracing::info!(
                "the proxy `{name}` does not support {}; trying {}",
                tried.initialize(),
                native.dialect.initialize()
            );
            return native.introduce(number);
        }
        if is_unknown || is_repeated {
            let reason = if is_unknown {
                format!(
                    "it does not support `{}`, so it is not a proxy, or one of another `dialect`",
                    tried.initialize()
                )
            } else {
                let why = text_member(message.body(), "message");
                let why = quote(&why.unwrap_or_default(), MAX_QUOTE);
                format!("it refused `{}`: {why}", tried.initialize())
            };
            let failure = Failure::new(reason);
            return core.steps.push(Step::Break(index, failure.into()));
        }
    }
    native.introduction = None;
    native.is_settled = true;
    let dialect = native.dialect.as_str();
    core.clock.clear(Timer::Introduction(index));
    tracing::info!("the proxy `{name}` speaks the dialect `{dialect}`");
    if is_repeated {
        core.exchanges.remove(number);
        runs(core, index);
        return Mcp::provider_restarted(index, &mut core.steps);
    }
    core.answer_of_proxy(number, index, message);
}

/// Breaks a native proxy that has not answered its first message in time.
pub(in crate::router) fn on_introduction_timer(core: &mut Core, index: HopIndex) {
    let waiting: usize = core.hops.iter().map(Hop::backlog).sum();
    let Some(native) = core.hops[index].native() else {
        return;
    };
    let Some(introduction) = &native.introduction else {
        return;
    };
    // While so much waits, the part that should answer the proxy is not read.
    let is_stuck = introduction.is_repeated && waiting >= UNREAD;
    if native.open.is_empty() || is_stuck {
        let (method, limit) = (native.dialect.initialize(), START_UP.as_secs());
        let failure = Failure::new(format!("it did not answer `{method}` within {limit} s"));
        return core.steps.push(Step::Break(index, failure.into()));
    }
    // The proxy waits for an answer itself.
    core.clock.set_after(START_UP, Timer::Introduction(index));
}

/// Continues after a native proxy's program was started, or could not be.
pub(in crate::router) fn launched(core: &mut Core, index: HopIndex, launched: Result<(), Failure>) {
    if let Err(failure) = launched {
        return core.steps.push(Step::Break(index, failure.into()));
    }
    let native = core.hops[index].native();
    let Some(initialize) = native.and_then(|native| native.beginning.initialize.clone()) else {
        return runs(core, index);
    };
    // Messages for it keep waiting until it has begun.
    let (route, _) = core.default_route(index);
    let number = core
        .exchanges
        .open(Origin::Introduction, Peer::Agent, route, &initialize, None);
    core.exchanges.stage(number, Stage::Native(index));
    introduce(core, index, number, None);
}

/// Notes the process id of a native proxy's program, for observers.
pub(in crate::router) fn runs_as(core: &mut Core, index: HopIndex, process: Option<u32>) {
    if let Some(native) = core.hops[index].native_mut() {
        native.process = process;
    }
    if process.is_some() && core.hops[index].is_running() {
        core.trace_state(index, State::Running, None);
    }
}

/// Notes that a native proxy has begun: from now on, messages are written to it.
fn runs(core: &mut Core, index: HopIndex) {
    core.hops[index].runs();
    core.trace_state(index, State::Running, None);
    core.make_ready(index);
}

/// Cuts off a broken native proxy: its requests are cancelled, and nothing more is sent to it. Returns its first
/// message, if the proxy may still be bypassed.
pub(in crate::router) fn cut(core: &mut Core, index: HopIndex) -> Option<Routed> {
    let native = core.hops[index].native_mut()?;
    native.outbox.clear();
    let introduction = native.introduction.take();
    let mut own: Vec<_> = native.open.drain().map(|(_, number)| number).collect();
    own.sort_unstable();
    core.orders.push(Order::End(index));
    core.steps.withdraw(own);
    core.clock.clear(Timer::Introduction(index));
    introduction?.routed
}

/// Whether a message is an answer to a native proxy that is starting, which needs it to finish its start.
pub(in crate::router) fn is_awaited_to_begin(
    core: &Core,
    index: HopIndex,
    routed: &Routed,
) -> bool {
    routed.requester == Some(index)
        && core.hops[index].is_busy()
        && core.hops[index].native().is_some()
        && routed.route.place(routed.at) == Place::Hop(index)
}
