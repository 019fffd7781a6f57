//! Drives the router: one loop handles each event completely before it looks at the next.

use std::sync::Arc;

use tokio::time::Instant;

use super::busy::{FinishedWork, WorkResult};
use super::cancel::new_cancel;
use super::core::Core;
use super::hooks::ReportNumber;
use super::mcp::Mcp;
use super::steps::Step;
use super::{
    Router, answers, effects, failure, intake, native, out, pauses, projects, reads, signs, sleep,
    swaps, values, waiting, way, withdraw, work,
};
use crate::Swap;
use crate::clock::Timer;
use crate::reading::FilePlace;
use acp_chain_bridge::Arrival;
use acp_chain_channel::{Event, Failure, Peer};
use acp_chain_hops::hop::Item;
use acp_chain_hops::member::Member;
use acp_chain_hops::route::HopIndex;
use acp_chain_rpc::{Error, Id, MalformedLine, Message, code};

/// How many messages a proxy may handle before the next proxy's turn.
pub const RUN: usize = 16;

impl Router {
    /// Runs a handler, and then all steps that follow from it.
    fn with(&mut self, act: impl FnOnce(&mut Core, &mut Mcp)) {
        let Self { core, mcp } = self;
        debug_assert!(core.steps.mark() == 0, "the loop is entered from here only");
        act(core, mcp);
        core.steps.in_order_since(0);
        while let Some(step) = core.steps.pop() {
            let mark = core.steps.mark();
            take(core, mcp, step);
            core.steps.in_order_since(mark);
        }
    }

    /// Lets proxies handle up to this many waiting messages. Busy proxies continue in [`Router::finished`].
    pub fn pump(&mut self, mut budget: usize) {
        self.between_calls();
        while budget > 0
            && !self.core.is_flooded()
            && let Some(index) = self.core.next_ready()
        {
            // Several messages in a row, for the caches: each proxy has its own code and memory.
            let mut run = RUN.min(budget);
            while run > 0 && !self.core.is_flooded() && self.core.hops[index].is_ready() {
                (run, budget) = (run - 1, budget - 1);
                self.handle_next(index);
                self.between_calls();
            }
            self.core.make_ready(index);
        }
        if !self.core.joined.is_empty() {
            projects::part(&mut self.core);
        }
    }

    /// Lets a proxy handle its first waiting item.
    fn handle_next(&mut self, index: HopIndex) {
        if self.core.hops[index].is_asleep() {
            return self.with(|core, mcp| work::wake(core, mcp, index));
        }
        let Some(item) = self.core.hops[index].pop() else {
            return;
        };
        self.with(|core, mcp| match item {
            Item::Cancel(id) => {
                // If the message is settled already, the proxy is not notified.
                if let Some(version) = core.hops[index].held_as(id).map(|held| held.version) {
                    work::call(core, mcp, index, version, Event::Cancel(id));
                }
            }
            Item::Wake(id) => work::call_again(core, mcp, index, id),
            Item::Outcome(routed) => answers::arrived(core, mcp, routed),
            Item::Expired(id) => failure::expire(core, index, id),
            Item::Message(routed) if routed.requester == Some(index) => {
                answers::arrived(core, mcp, routed);
            }
            Item::Message(routed) => work::deliver(core, mcp, index, routed),
        });
        self.follow_up(index);
    }

    /// Unless the proxy is still being called: notes that it is done with the message in hand, and sends on the
    /// messages that waited only for that.
    fn follow_up(&mut self, index: HopIndex) {
        if self.core.hops[index].is_busy() {
            return;
        }
        self.core.hops[index].dismiss();
        let free = self.core.hops[index].done();
        // Usually no message waits.
        if !free.is_empty() {
            let free = free.into_iter().map(|routed| Step::Depart(index, routed));
            self.with(|core, _| core.steps.extend(free));
        }
    }

    /// Continues with the result of a busy proxy's work.
    pub fn finished(&mut self, FinishedWork(index, done): FinishedWork) {
        let is_called = matches!(done, WorkResult::Called(..));
        self.with(|core, mcp| work::done(core, mcp, index, done));
        if is_called {
            self.follow_up(index);
        }
        self.core.make_ready(index);
        self.between_calls();
    }

    /// Ends and replaces the proxies that are due for it and not being called.
    fn between_calls(&mut self) {
        self.end_due();
        while let Some(index) = self.core.next_to_swap() {
            self.with(|core, mcp| work::swap(core, mcp, index));
        }
    }

    /// Ends the proxies that are due to end and can be ended.
    fn end_due(&mut self) {
        while let Some((index, failure)) = self.core.next_to_end() {
            self.with(|core, _| failure::break_down(core, index, &failure));
        }
    }

