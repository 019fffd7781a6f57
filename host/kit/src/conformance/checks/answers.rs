//! Whether each request gets one answer, and nothing is held forever.

use crate::conformance::excerpt::{name, shown};
use crate::conformance::finding::{Finding, first};
use crate::conformance::play::Play;
use crate::conformance::traffic::{Exchange, requests};
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let played = under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        let mut turns = Turns::begin(play, under_test.traffic(), 2).await?;
        for _ in 0..2 {
            turns.turn(play).await?;
        }
        let mut asks = std::mem::take(&mut turns.asks);
        for method in requests() {
            for exchange in [Exchange::least(method), turns.traffic.exchange(method)] {
                let from = exchange.sender();
                if exchange.declares_servers() {
                    continue;
                }
                let ask = play.ask(from, &method.name, &exchange.params()).await?;
                asks.push(ask);
                play.rest().await?;
                for asked in play.take(from.opposite(), &method.name) {
                    let outcome = exchange.outcome().unwrap_or(Ok("{}".to_owned()));
                    play.answer(from.opposite(), &asked, &outcome).await?;
                }
                play.rest().await?;
            }
        }
        // Requests that wait are answered only after the host has taken back all held messages.
        turns.end(play).await?;
        let state = play.seen.lock();
        let taken = state.taken.first().and_then(|at| state.calls.get(*at));
        let found = taken.map(|held| {
            let what = format!("it holds {} until its `hold-time` has run out", name(held));
            Finding::failure(what).with_case(shown(held))
        });
        drop(state);
        found.map_or(Ok(()), Err)?;
        Ok(play.check_answers(&asks)?)
    });
    first(played)
}
