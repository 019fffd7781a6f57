//! Which version of a proxy is called next, and when the replaced ones go.
//!
//! Invariant: at most one version of a proxy is called at a time.

use super::hop::Hop;
use super::phase::Phase;
use super::routed::Routed;
use super::version::{Version, version_of};
use super::versions::Retired;
use acp_chain_channel::{Part, Registration};

impl Hop {
    /// Takes out the part of a version, to be called; `None` if the proxy cannot be called, or the version is gone.
    #[inline]
    pub fn take_part(&mut self, version: Version) -> Option<Box<dyn Part>> {
        if version != self.versions.current {
            return self.take_retired(version);
        }
        match std::mem::replace(&mut self.phase, Phase::Busy) {
            Phase::Idle(part) => Some(part),
            other => {
                self.phase = other;
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
                self.phase = Phase::Idle(at_work);
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
                self.phase = Phase::Idle(part);
                self.versions.current
            }
        }
    }

    #[cold]
    fn put_back_retired(&mut self, part: Box<dyn Part>) -> Version {
        let Some((version, at_work)) = self.versions.called.take() else {
            return self.versions.current;
        };
        self.phase = Phase::Idle(at_work);
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
        match &mut self.phase {
            Phase::Idle(part) => Some(part),
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
        let before = std::mem::replace(&mut self.phase, Phase::Idle(new));
        let registration = self.register(registration);
        let version = self.versions.current;
        self.versions.current += 1;
        if let Phase::Idle(part) = before {
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
