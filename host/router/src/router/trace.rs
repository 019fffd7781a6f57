//! Records for the trace, if there is one.

use std::num::NonZeroU64;
use std::time::Instant;

use super::core::Core;
use super::deeds::{DeedObject, about};
use acp_chain_acp::Life;
use acp_chain_channel::{Action, Part, Peer, Tally};
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::{MessageState, Routed};
use acp_chain_recorder::{About, Content, Decision, Event, HOST, Recorder, State, Would};
use acp_chain_rpc::{Id, Kind, Message, resolve, set};

/// The member of a request's parameters that names its span (RFD meta-propagation).
const TRACEPARENT: &str = "/_meta/traceparent";

impl Core {
    /// Whether there is a trace with sinks.
    #[inline]
    fn is_traced(&self) -> bool {
        self.trace.as_ref().is_some_and(Recorder::has_sinks)
    }

    /// Gives a message that starts its number, by which the trace identifies it on every hop.
    #[inline]
    pub(super) fn note_start(&mut self, routed: &mut Routed) {
        if routed.number.is_none() && self.is_traced() {
            routed.number = self.next_number();
            // Most messages are passed over on each hop, which is found out once.
            routed.is_passed_over = self.is_passed_over(routed, None)
                && self.is_passed_over(routed, Some(Decision::Forward));
        }
    }

    fn next_number(&mut self) -> Option<NonZeroU64> {
        self.trace.as_mut()?.next_number()
    }

    /// Whether somebody gets the times that messages took, and how often a proxy's calls were denied: an observer makes
    /// nothing of them.
    #[inline]
    fn is_measured(&self) -> bool {
        let trace = self.trace.as_ref();
        trace.is_some_and(|trace| trace.has_sinks() && !trace.is_only_observed())
    }

    /// Notes that a message begins to wait for a proxy.
    #[inline]
    pub(super) fn note_queued(&self, routed: &mut Routed) {
        if self.is_measured() {
            routed.since = Some(MessageState::Queued(Instant::now()));
        }
    }

    /// Notes that a proxy is called with a message.
    #[inline]
    pub(super) fn note_called(&self, routed: &mut Routed) {
        if self.is_measured() {
            routed.since = Some(MessageState::Called(Instant::now()));
        }
    }

    /// Records that a message went from one part to the next.
    #[inline]
    pub(super) fn trace(&mut self, routed: &Routed) {
        if !self.is_traced() {
            return;
        }
        // After a failure nothing is passed over, so what is recorded next tells the user of it.
        if !self.is_passed_over(routed, None) {
            self.trace_leg(routed, routed.from, Some(routed.at));
        }
        if self.is_observed() && routed.route.place(routed.at) == Place::Edge(Peer::Client) {
            self.settle(routed);
        }
    }

    /// A prompt for the agent with the span of its turn; `None` if spans are not propagated, or the prompt names one.
    pub(super) fn propagated(&self, routed: &Routed) -> Option<Message> {
        let number = routed.exchange.filter(|_| routed.life == Life::Prompts)?;
        let span = self.trace.as_ref()?.traceparent(number)?;
        let body = routed.message.body();
        let has_one = matches!(resolve(body, TRACEPARENT), Ok(Some(span)) if span != "null");
        let changed = (!has_one).then(|| set(body, TRACEPARENT, &format!("\"{span}\"")));
        Some(routed.message.with_body(&changed?.ok()?))
    }

    /// Records a message as it was sent, before the host changes it.
    #[inline]
    pub(super) fn trace_as_sent(&mut self, routed: &Routed) {
        if self.is_traced() && !self.is_passed_over(routed, None) {
            self.trace_leg(routed, routed.at, None);
        }
    }