    /// Handles the timers that are due.
    pub fn advance(&mut self, now: Instant) {
        self.core.clock.advance(now);
        while let Some(timer) = self.core.clock.due() {
            self.with(|core, mcp| match timer {
                Timer::Wake(index, id) => pauses::on_timer(core, index, id),
                Timer::Restart(index) => work::restart(core, mcp, index),
                Timer::Sleep(index) => sleep::on_timer(core, mcp, index),
                Timer::Retire(index, version) => swaps::on_timer(core, index, version),
                Timer::Introduction(index) => native::on_introduction_timer(core, index),
                Timer::Reads(last) => reads::late(core, mcp, last),
                Timer::Connect(number) => mcp.router(core).connects_late(number),
                Timer::Lookup(number) => projects::late(core, number),
                Timer::Sign(number) => signs::late(core, number),
                Timer::Expire(index, id) => {
                    core.hops[index].push_expired(id);
                    core.make_ready(index);
                }
            });
        }
    }

    /// Replaces a proxy by a newer version, between two messages. The new version starts with the last state that the
    /// old one saved. The old version keeps its held messages and open requests until they are settled, for its
    /// `hold-time` at most.
    ///
    /// If several versions are requested while the proxy is busy, only the last one is put in.
    pub fn swap(&mut self, swap: Swap) {
        swaps::request(&mut self.core, swap);
        self.between_calls();
    }

    /// Adds the proxies of a project to the chain. Returns their places, in their order.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn join(
        &mut self,
        key: Arc<str>,
        project: &str,
        members: Vec<Member>,
    ) -> Result<Vec<HopIndex>, Failure> {
        let places = projects::join(&mut self.core, key, project, members)?;
        for index in &places {
            if self.core.hops[*index].native().is_some() {
                self.launched(*index, Ok(()));
            }
        }
        Ok(places)
    }

    /// Handles the result of the lookup with this number: the key of a project that has joined, or none.
    pub fn found(&mut self, number: u64, key: Option<&str>) {
        self.with(|core, _| projects::found(core, number, Ok(key)));
    }

    /// Rejects the session of the lookup with this number, for this reason.
    pub fn refuse_session(&mut self, number: u64, why: String) {
        let error = projects::refusal(&why);
        self.with(|core, _| projects::found(core, number, Err(error)));
    }

    /// Receives the place of a file that a proxy reads, by the number of the request.
    pub fn located(&mut self, number: u64, place: FilePlace) {
        self.with(|core, _| reads::located(core, number, place));
    }

    /// Receives the outcome of a request for a stored value, by its number: JSON text, or why it has failed.
    pub fn receive_value(&mut self, number: u64, outcome: Result<&str, &str>) {
        let message = match outcome {
            Ok(result) => Message::result(result),
            Err(why) => Message::error(&Error::new(code::INTERNAL_ERROR, why)),
        };
        self.with(|core, _| values::receive(core, number, message));
    }

    /// Receives a message from one end; a parent's messages come from the client's end.
    pub fn receive(&mut self, from: Peer, message: Message) {
        let received = match &self.core.proof {
            Some(proof) if from == Peer::Agent => proof.cleaned(message),
            _ => message,
        };
        self.with(|core, mcp| intake::receive(core, mcp, from, received));
    }

    /// Receives a message from a native proxy.
    pub fn receive_from_native(&mut self, index: HopIndex, message: Message) {
        self.with(|core, mcp| native::receive(core, mcp, index, message));
    }

    /// Handles a malformed line of a native proxy.
    pub fn take_malformed_from_native(&mut self, index: HopIndex, malformed: &MalformedLine) {
        let (error, answers) = (&malformed.error, malformed.answers());
        let own = malformed.id_for_sender(Peer::Agent);
        self.with(|core, _| {
            native::take_malformed(core, index, error, answers, own.as_ref());
        });
    }

    /// Rejects a message of a native proxy; `id` is that of a request.
    pub fn refuse_native(&mut self, index: HopIndex, error: &Error, id: Option<&Id>) {
        self.with(|core, _| native::take_malformed(core, index, error, None, id));
    }

    /// Handles an arrival on the bridge.
    pub fn receive_from_bridge(&mut self, arrival: Arrival) {
        self.with(|core, mcp| mcp.router(core).receive_from_bridge(arrival));
    }

    /// Receives a report of the agent's hooks, as a request. Its outcome is among
    /// [`Router::take_hook_outcomes`], at once or later.
    pub fn receive_from_hook(&mut self, report: ReportNumber, request: Message) {
        self.with(|core, mcp| intake::report(core, mcp, report, request));
    }

    /// Receives a sign of life of the agent's hooks, in a session or of the whole process. Prompts may wait for it.
    pub fn receive_sign_of_hooks(&mut self, session: Option<&str>) {
        self.with(|core, _| signs::came(core, session));
    }

    /// Cancels a report whose hook no longer waits for the outcome.
    pub fn cancel_of_hook(&mut self, report: ReportNumber) {
        if let Some(number) = self.core.exchanges.of_report(report) {
            self.with(|core, mcp| withdraw::withdraw(core, mcp, number, new_cancel()));
        }
    }

    /// Notes the process id of a native proxy's program.
    pub fn runs_as(&mut self, index: HopIndex, process: Option<u32>) {
        native::runs_as(&mut self.core, index, process);
    }

    /// Handles the result of restarting a native proxy's program.
    pub fn launched(&mut self, index: HopIndex, launched: Result<(), Failure>) {
        self.with(|core, _| native::launched(core, index, launched));
    }

    /// Handles the end of a native proxy's program.
    pub fn native_broke(&mut self, index: HopIndex, failure: &Failure) {
        if self.core.hops[index].has_program() {
            self.with(|core, _| failure::break_down(core, index, failure));
        }
        self.end_due();
    }

    /// Ends a native proxy that does not read its input.
    pub fn native_stalled(&mut self, index: HopIndex) {
        self.core
            .end_soon(index, "it does not read what it is sent");
        self.end_due();
    }

    /// Answers the request with this id with an error, as its answer was malformed. Returns whether there is such a
    /// request.
    pub fn fail_answer(&mut self, from: Peer, id: &Id, error: &Error) -> bool {
        let mut was_awaited = false;
        self.with(|core, _| was_awaited = intake::fail_answer(core, from, id, error));
        was_awaited
    }

    /// Closes an end that can no longer be reached: all open and later requests to it are answered with this error.
    pub fn lose(&mut self, peer: Peer, error: &Error) {
        self.stop_writing(peer, error);
        self.with(|core, _| intake::fail_outstanding(core, peer, error));
    }

    /// Stops writing to an end that no longer reads, though it may still write: new requests to it are answered with
    /// this error.
    pub fn stop_writing(&mut self, peer: Peer, error: &Error) {
        intake::stop_writing(&mut self.core, peer, error);
    }

    /// Notes that an end will no longer answer, though it may still read: open and later requests to it are answered
    /// with this error.
    pub fn lose_answers(&mut self, peer: Peer, error: &Error) {
        self.core.edge(peer).mute = Some(error.clone());
        self.with(|core, _| intake::fail_outstanding(core, peer, error));
    }

    /// Answers all open requests of one end at once, past the proxies that have them.
    pub fn answer_all_open(&mut self, peer: Peer, error: &Error) {
        intake::answer_all_open(&mut self.core, peer, error);
    }
}

