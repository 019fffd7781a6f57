//! The router: a state machine that takes messages in at the ends, carries them through the
//! proxies, and puts them out at the other end. It does no input or output of its own.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::edge::Edge;
use super::exchange::{Exchange, Origin, Stage};
use super::hop::{Hop, Item, Proxy};
use super::parcel::{ExchangeId, HopIndex, Parcel, Place, Route};
use crate::channel::{
    Action, Call, Delivery, Effect, Event, MessageId, Outcome, Part, Peer, Reply,
};
use crate::rpc::{Error, Id, Kind, Message, Outbox, code};
use crate::trace::{Leg, Trace};

/// The method that withdraws a request (RFD request-cancellation). It names an id of one hop
/// only, so the host translates it at every hop, and no proxy sees it.
pub(super) const CANCEL: &str = "$/cancel_request";

/// A call to a proxy that was busy when it was first polled.
struct Busy {
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

/// Carries messages between a client and an agent through proxies.
pub struct Router {
    client: Edge,
    agent: Edge,
    hops: Vec<Hop>,
    route: Route,
    exchanges: HashMap<ExchangeId, Exchange>,
    next_exchange: ExchangeId,
    /// Proxies with something in their inbox.
    ready: VecDeque<HopIndex>,
    busy: FuturesUnordered<Busy>,
    trace: Option<Trace>,
}

impl Router {
    /// A router with these proxies, the client's neighbour first.
    #[must_use]
    pub fn new(proxies: Vec<Proxy>, trace: Option<Trace>) -> Self {
        let hops: Vec<_> = proxies.into_iter().map(Hop::new).collect();
        Self {
            client: Edge::default(),
            agent: Edge::default(),
            route: Route::new(0..hops.len()),
            hops,
            exchanges: HashMap::new(),
            next_exchange: 1,
            ready: VecDeque::new(),
            busy: FuturesUnordered::new(),
            trace,
        }
    }

    /// What waits to be written to one end.
    pub fn outbox(&mut self, peer: Peer) -> &mut Outbox {
        &mut self.edge(peer).outbox
    }

    /// How many bytes wait for proxies that are busy.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.hops.iter().map(|hop| hop.waiting).sum()
    }

    /// Whether a request of this end still has no answer.
    #[must_use]
    pub fn is_owed(&self, peer: Peer) -> bool {
        !match peer {
            Peer::Client => &self.client,
            Peer::Agent => &self.agent,
        }
        .open
        .is_empty()
    }