    #[cold]
    fn trace_leg(&mut self, routed: &Routed, from: usize, to: Option<usize>) {
        let exchange = self.exchanges.of(routed);
        let part = |at| self.part(routed.route.place(at));
        let waited = match (routed.since, to.map(|at| routed.route.place(at))) {
            // A message that bypassed a proxy has a time, too.
            (Some(MessageState::Queued(since)), Some(Place::Hop(_))) => Some(since.elapsed()),
            _ => None,
        };
        // What a requester gets at its own place comes from the host.
        let is_hosts = routed.requester.is_some() && to == Some(from);
        let sender = if is_hosts { HOST } else { part(from) };
        let event = Event::Crossed {
            from: sender.to_owned(),
            to: to.map_or(HOST, part).to_owned(),
            id: exchange.and_then(|exchange| own_id(&exchange.origin).cloned()),
            about: about(routed),
            waited,
            message: routed.message.clone(),
        };
        self.record(event);
    }

    /// Whether nobody makes anything of a message that crosses, or of a decision about it.
    #[inline]
    fn is_passed_over(&self, routed: &Routed, decision: Option<Decision>) -> bool {
        let Some(trace) = self.trace.as_ref().filter(|trace| trace.is_only_observed()) else {
            return false;
        };
        let is_known = routed.is_passed_over && matches!(decision, None | Some(Decision::Forward));
        let passes = || trace.passes_over(&routed.method, &routed.message, decision);
        debug_assert!(!is_known || passes(), "{} became another", routed.method);
        is_known || passes()
    }

    #[inline]
    fn is_observed(&self) -> bool {
        self.trace.as_ref().is_some_and(Recorder::is_observed)
    }

    /// Waits until the observer of the trace has everything of a turn that ends with this message.
    fn settle(&mut self, routed: &Routed) {
        let ends_turn = if routed.is_response() {
            routed.life == Life::Prompts
        } else {
            routed.message.is_idle()
        };
        if ends_turn && let Some(trace) = &self.trace {
            trace.settle();
            self.tell_failures();
        }
    }

    /// Records the cancellation of a request.
    pub(super) fn trace_cancel(&mut self, number: ExchangeId) {
        if !self.is_traced() {
            return;
        }
        let message = self.next_number();
        let Some(exchange) = self.exchanges.get(number) else {
            return;
        };
        let Some(cancel) = &exchange.cancel else {
            return;
        };
        let from = match exchange.origin {
            Origin::Edge(peer, _) => self.part(Place::Edge(peer)),
            Origin::Hop(index, _) | Origin::Native(index, _) => self.part(Place::Hop(index)),
            _ => HOST,
        };
        let to = match exchange.stage {
            Stage::Held(index, _) | Stage::Native(index) => self.part(Place::Hop(index)),
            Stage::Out => self.part(Place::Edge(exchange.toward)),
            _ => HOST,
        };
        let event = Event::Crossed {
            from: from.to_owned(),
            to: to.to_owned(),
            id: own_id(&exchange.origin).cloned(),
            about: About {
                message,
                request: Some(number),
                method: cancel.method().clone(),
                session: exchange.session.clone(),
            },
            waited: None,
            message: cancel.clone(),
        };
        self.record(event);
    }

    /// Records a proxy's decision about a message.
    #[inline]
    pub(super) fn trace_action(&mut self, index: HopIndex, routed: &mut Routed, action: &Action) {
        if !self.is_traced() {
            return;
        }
        if self.is_passed_over(routed, Some(decision_of(action))) {
            // A listener may have gone meanwhile.
            routed.since = None;
        } else {
            let after = match action {
                Action::Replace(message) | Action::Answer(message) => Some(message),
                Action::Forward | Action::Discard | Action::Hold => None,
            };
            self.trace_decided(index, routed, decision_of(action), None, after);
        }
    }

    /// Records that a proxy made no decision about a message, for this reason.
    #[inline]
    pub(super) fn trace_failure(
        &mut self,
        index: HopIndex,
        routed: &mut Routed,
        decision: Decision,
        why: Option<&str>,
    ) {
        if self.is_traced() {
            self.trace_decided(index, routed, decision, why, None);
        }
    }

