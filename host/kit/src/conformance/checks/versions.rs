//! Whether the component copes with every version of the protocol, and with unknown methods.

use crate::conformance::excerpt::{difference, line};
use crate::conformance::finding::{Finding, first};
use crate::conformance::play::Play;
use crate::conformance::stop::Stop;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};
use acp_chain_channel::{Outcome, Peer};

/// The existing versions, and a possible future one.
const VERSIONS: [u64; 3] = [1, 2, 99];

/// Methods that no version has, and extensions.
const METHODS: [&str; 6] = [
    "_vendor/x",
    "_vendor.example/a/b",
    "vendor/unknown",
    "session/some_day",
    "some_day",
    "_",
];

/// The params of these methods.
const BODIES: [&str; 4] = [
    "{}",
    r#"{"sessionId":"s0","n":[1e400,9007199254740993,0.10],"_meta":{"a":"\ud800"}}"#,
    "[ 1,2 ]",
    r#"{"sessionId":null}"#,
];

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    for version in VERSIONS {
        let played = under_test.play(Terms::default(), async |play: &mut Play| {
            play.initialize(version).await?;
            let mut turns = Turns::begin(play, under_test.traffic(), 1).await?;
            for from in [Peer::Client, Peer::Agent] {
                for method in METHODS {
                    for body in BODIES {
                        unknown(play, from, method, body).await?;
                    }
                }
            }
            turns.turn(play).await?;
            turns.end(play).await?;
            Ok(play.check_answers(&turns.asks)?)
        });
        if let Err(mut finding) = played {
            finding.what = format!("{}, in version {version} of the protocol", finding.what);
            return vec![finding];
        }
    }
    first(Ok(()))
}

/// Sends an unknown request and an unknown notification.
async fn unknown(play: &mut Play, from: Peer, method: &str, body: &str) -> Result<(), Stop> {
    let far = from.opposite();
    let seen = play.seen.lock().calls.len();
    let ask = play.ask(from, method, body).await?;
    play.tell(from, method, body).await?;
    play.rest().await?;
    let fate = play.seen.lock().fate(seen, from, body).cloned();
    let came = play.take(far, method);
    let shown = line(' ', from.as_str(), method, body);
    if let Some(Outcome::Refused(reason)) = &fate {
        let what = format!("it cannot decide about the unknown method `{method}`: {reason}");
        return Err(Finding::failure(what).with_case([shown]).into());
    }
    for came in came.iter().filter(|_| fate.is_none()) {
        if came.body() != body {
            let what = format!("`{method}` does not arrive as it was sent");
            let gets = format!("{} gets", far.as_str());
            let lines = difference(&gets, method, body, came.body());
            return Err(Finding::failure(what).with_case(lines).into());
        }
    }
    for came in &came {
        play.answer(far, came, &Ok("{}".to_owned())).await?;
    }
    play.rest().await?;
    if fate.is_none() {
        play.check_answers(&[ask])?;
    }
    Ok(())
}