    fn edge(&mut self, peer: Peer) -> &mut Edge {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    /// The way of messages of a session. There is one chain for all of them.
    fn route(&self, _session: Option<&Arc<str>>) -> Route {
        self.route.clone()
    }

    /// Takes in a message from one end.
    pub fn receive(&mut self, from: Peer, message: Message) {
        match message.kind() {
            Kind::Request => self.receive_request(from, message),
            Kind::Notification if &**message.method() == CANCEL => {
                self.receive_cancel(from, &message)
            }
            Kind::Notification if is_host_method(message.method()) => {
                tracing::warn!("dropped a {} from the {}", message.method(), from.as_str());
            }
            Kind::Notification => {
                let route = self.route(message.session());
                self.travel(Parcel {
                    at: route.edge(from),
                    from: route.edge(from),
                    route,
                    toward: from.opposite(),
                    exchange: None,
                    method: message.method().clone(),
                    home: None,
                    arrival: 0,
                    request_session: None,
                    message,
                });
            }
            Kind::Result | Kind::Error => self.receive_response(from, message),
        }
    }

    fn receive_request(&mut self, from: Peer, message: Message) {
        // A request has an id.
        let id = message.id().unwrap_or_else(Id::null);
        if is_host_method(message.method()) {
            let reason = format!(
                "{} is spoken between a conductor and its proxies",
                message.method()
            );
            return self.refuse_request(from, &id, reason);
        }
        if self.edge(from).open.contains_key(&id) {
            let reason = format!(
                "the id {} belongs to a request that is still open",
                id.as_str()
            );
            return self.refuse_request(from, &id, reason);
        }
        let route = self.route(message.session());
        let (at, toward) = (route.edge(from), from.opposite());
        let number = self.open(Origin::Edge(from, id.clone()), toward, route, &message);
        self.edge(from).open.insert(id, number);
        self.send_request(number, at, message);
    }

    fn refuse_request(&mut self, from: Peer, id: &Id, reason: String) {
        tracing::warn!("refused a request from the {}: {reason}", from.as_str());
        let error = Error::new(code::INVALID_REQUEST, reason);
        self.tell(from, Some(id), &error);
    }

    /// Answers one end directly, past all proxies; without an id, with the id null.
    pub fn tell(&mut self, to: Peer, id: Option<&Id>, error: &Error) {
        let id = id.map_or("null", Id::as_str);
        self.edge(to).send(&Message::error(error), Some(id));
    }

    fn receive_response(&mut self, from: Peer, message: Message) {
        let id = message.id();
        let Some(number) = id.as_ref().and_then(|id| self.awaited(from, id)) else {
            let id = id.as_ref().map_or("null", Id::as_str);
            tracing::warn!(
                "dropped a response of the {} to no open request: id {id}",
                from.as_str()
            );
            return;
        };
        self.answer(number, from, message);
    }

    /// The request at this end that an id belongs to.
    fn awaited(&self, from: Peer, id: &Id) -> Option<ExchangeId> {
        let number = id.as_str().parse().ok()?;
        let exchange = self.exchanges.get(&number)?;
        (exchange.stage == Stage::Out && exchange.toward == from).then_some(number)
    }

    /// Gives up a request whose answer was lost on the way in. Says whether there was one.
    pub fn lose_answer(&mut self, from: Peer, id: &Id, error: &Error) -> bool {
        let Some(number) = self.awaited(from, id) else {
            return false;
        };
        self.answer(number, from, Message::error(error));
        true
    }

    /// An end can no longer be reached: what it was asked is answered with this error, and so is
    /// whatever it would be asked from now on.
    pub fn lose(&mut self, peer: Peer, error: Error) {
        let edge = self.edge(peer);
        edge.outbox.clear();
        edge.gone = true;
        self.lose_answers(peer, &error);
    }

    /// An end will answer nothing any more, though it may still read: what it was asked is
    /// answered with this error.
    pub fn lose_answers(&mut self, peer: Peer, error: &Error) {
        self.edge(peer).mute = Some(error.clone());
        self.fail_outstanding(peer, error);
    }

    fn fail_outstanding(&mut self, peer: Peer, error: &Error) {
        let mut lost: Vec<_> = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| exchange.stage == Stage::Out && exchange.toward == peer)
            .map(|(number, _)| *number)
            .collect();
        lost.sort_unstable();
        for number in lost {
            self.answer(number, peer, Message::error(error));
        }
    }

    /// Answers all open requests of one end at once, past the proxies that keep them.
    pub fn settle_debts(&mut self, peer: Peer, error: &Error) {
        let open: Vec<_> = self.edge(peer).open.drain().collect();
        for (id, number) in open {
            self.exchanges.remove(&number);
            self.tell(peer, Some(&id), error);
        }
    }

    fn receive_cancel(&mut self, from: Peer, message: &Message) {
        let Some(id) = cancelled_id(message) else {
            tracing::warn!(
                "dropped a {CANCEL} from the {} that names no request",
                from.as_str()
            );
            return;
        };
        match self.edge(from).open.get(&id).copied() {
            Some(number) => self.withdraw(number, message.clone()),
            // The answer and the cancellation crossed.
            None => tracing::debug!("a {CANCEL} from the {} came too late", from.as_str()),
        }
    }

