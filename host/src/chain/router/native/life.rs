//! How native proxies begin their work, break, and begin again.
//!
//! A native proxy that was started again is told what the client said first; to the parts behind it
//! that is nothing new, and they do not hear of it.

use crate::chain::exchange::{ExchangeId, Origin, Stage};
use crate::chain::hop::Life;
use crate::chain::native_peer::{Introduction, Order, START_UP};
use crate::chain::route::{HopIndex, Place};
use crate::chain::routed::Routed;
use crate::chain::router::Router;
use crate::chain::router::cancel::new_cancel;
use crate::chain::router::core::Core;
use crate::chain::timers::Timer;
use crate::channel::{Failure, Peer};
use crate::native::Dialect;
use crate::rpc::{Error, Kind, Message, code, member};
use crate::untrusted::{MAX_QUOTE, quote};

impl Core {
    /// Tells a native proxy that it begins.
    pub fn introduce(&mut self, index: HopIndex, number: ExchangeId, routed: Option<Routed>) {
        let due = self.now + START_UP;
        let Some(native) = self.hops[index].native_mut() else {
            return;
        };
        if let Some(routed) = &routed {
            native.initialize = Some(routed.message.clone());
        }
        native.introduce(number);
        let new = Introduction {
            number,
            due,
            is_repeated: routed.is_none(),
            routed,
        };
        let old = native.introduction.replace(new);
        self.timers.set(due, Timer::Introduction(index));
        if let Some(old) = old {
            self.timers.clear(old.due, Timer::Introduction(index));
        }
    }

    /// Whether a message is an answer that its native proxy needs in order to begin again.
    pub fn is_awaited_to_begin(&self, index: HopIndex, routed: &Routed) -> bool {
        routed.home == Some(index)
            && matches!(self.hops[index].life, Life::Busy)
            && self.hops[index].native().is_some()
            && routed.route.place(routed.at) == Place::Hop(index)
    }
}

impl Router {
    /// A native proxy has answered that it begins, or refused to.
    pub(super) fn introduced(&mut self, index: HopIndex, number: ExchangeId, message: Message) {
        let hop = &mut self.core.hops[index];
        let name = hop.name.clone();
        let Some(native) = hop.native_mut() else {
            return;
        };
        let Some(introduction) = &native.introduction else {
            return;
        };
        let (due, is_repeated) = (introduction.due, introduction.is_repeated);
        // What it has passed on, it has understood; then this is the answer of another.
        let has_begun = !is_repeated && introduction.routed.is_none();
        if message.kind() == Kind::Error && !has_begun {
            let tried = native.dialect;
            let is_unknown = member(message.body(), "code") == Some("-32601");
            if is_unknown && !native.is_settled {
                native.dialect = Dialect::Underscore;
                native.is_settled = true;
                tracing::info!(
                    "the proxy `{name}` does not know {}; trying {}",
                    tried.initialize(),
                    native.dialect.initialize()
                );
                return native.introduce(number);
            }
            if is_unknown || is_repeated {
                let reason = match is_unknown {
                    true => format!(
                        "it does not know `{}`, so it is no proxy, or one of another `dialect`",
                        tried.initialize()
                    ),
                    false => format!("it refused `{}`", tried.initialize()),
                };
                return self.proxy_broke(index, &Failure::new(reason));
            }
        }
        native.introduction = None;
        native.is_settled = true;
        let dialect = native.dialect.as_str();
        self.core.timers.clear(due, Timer::Introduction(index));
        tracing::info!("the proxy `{name}` speaks the dialect `{dialect}`");
        if is_repeated {
            self.core.exchanges.remove(number);
            self.core.hops[index].life = Life::Runs;
            self.core.make_ready(index);
            return self.provider_restarted(index);
        }
        self.answer_from_native(index, number, message);
    }

    /// A native proxy ought to have answered by now that it begins.
    pub(in crate::chain::router) fn introduction_is_due(&mut self, index: HopIndex) {
        let now = self.core.now;
        let Some(native) = self.core.hops[index].native_mut() else {
            return;
        };
        let Some(introduction) = &mut native.introduction else {
            return;
        };
        if native.open.is_empty() {
            let (method, limit) = (native.dialect.initialize(), START_UP.as_secs());
            let reason = format!("it did not answer `{method}` within {limit} s");
            return self.proxy_broke(index, &Failure::new(reason));
        }
        // It is others that it waits for.
        introduction.due = now + START_UP;
        self.core
            .timers
            .set(now + START_UP, Timer::Introduction(index));
    }

    /// The program of a native proxy runs again, or does not.
    pub fn launched(&mut self, index: HopIndex, launched: Result<(), Failure>) {
        if let Err(failure) = launched {
            return self.proxy_broke(index, &failure);
        }
        let hop = &mut self.core.hops[index];
        let initialize = hop.native().and_then(|native| native.initialize.clone());
        let Some(initialize) = initialize else {
            hop.life = Life::Runs;
            return self.core.make_ready(index);
        };
        // What waits for it goes on waiting until it has begun.
        let route = self.core.route(None);
        let number =
            self.core
                .exchanges
                .open(Origin::Introduction, Peer::Agent, route, &initialize, None);
        self.core.exchanges.stage(number, Stage::Native(index));
        self.core.introduce(index, number, None);
    }

    /// The program of a native proxy has ended.
    pub fn native_broke(&mut self, index: HopIndex, failure: &Failure) {
        if matches!(self.core.hops[index].life, Life::Runs | Life::Busy) {
            self.proxy_broke(index, failure);
        }
        self.end_due();
    }

    /// Ends a native proxy that does not keep up.
    pub fn native_stalled(&mut self, index: HopIndex) {
        self.core
            .end_soon(index, "it does not read what it is sent");
        self.end_due();
    }

    /// Cuts off a native proxy that broke: what it was asked is answered, what it asked withdrawn.
    pub(in crate::chain::router) fn cut(&mut self, index: HopIndex, failure: &Failure) {
        let hop = &mut self.core.hops[index];
        let name = hop.name.clone();
        let Some(native) = hop.native_mut() else {
            return;
        };
        native.outbox.clear();
        let introduction = native.introduction.take();
        let mut own: Vec<_> = native.open.drain().map(|(_, number)| number).collect();
        own.sort_unstable();
        self.core.orders.push(Order::End(index));
        let mut first = None;
        if let Some(introduction) = introduction {
            self.core
                .timers
                .clear(introduction.due, Timer::Introduction(index));
            first = introduction.routed;
        }
        for number in own {
            self.withdraw(number, new_cancel());
        }
        let staged = self.core.exchanges.iter();
        let staged = staged.filter(|(_, exchange)| exchange.stage == Stage::Native(index));
        let mut staged: Vec<_> = staged.map(|(number, _)| number).collect();
        staged.sort_unstable();
        for number in staged {
            // It went no further, so it may go on if the user wants that.
            if let Some(routed) = first.take_if(|routed| routed.exchange == Some(number)) {
                self.fail(index, routed, &failure.to_string());
                continue;
            }
            let Some(exchange) = self.core.exchanges.get(number) else {
                continue;
            };
            let method = quote(&exchange.method, MAX_QUOTE);
            let text = format!("acp-chain: the proxy `{name}` failed on {method}: {failure}");
            let error = Error::new(code::INTERNAL_ERROR, text);
            self.answer_from_native(index, number, Message::error(&error));
        }
    }
}
