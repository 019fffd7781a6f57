//! A dry run: proxies are called as always, and nothing that they do has an effect. What they would have done is in the
//! trace, and the user is told at the end of the turn.
//!
//! Invariants: a message leaves each proxy as it came, as soon as the call with it returns; and a proxy waits for no
//! answer that cannot come, since its own requests fail at once.

use std::fmt::Write;
use std::sync::Arc;

use super::core::Core;
use super::deeds::{Deed, DeedObject, Deeds};
use super::notices::{LONGEST, in_words};
use super::steps::Step;
use super::trace::decision_of;
use crate::clock::Timer;
use acp_chain_channel::{Action, Effect, MessageId, Outcome};
use acp_chain_hops::exchange::Exchange;
use acp_chain_hops::route::HopIndex;
use acp_chain_hops::routed::Routed;
use acp_chain_hops::version::version_of;
use acp_chain_recorder::{About, Decision, Would};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Message, code};

/// How many deeds one notice names.
const MOST_TOLD: usize = 12;

impl Core {
    /// Makes this a dry run. Called before the first message.
    pub(super) fn set_dry_run(&mut self) {
        self.deeds = Some(Box::new(Deeds::new(&self.kept)));
        for hop in &mut self.hops {
            hop.disregard();
        }
    }

    #[inline]
    pub(super) fn is_dry_run(&self) -> bool {
        self.deeds.is_some()
    }

    /// Notes that a proxy, or the host in its place, would not have let a message pass.
    pub(super) fn note_spared(
        &mut self,
        index: HopIndex,
        routed: &Routed,
        would: Would,
        why: Option<&str>,
    ) {
        self.note_deed(index, would, &DeedObject::of(routed), why);
    }

    fn note_deed(&mut self, index: HopIndex, would: Would, object: &DeedObject, why: Option<&str>) {
        self.trace_deed(index, would, object, why);
        // Of a message that it holds, the proxy decides later.
        if would != Would::Hold
            && let Some(deeds) = &mut self.deeds
        {
            deeds.add(index, would, object);
        }
    }

    fn note_sent(&mut self, index: HopIndex, message: &Message) {
        let object = DeedObject {
            kind: message.kind(),
            about: About {
                message: None,
                request: None,
                method: message.method().clone(),
                session: message.session().cloned(),
            },
        };
        self.note_deed(index, Would::Send, &object, None);
    }

    fn take_spared(&mut self, index: HopIndex, id: MessageId) -> Option<DeedObject> {
        let held = self.deeds.as_mut()?.take_held(index, id)?;
        self.clock.clear(Timer::Expire(index, id));
        Some(held)
    }

    /// Takes a message from a proxy that would have held it for too long.
    pub(super) fn expire_spared(&mut self, index: HopIndex, id: MessageId) {
        let Some(object) = self.take_spared(index, id) else {
            return;
        };
        let version = version_of(id);
        self.hops[index].take_away(version, id);
        self.note_deed(index, Would::Expire, &object, None);
        self.steps.push(Step::NotifyTaken(index, version, id));
    }

    /// Notes that the client gets the answer to a prompt. Unless the turn goes on, the user is told what proxies would
    /// have done in it.
    pub(super) fn note_dry_answer(&mut self, prompt: &Exchange) {
        if self.is_dry_run()
            && let Some(session) = &prompt.session
            && self.turns.get_mut(session).is_none()
        {
            self.tell_deeds(session);
        }
    }

    /// Tells the user what proxies would have done, at the end of a turn.
    pub(super) fn tell_deeds(&mut self, session: &Arc<str>) {
        let Some(deeds) = &mut self.deeds else { return };
        let (told, left_out) = deeds.take(session);
        if told.is_empty() {
            return;
        }
        let text = self.deeds_in_words(&told, left_out);
        self.show_notice(session, &quote(&text, LONGEST));
    }