/// Runs the handler of a step.
fn take(core: &mut Core, mcp: &mut Mcp, step: Step) {
    match step {
        Step::Send(routed) => way::carry(core, mcp, routed),
        Step::Depart(index, routed) => waiting::depart(core, index, routed),
        Step::Answer(answer) => {
            if let Some(routed) = answers::set_out(core, mcp, answer) {
                way::carry(core, mcp, routed);
            }
        }
        Step::HandOver(back) => answers::settle(core, mcp, &back),
        Step::Withdraw(number) => withdraw::withdraw(core, mcp, number, new_cancel()),
        Step::Effects(did) => effects::apply(core, mcp, did),
        Step::SetOut(routed) => intake::set_out(core, mcp, routed),
        Step::GoOn(said) => intake::go_on(core, mcp, *said),
        Step::SendPrompt(routed) => out::leave(core, mcp, Peer::Agent, routed),
        Step::Release(index) => waiting::release(core, index),
        Step::Conclude(index, outcome) => work::conclude(core, mcp, index, *outcome),
        Step::NotifyTaken(index, version, id) => {
            work::call(core, mcp, index, version, Event::Cancel(id));
        }
        Step::Deliver(index, routed) => work::deliver(core, mcp, index, routed),
        Step::Fail(index, routed, reason) => failure::fail(core, index, routed, &reason),
        Step::Break(index, failure) => failure::break_down(core, index, &failure),
        Step::CutOff(index, first, why) => failure::cut_off(core, index, first, &why),
        Step::Broken(index, given_up) => failure::broken(core, index, given_up),
        Step::ClientRequested(life, session) => core.note_request(life, &session),
        Step::Mcp(task) => mcp.router(core).go_on(task),
    }
}
