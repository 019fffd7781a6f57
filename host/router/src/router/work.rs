//! Calls and starts proxies, and handles the results.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::busy::{BusyProxy, FinishedWork, Work, WorkResult};
use super::core::Core;
use super::mcp::Mcp;
use super::steps::{CallEffects, Step};
use super::{dry_run, failure, native, pauses, sleep, swaps, verdict, waiting};
use acp_chain_channel::{Delivery, Event, Failure, MessageId, Outcome, Part, Reply, Started};
use acp_chain_hops::native_peer::Order;
use acp_chain_hops::route::{HopIndex, Target};
use acp_chain_hops::routed::Routed;
use acp_chain_hops::version::{Version, version_of};
use acp_chain_recorder::State;
use acp_chain_rpc::{Error, Message, code};

/// Hands a proxy a waiting message.
pub(super) fn deliver(core: &mut Core, mcp: &mut Mcp, index: HopIndex, mut routed: Routed) {
    let hop = &mut core.hops[index];
    let is_called = routed.is_for_component();
    routed.seen = hop.awaiting(&routed);
    let version = routed.seen.unwrap_or(hop.version());
    let wanted = if is_called {
        Some(true)
    } else {
        hop.subscription_of(version, &routed)
            .map(|wanted| wanted.with_body)
    };
    let Some(with_body) = wanted else {
        return waiting::depart(core, index, routed);
    };
    if let Some(reason) = hop.given_up() {
        let reason = format!("it broke before: {reason}");
        return failure::fail(core, index, routed, &reason);
    }
    if hop.native().is_some() {
        return native::take(core, index, routed);
    }
    let (len, longest) = (routed.message.len(), hop.terms().limits.body);
    if with_body && len > longest {
        // Such a message could break a healthy proxy by filling its memory.
        let reason = format!("its {len} bytes are over the limit `body` of {longest}");
        return failure::fail(core, index, routed, &reason);
    }
    let exchange = core.exchanges.of_mut(&routed);
    if is_called
        && exchange
            .as_ref()
            .is_some_and(|exchange| exchange.cancel.is_some())
    {
        let error = Error::new(code::REQUEST_CANCELLED, "the call was withdrawn");
        return core.steps.answer_here(&routed, Message::error(&error));
    }
    let known = exchange
        .as_ref()
        .and_then(|exchange| exchange.number_at(index));
    let Some(id) = hop.number(version, known) else {
        return;
    };
    if let Some(exchange) = exchange
        && !routed.is_response()
    {
        exchange.seen.push((index, id));
    }
    let guard = hop.is_guard();
    core.trace(&routed);
    core.note_called(&mut routed);
    sleep::note_called(core, index);
    let event = match routed.target {
        Target::List(offer) => Event::List(offer, routed.session().cloned()),
        Target::Call => Event::Call(delivery(&routed, id, with_body)),
        _ => Event::Message(Delivery {
            sealed: routed.labels.is_sealed() && !guard,
            ..delivery(&routed, id, with_body)
        }),
    };
    core.hops[index].hand(id, routed);
    call(core, mcp, index, version, event);
}

/// Calls a version of a proxy, if the proxy is idle.
pub(super) fn call(
    core: &mut Core,
    mcp: &mut Mcp,
    index: HopIndex,
    version: Version,
    event: Event,
) {
    if let Some(part) = core.hops[index].take_part(version) {
        begin(core, mcp, index, Work::Call(part.call(event)));
    }
}

/// Calls a proxy at the end of a pause.
pub(super) fn call_again(core: &mut Core, mcp: &mut Mcp, index: HopIndex, id: MessageId) {
    let Some(delivery) = pauses::end(core, index, id) else {
        return;
    };
    let hop = &mut core.hops[index];
    if let Some(part) = hop.take_part(version_of(id)) {
        hop.note_woken();
        let work = Work::Call(part.call(Event::Answer(delivery)));
        begin(core, mcp, index, work);
    }
}

/// Begins some work of a proxy. Most calls finish at the first poll; others are added to the busy ones.
pub(super) fn begin(core: &mut Core, mcp: &mut Mcp, index: HopIndex, work: Work) {
    let mut busy = BusyProxy { hop: index, work };
    match Pin::new(&mut busy).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(FinishedWork(_, done)) => self::done(core, mcp, index, done),
        Poll::Pending => core.busy.push(busy),
    }
}

