//! The versions of a proxy: the one at work, and replaced ones that still hold messages or have open requests; which
//! version is called next, and when replaced ones are dropped.
//!
//! Invariant: at most one version of a proxy is called at a time.

use tokio::sync::oneshot;

use super::{Hop, Phase, Runtime};
use crate::member::Terms;
use crate::routed::Routed;
use crate::swap::{EndCallback, Swap};
use crate::version::{Version, first_of};
use acp_chain_channel::limits::OLD_VERSIONS;
use acp_chain_channel::{
    self as channel, Failure, MessageId, Part, Registration, Started, Subscription,
};

/// A replaced version with unfinished work.
struct RetiredVersion {
    version: Version,
    /// `None` while it is being called.
    part: Option<Box<dyn Part>>,
    registration: Registration,
}

/// A new version that is starting. No version is called meanwhile.
struct StartingVersion {
    swap: Swap,
    /// The proxy's phase before the start, restored afterwards.
    before: Phase,
}

/// The versions of one proxy.
#[derive(Default)]
pub(super) struct Versions {
    /// The version at work.
    current: Version,
    /// Replaced versions, the oldest first.
    retired: Vec<RetiredVersion>,
    /// The replaced version that is being called, and the current part, which waits meanwhile.
    called: Option<(Version, Box<dyn Part>)>,
    /// Called with the reason when a replaced version ends early.
    cut_short: Option<EndCallback>,
    /// The newer version to start as soon as the proxy is not busy.
    pending: Option<Swap>,
    starting: Option<StartingVersion>,
}

impl Hop {
    /// Takes out the part of a version, to be called; `None` if the proxy cannot be called, or has no such version.
    #[inline]
    pub fn take_part(&mut self, version: Version) -> Option<Box<dyn Part>> {
        let Phase::Idle(at_work) = &mut self.phase else {
            return None;
        };
        if version != self.versions.current {
            let mut all = self.versions.retired.iter_mut();
            let retired = all.find(|retired| retired.version == version)?;
            let at_work = std::mem::replace(at_work, retired.part.take()?);
            self.versions.called = Some((version, at_work));
        }
        match std::mem::replace(&mut self.phase, Phase::Busy) {
            Phase::Idle(part) => Some(part),
            _ => None,
        }
    }

    /// Takes back a part that was called. Returns its version.
    #[inline]
    pub fn put_back(&mut self, part: Box<dyn Part>) -> Version {
        let Some((version, at_work)) = self.versions.called.take() else {
            self.phase = Phase::Idle(part);
            return self.versions.current;
        };
        self.phase = Phase::Idle(at_work);
        if let Some(retired) = self.retired_mut(version) {
            retired.part = Some(part);
        }
        version
    }

    /// The part of a version; `None` while a part is being called.
    #[inline]
    fn part_mut(&mut self, version: Version) -> Option<&mut Box<dyn Part>> {
        if version != self.versions.current {
            return self.retired_mut(version)?.part.as_mut();
        }
        match &mut self.phase {
            Phase::Idle(part) => Some(part),
            _ => None,
        }
    }

    #[cold]
    fn retired_mut(&mut self, version: Version) -> Option<&mut RetiredVersion> {
        let mut all = self.versions.retired.iter_mut();
        all.find(|retired| retired.version == version)
    }

    /// A version's number for a message: the known one, or the next. `None` while a part is being called.
    #[inline]
    pub fn number(&mut self, version: Version, known: Option<MessageId>) -> Option<MessageId> {
        let part = self.part_mut(version)?;
        Some(known.unwrap_or_else(|| part.allot()))
    }

    /// Whether a replaced version is being called.
    #[inline]
    pub fn is_calling(&self, version: Version) -> bool {
        self.retired(version).is_some_and(|one| one.part.is_none())
    }

    /// Takes a message away from a version that holds it, unless a part is being called.
    pub fn take_away(&mut self, version: Version, id: MessageId) {
        if let Some(part) = self.part_mut(version) {
            part.take_away(id);
        }
    }

    /// The version at work.
    #[inline]
    pub fn version(&self) -> Version {
        self.versions.current
    }

    /// Keeps the state that a version saved, if that is the version at work.
    #[inline]
    pub fn save(&mut self, version: Version, saved: Option<String>) {
        if saved.is_some() && version == self.versions.current {
            self.saved = saved;
        }
    }

    /// Whether this is the user's own proxy of this name.
    #[inline]
    pub fn is_own(&self, name: &str) -> bool {
        self.project.is_none() && self.name == name
    }

    /// Requests the replacement by a newer version. Returns whether it is the first pending one, and accepted.
    pub fn request_swap(&mut self, swap: Swap) -> bool {
        let (declined, why) = match self.runtime {
            Runtime::Component(_) => {
                let earlier = self.versions.pending.replace(swap);
                (earlier, "a newer version came meanwhile")
            }
            Runtime::Native(_) | Runtime::Vacant => (Some(swap), "the proxy is a program"),
        };
        let declined = declined.map(|swap| swap.decline(Failure::new(why)));
        declined.is_none()
    }

