//! Whose turn is next when as many run as may. Each user stands in line once, however many prompts they send: a turn that
//! ends makes room for the first, and nobody has two turns before all who came earlier had one.
//!
//! Nothing is kept for those who wait: they are told when to come again, and their places are kept for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When to come again.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a place in line is kept for a user who does not come again.
const KEPT: Duration = Duration::from_secs(10);

/// The turns that may run at once.
#[derive(Debug)]
pub struct FairTurns {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// The users in line, and until when their places are kept.
    line: VecDeque<(String, Instant)>,
}

/// A turn that runs. Its end makes room for another one.
#[derive(Debug)]
pub struct TurnPermit(Arc<FairTurns>);

impl FairTurns {
    /// So many turns at once.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn of this user that begins now; or after how long to come again.
    pub fn begin(self: &Arc<Self>, user: &str, now: Instant) -> Result<TurnPermit, Duration> {
        let mut state = self.state();
        state.line.retain(|(_, until)| *until > now);
        let place = state.line.iter().position(|(waiting, _)| waiting == user);
        let free = self.most.saturating_sub(state.running);
        // Those in front have a turn each, whenever they come.
        if place.unwrap_or(state.line.len()) < free {
            if let Some(place) = place {
                state.line.remove(place);
            }
            state.running += 1;
            return Ok(TurnPermit(Arc::clone(self)));
        }
        let until = now + KEPT;
        match place.and_then(|place| state.line.get_mut(place)) {
            Some((_, kept)) => *kept = until,
            None => state.line.push_back((user.to_owned(), until)),
        }
        Err(AGAIN)
    }

    /// How many users stand in line.
    pub fn waiting(&self, now: Instant) -> usize {
        let state = self.state();
        state.line.iter().filter(|(_, until)| *until > now).count()
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_two_turns_before_those_who_came_earlier_had_one() {
        let turns = Arc::new(FairTurns::new(2));
        let now = Instant::now();
        let first = turns.begin("ann", now).unwrap();
        let second = turns.begin("ann", now).unwrap();
        for user in ["ann", "ann", "bob", "cid", "bob"] {
            assert_eq!(turns.begin(user, now).unwrap_err(), AGAIN);
        }
        assert_eq!(turns.waiting(now), 3);
        drop(first);
        // It is Ann's turn, who came first; then Bob's, however often she asks.
        assert!(turns.begin("bob", now).is_err());
        let third = turns.begin("ann", now).unwrap();
        drop(second);
        assert!(turns.begin("ann", now).is_err());
        assert!(turns.begin("cid", now).is_err());
        let fourth = turns.begin("bob", now).unwrap();
        drop((third, fourth));
        // With two free ones, nobody waits for somebody else to come.
        let _fifth = turns.begin("ann", now).unwrap();
        let _sixth = turns.begin("cid", now).unwrap();
        assert_eq!(turns.waiting(now), 0);
    }

    #[test]
    fn a_place_is_kept_for_a_while_only() {
        let turns = Arc::new(FairTurns::new(1));
        let now = Instant::now();
        let first = turns.begin("ann", now).unwrap();
        assert!(turns.begin("bob", now).is_err());
        drop(first);
        assert!(turns.begin("ann", now).is_err());
        let later = now + KEPT;
        assert_eq!(turns.waiting(later), 0);
        drop(turns.begin("ann", later).unwrap());
        drop(turns.begin("bob", later).unwrap());
    }
}
