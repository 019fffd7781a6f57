//! The turns of a connection, tracked by its messages.
//!
//! In version 1, the answer to a prompt ends its turn (v1, Prompt Turn). From version 2 on, the answer only confirms
//! that the agent has the prompt. The agent then reports when it works in a session, also without a prompt, and the
//! turn ends when the agent is idle (v2, Prompt Lifecycle). An error ends a turn in either version, and so does an
//! answer with a stop reason.

use alloc::collections::BTreeMap;
use core::borrow::Borrow;

/// The first version in which the answer to a prompt does not end its turn.
pub const ACKNOWLEDGED: u64 = 2;

/// The turns that go on after their prompts are answered: at most one in each session, with the caller's data about it.
#[derive(Clone, Debug)]
pub struct Turns<S, T> {
    acknowledges: bool,
    running: BTreeMap<S, T>,
}

/// The state of a turn after the answer to its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnState<T> {
    /// The turn has ended.
    Over(T),
    /// The turn goes on.
    Runs,
    /// The prompt joins the turn that runs in its session.
    Joins(T),
}

impl<S: Ord, T> Turns<S, T> {
    /// No turns, under the rules of version 1.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            acknowledges: false,
            running: BTreeMap::new(),
        }
    }

    /// Sets the version that client and agent have negotiated.
    pub const fn agree(&mut self, version: u64) {
        self.acknowledges = version >= ACKNOWLEDGED;
    }

    /// Whether turns go on after their prompts are answered.
    #[must_use]
    pub const fn acknowledges(&self) -> bool {
        self.acknowledges
    }

    /// Notes that a prompt is answered. `says_end` tells whether the answer is an error or has a stop reason, which
    /// ends the turn.
    pub fn answer(&mut self, session: S, turn: T, says_end: bool) -> TurnState<T> {
        if says_end || !self.acknowledges {
            return TurnState::Over(turn);
        }
        if self.running.contains_key(&session) {
            return TurnState::Joins(turn);
        }
        self.running.insert(session, turn);
        TurnState::Runs
    }

    /// Notes that the agent works in a session. If a turn begins with that, the result of `begin` is kept; `None` keeps
    /// no turn.
    pub fn work(&mut self, session: S, begin: impl FnOnce() -> Option<T>) {
        if self.acknowledges && !self.running.contains_key(&session) {
            self.running.extend(begin().map(|turn| (session, turn)));
        }
    }

    /// Notes that the agent is idle in a session, or that the session ends. Returns the turn that has ended.
    pub fn end<Q: Ord + ?Sized>(&mut self, session: &Q) -> Option<T>
    where
        S: Borrow<Q>,
    {
        self.running.remove(session)
    }

    /// Ends all turns, as the connection ends.
    pub fn clear(&mut self) {
        self.running.clear();
    }

    /// The turn that runs in a session.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, session: &Q) -> Option<&T>
    where
        S: Borrow<Q>,
    {
        self.running.get(session)
    }

    /// The turn that runs in a session.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, session: &Q) -> Option<&mut T>
    where
        S: Borrow<Q>,
    {
        self.running.get_mut(session)
    }

    /// Whether a turn runs in a session.
    #[must_use]
    pub fn has<Q: Ord + ?Sized>(&self, session: &Q) -> bool
    where
        S: Borrow<Q>,
    {
        self.running.contains_key(session)
    }

    /// The sessions in which turns run.
    pub fn sessions(&self) -> impl Iterator<Item = &S> {
        self.running.keys()
    }

    /// All turns that run.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.running.values()
    }

    /// How many turns run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether no turn runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

impl<S: Ord, T> Default for Turns<S, T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_version_1_the_answer_ends_the_turn_whatever_state_the_agent_reports() {
        let mut turns = Turns::new();
        turns.work("s", || Some(1));
        assert_eq!(turns.answer("s", 2, false), TurnState::Over(2));
        assert!(turns.is_empty());
    }

    #[test]
    fn from_version_2_on_the_agent_ends_the_turn() {
        let mut turns = Turns::new();
        turns.agree(2);
        assert_eq!(turns.answer("s", 1, true), TurnState::Over(1));
        assert_eq!(turns.answer("s", 1, false), TurnState::Runs);
        turns.work("s", || Some(2));
        assert_eq!(turns.answer("s", 3, false), TurnState::Joins(3));
        assert_eq!(turns.end("other"), None);
        assert_eq!(turns.end("s"), Some(1));
        turns.work("s", || None);
        assert!(!turns.has("s"));
        turns.work("s", || Some(4));
        assert_eq!((turns.len(), turns.end("s")), (1, Some(4)));
    }
}
