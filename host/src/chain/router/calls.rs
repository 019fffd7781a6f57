//! Proxies at work: what waits for them is handed to them, one message at a time.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::stream::StreamExt;

use super::Router;
use crate::chain::exchange::Origin;
use crate::chain::hop::{Item, Life};
use crate::chain::route::{HopIndex, Target};
use crate::chain::routed::Routed;
use crate::channel::{
    Call, Delivery, Event, Failure, MessageId, Outcome, Part, Reply, Started, Starting,
};
use crate::mcp::door::Arrival;
use crate::rpc::{Error, Message, Outbox, code};

/// How many messages a proxy may handle before it is another's turn.
pub const RUN: usize = 16;

/// What a proxy is busy with.
pub(super) enum Work {
    Call(Call),
    Start(Starting),
}

/// A proxy at work that was not done when it was first polled.
pub(super) struct Busy {
    hop: HopIndex,
    work: Work,
}

/// What came of a proxy's work.
pub(super) enum Done {
    Called(Box<dyn Part>, Reply),
    Started(Result<Started, Failure>),
}

impl Future for Work {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Done> {
        match &mut *self {
            Self::Call(call) => {
                let called = call.as_mut().poll(context);
                called.map(|(part, reply)| Done::Called(part, reply))
            }
            Self::Start(starting) => starting.as_mut().poll(context).map(Done::Started),
        }
    }
}

impl Future for Busy {
    type Output = Finished;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Finished> {
        let hop = self.hop;
        let done = Pin::new(&mut self.work).poll(context);
        done.map(|done| Finished(hop, done))
    }
}

/// A busy proxy that has come to an end with its work.
pub struct Finished(HopIndex, Done);

