//! Proxies that fail: what becomes of the message, of all else that they had, and of them.

use tokio::time::Instant;

use super::Router;
use super::calls::Work;
use super::cancel::new_cancel;
use crate::chain::exchange::Stage;
use crate::chain::hop::{Item, Life, Runtime};
use crate::chain::native_peer::Order;
use crate::chain::route::HopIndex;
use crate::chain::routed::Routed;
use crate::chain::timers::Timer;
use crate::channel::{Event, Failure, MessageId, Started};
use crate::rpc::{Error, Kind, Message, code};
use crate::untrusted::{MAX_QUOTE, quote};

impl Router {
    /// Ends a message that its proxy could not decide. What the proxy was to guard does not pass
    /// it unguarded, unless the user wants that.
    pub(super) fn fail(&mut self, index: HopIndex, mut routed: Routed, reason: &str) {
        routed.from = routed.at;
        self.core.trace_failure(index, &routed, reason);
        let hop = &mut self.core.hops[index];
        let name = &hop.name;
        let method = quote(&routed.method, MAX_QUOTE);
        let text = format!("the proxy `{name}` failed on {method}: {reason}");
        let passes = hop.lets_pass(&routed);
        hop.refused += 1;
        if hop.refused.is_power_of_two() {
            let fate = if passes {
                "goes on unchanged"
            } else {
                "is refused"
            };
            let count = hop.refused;
            tracing::error!(count, "{text}; it {fate}: {}", describe(&routed));
        }
        if passes {
            if let Some(number) = routed.exchange
                && !routed.is_response()
            {
                self.core.exchanges.stage(number, Stage::Moving);
            }
            return self.depart(index, routed);
        }
        let error = Message::error(&Error::new(
            code::INTERNAL_ERROR,
            format!("acp-chain: {text}"),
        ));
        if routed.is_response() {
            routed.message = error;
            self.depart(index, routed);
        } else {
            self.answer_here(routed, error);
        }
    }

    pub(super) fn end_due(&mut self) {
        while let Some(index) = self.core.due_to_end.pop() {
            let hop = &mut self.core.hops[index];
            if (!matches!(hop.life, Life::Busy) || hop.native().is_some())
                && let Some(failure) = hop.ending.take()
            {
                self.proxy_broke(index, &failure);
            }
        }
    }

    /// A proxy broke: what it had goes the way of its policy, what it asked is withdrawn, and it is
    /// started again or given up.
    pub(super) fn proxy_broke(&mut self, index: HopIndex, failure: &Failure) {
        self.report(index, failure);
        let hop = &mut self.core.hops[index];
        if let Life::Idle(part) = &mut hop.life {
            hop.next_number = part.allot();
        }
        let restart = match hop.terms.on_failure.restarts() {
            true => hop.breaker.trip(self.core.now),
            false => None,
        };
        hop.life = Life::Down;
        self.core
            .tell_failure(index, &failure.reason, restart.is_some());
        if let Some(at) = restart {
            self.core.timers.set(at, Timer::Restart(index));
        }

        let hop = &mut self.core.hops[index];
        for (id, held) in &hop.held {
            self.core
                .timers
                .clear(held.until, Timer::Expire(index, *id));
        }
        let had = hop.give_up();
        let asked: Vec<_> = hop.asked.drain().map(|(_, number)| number).collect();
        for number in asked {
            self.withdraw(number, new_cancel());
        }
        self.cut(index, failure);
        let reason = failure.to_string();
        for routed in had {
            self.fail(index, routed, &reason);
        }
        self.release(index);
        if restart.is_none() {
            // Only now: what it had is settled as when it broke before.
            let hop = &mut self.core.hops[index];
            hop.life = Life::Ended(failure.reason.clone());
            if hop.terms.on_failure.ends_open() {
                hop.subscribe(Vec::new());
            }
        }
        self.core.make_ready(index);
    }

