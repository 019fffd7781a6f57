//! Whose turn is next when as many run as may. Each user stands in line once, however many prompts they send: a turn
//! that ends makes room for the first, and no user has two turns before all earlier ones had one.
//!
//! Each replica has a line, since a turn runs where its session is served: a free one elsewhere is of no use to who
//! waits here. With a store, a user who reaches the front is asked about there: who had a turn from another line since
//! coming into this one lets the others pass, once.
//!
//! Nothing is kept for those who wait: they are told when to come again, and their places are kept for a while.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::Mutex;
use tokio::time::Instant;

/// When to come again.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a place in line is kept for a user who does not come again, or who does not begin the turn.
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
    line: VecDeque<Place>,
}

/// A place in line.
#[derive(Debug)]
struct Place {
    user: String,
    /// When the user came, or was put behind the others.
    since: Instant,
    /// Until when the place is kept.
    until: Instant,
    /// Whether the user was put behind the others already.
    has_yielded: bool,
    /// Whether the other replicas know that it is the user's turn.
    is_known: bool,
}

/// A turn that runs. Its end makes room for another one.
#[derive(Debug)]
pub struct TurnPermit(Arc<FairTurns>);

impl State {
    /// Where a user stands in line, if at all.
    fn place(&self, user: &str) -> Option<usize> {
        self.line.iter().position(|place| place.user == user)
    }

    /// Where the user whose turn it is stands in line, if at all; or after how long to come again, with a place in line
    /// until then.
    fn find(&mut self, most: usize, user: &str, now: Instant) -> Result<Option<usize>, Duration> {
        self.line.retain(|place| place.until > now);
        let place = self.place(user);
        let free = most.saturating_sub(self.running);
        // Those in front have a turn each, whenever they come. Their places are kept no longer for that: a user whose
        // prompts are refused for other reasons would hold up the others.
        if place.unwrap_or(self.line.len()) < free {
            return Ok(place);
        }
        match place.and_then(|place| self.line.get_mut(place)) {
            Some(place) => place.until = now + KEPT,
            None => self.line.push_back(Place {
                user: user.to_owned(),
                since: now,
                until: now + KEPT,
                has_yielded: false,
                is_known: false,
            }),
        }
        Err(AGAIN)
    }
}

impl FairTurns {
    /// So many turns at once.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            state: Mutex::default(),
        }
    }

    /// A turn of this user that begins now; or after how long to come again.
    pub fn begin(self: &Arc<Self>, user: &str, now: Instant) -> Result<TurnPermit, Duration> {
        let mut state = self.state.lock();
        if let Some(place) = state.find(self.most, user, now)? {
            state.line.remove(place);
        }
        state.running += 1;
        Ok(TurnPermit(Arc::clone(self)))
    }

    /// For how long a user has stood in line whose turn it is, unless the other replicas know that, or no user had to
    /// wait; or after how long to come again.
    ///
    /// Until the user's place is gone, no user behind it takes the turn.
    pub fn front(&self, user: &str, now: Instant) -> Result<Option<Duration>, Duration> {
        let mut state = self.state.lock();
        let place = state.find(self.most, user, now)?;
        let place = place.and_then(|place| state.line.get(place));
        let place = place.filter(|place| !place.is_known);
        Ok(place.map(|place| now - place.since))
    }

    /// Notes that the other replicas know of the turn of a user, for which this line was waiting.
    pub fn confirm(&self, user: &str) {
        let mut state = self.state.lock();
        let place = state.place(user);
        if let Some(place) = place.and_then(|place| state.line.get_mut(place)) {
            place.is_known = true;
        }
    }

    /// Puts a user behind the others who had a turn from another line meanwhile. A user whose turn it is nevertheless,
    /// or who was put there before, may begin.
    pub fn step_back(&self, user: &str, now: Instant) -> Result<(), Duration> {
        let mut state = self.state.lock();
        let yields = |at: &usize| {
            let place = &state.line[*at];
            !place.has_yielded && !place.is_known
        };
        let at = state.place(user).filter(yields);
        if let Some(place) = at.and_then(|at| state.line.remove(at)) {
            state.line.push_back(Place {
                since: now,
                has_yielded: true,
                ..place
            });
        }
        state.find(self.most, user, now).map(drop)
    }

    /// Removes a user from the line, whose turns may not begin.
    pub fn leave(&self, user: &str) {
        let mut state = self.state.lock();
        if let Some(place) = state.place(user) {
            state.line.remove(place);
        }
    }

    /// How many users stand in line.
    pub fn waiting(&self, now: Instant) -> usize {
        let state = self.state.lock();
        let waits = |place: &&Place| place.until > now;
        state.line.iter().filter(waits).count()
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        self.0.state.lock().running -= 1;
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

    #[test]
    fn nobody_waits_for_a_user_who_has_left_the_line() {
        let turns = Arc::new(FairTurns::new(1));
        let now = Instant::now();
        let first = turns.begin("ann", now).unwrap();
        assert!(turns.begin("bob", now).is_err() && turns.begin("cid", now).is_err());
        drop(first);
        turns.leave("bob");
        assert_eq!(turns.waiting(now), 1);
        drop(turns.begin("cid", now).unwrap());
    }

    #[test]
    fn a_user_who_does_not_begin_a_turn_does_not_hold_up_the_others() {
        let turns = Arc::new(FairTurns::new(1));
        let now = Instant::now();
        let first = turns.begin("ann", now).unwrap();
        for user in ["bob", "cid"] {
            assert_eq!(turns.front(user, now), Err(AGAIN));
        }
        drop(first);
        // It is Bob's turn, and his prompts are refused: he has sent as many as he may.
        let later = now + KEPT / 2;
        assert_eq!(turns.front("bob", later), Ok(Some(KEPT / 2)));
        assert_eq!(turns.front("cid", later), Err(AGAIN));
        assert_eq!(turns.front("cid", now + KEPT), Ok(Some(KEPT)));
        drop(turns.begin("cid", now + KEPT).unwrap());
    }

    #[test]
    fn who_had_a_turn_elsewhere_lets_the_others_pass_once() {
        let turns = Arc::new(FairTurns::new(1));
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        // Who need not wait is not asked about.
        assert_eq!(turns.front("ann", now), Ok(None));
        let first = turns.begin("ann", now).unwrap();
        for user in ["bob", "cid"] {
            assert_eq!(turns.front(user, now), Err(AGAIN));
        }
        drop(first);
        assert_eq!(turns.front("bob", later), Ok(Some(later - now)));
        assert_eq!(turns.step_back("bob", later), Err(AGAIN));
        assert_eq!(turns.front("cid", later), Ok(Some(later - now)));
        turns.confirm("cid");
        assert_eq!(turns.front("cid", later), Ok(None));
        let second = turns.begin("cid", later).unwrap();
        assert_eq!(turns.front("cid", later), Err(AGAIN));
        drop(second);
        // This user is asked about again, and lets no other pass a second time.
        assert_eq!(turns.front("bob", later), Ok(Some(Duration::ZERO)));
        assert_eq!(turns.step_back("bob", later), Ok(()));
        drop(turns.begin("bob", later).unwrap());
        // Where no other user waits, there is none to let pass.
        let third = turns.begin("cid", later).unwrap();
        assert_eq!(turns.front("bob", later), Err(AGAIN));
        drop(third);
        assert_eq!(turns.step_back("bob", later), Ok(()));
    }
}
