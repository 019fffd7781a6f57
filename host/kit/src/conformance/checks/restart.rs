//! Whether the component restarts after a failure, and accepts any text as its saved state.

use crate::conformance::finding::Finding;
use crate::conformance::play::Play;
use crate::conformance::stop::broke;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};
use crate::observed::Observations;
use crate::transcript::wire::RESTART;
use acp_chain_channel::FailurePolicy;
use acp_chain_rpc::untrusted::quote;
use acp_chain_sandbox::DECLINES;

/// States that no component has saved.
const GARBAGE: &[&str] = &[
    "",
    "null",
    "{}",
    "[]",
    "0",
    "{",
    "\"\\ud800\"",
    "no JSON at all",
    r#"{"version":4294967295,"state":{"unknown":[1e400,null]}}"#,
];

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let seen = Observations::default();
    if let Err(finding) = turns(under_test, seen.clone()) {
        return vec![finding];
    }
    let (calls, saved) = {
        let state = seen.lock();
        (state.calls.len(), state.saved.clone())
    };
    let count = under_test.cases.min(calls);
    for (forgets, state) in [
        (false, "with its saved state"),
        (true, "without its saved state"),
    ] {
        // Without saved state there is nothing to forget.
        if forgets && saved.is_empty() {
            continue;
        }
        for case in 0..count {
            let at = case * calls / count;
            let seen = Observations::default();
            {
                let mut state = seen.lock();
                (state.fails_at, state.forgets) = (Some(at), forgets);
            }
            if let Err(mut finding) = turns(under_test, seen) {
                finding.what = format!(
                    "{}, after it failed in call {at} and was restarted {state}",
                    finding.what
                );
                return vec![finding];
            }
        }
    }
    first_garbage(under_test, &saved).into_iter().collect()
}

/// Plays two turns of two sessions. `seen` may make the component fail once.
fn turns(under_test: &UnderTest, seen: Observations) -> Result<(), Finding> {
    let terms = Terms {
        seen: seen.clone(),
        on_failure: Some(FailurePolicy::Restart),
    };
    under_test.play(terms, async |play: &mut Play| {
        play.initialize(1).await?;
        let mut turns = Turns::begin(play, under_test.traffic(), 2).await?;
        for _ in 0..2 {
            turns.turn(play).await?;
            play.pass(RESTART).await?;
        }
        turns.end(play).await?;
        if let Some(failure) = seen.lock().not_started.as_ref() {
            return Err(broke("when it is restarted", failure).into());
        }
        play.check_order()?;
        Ok(play.check_answers(&turns.asks)?)
    })
}

/// The first state that breaks the component on restart: of its own saved states, halves of these, and garbage.
fn first_garbage(under_test: &UnderTest, saved: &[String]) -> Option<Finding> {
    let start = |state: &str| UnderTest::start(&under_test.guest, Some(state)).err();
    for state in saved {
        if let Some(failure) = start(state) {
            let finding = broke("with its own saved state", &failure);
            return Some(finding.with_case([format!("  saved {}", quote(state, 400))]));
        }
    }
    let cut = saved.iter().map(|state| {
        let half = state.floor_char_boundary(state.len() / 2);
        state[..half].to_owned()
    });
    let garbage = GARBAGE.iter().map(|state| (*state).to_owned());
    let mut all = garbage.chain(cut);
    all.find_map(|state| {
        let failure = start(&state).filter(|failure| failure.reason != DECLINES)?;
        let finding = broke("with an unknown saved state", &failure);
        Some(finding.with_case([format!("  saved {}", quote(&state, 400))]))
    })
}
