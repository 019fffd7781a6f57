//! Whether it keeps the order of the messages of a session.

use super::first;
use crate::conformance::finding::Finding;
use crate::conformance::play::Play;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};

/// How many sessions take turns.
const SESSIONS: usize = 5;

/// How many turns each of them has.
const TURNS: usize = 4;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    first(under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        let mut traffic = under_test.traffic();
        let mut turns = Turns::begin(play, SESSIONS).await?;
        for _ in 0..TURNS {
            turns.turn(play, &mut traffic).await?;
        }
        // What is held longest comes last.
        turns.end(play).await?;
        Ok(play.check_order()?)
    }))
}
