//! Messages on their way: from hop to hop, and out at the ends.

use super::Router;
use crate::chain::exchange::{ExchangeId, Origin, Stage};
use crate::chain::hop::Item;
use crate::chain::route::{HopIndex, Place, Target, Via};
use crate::chain::routed::Routed;
use crate::channel::Peer;
use crate::mcp::protocol::code;
use crate::rpc::{Error, Message};

impl Router {
    /// Sends the answer to an open request on its way back, from the end that gave it.
    pub(super) fn answer(&mut self, number: ExchangeId, from: Peer, message: Message) {
        if let Some(exchange) = self.core.exchanges.get(number) {
            let at = exchange.route.edge(from);
            self.answer_at(number, at, message, None);
        }
    }

    pub(super) fn answer_at(
        &mut self,
        number: ExchangeId,
        at: usize,
        message: Message,
        maker: Option<HopIndex>,
    ) {
        let Some(exchange) = self.core.exchanges.get_mut(number) else {
            return;
        };
        exchange.stage = Stage::Returning;
        let (mut home, mut target) = (None, Target::End);
        match exchange.origin {
            Origin::Hop(hop, _) | Origin::Native(hop, _) => home = Some(hop),
            // Only a proxy that broke leaves it unanswered, and that is known.
            Origin::Introduction => {
                self.core.exchanges.remove(number);
                return;
            }
            Origin::Seat(server, question) => {
                let seat = self.mcp.servers.all.get(&server);
                match seat.filter(|_| exchange.toward == Peer::Agent) {
                    Some(seat) => target = Target::Seat(server, seat.at),
                    // Its provider is next to it.
                    None if seat.is_some() => {
                        self.core.exchanges.remove(number);
                        return self.seat_is_answered(server, question, message);
                    }
                    None => return self.answered_late(number, at, &message),
                }
            }
            Origin::Edge(..) | Origin::Link(..) | Origin::Connecting(_) | Origin::Leaving(_) => {}
        }
        let toward = exchange.toward.opposite();
        let message = Self::shown(exchange.boundary, toward, message);
        let mut routed = Routed::new(message, exchange.route.clone(), at, toward);
        routed.exchange = Some(number);
        routed.method = exchange.method.clone();
        routed.boundary = exchange.boundary;
        routed.request_session = match exchange.renamed.last() {
            Some((_, session)) => session.clone(),
            None => exchange.session.clone(),
        };
        routed.renamed.clone_from(&exchange.renamed);
        routed.home = home;
        routed.target = target;
        routed.maker = maker;
        // A guard's answer, or what the host says in its place.
        routed.sealed = maker.is_some_and(|maker| self.core.hops[maker].is_guard());
        routed.internal = home.is_some() && maker.is_some();
        self.travel(routed);
    }

    /// Carries a message on from where it is, until a proxy takes it or it leaves.
    pub(super) fn travel(&mut self, mut routed: Routed) {
        // Wherever it waited.
        routed.charge = None;
        if self.core.is_stopped(&routed) {
            let answer = self.core.end_of_stopped(&routed);
            routed.maker = None;
            return self.answer_here(routed, answer);
        }
        loop {
            self.core.pass_turns(&routed);
            self.add_component(&mut routed);
            routed.step();
            if let Target::Seat(server, at) = routed.target
                && at == routed.at
            {
                return self.arrive(server, routed);
            }
            let index = match routed.route.place(routed.at) {
                Place::Edge(peer) => return self.leave(peer, &routed),
                Place::Hop(index) => index,
            };
            if self.core.hops[index].is_guard() {
                match self.admit(index, routed) {
                    Some(admitted) => routed = admitted,
                    None => return,
                }
            }
            let hop = &mut self.core.hops[index];
            routed.arrival = hop.next_arrival();
            let enters = routed.home == Some(index)
                || routed.target == Target::Provider(index)
                || hop.subscription(&routed).is_some()
                || hop.is_to_begin(&routed);
            if enters {
                return self.enter(index, routed);
            }
            if hop.is_behind(&routed) {
                self.core.charge(&mut routed);
                return self.core.hops[index].follow(routed);
            }
            if hop.must_wait(&routed) {
                return self.park(index, routed);
            }
        }
    }

