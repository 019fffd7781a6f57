//! What proxies did and decided, carried out.

use std::sync::Arc;

use super::Router;
use super::cancel::new_cancel;
use crate::chain::exchange::{Origin, Stage};
use crate::chain::hop::Item;
use crate::chain::parcel::{HopIndex, Parcel, Route};
use crate::channel::{Action, Effect, MessageId};
use crate::rpc::{Error, Message, code};

impl Router {
    pub(super) fn apply(&mut self, index: HopIndex, effect: Effect) {
        match effect {
            Effect::Request { id, to, message } => {
                let Some((route, at)) = self.stand(index, &message) else {
                    return;
                };
                let number = self.open(Origin::Hop(index, id), to, route, &message);
                self.hops[index].asked.insert(id, number);
                self.send_request(number, at, message);
            }
            Effect::Notify { to, message } => {
                let Some((route, at)) = self.stand(index, &message) else {
                    return;
                };
                self.travel(Parcel::new(message, route, at, to));
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

    /// The way of a proxy's own message, and where on it the proxy stands.
    fn stand(&self, index: HopIndex, message: &Message) -> Option<(Route, usize)> {
        let route = self.route(message.session());
        let at = route.position(index)?;
        Some((route, at))
    }

    /// Does with a message what its proxy decided.
    pub(super) fn act(
        &mut self,
        index: HopIndex,
        id: MessageId,
        mut parcel: Parcel,
        action: Action,
    ) {
        parcel.from = parcel.at;
        if let Some(number) = parcel.exchange
            && !parcel.is_response()
        {
            self.stage(number, Stage::Moving);
        }
        match action {
            Action::Forward => self.depart(index, parcel),
            Action::Replace(body) => {
                let old = parcel.session().cloned();
                parcel.message = parcel.message.with_body(&body);
                self.note_session(&parcel, old);
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

    /// Remembers where a request got another session, so that its answer travels in the line of
    /// the session that it has on each leg.
    fn note_session(&mut self, parcel: &Parcel, old: Option<Arc<str>>) {
        let new = parcel.session();
        if parcel.is_response() || new == old.as_ref() {
            return;
        }
        let exchange = parcel
            .exchange
            .and_then(|number| self.exchanges.get_mut(&number));
        if let Some(exchange) = exchange {
            if exchange.renamed.is_empty() {
                let origin = exchange.route.edge(parcel.toward.opposite());
                exchange.renamed.push((origin, old));
            }
            exchange.renamed.push((parcel.at, new.cloned()));
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
    pub(super) fn refuse(&mut self, index: HopIndex, mut parcel: Parcel, reason: &str) {
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
    pub(super) fn bury(&mut self, index: HopIndex, reason: &str) {
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
