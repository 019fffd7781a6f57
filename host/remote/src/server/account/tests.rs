use super::*;
use crate::server::limits::Files;
use crate::server::shares::TurnLimits;

/// An account with this many sessions.
pub fn account(sessions: usize) -> Account {
    of(sessions, usize::MAX)
}

/// An account with this many turns at once.
pub fn with_turns(turns: usize) -> Account {
    of(1, turns)
}

fn of(sessions: usize, turns: usize) -> Account {
    let limits = Limits {
        connections: 1,
        connections_per_user: 1,
        sessions_per_user: sessions,
        bodies_per_user: usize::MAX,
        turns,
        pace: NonZeroU64::new(1000),
        files: Files {
            all: usize::MAX,
            of_chain: 1,
        },
    };
    let turns = Arc::new(FairTurns::new(limits.turns));
    let shares = Arc::new(TurnShares::new(TurnLimits::default()));
    Account::new(&limits, turns, shares)
}

#[test]
fn a_burst_of_one_second_passes_and_more_is_delayed() {
    let account = account(1);
    assert!(account.is_even());
    assert_eq!(account.pause(1000), Duration::ZERO);
    // Earlier data counts, from any client of the user.
    let pause = account.pause(60_000);
    let expected = Duration::from_secs(59)..=Duration::from_mins(1);
    assert!(expected.contains(&pause), "{pause:?}");
    assert!(account.pause(0) <= pause && !account.is_even());
}

#[test]
fn a_closed_session_makes_room_for_another() {
    let account = account(1);
    let permit = account.permit();
    assert!(permit.is_some() && account.permit().is_none());
    drop(permit);
    assert!(account.permit().is_some());
}
