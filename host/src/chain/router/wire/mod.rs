//! Native proxies: messages leave to them, and come in from them.

mod life;

use super::Router;
use super::cancel::{CANCEL, NamesNone, withdrawn};
use super::intake::admit;
use super::mcp::{Provider, is_mcp};
use super::sides::of_a_proxy;
use crate::chain::exchange::{Origin, Stage};
use crate::chain::hop::Life;
use crate::chain::parcel::{ExchangeId, HopIndex, Parcel, Place};
use crate::chain::start::INITIALIZE;
use crate::chain::wire::{Order, Wire};
use crate::channel::Peer;
use crate::rpc::{Error, Id, Kind, Message, code};
use crate::untrusted::{MAX_QUOTE, quote};

impl Router {
    /// The native proxies.
    #[must_use]
    pub fn natives(&self) -> Vec<HopIndex> {
        self.natives.clone()
    }

    fn wires(&self) -> impl Iterator<Item = (HopIndex, &Wire)> {
        let all = self.natives.iter();
        all.filter_map(|index| Some((*index, self.hops[*index].wire()?)))
    }

    /// What is to be done to the programs of native proxies.
    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Lets a message leave to a native proxy.
    pub(super) fn leave_to_wire(&mut self, index: HopIndex, parcel: Parcel) {
        self.trace(&parcel);
        let Some(number) = parcel.exchange else {
            if let Some(wire) = self.hops[index].wire_mut() {
                wire.send(parcel.toward, &parcel.message, None);
            }
            return;
        };
        self.stage(number, Stage::Wire(index));
        if parcel.toward == Peer::Agent && &*parcel.method == INITIALIZE {
            self.introduce(index, number, Some(parcel));
        } else {
            let scoped = match self.scoped(&parcel, Place::Hop(index)) {
                Ok(scoped) => scoped,
                Err(error) => {
                    return self.answer_from_wire(index, number, Message::error(&error));
                }
            };
            let message = scoped.as_ref().unwrap_or(&parcel.message);
            if let Some(wire) = self.hops[index].wire_mut() {
                wire.send(parcel.toward, message, Some(&number.to_string()));
            }
        }
        self.send_cancel(number);
    }

    /// Lets the answer to a native proxy's own request leave to it.
    pub(super) fn answer_wire(&mut self, index: HopIndex, id: &Id, parcel: &Parcel) {
        let Some(wire) = self.hops[index].wire_mut() else {
            return;
        };
        // An earlier process may have asked.
        if wire.open.get(id) != parcel.exchange.as_ref() {
            return;
        }
        wire.open.remove(id);
        if &*parcel.method == INITIALIZE && parcel.message.kind() == Kind::Result {
            wire.capabilities = Some(parcel.message.clone());
        }
        parcel.message.write(Some(id.as_str()), &mut wire.outbox);
        self.trace(parcel);
    }

    /// Takes in a message from a native proxy.
    pub fn receive_from_wire(&mut self, index: HopIndex, message: Message) {
        if matches!(self.hops[index].life, Life::Runs | Life::Busy) {
            match message.kind() {
                Kind::Request => self.wire_asks(index, message),
                Kind::Notification => self.wire_tells(index, message),
                Kind::Result | Kind::Error => self.wire_answers(index, message),
            }
        }
    }

    /// Who stands behind a proxy: the next one, or the agent.
    fn successor(&self, index: HopIndex) -> &str {
        let next = self.hops.get(index + 1);
        next.map_or(Peer::Agent.as_str(), |hop| &hop.name)
    }

    fn wire_asks(&mut self, index: HopIndex, message: Message) {
        // A request has an id.
        let id = message.id().unwrap_or_else(Id::null);
        let Some(wire) = self.hops[index].wire() else {
            return;
        };
        let said = of_a_proxy(message, self.successor(index)).and_then(|(to, message)| {
            let charge = admit(&id, &message, &wire.open, &wire.kept)?;
            Ok((to, message, charge))
        });
        let (to, message, charge) = match said {
            Ok(said) => said,
            Err(error) => return self.refuse_wire(index, &id, &error),
        };
        let message = self.scope_of_wire(index, message);
        let begins = to == Peer::Agent && &**message.method() == INITIALIZE;
        if begins && let Some(wire) = self.hops[index].wire_mut() {
            match (&mut wire.introduction, &wire.capabilities) {
                // The others have begun their work long since.
                (Some(introduction), Some(known)) if introduction.is_repeated => {
                    return known.write(Some(id.as_str()), &mut wire.outbox);
                }
                (Some(introduction), _) => introduction.parcel = None,
                (None, _) => {}
            }
        }
        let route = self.route(message.session());
        let Some(at) = route.position(index) else {
            return;
        };
        let origin = Origin::Wire(index, id.clone());
        let number = self.open(origin, to, route.clone(), &message, Some(charge));
        if let Some(wire) = self.hops[index].wire_mut() {
            wire.open.insert(id, number);
        }
        let mut parcel = Parcel::new(message, route, at, to);
        parcel.exchange = Some(number);
        if is_mcp(&parcel.method) {
            return self.wire_speaks_mcp(index, parcel);
        }
        self.set_out(parcel, Provider::Proxy(index));
    }