impl Router {
    /// Whether there is something to [`Router::pump`].
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.core.due_to_end.is_empty() || !self.core.ready.is_empty() && !self.core.is_flooded()
    }

    /// Whether no proxy has anything to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.core.ready.is_empty() && self.core.busy.is_empty()
    }

    /// Lets proxies handle what waits for them, at most so many messages. Proxies that are busy
    /// go on in [`Router::finished`].
    pub fn pump(&mut self, mut budget: usize) {
        self.end_due();
        while budget > 0
            && !self.core.is_flooded()
            && let Some(index) = self.core.ready.pop_front()
        {
            self.core.hops[index].queued = false;
            // Several in a row: the code and the memory of one are far from those of another.
            let mut run = RUN.min(budget);
            while run > 0 && !self.core.is_flooded() && self.core.hops[index].is_ready() {
                (run, budget) = (run - 1, budget - 1);
                self.handle_next(index);
                self.end_due();
            }
            self.core.make_ready(index);
        }
    }

    /// Lets a proxy handle what waits for it first.
    fn handle_next(&mut self, index: HopIndex) {
        let Some(item) = self.core.hops[index].pop() else {
            return;
        };
        match item {
            Item::Cancel(id) => self.deliver_cancel(index, id),
            Item::Expired(id) => self.expire(index, id),
            Item::Message(routed) => match routed.home == Some(index) {
                true => self.deliver_answer(index, routed),
                false => self.deliver(index, routed),
            },
        }
        if !matches!(self.core.hops[index].life, Life::Busy) {
            self.follow_up(index);
        }
    }

    /// What waits for the client, what waits for the agent, a future that is done when a busy proxy
    /// is, for [`Router::finished`], one that is done when something comes by the door, for
    /// [`Router::receive_from_door`], and what waits for each native proxy. The futures are cancel safe, and do not return while no proxy is
    /// busy, and nothing comes.
    pub fn split(
        &mut self,
    ) -> (
        &mut Outbox,
        &mut Outbox,
        impl Future<Output = Finished>,
        impl Future<Output = Arrival>,
        Vec<(HopIndex, &mut Outbox)>,
    ) {
        let busy = &mut self.core.busy;
        let finished = async {
            match busy.next().await {
                Some(finished) => finished,
                None => std::future::pending().await,
            }
        };
        let arrival = self.mcp.door.next();
        let hops = self.core.hops.iter_mut().enumerate();
        let natives = hops.filter_map(|(index, hop)| Some((index, &mut hop.native_mut()?.outbox)));
        (
            &mut self.core.client.outbox,
            &mut self.core.agent.outbox,
            finished,
            arrival,
            natives.collect(),
        )
    }

    /// Goes on with what came of a busy proxy's work.
    pub fn finished(&mut self, Finished(index, done): Finished) {
        match done {
            Done::Called(part, reply) => self.finish(index, part, reply),
            Done::Started(started) => self.restarted(index, started),
        }
        self.core.make_ready(index);
        self.end_due();
    }

    /// Begins some work of a proxy. Most calls are done at once; only a busy proxy is waited for.
    pub(super) fn set_to_work(&mut self, index: HopIndex, mut work: Work) {
        match Pin::new(&mut work).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Done::Called(part, reply)) => self.finish(index, part, reply),
            Poll::Ready(Done::Started(started)) => self.restarted(index, started),
            Poll::Pending => self.core.busy.push(Busy { hop: index, work }),
        }
    }

    fn deliver_cancel(&mut self, index: HopIndex, id: MessageId) {
        // Settled in the meantime: then there is nothing to tell.
        if self.core.hops[index].held.contains_key(&id) {
            self.call(index, Event::Cancel(id));
        }
    }

    pub(super) fn deliver_answer(&mut self, index: HopIndex, routed: Routed) {
        let exchange = routed
            .exchange
            .and_then(|number| self.core.exchanges.remove(number));
        let Some(exchange) = exchange else { return };
        if let Some(number) = routed.exchange {
            self.setup_is_over(number, &exchange);
        }
        let id = match exchange.origin {
            Origin::Hop(_, id) => id,
            Origin::Native(_, id) => return self.answer_native(index, &id, &routed),
            _ => return,
        };
        // An earlier instance may have asked.
        if self.core.hops[index].asked.remove(&id).is_some() {
            self.core.trace(&routed);
            self.call(index, Event::Answer(delivery(&routed, id, true)));
        }
    }

    fn deliver(&mut self, index: HopIndex, routed: Routed) {
        let hop = &mut self.core.hops[index];
        let is_called = routed.is_for_component();
        let wanted = match is_called {
            true => Some(true),
            false => hop.subscription(&routed).map(|wanted| wanted.with_body),
        };
        let Some(with_body) = wanted else {
            return self.depart(index, routed);
        };
        if let Life::Ended(reason) = &hop.life {
            let reason = format!("it broke before: {reason}");
            return self.fail(index, routed, &reason);
        }
        if hop.native().is_some() {
            return self.leave_to_native(index, routed);
        }
        let (len, longest) = (routed.message.len(), hop.terms.limits.body);
        if with_body && len > longest {
            // In its memory it could break a proxy that has done nothing wrong.
            let reason = format!("its {len} bytes are over the limit `body` of {longest}");
            return self.fail(index, routed, &reason);
        }
        let exchange = routed
            .exchange
            .and_then(|number| self.core.exchanges.get_mut(number));
        if is_called
            && exchange
                .as_ref()
                .is_some_and(|exchange| exchange.cancel.is_some())
        {
            let error = Error::new(code::REQUEST_CANCELLED, "the call was withdrawn");
            return self.answer_here(routed, Message::error(&error));
        }
        let known = exchange
            .as_ref()
            .and_then(|exchange| exchange.number_at(index));
        let Life::Idle(part) = &mut hop.life else {
            return;
        };
        let id = match known {
            Some(id) => id,
            None => part.allot(),
        };
        if let Some(exchange) = exchange
            && !routed.is_response()
        {
            exchange.seen.push((index, id));
        }
        let guard = hop.is_guard();
        self.core.trace(&routed);
        let event = match routed.target {
            Target::List(offer) => Event::List(offer, routed.session().cloned()),
            Target::Call => Event::Call(delivery(&routed, id, with_body)),
            _ => Event::Message(Delivery {
                sealed: routed.sealed && !guard,
                ..delivery(&routed, id, with_body)
            }),
        };
        self.core.hops[index].in_hand = Some((id, routed));
        self.call(index, event);
    }

    pub(super) fn call(&mut self, index: HopIndex, event: Event) {
        match std::mem::replace(&mut self.core.hops[index].life, Life::Busy) {
            Life::Idle(part) => self.set_to_work(index, Work::Call(part.call(event))),
            other => self.core.hops[index].life = other,
        }
    }

    fn finish(&mut self, index: HopIndex, part: Box<dyn Part>, reply: Reply) {
        self.conclude(index, part, reply);
        self.follow_up(index);
    }

    fn conclude(&mut self, index: HopIndex, part: Box<dyn Part>, reply: Reply) {
        let hop = &mut self.core.hops[index];
        hop.life = Life::Idle(part);
        if let Some(failure) = hop.ending.take() {
            return self.proxy_broke(index, &failure);
        }
        if reply.saved.is_some() {
            hop.saved = reply.saved;
        }
        if !reply.effects.is_empty() {
            self.apply_all(index, reply.effects);
        }
        self.release(index);
        if let Outcome::Broke(failure) = reply.outcome {
            return self.proxy_broke(index, &failure);
        }
        // By what it did in the call: it has not decided about the message then.
        if let Some(failure) = self.core.hops[index].ending.take() {
            return self.proxy_broke(index, &failure);
        }
        match (reply.outcome, self.core.hops[index].in_hand.take()) {
            (Outcome::Decided(action), Some((id, routed))) => self.act(index, id, routed, action),
            (Outcome::Refused(reason), Some((_, routed))) => self.fail(index, routed, &reason),
            _ => {}
        }
    }
}

fn delivery(routed: &Routed, id: MessageId, with_body: bool) -> Delivery {
    Delivery {
        id,
        sender: routed.toward.opposite(),
        method: routed.method.clone(),
        session: routed.session().cloned(),
        message: routed.message.clone(),
        with_body,
        sealed: false,
    }
}