    fn deeds_in_words(&self, deeds: &[Deed], left_out: u64) -> String {
        let told = deeds.iter().take(MOST_TOLD);
        let told: Vec<_> = told.map(|deed| self.deed_in_words(deed)).collect();
        let mut text = format!("in this dry run, {}", told.join("; "));
        let others = left_out.saturating_add(deeds.len().saturating_sub(MOST_TOLD) as u64);
        if others > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "; and {others} more");
        }
        text.push('.');
        text
    }

    fn deed_in_words(&self, deed: &Deed) -> String {
        let (what, rest) = match deed.would {
            Would::Change => ("changed", ""),
            Would::Refuse => ("refused", ""),
            Would::Answer => ("answered", ""),
            Would::Discard => ("dropped", ""),
            Would::Fail => ("failed on", ""),
            Would::Hold => ("held", ""),
            Would::Expire => ("held", " for too long"),
            Would::Send => ("sent", ""),
            Would::Unknown => ("handled", ""),
        };
        let kind = in_words(deed.kind);
        let (name, method) = (self.hops[deed.hop].title(), quote(&deed.method, MAX_QUOTE));
        let often = match deed.count {
            1 => String::new(),
            count => format!(" ({count} times)"),
        };
        format!("{name} would have {what} {kind} `{method}`{rest}{often}")
    }
}

/// What is carried out of an effect: only what no other part notices, and requests, which are then [refused](error).
pub(super) fn spared(core: &mut Core, index: HopIndex, effect: Effect) -> Option<Effect> {
    match effect {
        Effect::Request { ref message, .. } => {
            core.note_sent(index, message);
            Some(effect)
        }
        Effect::Notify { message, .. } => {
            core.note_sent(index, &message);
            None
        }
        Effect::Settle { id, action } => {
            let object = core.take_spared(index, id);
            if let (Some(object), Some(would)) = (object, would_of(&action)) {
                core.note_deed(index, would, &object, None);
            }
            None
        }
        Effect::Fail { id, reason } => {
            if let Some(object) = core.take_spared(index, id) {
                core.note_deed(index, Would::Fail, &object, Some(&reason));
            }
            None
        }
        // It offers nothing, so there are no calls.
        Effect::Ask { .. } | Effect::Progress { .. } | Effect::Changed(_) => None,
        Effect::Cancel { .. }
        | Effect::Wake { .. }
        | Effect::Load { .. }
        | Effect::Store { .. } => Some(effect),
    }
}

/// The answer to a proxy's own request.
pub(super) fn error() -> Error {
    let text = "acp-chain: the request is not sent: this is a dry run, in which proxies do nothing";
    Error::new(code::INTERNAL_ERROR, text)
}

/// The outcome of a call: the message goes on unchanged, unless the proxy broke.
pub(super) fn decided(core: &mut Core, index: HopIndex, outcome: Outcome) -> Outcome {
    let (would, why) = match &outcome {
        Outcome::Told | Outcome::Broke(_) => return outcome,
        Outcome::Decided(action) => (would_of(action), None),
        Outcome::Refused(reason) => (Some(Would::Fail), Some(&**reason)),
    };
    let Some(would) = would else { return outcome };
    let in_hand = core.hops[index].in_hand();
    let Some((id, object)) = in_hand.map(|(id, routed)| (*id, DeedObject::of(routed))) else {
        return outcome;
    };
    core.note_deed(index, would, &object, why);
    if would == Would::Hold {
        let time = core.hops[index].terms().limits.hold_time;
        core.clock.set_after(time, Timer::Expire(index, id));
        if let Some(deeds) = &mut core.deeds {
            deeds.hold(index, id, object);
        }
    }
    Outcome::Decided(Action::Forward)
}

/// What a proxy would have done by an action; `None` if the message would have passed.
fn would_of(action: &Action) -> Option<Would> {
    match decision_of(action) {
        Decision::Change => Some(Would::Change),
        Decision::Refuse => Some(Would::Refuse),
        Decision::Answer => Some(Would::Answer),
        Decision::Discard => Some(Would::Discard),
        Decision::Hold => Some(Would::Hold),
        Decision::Forward | Decision::Fail | Decision::Expire | Decision::Unknown => None,
    }
}