    /// Starts the pending newer version, with the last state that the version at work saved.
    pub fn start_newer(&mut self) -> Option<channel::Starting> {
        let swap = self.versions.pending.take()?;
        let first = first_of(self.versions.current + 1);
        let starting = swap.source.start(first, self.saved.clone());
        let before = std::mem::replace(&mut self.phase, Phase::Busy);
        self.versions.starting = Some(StartingVersion { swap, before });
        Some(starting)
    }

    /// Takes the newer version whose start has finished, if there is one, and restores the phase before that start.
    #[inline]
    pub fn take_newer(&mut self) -> Option<Swap> {
        let StartingVersion { swap, before } = self.versions.starting.take()?;
        self.phase = before;
        Some(swap)
    }

    /// Puts in a newer version. Returns the channel on which to report that.
    pub fn put_in(&mut self, swap: Swap, new: Started) -> oneshot::Sender<Result<(), Failure>> {
        let on_failure = swap.on_failure.unwrap_or(new.registration.on_failure);
        let before = std::mem::replace(&mut self.phase, Phase::Idle(new.part));
        let registration = std::mem::replace(&mut self.registration, new.registration);
        if let Phase::Idle(part) = before {
            self.versions.retired.push(RetiredVersion {
                version: self.versions.current,
                part: Some(part),
                registration,
            });
        }
        self.versions.current += 1;
        self.terms = Terms {
            on_failure,
            ..swap.terms
        };
        self.failures.reset(&self.terms.limits);
        self.runtime = Runtime::Component(swap.source);
        self.versions.cut_short = Some(swap.cut_short);
        self.dismiss();
        swap.done
    }

    /// Whether this version was replaced and has unfinished work.
    #[inline]
    pub fn is_retired(&self, version: Version) -> bool {
        self.retired(version).is_some()
    }

    /// The oldest replaced version, if there are too many.
    #[inline]
    pub fn surplus(&self) -> Option<Version> {
        let retired = &self.versions.retired;
        (retired.len() > OLD_VERSIONS).then(|| retired[0].version)
    }

    /// Ends a replaced version early, for this reason.
    pub fn cut_short(&mut self, version: Version, why: &str) {
        if let Some(cut_short) = &self.versions.cut_short {
            cut_short(why);
        }
        self.versions.retired.retain(|one| one.version != version);
    }

    /// Drops all replaced versions, as the proxy broke.
    pub(super) fn drop_retired(&mut self) {
        self.versions.retired.clear();
    }

    /// Whether there is only the current version, and no newer one is pending or starting.
    #[inline]
    pub fn has_one_version(&self) -> bool {
        let versions = &self.versions;
        versions.retired.is_empty() && versions.pending.is_none() && versions.starting.is_none()
    }

    /// Whether a version holds a message, or waits for an answer.
    fn has_unfinished(&self, version: Version) -> bool {
        self.held().any(|(_, held)| held.version == version) || self.requests.has_any_of(version)
    }

    /// Drops replaced versions that have finished their work.
    #[inline]
    pub fn dismiss(&mut self) {
        if self.versions.retired.is_empty() {
            return;
        }
        let mut retired = std::mem::take(&mut self.versions.retired);
        retired.retain(|one| one.part.is_none() || self.has_unfinished(one.version));
        self.versions.retired = retired;
    }

    /// The replaced version that sees a response next, before the version at work. A replaced version sees a response
    /// if it subscribed to it and holds notifications that the response waits for: to the version, the response is
    /// their end.
    #[inline]
    pub fn awaiting(&self, routed: &Routed) -> Option<Version> {
        if self.versions.retired.is_empty() || !routed.is_response() {
            return None;
        }
        let waits_for = |version| {
            self.held()
                .any(|(_, held)| held.version == version && held.holds_up(routed))
        };
        let mut retired = self.versions.retired.iter();
        let next = retired.find(|one| {
            routed.seen.is_none_or(|seen| seen < one.version)
                && waits_for(one.version)
                && self.wanted(&one.registration, routed).is_some()
        });
        next.map(|one| one.version)
    }

    /// The subscription through which a version sees a message.
    #[inline]
    pub fn subscription_of(&self, version: Version, routed: &Routed) -> Option<&Subscription> {
        if version == self.versions.current {
            return self.subscription(routed);
        }
        self.wanted(&self.retired(version)?.registration, routed)
    }

    #[cold]
    fn retired(&self, version: Version) -> Option<&RetiredVersion> {
        let mut all = self.versions.retired.iter();
        all.find(|retired| retired.version == version)
    }
}
