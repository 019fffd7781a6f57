//! What the trace gets, if there is one.

use super::core::Core;
use crate::exchange::{ExchangeId, Origin, Stage};
use crate::route::{HopIndex, Place};
use crate::routed::Routed;
use crate::trace::{About, HOST, Leg, Trace};
use acp_chain_channel::Action;
use acp_chain_rpc::Kind;

impl Core {
    /// A message has come from one part to the next.
    pub(super) fn trace(&mut self, routed: &Routed) {
        self.trace_leg(routed, routed.from, Some(routed.at));
    }

    /// What somebody said, before the host makes something else of it.
    pub(super) fn trace_said(&mut self, routed: &Routed) {
        self.trace_leg(routed, routed.at, None);
    }

    fn trace_leg(&mut self, routed: &Routed, from: usize, to: Option<usize>) {
        self.with_trace(|router, trace| {
            let exchange = routed
                .exchange
                .and_then(|number| router.exchanges.get(number));
            let part = |at| router.part(routed.route.place(at));
            trace.crossed(&Leg {
                from: part(from),
                to: to.map_or(HOST, part),
                id: exchange.and_then(|exchange| own_id(&exchange.origin)),
                about: about(routed),
                message: &routed.message,
            });
        });
    }

    /// A request is withdrawn.
    pub(super) fn trace_cancel(&mut self, number: ExchangeId) {
        self.with_trace(|router, trace| {
            let Some(exchange) = router.exchanges.get(number) else {
                return;
            };
            let Some(cancel) = &exchange.cancel else {
                return;
            };
            let from = match exchange.origin {
                Origin::Edge(peer, _) => router.part(Place::Edge(peer)),
                Origin::Hop(index, _) | Origin::Native(index, _) => router.part(Place::Hop(index)),
                _ => HOST,
            };
            let to = match exchange.stage {
                Stage::Held(index, _) | Stage::Native(index) => router.part(Place::Hop(index)),
                Stage::Out => router.part(Place::Edge(exchange.toward)),
                _ => HOST,
            };
            trace.crossed(&Leg {
                from,
                to,
                id: own_id(&exchange.origin),
                about: About {
                    request: Some(number),
                    method: cancel.method(),
                    session: exchange.session.as_deref(),
                },
                message: cancel,
            });
        });
    }

    /// What a proxy decided about a message.
    pub(super) fn trace_decision(&mut self, index: HopIndex, routed: &Routed, action: &Action) {
        let decision = match action {
            Action::Forward => "forward",
            Action::Replace(_) => "change",
            Action::Answer(answer) if answer.kind() == Kind::Error => "refuse",
            Action::Answer(_) => "answer",
            Action::Discard => "discard",
            Action::Hold => "hold",
        };
        self.with_trace(|router, trace| {
            trace.decided(&router.hops[index].name, decision, about(routed), None);
        });
    }

    /// A proxy could not decide about a message.
    pub(super) fn trace_failure(&mut self, index: HopIndex, routed: &Routed, why: &str) {
        self.with_trace(|router, trace| {
            trace.decided(&router.hops[index].name, "fail", about(routed), Some(why));
        });
    }

    fn with_trace(&mut self, write: impl FnOnce(&Self, &mut Trace)) {
        // It is moved out and in only where there is one: every message comes by here.
        if self.trace.is_some()
            && let Some(mut trace) = self.trace.take()
        {
            write(self, &mut trace);
            self.trace = Some(trace);
        }
    }

    fn part(&self, place: Place) -> &str {
        match place {
            Place::Edge(peer) => peer.as_str(),
            Place::Hop(index) => &self.hops[index].name,
        }
    }
}

fn about(routed: &Routed) -> About<'_> {
    About {
        request: routed.exchange,
        method: &routed.method,
        session: routed.session().map(|session| &**session),
    }
}

/// The id that whoever asked has given a request.
fn own_id(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Edge(_, id) | Origin::Native(_, id) | Origin::Link(_, id) => Some(id.as_str()),
        _ => None,
    }
}