    /// Passes a cancellation on to whoever has the request now.
    fn withdraw(&mut self, number: ExchangeId, cancel: Message) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        exchange.cancel = Some(cancel);
        match exchange.stage {
            Stage::Held(hop, id) => {
                self.hops[hop].push(Item::Cancel(id));
                self.make_ready(hop);
            }
            Stage::Out => self.send_cancel(number),
            // Whoever gets the request next is told behind it.
            Stage::Moving | Stage::Returning => {}
        }
    }

    fn send_cancel(&mut self, number: ExchangeId) {
        let Some(exchange) = self.exchanges.get(&number) else {
            return;
        };
        if let Some(cancel) = &exchange.cancel {
            let (toward, cancel) = (exchange.toward, with_cancelled_id(cancel, number));
            self.edge(toward).send(&cancel, None);
        }
    }

    fn open(
        &mut self,
        origin: Origin,
        toward: Peer,
        route: Route,
        message: &Message,
    ) -> ExchangeId {
        let number = self.next_exchange;
        self.next_exchange += 1;
        let exchange = Exchange {
            origin,
            toward,
            route,
            method: message.method().clone(),
            session: message.session().cloned(),
            stage: Stage::Moving,
            seen: Vec::new(),
            cancel: None,
        };
        self.exchanges.insert(number, exchange);
        number
    }

    fn send_request(&mut self, number: ExchangeId, at: usize, message: Message) {
        let Some(exchange) = self.exchanges.get(&number) else {
            return;
        };
        self.travel(Parcel {
            at,
            from: at,
            route: exchange.route.clone(),
            toward: exchange.toward,
            exchange: Some(number),
            method: exchange.method.clone(),
            home: None,
            arrival: 0,
            request_session: None,
            message,
        });
    }

    /// Sends the answer to an open request on its way back, from the end that gave it.
    fn answer(&mut self, number: ExchangeId, from: Peer, message: Message) {
        if let Some(exchange) = self.exchanges.get(&number) {
            let at = exchange.route.edge(from);
            self.answer_at(number, at, message);
        }
    }

    fn answer_at(&mut self, number: ExchangeId, at: usize, message: Message) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        exchange.stage = Stage::Returning;
        let home = match exchange.origin {
            Origin::Hop(hop, _) => Some(hop),
            Origin::Edge(..) => None,
        };
        let parcel = Parcel {
            at,
            from: at,
            route: exchange.route.clone(),
            toward: exchange.toward.opposite(),
            exchange: Some(number),
            method: exchange.method.clone(),
            home,
            arrival: 0,
            request_session: exchange.session.clone(),
            message,
        };
        self.travel(parcel);
    }

    /// Carries a message on from where it is, until a proxy takes it or it leaves.
    fn travel(&mut self, mut parcel: Parcel) {
        loop {
            match parcel.toward {
                Peer::Client => parcel.at -= 1,
                Peer::Agent => parcel.at += 1,
            }
            let index = match parcel.route.place(parcel.at) {
                Place::Edge(peer) => return self.leave(peer, &parcel),
                Place::Hop(index) => index,
            };
            let hop = &mut self.hops[index];
            parcel.arrival = hop.next_arrival();
            let enters = parcel.home == Some(index)
                || hop.subscription(&parcel).is_some()
                || hop.is_behind(&parcel);
            if enters {
                hop.push(Item::Message(parcel));
                return self.make_ready(index);
            }
            if hop.must_wait(&parcel) {
                return hop.park(parcel);
            }
        }
    }

    /// Sends a message on from a proxy that is done with it, unless it must wait there.
    fn depart(&mut self, index: HopIndex, parcel: Parcel) {
        let hop = &mut self.hops[index];
        if hop.must_wait(&parcel) {
            hop.park(parcel);
        } else {
            self.travel(parcel);
        }
    }

    /// Writes a message to the end that it was for.
    fn leave(&mut self, peer: Peer, parcel: &Parcel) {
        self.trace(parcel);
        let Some(number) = parcel.exchange else {
            return self.edge(peer).send(&parcel.message, None);
        };
        if parcel.is_response() {
            let Some(exchange) = self.exchanges.remove(&number) else {
                return;
            };
            if let Origin::Edge(peer, id) = exchange.origin {
                let edge = self.edge(peer);
                edge.open.remove(&id);
                edge.send(&parcel.message, Some(id.as_str()));
            }
            return;
        }
        if let Some(error) = self.edge(peer).mute.clone() {
            return self.answer(number, peer, Message::error(&error));
        }
        self.edge(peer)
            .send(&parcel.message, Some(&number.to_string()));
        self.stage(number, Stage::Out);
        self.send_cancel(number);
    }

    fn stage(&mut self, number: ExchangeId, stage: Stage) {
        if let Some(exchange) = self.exchanges.get_mut(&number) {
            exchange.stage = stage;
        }
    }

    fn trace(&mut self, parcel: &Parcel) {
        let Some(trace) = &mut self.trace else { return };
        let name = |at| match parcel.route.place(at) {
            Place::Edge(peer) => peer.as_str(),
            Place::Hop(index) => &self.hops[index].name,
        };
        trace.record(&Leg {
            from: name(parcel.from),
            to: name(parcel.at),
            method: &parcel.method,
            session: parcel.session().map(|session| &**session),
            message: &parcel.message,
        });
    }

    fn make_ready(&mut self, index: HopIndex) {
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

    /// Lets proxies handle what waits for them, at most so many messages. Proxies that are busy
    /// go on in [`Router::finish_busy`].
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
                    self.deliver_answer(index, parcel)
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

    fn apply(&mut self, index: HopIndex, effect: Effect) {
        match effect {
            Effect::Request { id, to, message } => {
                let route = self.route(message.session());
                let Some(at) = route.position(index) else {
                    return;
                };
                let number = self.open(Origin::Hop(index, id), to, route, &message);
                self.hops[index].asked.insert(id, number);
                self.send_request(number, at, message);
            }
            Effect::Notify { to, message } => {
                let route = self.route(message.session());
                let Some(at) = route.position(index) else {
                    return;
                };
                self.travel(Parcel {
                    at,
                    from: at,
                    route,
                    toward: to,
                    exchange: None,
                    method: message.method().clone(),
                    home: None,
                    arrival: 0,
                    request_session: None,
                    message,
                });
            }
            Effect::Settle { id, action } => {
                if let Some(parcel) = self.hops[index].held.remove(&id) {
                    self.act(index, id, parcel, action);
                    for parcel in self.hops[index].release() {
                        self.travel(parcel);
                    }
                }
            }
            Effect::Cancel { id } => {
                if let Some(&number) = self.hops[index].asked.get(&id) {
                    self.withdraw(number, new_cancel());
                }
            }
        }
    }

    /// Does with a message what its proxy decided.
    fn act(&mut self, index: HopIndex, id: MessageId, mut parcel: Parcel, action: Action) {
        parcel.from = parcel.at;
        if let Some(number) = parcel.exchange
            && !parcel.is_response()
        {
            self.stage(number, Stage::Moving);
        }
        match action {
            Action::Forward => self.depart(index, parcel),
            Action::Replace(body) => {
                parcel.message = parcel.message.with_body(&body);
                self.depart(index, parcel);
            }
            Action::Respond(result) => self.answer_here(parcel, Message::result(&result)),
            Action::Reject(error) if parcel.is_response() => {
                parcel.message = Message::error(&error);
                self.depart(index, parcel);
            }
            Action::Reject(error) => self.answer_here(parcel, Message::error(&error)),
            Action::Discard => {}
            Action::Hold => self.hold(index, id, parcel),
        }
    }

    fn answer_here(&mut self, parcel: Parcel, message: Message) {
        if let Some(number) = parcel.exchange {
            self.answer_at(number, parcel.at, message);
        }
    }

    fn hold(&mut self, index: HopIndex, id: MessageId, parcel: Parcel) {
        let request = parcel.exchange.filter(|_| !parcel.is_response());
        self.hops[index].held.insert(id, parcel);
        let Some(exchange) = request.and_then(|number| self.exchanges.get_mut(&number)) else {
            return;
        };
        exchange.stage = Stage::Held(index, id);
        if exchange.cancel.is_some() {
            self.hops[index].push(Item::Cancel(id));
        }
    }

    /// Ends a message that its proxy failed on. What the proxy was to guard does not pass it
    /// unguarded.
    fn refuse(&mut self, index: HopIndex, mut parcel: Parcel, reason: &str) {
        let name = &self.hops[index].name;
        let text = format!("the proxy `{name}` failed on {}: {reason}", parcel.method);
        tracing::error!("{text}");
        parcel.from = parcel.at;
        let error = Message::error(&Error::new(
            code::INTERNAL_ERROR,
            format!("acp-chain: {text}"),
        ));
        if parcel.is_response() {
            parcel.message = error;
            self.depart(index, parcel);
        } else {
            self.answer_here(parcel, error);
        }
    }

    /// Ends a proxy that broke: all that it had is refused, all that it asked is withdrawn.
    fn bury(&mut self, index: HopIndex, reason: &str) {
        let hop = &mut self.hops[index];
        tracing::error!("the proxy `{}` broke: {reason}", hop.name);
        hop.part = None;
        hop.dead = Some(reason.to_owned());
        let had = hop.give_up();
        let asked: Vec<_> = hop.asked.drain().map(|(_, number)| number).collect();
        for number in asked {
            self.withdraw(number, new_cancel());
        }
        for parcel in had {
            self.refuse(index, parcel, reason);
        }
        for parcel in self.hops[index].release() {
            self.travel(parcel);
        }
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Router")
            .field(
                "hops",
                &self.hops.iter().map(|hop| &hop.name).collect::<Vec<_>>(),
            )
            .field("exchanges", &self.exchanges.len())
            .finish_non_exhaustive()
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

/// Methods that exist only between a conductor and its proxies (RFD proxy-chains).
fn is_host_method(method: &str) -> bool {
    matches!(method, "proxy/initialize" | "proxy/successor")
}

fn new_cancel() -> Message {
    Message::notification(CANCEL, r#"{"requestId":null}"#)
}

fn cancelled_id(cancel: &Message) -> Option<Id> {
    let id = crate::rpc::resolve(cancel.body(), "/requestId").ok()??;
    Id::parse(id)
}

/// The same cancellation for the next hop: only the id is exchanged.
fn with_cancelled_id(cancel: &Message, number: ExchangeId) -> Message {
    let body = cancel.body();
    match crate::rpc::resolve(body, "/requestId") {
        Ok(Some(id)) => {
            let start = id.as_ptr().addr() - body.as_ptr().addr();
            let end = start + id.len();
            cancel.with_body(&format!("{}{number}{}", &body[..start], &body[end..]))
        }
        _ => new_cancel(),
    }
}
