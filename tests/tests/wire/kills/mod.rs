//! Whichever part of a chain is killed, and whenever: every request is answered exactly once, the manifest's
//! policy is applied to the part, and no process is left.
//!
//! The cases are generated: each part at each stage under each failure policy. The test plays all parts
//! except the host's own: it knows what each part has received, and waits for nothing else.

mod aftermath;
mod agent;
mod case;
mod native;
mod scene;

use acp_chain_tests::transcript::Transcript;
use futures_util::stream::{self, StreamExt};
use tokio::sync::Semaphore;

use case::{Case, Part, cases};
use scene::Scene;

/// How many chains of a test run at once.
const AT_ONCE: usize = 8;

/// The limit for all tests together, however many run side by side: each chain has five processes, and as many pipes.
static CHAINS: Semaphore = Semaphore::const_new(2 * AT_ONCE);

/// Plays all cases of a part.
async fn killed(part: Part) {
    let plays = cases(part).into_iter().map(|case| async move {
        let _chain = CHAINS.acquire().await.expect("an open semaphore");
        let transcript = Transcript::new();
        let played = tokio::spawn(play(case, transcript.clone())).await;
        let failed = played.is_err();
        failed.then(|| eprintln!("{case:?} failed; its transcript:\n{transcript}"));
        failed.then_some(case)
    });
    let failed: Vec<_> = stream::iter(plays)
        .buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
}

async fn play(case: Case, transcript: Transcript) {
    let mut scene = Scene::begin(case, transcript);
    scene.reach().await;
    scene.kill().await;
    match case.part {
        Part::Client | Part::Host => scene.leaves_nobody().await,
        Part::Agent => {
            let error = "acp-chain: the agent was ended by signal 9";
            scene.ends_with_answers(error, 128 + 9).await;
        }
        Part::Told => {
            let error = "acp-chain: the connection ended before there was an answer";
            scene.ends_with_answers(error, 0).await;
        }
        _ if case.leaves => scene.ends_with_the_client().await,
        _ => scene.goes_on().await,
    }
}

#[tokio::test]
async fn a_client_that_is_killed_leaves_nobody() {
    killed(Part::Client).await;
}

#[tokio::test]
async fn a_native_proxy_that_is_killed_before_a_component() {
    killed(Part::Before).await;
}

#[tokio::test]
async fn a_component_that_traps_between_native_proxies() {
    killed(Part::Component).await;
}

#[tokio::test]
async fn a_native_proxy_that_is_killed_behind_a_component() {
    killed(Part::Behind).await;
}

#[tokio::test]
async fn two_native_proxies_that_are_killed_at_once() {
    killed(Part::Natives).await;
}

#[tokio::test]
async fn an_agent_that_is_killed_is_told_of() {
    killed(Part::Agent).await;
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_nobody() {
    killed(Part::Host).await;
}

#[tokio::test]
async fn a_host_that_is_told_to_stop_answers_first() {
    killed(Part::Told).await;
}
