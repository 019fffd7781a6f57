//! Messages that come in at the ends, and ends that fall silent.

use std::collections::HashMap;

use super::Router;
use super::cancel::CANCEL;
use super::mcp::{Provider, is_mcp};
use super::sides::{of_an_end, of_the_parent};
use crate::chain::exchange::{Exchange, ExchangeId, Origin, Stage};
use crate::chain::routed::Routed;
use crate::channel::Peer;
use crate::limits::{Account, Charge, KEPT, LONGEST_ID, OPEN, OPEN_KEPT, Quantity};
use crate::rpc::{Error, Id, Kind, Message, code};

impl Router {
    /// Takes in a message from one end; from a parent, as if it were the client.
    pub fn receive(&mut self, from: Peer, message: Message) {
        let kind = message.kind();
        if kind.is_response() {
            return self.receive_response(from, message);
        }
        let id = message.id().filter(|_| kind == Kind::Request);
        let said = match self.core.parent {
            None => of_an_end(from, message),
            Some(_) => of_the_parent(message),
        };
        match (said, id) {
            (Ok((from, message)), Some(id)) => self.receive_request(from, id, message),
            (Ok((from, message)), None) if &**message.method() == CANCEL => {
                self.receive_cancel(from, &message);
            }
            (Ok((from, message)), None) => self.receive_notification(from, message),
            (Err(error), Some(id)) => self.refuse_request(from, &id, error),
            (Err(error), None) => {
                let text = format!("dropped a notification from the {}", from.as_str());
                self.core
                    .note_discarded(from, &format!("{text}: {}", error.message));
            }
        }
    }

    /// Whether the version that was agreed on has batches (RFD v2: overview).
    pub fn has_batches(&self) -> bool {
        self.core.version >= 2
    }

