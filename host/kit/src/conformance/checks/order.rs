//! Whether the component keeps the order of a session's messages.

use crate::conformance::finding::{Finding, first};
use crate::conformance::play::Play;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};

/// The number of sessions that take turns.
const SESSIONS: usize = 5;

/// The number of turns per session.
const TURNS: usize = 4;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    first(under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        let mut turns = Turns::begin(play, under_test.traffic(), SESSIONS).await?;
        for _ in 0..TURNS {
            turns.turn(play).await?;
        }
        // Messages that are held longest come last.
        turns.end(play).await?;
        Ok(play.check_order()?)
    }))
}