/// Continues with the result of a proxy's work.
pub(super) fn done(core: &mut Core, mcp: &mut Mcp, index: HopIndex, done: WorkResult) {
    match done {
        WorkResult::Called(part, reply) => finish(core, mcp, index, part, reply),
        WorkResult::Started(started) => begun(core, index, started),
        WorkResult::Awake(started) => {
            awake(core, index, started);
        }
    }
}

/// Restarts a proxy that broke.
pub(super) fn restart(core: &mut Core, mcp: &mut Mcp, index: HopIndex) {
    let hop = &mut core.hops[index];
    if hop.is_down() {
        tracing::info!("the proxy `{}` is restarted", hop.name());
        match hop.restart() {
            Some(starting) => begin(core, mcp, index, Work::Start(starting)),
            None => core.orders.push(Order::Launch(index)),
        }
    }
}

/// Starts an instance of a sleeping proxy. Messages for the proxy wait until the instance has started.
pub(super) fn wake(core: &mut Core, mcp: &mut Mcp, index: HopIndex) {
    let hop = &mut core.hops[index];
    tracing::debug!("the proxy `{}` wakes up", hop.name());
    if let Some(starting) = hop.start() {
        begin(core, mcp, index, Work::Wake(starting));
    }
}

/// Starts the newer version that is to replace a proxy.
pub(super) fn swap(core: &mut Core, mcp: &mut Mcp, index: HopIndex) {
    if let Some(starting) = core.hops[index].start_newer() {
        begin(core, mcp, index, Work::Start(starting));
    }
}

fn begun(core: &mut Core, index: HopIndex, started: Result<Started, Failure>) {
    if let Some(swap) = core.hops[index].take_newer() {
        return swaps::started(core, index, swap, started);
    }
    if awake(core, index, started) {
        Mcp::provider_restarted(index, &mut core.steps);
    }
}

/// Puts in a started instance, or breaks the proxy. Returns whether the start succeeded.
fn awake(core: &mut Core, index: HopIndex, started: Result<Started, Failure>) -> bool {
    match started {
        Ok(started) => {
            core.hops[index].begin(started);
            sleep::note_called(core, index);
            core.trace_state(index, State::Running, None);
            core.make_ready(index);
            true
        }
        Err(failure) => {
            core.steps.push(Step::Break(index, failure.into()));
            false
        }
    }
}

fn finish(core: &mut Core, mcp: &mut Mcp, index: HopIndex, mut part: Box<dyn Part>, reply: Reply) {
    core.trace_untold(index, &mut *part);
    let hop = &mut core.hops[index];
    let version = hop.put_back(part);
    let is_at_work = version == hop.version();
    if let Some(failure) = hop.take_ending() {
        return core.steps.push(Step::Break(index, failure.into()));
    }
    if !is_at_work && let Outcome::Broke(failure) = &reply.outcome {
        return swaps::end(core, index, version, &failure.to_string());
    }
    hop.save(version, reply.saved);
    if reply.effects.is_empty() && !hop.has_parked() {
        return conclude(core, mcp, index, reply.outcome);
    }
    let did = CallEffects {
        hop: index,
        effects: reply.effects.into_iter(),
        asks: Vec::new(),
    };
    core.steps.extend([
        Step::Effects(did.into()),
        Step::Release(index),
        Step::Conclude(index, reply.outcome.into()),
    ]);
}

/// Carries out a proxy's decision about the message that it was called with, after all effects of the call.
pub(super) fn conclude(core: &mut Core, mcp: &mut Mcp, index: HopIndex, outcome: Outcome) {
    let hop = &mut core.hops[index];
    hop.rest();
    if let Outcome::Broke(failure) = outcome {
        return core.steps.push(Step::Break(index, failure.into()));
    }
    // If an effect of the call broke the proxy, it has not decided about the message.
    if let Some(failure) = hop.take_ending() {
        return core.steps.push(Step::Break(index, failure.into()));
    }
    let decided = if core.is_dry_run() {
        dry_run::decided(core, index, outcome)
    } else {
        outcome
    };
    match (decided, core.hops[index].take_in_hand()) {
        (Outcome::Decided(action), Some((id, routed))) => {
            verdict::act(core, mcp, index, id, routed, action);
        }
        (Outcome::Refused(reason), Some((_, routed))) => {
            failure::fail(core, index, routed, &reason);
        }
        _ => {}
    }
}

pub(super) fn delivery(routed: &Routed, id: MessageId, with_body: bool) -> Delivery {
    Delivery {
        id,
        sender: routed.toward.opposite(),
        method: routed.method.clone(),
        session: routed.session().cloned(),
        message: routed.message.clone(),
        with_body,
        sealed: false,
        is_replayed: routed.is_replayed,
    }
}
