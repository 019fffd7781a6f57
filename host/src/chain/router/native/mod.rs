//! Native proxies: messages leave to them, and come in from them.

mod life;

use super::Router;
use super::cancel::{CANCEL, NamesNone, withdrawn};
use super::core::Core;
use super::intake::admit;
use super::mcp::{Provider, is_mcp};
use super::sides::of_a_proxy;
use crate::chain::exchange::{ExchangeId, Origin, Stage};
use crate::chain::hop::Life;
use crate::chain::native_peer::{NativePeer, Order};
use crate::chain::route::{HopIndex, Place};
use crate::chain::routed::Routed;
use crate::chain::start::INITIALIZE;
use crate::channel::Peer;
use crate::rpc::{Error, Id, Kind, Message, code};
use crate::untrusted::{MAX_QUOTE, quote};

impl Core {
    /// How many bytes wait for native proxies: the most that wait for one of them but this.
    pub fn most_for_natives(&self, but: Option<HopIndex>) -> usize {
        let others = self.peers().filter(|(index, _)| Some(*index) != but);
        let waits = others.map(|(_, native)| native.outbox.len());
        waits.max().unwrap_or_default()
    }

    pub fn peers(&self) -> impl Iterator<Item = (HopIndex, &NativePeer)> {
        let all = self.natives.iter();
        all.filter_map(|index| Some((*index, self.hops[*index].native()?)))
    }

    /// Who stands behind a proxy: the next one, or the agent.
    pub fn successor(&self, index: HopIndex) -> &str {
        let next = self.hops.get(index + 1);
        next.map_or(Peer::Agent.as_str(), |hop| &hop.name)
    }

    pub fn awaited_of_native(&self, index: HopIndex, id: &Id) -> Option<ExchangeId> {
        let number = id.as_str().parse().ok()?;
        let exchange = self.exchanges.get(number)?;
        (exchange.stage == Stage::Native(index)).then_some(number)
    }

    /// Counts what a native proxy says to no effect; the log gets the first, and ever fewer of the
    /// others.
    pub fn note_discarded_of_native(&mut self, index: HopIndex, what: &str) {
        let hop = &mut self.hops[index];
        let Some(native) = hop.native_mut() else {
            return;
        };
        native.discarded += 1;
        let count = native.discarded;
        if count.is_power_of_two() {
            let (name, what) = (&hop.name, quote(what, MAX_QUOTE));
            tracing::warn!(count, "dropped what the proxy `{name}` sent: {what}");
        }
    }
}

impl Router {
    /// The native proxies.
    #[must_use]
    pub fn natives(&self) -> Vec<HopIndex> {
        self.core.natives.clone()
    }

