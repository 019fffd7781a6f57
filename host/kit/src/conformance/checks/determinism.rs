//! Whether the component reacts to the same messages in the same way each time.

use crate::conformance::excerpt::difference;
use crate::conformance::finding::Finding;
use crate::conformance::play::Play;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};
use acp_chain_channel::Peer;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let (one, other) = match (play(under_test), play(under_test)) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(finding), _) | (_, Err(finding)) => return vec![finding],
    };
    let mut pairs = one.iter().zip(&other);
    let differs = pairs.find(|(one, other)| one != other);
    let what = "it reacts differently to the same messages";
    match differs {
        Some(((to, body), (_, again))) => {
            let gets = format!("{} gets", to.as_str());
            let lines = difference(&gets, "once", body, again);
            vec![Finding::warning(what).with_case(lines)]
        }
        None if one.len() != other.len() => vec![Finding::warning(what)],
        None => Vec::new(),
    }
}

/// The messages that the ends receive in two turns.
fn play(under_test: &UnderTest) -> Result<Vec<(Peer, String)>, Finding> {
    under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        let mut turns = Turns::begin(play, under_test.traffic(), 2).await?;
        for _ in 0..2 {
            turns.turn(play).await?;
        }
        let came = play.marks.iter();
        let came = came.map(|(to, _, message)| (*to, message.body().to_owned()));
        Ok(came.collect())
    })
}
