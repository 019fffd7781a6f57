//! Messages that come in at the ends, and ends that fall silent.

use std::collections::HashMap;

use super::Router;
use super::cancel::CANCEL;
use super::mcp::{Provider, is_mcp};
use super::notice::PROMPT;
use crate::chain::exchange::{Origin, Stage};
use crate::chain::parcel::{ExchangeId, Parcel};
use crate::channel::Peer;
use crate::limits::{LONGEST_ID, OPEN};
use crate::rpc::{Error, Id, Kind, Message, code};

impl Router {
    /// Takes in a message from one end.
    pub fn receive(&mut self, from: Peer, message: Message) {
        match message.kind() {
            Kind::Request => self.receive_request(from, message),
            Kind::Notification if &**message.method() == CANCEL => {
                self.receive_cancel(from, &message);
            }
            Kind::Notification if is_host_method(message.method()) => {
                tracing::warn!("dropped a {} from the {}", message.method(), from.as_str());
            }
            Kind::Notification => {
                self.receive_notification(from, message);
            }
            Kind::Result | Kind::Error => self.receive_response(from, message),
        }
    }

    fn receive_notification(&mut self, from: Peer, message: Message) {
        let is_mcp = is_mcp(message.method());
        if is_mcp && from == Peer::Client {
            return self.hear_provider(Provider::Client, None, &message);
        }
        let route = self.route(message.session());
        let at = route.edge(from);
        let mut parcel = Parcel::new(message, route, at, from.opposite());
        if is_mcp {
            match self.seat_of(&parcel.message) {
                Ok(target) => parcel.target = target,
                Err(error) => return self.dropped(&error),
            }
        }
        self.travel(parcel);
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
        if let Some(reason) = unfit(&id, &self.edge(from).open) {
            return self.refuse_request(from, &id, reason);
        }
        let route = self.route(message.session());
        let (at, toward) = (route.edge(from), from.opposite());
        let is_turn = from == Peer::Client && &**message.method() == PROMPT;
        let number = self.open(
            Origin::Edge(from, id.clone()),
            toward,
            route.clone(),
            &message,
        );
        self.edge(from).open.insert(id, number);
        let mut parcel = Parcel::new(message, route, at, toward);
        parcel.exchange = Some(number);
        if is_mcp(&parcel.method) {
            return self.receive_mcp(from, number, parcel);
        }
        self.set_out(parcel, Provider::Client);
        if is_turn {
            self.send_notices();
        }
    }

    /// A request of MCP over ACP goes to the seat of a server: it is there already if it comes from
    /// the client, whose servers' seats are at its own end.
    fn receive_mcp(&mut self, from: Peer, number: ExchangeId, mut parcel: Parcel) {
        if from == Peer::Client {
            return self.hear_provider(Provider::Client, Some(number), &parcel.message);
        }
        match self.seat_of(&parcel.message) {
            Ok(target) => {
                parcel.target = target;
                self.travel(parcel);
            }
            Err(error) => {
                // Past all proxies: it was for none of them.
                self.exchanges.remove(&number);
                let id = parcel.message.id().unwrap_or_else(Id::null);
                self.edge(from).open.remove(&id);
                self.tell(from, Some(&id), &error);
            }
        }
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
        let message = match from {
            Peer::Agent => self.note_answer(number, message),
            Peer::Client => message,
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
    pub fn lose(&mut self, peer: Peer, error: &Error) {
        self.stop_writing(peer, error);
        self.fail_outstanding(peer, error);
    }

    /// An end takes nothing any more, though it may still speak: new requests to it are answered
    /// with this error.
    pub fn stop_writing(&mut self, peer: Peer, error: &Error) {
        let edge = self.edge(peer);
        edge.outbox.clear();
        edge.gone = true;
        edge.mute = Some(error.clone());
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
}

/// Methods that exist only between a conductor and its proxies (RFD proxy-chains).
/// Whether a method is spoken between a conductor and its proxies only.
pub(super) fn is_host_method(method: &str) -> bool {
    matches!(
        method,
        "proxy/initialize" | "proxy/successor" | "_proxy/initialize" | "_proxy/successor"
    )
}

/// Why a request with this id cannot be taken from somebody who has these open.
pub(super) fn unfit(id: &Id, open: &HashMap<Id, ExchangeId>) -> Option<String> {
    if id.as_str().len() > LONGEST_ID {
        return Some(format!("an id may have {LONGEST_ID} bytes"));
    }
    if open.len() >= OPEN {
        return Some(format!("{OPEN} requests are open already"));
    }
    open.contains_key(id).then(|| {
        let id = id.as_str();
        format!("the id {id} belongs to a request that is still open")
    })
}