    /// What is to be done to the programs of native proxies.
    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.core.orders)
    }

    /// Lets a message leave to a native proxy.
    pub(super) fn leave_to_native(&mut self, index: HopIndex, routed: Routed) {
        self.core.trace(&routed);
        let Some(number) = routed.exchange else {
            if let Some(native) = self.core.hops[index].native_mut() {
                native.send(routed.toward, &routed.message, None);
            }
            return;
        };
        self.core.exchanges.stage(number, Stage::Native(index));
        if routed.toward == Peer::Agent && routed.is_beginning() {
            self.core.introduce(index, number, Some(routed));
        } else {
            let scoped = match self.core.scoped(&routed, Place::Hop(index)) {
                Ok(scoped) => scoped,
                Err(error) => {
                    return self.answer_from_native(index, number, Message::error(&error));
                }
            };
            let message = scoped.as_ref().unwrap_or(&routed.message);
            if let Some(native) = self.core.hops[index].native_mut() {
                native.send(routed.toward, message, Some(&number.to_string()));
            }
        }
        self.send_cancel(number);
    }

    /// Lets the answer to a native proxy's own request leave to it.
    pub(super) fn answer_native(&mut self, index: HopIndex, id: &Id, routed: &Routed) {
        let Some(native) = self.core.hops[index].native_mut() else {
            return;
        };
        // An earlier process may have asked.
        if native.open.get(id) != routed.exchange.as_ref() {
            return;
        }
        native.open.remove(id);
        if routed.is_beginning() && routed.message.kind() == Kind::Result {
            native.capabilities = Some(routed.message.clone());
        }
        routed.message.write(Some(id.as_str()), &mut native.outbox);
        self.core.trace(routed);
    }

    /// Takes in a message from a native proxy.
    pub fn receive_from_native(&mut self, index: HopIndex, message: Message) {
        if matches!(self.core.hops[index].life, Life::Runs | Life::Busy) {
            match message.kind() {
                Kind::Request => self.native_asks(index, message),
                Kind::Notification => self.native_tells(index, message),
                Kind::Result | Kind::Error => self.native_answers(index, message),
            }
        }
    }

    fn native_asks(&mut self, index: HopIndex, message: Message) {
        // A request has an id.
        let id = message.id().unwrap_or_else(Id::null);
        let Some(native) = self.core.hops[index].native() else {
            return;
        };
        let said = of_a_proxy(message, self.core.successor(index)).and_then(|(to, message)| {
            let charge = admit(&id, &message, &native.open, &native.kept)?;
            Ok((to, message, charge))
        });
        let (to, message, charge) = match said {
            Ok(said) => said,
            Err(error) => return self.refuse_native(index, &id, &error),
        };
        let message = self.core.scope_of_native(index, message);
        let begins = to == Peer::Agent && &**message.method() == INITIALIZE;
        if begins && let Some(native) = self.core.hops[index].native_mut() {
            match (&mut native.introduction, &native.capabilities) {
                // The others have begun their work long since.
                (Some(introduction), Some(known)) if introduction.is_repeated => {
                    return known.write(Some(id.as_str()), &mut native.outbox);
                }
                (Some(introduction), _) => introduction.routed = None,
                (None, _) => {}
            }
        }
        let route = self.core.route(message.session());
        let Some(at) = route.position(index) else {
            return;
        };
        let origin = Origin::Native(index, id.clone());
        let number = self
            .core
            .exchanges
            .open(origin, to, route.clone(), &message, Some(charge));
        if let Some(native) = self.core.hops[index].native_mut() {
            native.open.insert(id, number);
        }
        let mut routed = Routed::new(message, route, at, to);
        routed.exchange = Some(number);
        if is_mcp(&routed.method) {
            return self.native_speaks_mcp(index, routed);
        }
        self.set_out(routed, Provider::Proxy(index));
    }

    fn native_tells(&mut self, index: HopIndex, message: Message) {
        let (to, message) = match of_a_proxy(message, self.core.successor(index)) {
            Ok(said) => said,
            Err(error) => return self.core.note_discarded_of_native(index, &error.message),
        };
        if &**message.method() == CANCEL {
            // Whichever way it was sent: the id is that of a request of its own.
            let Some(native) = self.core.hops[index].native() else {
                return;
            };
            return match withdrawn(&native.open, &message) {
                Ok(Some((number, cancel))) => self.withdraw(number, cancel),
                // The answer and the cancellation crossed.
                Ok(None) => tracing::debug!("a {CANCEL} of a proxy came too late"),
                Err(NamesNone) => {
                    self.core.note_discarded_of_native(
                        index,
                        &format!("a {CANCEL} that names no request"),
                    );
                }
            };
        }
        let route = self.core.route(message.session());
        let Some(at) = route.position(index) else {
            return;
        };
        let routed = Routed::new(message, route, at, to);
        match is_mcp(&routed.method) {
            true => self.native_speaks_mcp(index, routed),
            false => self.travel(routed),
        }
    }

    fn native_answers(&mut self, index: HopIndex, message: Message) {
        let id = message.id().unwrap_or_else(Id::null);
        let Some(number) = self.core.awaited_of_native(index, &id) else {
            let id = quote(id.as_str(), MAX_QUOTE);
            return self.core.note_discarded_of_native(
                index,
                &format!("a response to no open request: id {id}"),
            );
        };
        let Some(native) = self.core.hops[index].native_mut() else {
            return;
        };
        let introduction = native.introduction.as_ref();
        if introduction.is_some_and(|introduction| introduction.number == number) {
            return self.introduced(index, number, message);
        }
        self.answer_from_native(index, number, message);
    }

    fn answer_from_native(&mut self, index: HopIndex, number: ExchangeId, message: Message) {
        let exchange = self.core.exchanges.get(number);
        let at = exchange.and_then(|exchange| exchange.route.position(index));
        if let Some(at) = at {
            self.answer_at(number, at, message, None);
        }
    }

    /// A line of a native proxy is no message. `answers` is the id of what it may have been the
    /// answer to, `own` that of a request which it may have been.
    pub fn take_malformed_from_native(
        &mut self,
        index: HopIndex,
        error: &Error,
        answers: Option<&Id>,
        own: Option<&Id>,
    ) {
        self.core
            .note_discarded_of_native(index, &format!("a line: {}", error.message));
        if let Some(number) = answers.and_then(|id| self.core.awaited_of_native(index, id)) {
            let (name, why) = (&self.core.hops[index].name, &error.message);
            let text = format!("acp-chain: the answer of the proxy `{name}` is lost: {why}");
            let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
            return self.answer_from_native(index, number, error);
        }
        if let (Some(id), Some(native)) = (own, self.core.hops[index].native_mut()) {
            Message::error(error).write(Some(id.as_str()), &mut native.outbox);
        }
    }

    fn refuse_native(&mut self, index: HopIndex, id: &Id, error: &Error) {
        let reason = &error.message;
        self.core
            .note_discarded_of_native(index, &format!("a request: {reason}"));
        let error = Error::new(error.code, format!("acp-chain: {reason}"));
        if let Some(native) = self.core.hops[index].native_mut() {
            Message::error(&error).write(Some(id.as_str()), &mut native.outbox);
        }
    }

    /// How many bytes wait for native proxies: the most that wait for one of them but this.
    #[must_use]
    pub fn most_for_natives(&self, but: Option<HopIndex>) -> usize {
        self.core.most_for_natives(but)
    }

    /// How many bytes native proxies ever took.
    #[must_use]
    pub fn taken_by_natives(&self) -> u64 {
        self.core
            .peers()
            .map(|(_, native)| native.outbox.taken())
            .sum()
    }

    /// Whether native proxies have yet to answer something.
    #[must_use]
    pub fn waits_for_natives(&self) -> bool {
        let mut open = self.core.exchanges.iter();
        open.any(|(_, exchange)| matches!(exchange.stage, Stage::Native(_)))
    }
}
