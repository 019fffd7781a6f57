//! What proxies did and decided, carried out.

use super::Router;
use super::cancel::new_cancel;
use super::mcp::{Provider, is_mcp};
use crate::chain::exchange::Stage;
use crate::chain::hop::{Held, Item, Life};
use crate::chain::route::HopIndex;
use crate::chain::routed::Routed;
use crate::chain::timers::Timer;
use crate::channel::{Action, Effect, MessageId, Peer};
use crate::limits::{KEPT, Quantity};
use crate::rpc::{Error, Message, code};

impl Router {
    /// Carries out what a proxy did in a call, in order. What it asks its callers comes last, all at once.
    pub(super) fn apply_all(&mut self, index: HopIndex, effects: Vec<Effect>) {
        let mut asks = Vec::new();
        for effect in effects {
            match effect {
                Effect::Ask { id, call, message } => asks.push((id, call, message)),
                effect => self.apply(index, effect),
            }
        }
        self.component_asks(index, asks);
    }

    fn apply(&mut self, index: HopIndex, effect: Effect) {
        match effect {
            Effect::Request { id, to, message } if is_mcp(message.method()) => {
                self.speak_mcp(index, Some(id), to, message);
            }
            Effect::Notify { to, message } if is_mcp(message.method()) => {
                self.speak_mcp(index, None, to, message);
            }
            Effect::Ask { id, call, message } => {
                self.component_asks(index, vec![(id, call, message)]);
            }
            Effect::Progress { id, progress } => self.call_progress(index, id, &progress),
            Effect::Changed(change) => self.component_changed(index, &change),
            Effect::Request { id, to, message } => {
                let Some((route, at)) = self.core.stand(index, &message) else {
                    return;
                };
                let Some(number) = self.core.open_own(index, id, to, &route, &message) else {
                    return;
                };
                let mut routed = Routed::new(message, route, at, to);
                routed.exchange = Some(number);
                routed.maker = Some(index);
                routed.sealed = self.core.hops[index].is_guard();
                routed.internal = true;
                self.set_out(routed, Provider::Proxy(index));
            }
            Effect::Notify { to, message } => {
                let Some((route, at)) = self.core.stand(index, &message) else {
                    return;
                };
                let mut routed = Routed::new(message, route, at, to);
                routed.maker = Some(index);
                routed.sealed = self.core.hops[index].is_guard();
                routed.internal = true;
                self.travel(routed);
            }
            Effect::Settle { id, action } => {
                if let Some(routed) = self.core.let_go(index, id) {
                    self.act(index, id, routed, action);
                }
            }
            Effect::Fail { id, reason } => {
                if let Some(routed) = self.core.let_go(index, id) {
                    self.fail(index, routed, &reason);
                }
            }
            Effect::Cancel { id } => {
                if let Some(&number) = self.core.hops[index].asked.get(&id) {
                    self.withdraw(number, new_cancel());
                }
            }
        }
    }

    /// A proxy speaks for a server that it has declared. To call the servers of others is not its part.
    fn speak_mcp(&mut self, index: HopIndex, id: Option<MessageId>, to: Peer, message: Message) {
        let Some((route, at)) = self.core.stand(index, &message) else {
            return;
        };
        let number = match id {
            Some(id) => match self.core.open_own(index, id, to, &route, &message) {
                Some(number) => Some(number),
                None => return,
            },
            None => None,
        };
        if to == Peer::Agent {
            return self.hear_provider(Provider::Proxy(index), number, &message);
        }
        let text = "acp-chain: a proxy provides MCP servers to the agent, and calls none itself";
        match number {
            Some(number) => {
                let error = Error::new(code::INVALID_REQUEST, text);
                self.answer_at(number, at - 1, Message::error(&error), None);
            }
            None => self.dropped(&text),
        }
    }

    /// Lets go on what waited for something that a proxy no longer holds.
    pub(super) fn release(&mut self, index: HopIndex) {
        for routed in self.core.hops[index].release() {
            self.travel(routed);
        }
    }

    /// Does with a message what its proxy decided.
    pub(super) fn act(
        &mut self,
        index: HopIndex,
        id: MessageId,
        mut routed: Routed,
        action: Action,
    ) {
        routed.from = routed.at;
        self.core.trace_decision(index, &routed, &action);
        if let Some(number) = routed.exchange
            && !routed.is_response()
        {
            self.core.exchanges.stage(number, Stage::Moving);
        }
        match action {
            Action::Forward => self.depart(index, routed),
            Action::Replace(message) => {
                if !self.note_session(index, &routed, &message) {
                    let reason = "it gives it a session of which more is kept than its limit \
                                  `request-bytes`, or that of all that is kept, lets";
                    return self.fail(index, routed, reason);
                }
                routed.message = match routed.is_response() {
                    true => Self::shown(routed.boundary, routed.toward, message),
                    false => message,
                };
                routed.maker = Some(index);
                routed.sealed |= self.core.hops[index].is_guard();
                routed.canonical = false;
                if let Err(error) = self.adopt(&mut routed, Provider::Proxy(index)) {
                    return self.fail(index, routed, &error.to_string());
                }
                self.depart(index, routed);
            }
            Action::Answer(message) => {
                routed.maker = Some(index);
                let answer = self.core.in_words_of_turns(&routed, message);
                self.answer_here(routed, answer);
            }
            Action::Discard => {}
            Action::Hold => self.hold(index, id, routed),
        }
    }

    /// Remembers where a request got another session, on the account of the proxy that gave it, so
    /// that its answer travels in the line of the session that it has on each leg. Says whether there
    /// is room for that.
    fn note_session(&mut self, index: HopIndex, routed: &Routed, new: &Message) -> bool {
        let (old, new) = (routed.session(), new.session());
        if routed.is_response() || new == old {
            return true;
        }
        let exchange = routed
            .exchange
            .and_then(|number| self.core.exchanges.get_mut(number));
        let Some(exchange) = exchange else {
            return true;
        };
        let length = new.map_or(0, |session| session.len());
        let Some(charge) = self.core.hops[index].kept.charge(length) else {
            return false;
        };
        if exchange.renamed.is_empty() {
            let origin = exchange.route.edge(routed.toward.opposite());
            exchange.renamed.push((origin, old.cloned()));
        }
        exchange.renamed.push((routed.at, new.cloned()));
        exchange.charges.push(charge);
        true
    }

    pub(super) fn answer_here(&mut self, routed: Routed, message: Message) {
        if let Some(number) = routed.exchange {
            self.answer_at(number, routed.at, message, routed.maker);
        }
    }

    fn hold(&mut self, index: HopIndex, id: MessageId, mut routed: Routed) {
        // Its own limit was looked at when it decided.
        routed.charge = self.core.kept.charge(routed.cost());
        if routed.charge.is_none() {
            if let Life::Idle(part) = &mut self.core.hops[index].life {
                part.take_away(id);
            }
            let limit = Quantity::Size.show(KEPT as u64);
            let reason = format!("it holds it, and {limit} are kept for the connection already");
            return self.fail(index, routed, &reason);
        }
        let request = routed.exchange.filter(|_| !routed.is_response());
        let hop = &mut self.core.hops[index];
        let until = self.core.now + hop.terms.limits.hold_time;
        self.core.timers.set(until, Timer::Expire(index, id));
        hop.held.insert(id, Held { routed, until });
        let Some(exchange) = request.and_then(|number| self.core.exchanges.get_mut(number)) else {
            return;
        };
        exchange.stage = Stage::Held(index, id);
        if exchange.cancel.is_some() {
            self.core.hops[index].push(Item::Cancel(id));
        }
    }
}