    #[cold]
    fn trace_decided(
        &mut self,
        index: HopIndex,
        routed: &mut Routed,
        decision: Decision,
        why: Option<&str>,
        after: Option<&Message>,
    ) {
        let (mut worked, mut held) = (None, None);
        match routed.since.take() {
            Some(MessageState::Called(since)) => worked = Some(since.elapsed()),
            Some(MessageState::Held(since)) => held = Some(since.elapsed()),
            Some(MessageState::Queued(_)) | None => {}
        }
        if matches!(decision, Decision::Hold) {
            routed.since = Some(MessageState::Held(Instant::now()));
        }
        let content = (self.is_observed() && decision != Decision::Forward).then(|| {
            Box::new(Content {
                before: routed.message.clone(),
                after: after.cloned(),
            })
        });
        let event = Event::Decided {
            proxy: self.hops[index].name().to_owned(),
            decision,
            about: about(routed),
            worked,
            held,
            why: why.map(str::to_owned),
            content,
        };
        self.record(event);
    }

    /// Records what a proxy would have done in a dry run.
    pub(super) fn trace_deed(
        &mut self,
        index: HopIndex,
        would: Would,
        object: &DeedObject,
        why: Option<&str>,
    ) {
        if !self.is_traced() {
            return;
        }
        let event = Event::Spared {
            proxy: self.hops[index].name().to_owned(),
            would,
            about: object.about.clone(),
            why: why.map(str::to_owned),
        };
        self.record(event);
    }

    /// Records the denied calls of a proxy during the call from which it returns.
    #[inline]
    pub(super) fn trace_untold(&mut self, index: HopIndex, part: &mut dyn Part) {
        if self.is_measured() {
            self.trace_refused(index, part.untold());
        }
    }

    /// Records the denied calls of a proxy that were not reported yet: from its start, or while there were no sinks.
    pub(super) fn trace_tally(&mut self, index: HopIndex) {
        if !self.is_measured() {
            return;
        }
        if let Some(tally) = self.hops[index].untold() {
            self.trace_refused(index, tally);
        }
    }

    fn trace_refused(&mut self, index: HopIndex, tally: Tally) {
        if tally == Tally::default() {
            return;
        }
        let hop = &self.hops[index];
        let event = Event::Refused {
            proxy: hop.name().to_owned(),
            tally,
            about: hop.in_hand().map(|(_, routed)| about(routed)),
        };
        self.record(event);
    }

    /// Records the state of a proxy, also for listeners that connect later.
    pub(super) fn trace_state(&mut self, index: HopIndex, state: State, why: Option<&str>) {
        if self.trace.is_none() {
            return;
        }
        let hop = &self.hops[index];
        let process = hop.native().and_then(|native| native.process);
        let event = Event::Became {
            proxy: hop.name().to_owned(),
            state,
            restarts: hop.restarts(),
            memory: hop.memory(),
            process: process.filter(|_| state == State::Running),
            why: why.map(str::to_owned),
        };
        self.record(event);
        if state == State::Running {
            self.trace_tally(index);
        }
    }

    fn record(&mut self, event: Event) {
        let Some(trace) = &mut self.trace else { return };
        trace.record(event);
        self.tell_failures();
    }

    /// Notifies the user of sinks that have failed; stops turns, if they must not go on without one.
    fn tell_failures(&mut self) {
        let Some(trace) = &mut self.trace else { return };
        let (failures, halts) = (trace.failures(), trace.halts());
        for why in failures {
            self.tell_user(&why);
        }
        if halts {
            self.stop_turns();
        }
    }

    /// Whether no turn may begin, as an observer of the trace has failed.
    pub(super) fn has_halted(&self) -> bool {
        self.trace.as_ref().is_some_and(Recorder::has_halted)
    }

    fn part(&self, place: Place) -> &str {
        match place {
            Place::Edge(peer) => peer.as_str(),
            Place::Hop(index) => self.hops[index].name(),
        }
    }
}

pub(super) fn decision_of(action: &Action) -> Decision {
    match action {
        Action::Forward => Decision::Forward,
        Action::Replace(_) => Decision::Change,
        Action::Answer(answer) if answer.kind() == Kind::Error => Decision::Refuse,
        Action::Answer(_) => Decision::Answer,
        Action::Discard => Decision::Discard,
        Action::Hold => Decision::Hold,
    }
}

/// The requester's id of a request.
fn own_id(origin: &Origin) -> Option<&Id> {
    match origin {
        Origin::Edge(_, id) | Origin::Native(_, id) | Origin::Link(_, id) => Some(id),
        _ => None,
    }
}