    /// The messages of a batch are received from here on, up to its end: the answers to its requests
    /// leave together.
    pub fn begin_batch<'m>(&mut self, from: Peer, batch: impl Iterator<Item = &'m Message>) {
        let requests = batch.filter(|message| message.kind() == Kind::Request);
        self.core
            .edge(from)
            .batches
            .begin(requests.filter_map(Message::id));
    }

    /// All of a batch has been received.
    pub fn end_batch(&mut self, from: Peer) {
        let edge = self.core.edge(from);
        edge.batches.end(&mut edge.outbox);
    }

    fn receive_notification(&mut self, from: Peer, message: Message) {
        let is_mcp = is_mcp(message.method());
        if is_mcp && from == Peer::Client {
            return self.hear_provider(Provider::Client, None, &message);
        }
        let route = self.core.route(message.session());
        let at = route.edge(from);
        let mut routed = Routed::new(message, route, at, from.opposite());
        if is_mcp {
            match self.seat_of(&routed.message) {
                Ok(target) => routed.target = target,
                Err(error) => return self.dropped(&error),
            }
        }
        self.travel(routed);
    }

    fn receive_request(&mut self, from: Peer, id: Id, message: Message) {
        let edge = self.core.edge(from);
        let charge = match admit(&id, &message, &edge.open, &edge.kept) {
            Ok(charge) => charge,
            Err(error) => return self.refuse_request(from, &id, error),
        };
        let route = self.core.route(message.session());
        let (at, toward) = (route.edge(from), from.opposite());
        let (method, session) = (message.method().clone(), message.session().cloned());
        let number = self.core.exchanges.open(
            Origin::Edge(from, id.clone()),
            toward,
            route.clone(),
            &message,
            Some(charge),
        );
        self.core.edge(from).open.insert(id, number);
        let mut routed = Routed::new(message, route, at, toward);
        routed.exchange = Some(number);
        if is_mcp(&routed.method) {
            return self.receive_mcp(from, number, routed);
        }
        self.set_out(routed, Provider::Client);
        if from == Peer::Client {
            self.core.note_request(&method, session.as_ref());
        }
    }

    /// A request of MCP over ACP goes to the seat of a server: it is there already if it comes from
    /// the client, whose servers' seats are at its own end.
    fn receive_mcp(&mut self, from: Peer, number: ExchangeId, mut routed: Routed) {
        if from == Peer::Client {
            return self.hear_provider(Provider::Client, Some(number), &routed.message);
        }
        match self.seat_of(&routed.message) {
            Ok(target) => {
                routed.target = target;
                self.travel(routed);
            }
            Err(error) => {
                // Past all proxies: it was for none of them.
                self.core.exchanges.remove(number);
                let id = routed.message.id().unwrap_or_else(Id::null);
                self.core.edge(from).open.remove(&id);
                self.core.tell(from, Some(&id), &error);
            }
        }
    }

    fn refuse_request(&mut self, from: Peer, id: &Id, error: Error) {
        let text = format!("refused a request from the {}", from.as_str());
        self.core
            .note_discarded(from, &format!("{text}: {}", error.message));
        self.core.tell(from, Some(id), &error);
    }

    fn receive_response(&mut self, from: Peer, message: Message) {
        let id = message.id();
        let awaited = id.as_ref().and_then(|id| self.awaited(from, id));
        let Some((number, asked)) = awaited else {
            let id = id.as_ref().map_or("null", Id::as_str);
            let text = format!("dropped a response of the {}", from.as_str());
            return self
                .core
                .note_discarded(from, &format!("{text} to no open request: id {id}"));
        };
        if asked == Peer::Agent {
            self.note_answer(number, &message);
        }
        self.answer(number, asked, message);
    }

    /// The request that an id belongs to, and which end was asked.
    fn awaited(&self, from: Peer, id: &Id) -> Option<(ExchangeId, Peer)> {
        let number = id.as_str().parse().ok()?;
        let exchange = self.core.exchanges.get(number)?;
        self.is_out_at(from, exchange)
            .then_some((number, exchange.toward))
    }

    /// Whether it is this end that has a request; a parent has those of both.
    fn is_out_at(&self, peer: Peer, exchange: &Exchange) -> bool {
        exchange.stage == Stage::Out && (exchange.toward == peer || self.core.parent.is_some())
    }

    /// Gives up a request whose answer was lost on the way in. Says whether there was one.
    pub fn fail_answer(&mut self, from: Peer, id: &Id, error: &Error) -> bool {
        let Some((number, asked)) = self.awaited(from, id) else {
            return false;
        };
        self.answer(number, asked, Message::error(error));
        true
    }

    /// An end can no longer be reached: what it was asked is answered with this error, and so is
    /// whatever it would be asked from now on.
    pub fn lose(&mut self, peer: Peer, error: &Error) {
        self.stop_writing(peer, error);
        self.fail_outstanding(peer, error);
    }

    /// An end takes nothing any more, though it may still speak: new requests to it are answered
    /// with this error.
    pub fn stop_writing(&mut self, peer: Peer, error: &Error) {
        let edge = self.core.edge(peer);
        edge.outbox.clear();
        edge.gone = true;
        edge.mute = Some(error.clone());
    }

    /// An end will answer nothing any more, though it may still read: what it was asked is
    /// answered with this error.
    pub fn lose_answers(&mut self, peer: Peer, error: &Error) {
        self.core.edge(peer).mute = Some(error.clone());
        self.fail_outstanding(peer, error);
    }

    fn fail_outstanding(&mut self, peer: Peer, error: &Error) {
        let all = self.core.exchanges.iter();
        let lost = all.filter(|(_, exchange)| self.is_out_at(peer, exchange));
        let mut lost: Vec<_> = lost.map(|(id, exchange)| (id, exchange.toward)).collect();
        lost.sort_unstable_by_key(|(number, _)| *number);
        for (number, asked) in lost {
            self.answer(number, asked, Message::error(error));
        }
    }

    /// Answers all open requests of one end at once, past the proxies that keep them.
    pub fn answer_all_open(&mut self, peer: Peer, error: &Error) {
        let open: Vec<_> = self.core.edge(peer).open.drain().collect();
        for (id, number) in open {
            self.core.exchanges.remove(number);
            self.core.tell(peer, Some(&id), error);
        }
    }
}

/// What a request is to be charged for that somebody opens who has these open, and is kept on this
/// account. An error if it cannot be taken.
pub(super) fn admit(
    id: &Id,
    request: &Message,
    open: &HashMap<Id, ExchangeId>,
    kept: &Account,
) -> Result<Charge, Error> {
    let refused = |reason| Error::new(code::INVALID_REQUEST, reason);
    if id.as_str().len() > LONGEST_ID {
        return Err(refused(format!("an id may have {LONGEST_ID} bytes")));
    }
    if open.len() >= OPEN {
        return Err(refused(format!("{OPEN} requests are open already")));
    }
    if open.contains_key(id) {
        let id = id.as_str();
        let reason = format!("the id {id} belongs to a request that is still open");
        return Err(refused(reason));
    }
    let cost = Exchange::cost(Some(id), request);
    kept.charge(cost).ok_or_else(|| {
        let show = |limit| Quantity::Size.show(limit as u64);
        refused(match kept.kept() + cost > OPEN_KEPT {
            true => {
                let limit = show(OPEN_KEPT);
                format!("the requests that are open have ids, methods and sessions of {limit}")
            }
            false => format!("{} are kept for the connection already", show(KEPT)),
        })
    })
}