    /// Writes down all that is known of a failure.
    fn report(&self, index: HopIndex, failure: &Failure) {
        let hop = &self.core.hops[index];
        let at = match &hop.in_hand {
            Some((_, routed)) => format!(" at {}", describe(routed)),
            None => String::new(),
        };
        let (name, reason, details) = (&hop.name, &failure.reason, failure.details());
        tracing::error!("the proxy `{name}` broke{at}: {reason}{details}");
        if let Life::Idle(part) = &hop.life {
            tracing::info!("the proxy `{name}` until then: {:?}", part.tally());
        }
    }

    /// Starts a proxy that broke again.
    pub(super) fn restart(&mut self, index: HopIndex) {
        let hop = &mut self.core.hops[index];
        if matches!(hop.life, Life::Down) {
            hop.life = Life::Busy;
            tracing::info!("the proxy `{}` is started again", hop.name);
            match &hop.runtime {
                Runtime::Component(source) => {
                    let starting = source.start(hop.next_number, hop.saved.clone());
                    self.set_to_work(index, Work::Start(starting));
                }
                Runtime::Native(_) => self.core.orders.push(Order::Launch(index)),
            }
        }
    }

    /// Goes on with what came of a restart.
    pub(super) fn restarted(&mut self, index: HopIndex, started: Result<Started, Failure>) {
        match started {
            Ok(Started { part, registration }) => {
                let hop = &mut self.core.hops[index];
                hop.life = Life::Idle(part);
                hop.subscribe(registration.subscriptions);
                self.core.make_ready(index);
                self.component_restarted(index);
                self.provider_restarted(index);
            }
            Err(failure) => self.proxy_broke(index, &failure),
        }
    }

    /// Takes a message from a proxy that has held it for too long.
    pub(super) fn expire(&mut self, index: HopIndex, id: MessageId) {
        let Some(routed) = self.core.let_go(index, id) else {
            return;
        };
        if let Life::Idle(part) = &mut self.core.hops[index].life {
            part.take_away(id);
        }
        self.fail(index, routed, "it held it for too long");
        self.release(index);
        // What it has asked for it, it withdraws.
        self.call(index, Event::Cancel(id));
    }

    /// Does what is due by now.
    pub fn advance(&mut self, now: Instant) {
        self.core.now = now;
        while let Some(timer) = self.core.timers.due(now) {
            match timer {
                Timer::Restart(index) => self.restart(index),
                Timer::Introduction(index) => self.introduction_is_due(index),
                Timer::Expire(index, id) => {
                    // In its turn, for the proxy may be about to settle it.
                    self.core.hops[index].inbox.push_front(Item::Expired(id));
                    self.core.make_ready(index);
                }
            }
        }
    }

    /// When there is something to [`Router::advance`] to.
    #[must_use]
    pub fn next_timer(&self) -> Option<Instant> {
        self.core.timers.next()
    }

    /// Writes down what the proxies did that they had no right to.
    pub fn log_tallies(&self) {
        for hop in &self.core.hops {
            if let Life::Idle(part) = &hop.life {
                let (tally, refused) = (part.tally(), hop.refused);
                tracing::info!("the proxy `{}`: failed on {refused}; {tally:?}", hop.name);
            }
        }
    }
}

/// What a message is, without what it says.
fn describe(routed: &Routed) -> String {
    let kind = match routed.message.kind() {
        Kind::Request => "the request",
        Kind::Notification => "the notification",
        Kind::Result => "the answer to",
        Kind::Error => "the error for",
    };
    let session = match routed.session() {
        Some(session) => format!(r#" of session "{}""#, quote(session, MAX_QUOTE)),
        None => String::new(),
    };
    let (method, sender) = (
        quote(&routed.method, MAX_QUOTE),
        routed.toward.opposite().as_str(),
    );
    let size = routed.message.len();
    format!(r#"{kind} "{method}" of {size} bytes from the {sender}{session}"#)
}