    /// Lets a message wait for a proxy.
    fn enter(&mut self, index: HopIndex, mut routed: Routed) {
        if self.core.is_awaited_to_begin(index, &routed) {
            return self.deliver_answer(index, routed);
        }
        self.core.charge(&mut routed);
        self.core.hops[index].push(Item::Message(routed));
        self.core.make_ready(index);
    }

    /// A proxy is done with what it had in hand, and what waited for that only goes on.
    pub(super) fn follow_up(&mut self, index: HopIndex) {
        for routed in self.core.hops[index].done() {
            self.depart(index, routed);
        }
    }

    /// Sends a message on from a proxy that is done with it, unless it must wait there.
    pub(super) fn depart(&mut self, index: HopIndex, routed: Routed) {
        if routed.is_bound() {
            return self.refuse_bound(index, routed);
        }
        if self.core.hops[index].must_wait(&routed) {
            self.park(index, routed);
        } else {
            self.travel(routed);
        }
    }

    /// A proxy lets a message pass that is for a server which it has declared itself.
    fn refuse_bound(&mut self, index: HopIndex, routed: Routed) {
        let name = &self.core.hops[index].name;
        let text = format!(
            "acp-chain: the proxy `{name}` has declared an MCP server, and does not answer {}",
            routed.method
        );
        self.dropped(&text);
        let error = Error::new(code::UNAVAILABLE, text);
        self.answer_here(routed, Message::error(&error));
    }

    /// Lets a message wait at a proxy for what the proxy holds, as long as there is room.
    fn park(&mut self, index: HopIndex, routed: Routed) {
        let hop = &mut self.core.hops[index];
        hop.parked.insert(routed);
        if hop.is_jammed() {
            let reason = "more waits for a notification that it holds than its limit `behind`, or that \
                          of all that is kept, lets";
            self.core.end_soon(index, reason);
        }
    }

    /// Writes a message to the end that it was for.
    fn leave(&mut self, peer: Peer, routed: &Routed) {
        self.core.trace(routed);
        if let Via::Link(link) = routed.via
            && !routed.is_response()
        {
            return self.leave_to_link(link, routed);
        }
        if let Some(number) = routed.exchange.filter(|_| routed.is_response()) {
            let Some(exchange) = self.core.exchanges.remove(number) else {
                return;
            };
            self.setup_is_over(number, &exchange);
            match exchange.origin {
                Origin::Edge(peer, id) => {
                    self.core.note_version(exchange.boundary, &routed.message);
                    let edge = self.core.edge(peer);
                    edge.open.remove(&id);
                    edge.send(&routed.message, Some(id.as_str()));
                }
                Origin::Link(link, id) => {
                    let alone = exchange.stands_alone;
                    self.answer_link(link, &id, number, alone, &routed.message);
                }
                Origin::Connecting(link) => self.link_connected(link, &routed.message),
                Origin::Leaving(link) => self.drop_connections(link),
                Origin::Hop(..) | Origin::Native(..) | Origin::Introduction | Origin::Seat(..) => {}
            }
            return;
        }
        let translated = match peer {
            Peer::Agent => Ok(self.declare(routed)),
            Peer::Client => self.core.scoped(routed, Place::Edge(peer)),
        };
        let Some(number) = routed.exchange else {
            let message = translated.as_ref().ok().and_then(Option::as_ref);
            return self
                .core
                .send(peer, message.unwrap_or(&routed.message), None);
        };
        let error = self.core.edge(peer).mute.clone();
        let message = match (error, &translated) {
            (Some(error), _) => return self.answer(number, peer, Message::error(&error)),
            (None, Err(error)) => return self.answer(number, peer, Message::error(error)),
            (None, Ok(translated)) => translated.as_ref().unwrap_or(&routed.message),
        };
        self.core.send(peer, message, Some(&number.to_string()));
        self.core.exchanges.stage(number, Stage::Out);
        self.send_cancel(number);
    }
}
