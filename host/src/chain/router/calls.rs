//! Proxies at work: what waits for them is handed to them, one message at a time.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::stream::StreamExt;

use super::Router;
use crate::chain::exchange::{Exchange, Origin};
use crate::chain::hop::Item;
use crate::chain::parcel::{HopIndex, Parcel};
use crate::channel::{Call, Delivery, Event, MessageId, Outcome, Part, Reply};
use crate::rpc::Outbox;

/// A call to a proxy that was busy when it was first polled.
pub(super) struct Busy {
    hop: HopIndex,
    call: Call,
}

impl Future for Busy {
    type Output = (HopIndex, Box<dyn Part>, Reply);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let hop = self.hop;
        self.call
            .as_mut()
            .poll(context)
            .map(|(part, reply)| (hop, part, reply))
    }
}

/// A busy proxy that has come to an end with its message.
pub struct Finished(HopIndex, Box<dyn Part>, Reply);

impl Router {
    pub(super) fn make_ready(&mut self, index: HopIndex) {
        let hop = &mut self.hops[index];
        let callable = hop.part.is_some() || hop.dead.is_some();
        if callable && !hop.queued && !hop.inbox.is_empty() {
            hop.queued = true;
            self.ready.push_back(index);
        }
    }

    /// Whether there is something to [`Router::pump`].
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether no proxy has anything to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.busy.is_empty()
    }

    /// Lets proxies handle what waits for them, at most so many messages. Proxies that are busy
    /// go on in [`Router::finished`].
    pub fn pump(&mut self, mut budget: usize) {
        while budget > 0
            && let Some(index) = self.ready.pop_front()
        {
            budget -= 1;
            let hop = &mut self.hops[index];
            hop.queued = false;
            let Some(item) = hop.pop() else { continue };
            match item {
                Item::Cancel(id) => self.deliver_cancel(index, id),
                Item::Message(parcel) if parcel.home == Some(index) => {
                    self.deliver_answer(index, parcel);
                }
                Item::Message(parcel) => self.deliver(index, parcel),
            }
            self.make_ready(index);
        }
    }

    /// What waits for the client, what waits for the agent, and a future that is done when a
    /// busy proxy is, for [`Router::finished`]. The future is cancel safe, and does not return
    /// while no proxy is busy.
    pub fn split(&mut self) -> (&mut Outbox, &mut Outbox, impl Future<Output = Finished>) {
        let busy = &mut self.busy;
        let finished = async {
            match busy.next().await {
                Some((index, part, reply)) => Finished(index, part, reply),
                None => std::future::pending().await,
            }
        };
        (&mut self.client.outbox, &mut self.agent.outbox, finished)
    }

    /// Goes on with what a busy proxy decided.
    pub fn finished(&mut self, Finished(index, part, reply): Finished) {
        self.finish(index, part, reply);
        self.make_ready(index);
    }

    fn deliver_cancel(&mut self, index: HopIndex, id: MessageId) {
        // Settled in the meantime: then there is nothing to tell.
        if self.hops[index].held.contains_key(&id) {
            self.call(index, Event::Cancel(id));
        }
    }

    fn deliver_answer(&mut self, index: HopIndex, parcel: Parcel) {
        let exchange = parcel
            .exchange
            .and_then(|number| self.exchanges.remove(&number));
        let Some(Exchange {
            origin: Origin::Hop(_, id),
            ..
        }) = exchange
        else {
            return;
        };
        self.trace(&parcel);
        self.hops[index].asked.remove(&id);
        self.call(index, Event::Answer(delivery(&parcel, id, true)));
    }

    fn deliver(&mut self, index: HopIndex, parcel: Parcel) {
        let hop = &mut self.hops[index];
        let Some(with_body) = hop.subscription(&parcel).map(|wanted| wanted.with_body) else {
            return self.depart(index, parcel);
        };
        if let Some(reason) = hop.dead.clone() {
            return self.refuse(index, parcel, &reason);
        }
        let exchange = parcel
            .exchange
            .and_then(|number| self.exchanges.get_mut(&number));
        let known = exchange
            .as_ref()
            .and_then(|exchange| exchange.number_at(index));
        let Some(part) = &mut hop.part else { return };
        let id = match known {
            Some(id) => id,
            None => part.allot(),
        };
        if let Some(exchange) = exchange
            && !parcel.is_response()
        {
            exchange.seen.push((index, id));
        }
        self.trace(&parcel);
        let event = Event::Message(delivery(&parcel, id, with_body));
        self.hops[index].in_hand = Some((id, parcel));
        self.call(index, event);
    }

    fn call(&mut self, index: HopIndex, event: Event) {
        let Some(part) = self.hops[index].part.take() else {
            return;
        };
        let mut call = part.call(event);
        // Most calls are done at once; only a busy proxy is waited for.
        match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready((part, reply)) => self.finish(index, part, reply),
            Poll::Pending => self.busy.push(Busy { hop: index, call }),
        }
    }

    fn finish(&mut self, index: HopIndex, part: Box<dyn Part>, reply: Reply) {
        if self.hops[index].dead.is_some() {
            // It died of something else while it was busy.
            return;
        }
        self.hops[index].part = Some(part);
        for effect in reply.effects {
            self.apply(index, effect);
        }
        let in_hand = self.hops[index].in_hand.take();
        match (reply.outcome, in_hand) {
            (Outcome::Decided(action), Some((id, parcel))) => self.act(index, id, parcel, action),
            (Outcome::Refused(reason), Some((_, parcel))) => self.refuse(index, parcel, &reason),
            (Outcome::Died(reason), in_hand) => {
                self.hops[index].in_hand = in_hand;
                self.bury(index, &reason);
            }
            _ => {}
        }
    }
}

fn delivery(parcel: &Parcel, id: MessageId, with_body: bool) -> Delivery {
    Delivery {
        id,
        sender: parcel.toward.opposite(),
        method: parcel.method.clone(),
        session: parcel.session().cloned(),
        message: parcel.message.clone(),
        with_body,
    }
}
