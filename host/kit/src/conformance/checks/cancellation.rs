//! Whether the component releases cancelled requests and the messages of cancelled turns.

use acp_chain_acp::CANCEL_REQUEST;

use crate::conformance::finding::{Finding, first};
use crate::conformance::play::Play;
use crate::conformance::stop::Stop;
use crate::conformance::traffic::{Exchange, requests};
use crate::conformance::under_test::{Terms, UnderTest};
use acp_chain_channel::Peer;
use acp_chain_rpc::Error;

/// When a request is cancelled.
#[derive(Clone, Copy)]
enum When {
    /// Right after the request.
    AtOnce,
    /// When everything is idle.
    AtRest,
}

pub fn run(under_test: &UnderTest) -> Vec<Finding> {
    first(under_test.play(Terms::default(), async |play: &mut Play| {
        play.initialize(1).await?;
        play.session("s").await?;
        let mut traffic = under_test.traffic();
        for method in requests() {
            for when in [When::AtOnce, When::AtRest] {
                for exchange in [Exchange::least(method), traffic.exchange(method)] {
                    if !exchange.declares_servers() {
                        cancel(play, &exchange, when).await?;
                    }
                }
            }
        }
        for when in [When::AtOnce, When::AtRest] {
            stop(play, when).await?;
        }
        Ok(())
    }))
}

async fn cancel(play: &mut Play, exchange: &Exchange, when: When) -> Result<(), Stop> {
    let (from, method) = (exchange.sender(), &exchange.method.name);
    let far = from.opposite();
    let ask = play.ask(from, method, &exchange.params()).await?;
    if let When::AtRest = when {
        play.rest().await?;
    }
    play.cancel(&ask).await?;
    play.rest().await?;
    // The receiver gets the cancellation, and confirms it.
    let cancelled = Err(Error::cancelled().to_json());
    for asked in play.take(far, method) {
        play.answer(far, &asked, &cancelled).await?;
    }
    play.take(far, CANCEL_REQUEST);
    play.rest().await?;
    play.check_held("after it was cancelled")?;
    Ok(play.check_answers(&[ask])?)
}

/// The user cancels a turn.
async fn stop(play: &mut Play, when: When) -> Result<(), Stop> {
    let params = r#"{"sessionId":"s","prompt":[{"type":"text","text":"What is a chain?"}]}"#;
    let ask = play.ask(Peer::Client, "session/prompt", params).await?;
    if let When::AtRest = when {
        play.rest().await?;
    }
    let asked = r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"no","name":"No","kind":"reject_once"}]}"#;
    let permission = play
        .ask(Peer::Agent, "session/request_permission", asked)
        .await?;
    if let When::AtRest = when {
        play.rest().await?;
    }
    play.tell(Peer::Client, "session/cancel", r#"{"sessionId":"s"}"#)
        .await?;
    play.rest().await?;
    for asked in play.take(Peer::Client, "session/request_permission") {
        let cancelled = r#"{"outcome":{"outcome":"cancelled"}}"#.to_owned();
        play.answer(Peer::Client, &asked, &Ok(cancelled)).await?;
    }
    for prompt in play.take(Peer::Agent, "session/prompt") {
        let stopped = r#"{"stopReason":"cancelled"}"#.to_owned();
        play.answer(Peer::Agent, &prompt, &Ok(stopped)).await?;
    }
    play.rest().await?;
    play.check_held("after its turn was cancelled")?;
    Ok(play.check_answers(&[ask, permission])?)
}