    fn wire_tells(&mut self, index: HopIndex, message: Message) {
        let (to, message) = match of_a_proxy(message, self.successor(index)) {
            Ok(said) => said,
            Err(error) => return self.lost_on_wire(index, &error.message),
        };
        if &**message.method() == CANCEL {
            // Whichever way it was sent: the id is that of a request of its own.
            let Some(wire) = self.hops[index].wire() else {
                return;
            };
            return match withdrawn(&wire.open, &message) {
                Ok(Some((number, cancel))) => self.withdraw(number, cancel),
                // The answer and the cancellation crossed.
                Ok(None) => tracing::debug!("a {CANCEL} of a proxy came too late"),
                Err(NamesNone) => {
                    self.lost_on_wire(index, &format!("a {CANCEL} that names no request"));
                }
            };
        }
        let route = self.route(message.session());
        let Some(at) = route.position(index) else {
            return;
        };
        let parcel = Parcel::new(message, route, at, to);
        match is_mcp(&parcel.method) {
            true => self.wire_speaks_mcp(index, parcel),
            false => self.travel(parcel),
        }
    }

    fn wire_answers(&mut self, index: HopIndex, message: Message) {
        let id = message.id().unwrap_or_else(Id::null);
        let Some(number) = self.awaited_of_wire(index, &id) else {
            let id = quote(id.as_str(), MAX_QUOTE);
            return self.lost_on_wire(index, &format!("a response to no open request: id {id}"));
        };
        let Some(wire) = self.hops[index].wire_mut() else {
            return;
        };
        let introduction = wire.introduction.as_ref();
        if introduction.is_some_and(|introduction| introduction.number == number) {
            return self.introduced(index, number, message);
        }
        self.answer_from_wire(index, number, message);
    }

    fn answer_from_wire(&mut self, index: HopIndex, number: ExchangeId, message: Message) {
        let exchange = self.exchanges.get(&number);
        let at = exchange.and_then(|exchange| exchange.route.position(index));
        if let Some(at) = at {
            self.answer_at(number, at, message, None);
        }
    }

    fn awaited_of_wire(&self, index: HopIndex, id: &Id) -> Option<ExchangeId> {
        let number = id.as_str().parse().ok()?;
        let exchange = self.exchanges.get(&number)?;
        (exchange.stage == Stage::Wire(index)).then_some(number)
    }

    /// A line of a native proxy is no message. `answers` is the id of what it may have been the
    /// answer to, `own` that of a request which it may have been.
    pub fn take_malformed_from_wire(
        &mut self,
        index: HopIndex,
        error: &Error,
        answers: Option<&Id>,
        own: Option<&Id>,
    ) {
        self.lost_on_wire(index, &format!("a line: {}", error.message));
        if let Some(number) = answers.and_then(|id| self.awaited_of_wire(index, id)) {
            let (name, why) = (&self.hops[index].name, &error.message);
            let text = format!("acp-chain: the answer of the proxy `{name}` is lost: {why}");
            let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
            return self.answer_from_wire(index, number, error);
        }
        if let (Some(id), Some(wire)) = (own, self.hops[index].wire_mut()) {
            Message::error(error).write(Some(id.as_str()), &mut wire.outbox);
        }
    }

    fn refuse_wire(&mut self, index: HopIndex, id: &Id, error: &Error) {
        let reason = &error.message;
        self.lost_on_wire(index, &format!("a request: {reason}"));
        let error = Error::new(error.code, format!("acp-chain: {reason}"));
        if let Some(wire) = self.hops[index].wire_mut() {
            Message::error(&error).write(Some(id.as_str()), &mut wire.outbox);
        }
    }

    /// Counts what a native proxy says to no effect; the log gets the first, and ever fewer of the
    /// others.
    fn lost_on_wire(&mut self, index: HopIndex, what: &str) {
        let hop = &mut self.hops[index];
        let Some(wire) = hop.wire_mut() else { return };
        wire.lost += 1;
        let count = wire.lost;
        if count.is_power_of_two() {
            let (name, what) = (&hop.name, quote(what, MAX_QUOTE));
            tracing::warn!(count, "dropped what the proxy `{name}` sent: {what}");
        }
    }

    /// How many bytes wait for native proxies: the most that wait for one of them but this.
    #[must_use]
    pub fn most_on_wires(&self, but: Option<HopIndex>) -> usize {
        let others = self.wires().filter(|(index, _)| Some(*index) != but);
        let waits = others.map(|(_, wire)| wire.outbox.len());
        waits.max().unwrap_or_default()
    }

    /// How many bytes native proxies ever took.
    #[must_use]
    pub fn taken_on_wires(&self) -> u64 {
        self.wires().map(|(_, wire)| wire.outbox.taken()).sum()
    }

    /// Whether native proxies have yet to answer something.
    #[must_use]
    pub fn waits_for_wires(&self) -> bool {
        let mut open = self.exchanges.values();
        open.any(|exchange| matches!(exchange.stage, Stage::Wire(_)))
    }
}
