//! The versions of a proxy: the one at work, and those that it replaced, as long as they hold messages or have open
//! requests.
//!
//! Invariants: each version has its own numbers, so a number shows its version. At most one version of a proxy is
//! called at a time.

use super::hop::{Hop, Life};
use super::routed::Routed;
use super::swap::{CutShort, Swap};
use acp_chain_channel::{MessageId, Part, Registration};

/// The number of replacements before this version.
pub type Version = u32;

/// The first number of a version. It has more than it can ever use.
pub fn first_of(version: Version) -> MessageId {
    (MessageId::from(version) << 32) + 1
}

/// The version that gave a number.
pub fn version_of(id: MessageId) -> Version {
    Version::try_from(id >> 32).unwrap_or(Version::MAX)
}

/// A replaced version with unfinished work.
pub struct Retired {
    pub version: Version,
    /// `None` while it is being called.
    part: Option<Box<dyn Part>>,
    registration: Registration,
}

/// A new version that is starting. Nothing is called meanwhile.
pub struct Starting {
    pub swap: Swap,
    /// The proxy's state before, restored if that fails.
    pub before: Life,
}

/// The versions of one proxy.
#[derive(Default)]
pub struct Versions {
    /// The one at work.
    pub current: Version,
    /// Those that it replaced, the oldest first.
    pub retired: Vec<Retired>,
    /// The replaced version that is being called, and the current part, which waits for that.
    called: Option<(Version, Box<dyn Part>)>,
    /// Called with the reason when one of those ends early.
    pub cut_short: Option<CutShort>,
    /// The version to replace it as soon as it returns.
    pub wish: Option<Swap>,
    pub starting: Option<Starting>,
}

impl Hop {
    /// Takes out the part of a version, to be called; `None` if the proxy cannot be called, or the version is gone.
    #[inline]
    pub fn take_part(&mut self, version: Version) -> Option<Box<dyn Part>> {
        if version != self.versions.current {
            return self.take_retired(version);
        }
        match std::mem::replace(&mut self.life, Life::Busy) {
            Life::Idle(part) => Some(part),
            other => {
                self.life = other;
                None
            }
        }
    }

    #[cold]
    fn take_retired(&mut self, version: Version) -> Option<Box<dyn Part>> {
        let at_work = self.take_part(self.versions.current)?;
        match self.retired_mut(version).and_then(|one| one.part.take()) {
            Some(retired) => {
                self.versions.called = Some((version, at_work));
                Some(retired)
            }
            None => {
                self.life = Life::Idle(at_work);
                None
            }
        }
    }

    /// A part that was called returns. Returns its version.
    #[inline]
    pub fn put_back(&mut self, part: Box<dyn Part>) -> Version {
        match self.versions.called.is_some() {
            true => self.put_back_retired(part),
            false => {
                self.life = Life::Idle(part);
                self.versions.current
            }
        }
    }

    #[cold]
    fn put_back_retired(&mut self, part: Box<dyn Part>) -> Version {
        let Some((version, at_work)) = self.versions.called.take() else {
            return self.versions.current;
        };
        self.life = Life::Idle(at_work);
        if let Some(retired) = self.retired_mut(version) {
            retired.part = Some(part);
        }
        version
    }

    /// The part of a version, unless one is being called.
    #[inline]
    pub fn part_mut(&mut self, version: Version) -> Option<&mut Box<dyn Part>> {
        if version != self.versions.current {
            return self.retired_mut(version)?.part.as_mut();
        }
        match &mut self.life {
            Life::Idle(part) => Some(part),
            _ => None,
        }
    }

    #[cold]
    fn retired_mut(&mut self, version: Version) -> Option<&mut Retired> {
        let mut all = self.versions.retired.iter_mut();
        all.find(|retired| retired.version == version)
    }

    /// Replaces the current version by a new one.
    pub fn replace(&mut self, new: Box<dyn Part>, registration: Registration) {
        let before = std::mem::replace(&mut self.life, Life::Idle(new));
        let registration = self.register(registration);
        let version = self.versions.current;
        self.versions.current += 1;
        if let Life::Idle(part) = before {
            self.versions.retired.push(Retired {
                version,
                part: Some(part),
                registration,
            });
        }
    }

    /// Whether there is only the current version, and no other is to come.
    pub fn has_one_version(&self) -> bool {
        let versions = &self.versions;
        versions.retired.is_empty() && versions.wish.is_none() && versions.starting.is_none()
    }

    /// Whether a version holds a message, or waits for an answer.
    fn has_something(&self, version: Version) -> bool {
        self.held.values().any(|held| held.version == version)
            || self.asked.keys().any(|id| version_of(*id) == version)
    }

    /// Lets go of replaced versions that have finished.
    #[inline]
    pub fn dismiss(&mut self) {
        if !self.versions.retired.is_empty() {
            self.dismiss_retired();
        }
    }

    #[cold]
    fn dismiss_retired(&mut self) {
        let mut retired = std::mem::take(&mut self.versions.retired);
        retired.retain(|one| one.part.is_none() || self.has_something(one.version));
        self.versions.retired = retired;
    }

    /// The version that sees a message next. A response first passes the versions that subscribed to it and hold
    /// notifications that it waits for: it tells them that no more will come.
    #[inline]
    pub fn reader(&self, routed: &Routed) -> Version {
        self.awaiting(routed).unwrap_or(self.versions.current)
    }

    /// The replaced version that sees a response next.
    #[inline]
    pub fn awaiting(&self, routed: &Routed) -> Option<Version> {
        match self.versions.retired.is_empty() {
            true => None,
            false => self.awaiting_retired(routed),
        }
    }

    #[cold]
    fn awaiting_retired(&self, routed: &Routed) -> Option<Version> {
        if !routed.is_response() {
            return None;
        }
        let waits_for = |version| {
            let mut held = self.held.values();
            held.any(|held| held.version == version && held.holds_up(routed))
        };
        let mut retired = self.versions.retired.iter();
        let next = retired.find(|one| {
            routed.seen.is_none_or(|seen| seen < one.version)
                && waits_for(one.version)
                && self.wanted(&one.registration, routed).is_some()
        });
        next.map(|one| one.version)
    }

    /// What a version declares.
    #[inline]
    pub fn registration_of(&self, version: Version) -> &Registration {
        match version == self.versions.current {
            true => self.registration(),
            false => self.retired_registration(version),
        }
    }

    #[cold]
    fn retired_registration(&self, version: Version) -> &Registration {
        let mut retired = self.versions.retired.iter();
        let retired = retired.find(|retired| retired.version == version);
        retired.map_or(self.registration(), |retired| &retired.registration)
    }
}
