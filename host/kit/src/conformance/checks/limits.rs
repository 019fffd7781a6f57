//! Whether the component stays within its limits.

use crate::conformance::finding::{Finding, first};
use crate::conformance::play::Play;
use crate::conformance::turns::Turns;
use crate::conformance::under_test::{Terms, UnderTest};
use crate::observed::Observations;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Quantity;

/// The maximum number of sessions.
const SESSIONS: usize = 200;

/// The number of sessions per case.
const SESSIONS_A_CASE: usize = 10;

/// The component sends too much if it sends more messages than this per message that it receives.
const MANY: usize = 10;

/// The length of an update's text, in bytes.
const TEXT: usize = 2048;

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    let seen = Observations::default();
    let mut findings = first(load(under_test, seen.clone()));
    if findings.is_empty() {
        findings.extend(long(under_test).err());
    }
    let (calls, sent) = {
        let state = seen.lock();
        (state.calls.len(), state.sent)
    };
    if sent > MANY * calls {
        let what = format!("it sends {sent} messages for {calls} that it receives");
        let remedy = "send fewer messages: the client and the agent must read them all";
        findings.push(Finding::warning(what).with_remedy(remedy));
    }
    findings
}

/// Plays many sessions, and measures the memory that the component keeps after their turns.
fn load(under_test: &UnderTest, seen: Observations) -> Result<(), Finding> {
    let terms = Terms {
        seen,
        ..Terms::default()
    };
    under_test.play(terms, async |play: &mut Play| {
        play.initialize(1).await?;
        let sessions = (under_test.cases * SESSIONS_A_CASE).clamp(1, SESSIONS);
        let mut turns = Turns::begin(play, under_test.traffic(), sessions).await?;
        turns.text = TEXT;
        let mut memory = [0; 3];
        for memory in &mut memory {
            turns.turn(play).await?;
            *memory = under_test.guest.gauge.memory();
        }
        turns.end(play).await?;
        play.check_answers(&turns.asks)?;
        let [begun, half, whole] = memory;
        let (bytes, most) = (turns.bytes(), under_test.guest.limits.memory);
        let keeps = |grown: usize| grown >= bytes / 2;
        if keeps(half - begun) && keeps(whole - half) {
            let size = |bytes: usize| Quantity::Size.show(bytes as u64);
            return Err(Finding::failure(format!(
                "its memory grows with every turn of the same {sessions} sessions: from {} to {} and {}, by messages \
                 of {} a turn; its limit is {}",
                size(begun),
                size(half),
                size(whole),
                size(bytes),
                size(most),
            ))
            .into());
        }
        Ok(())
    })
}

/// A message longer than its limit is rejected, and the next one passes.
fn long(under_test: &UnderTest) -> Result<(), Finding> {
    under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        play.session("s").await?;
        let text = "x".repeat(under_test.guest.limits.body);
        let params = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{text}"}}]}}"#);
        let ask = play.ask(Peer::Client, "session/prompt", &params).await?;
        play.rest().await?;
        play.answer_all(Peer::Agent).await?;
        play.rest().await?;
        let mut turns = Turns::begin(play, under_test.traffic(), 1).await?;
        turns.turn(play).await?;
        turns.end(play).await?;
        turns.asks.push(ask);
        Ok(play.check_answers(&turns.asks)?)
    })
}
