//! One attack, with a neighbour at work before, during and after it.

use std::mem;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::process::Process;
use hostile::NEIGHBOUR;

use crate::hostile::aftermath::{Aftermath, assert_answer};
use crate::hostile::chain::{self, Folder, Turn, attacked};
use crate::hostile::results;
use crate::hostile::row::{Policy, Row, Step};

/// Carries out the attack of a row, and checks the state after it.
pub async fn withstand(name: &'static str, row: &Row, policy: Policy) {
    let folder = Folder::new();
    let mut client = chain::start(&folder, row, policy).await;
    let has_chain = row.has_chain(policy);
    if has_chain {
        run(&mut client, row, policy).await;
    } else {
        never_starts(&mut client).await;
    }
    let peak = client.peak_memory().expect("still running") >> 20;
    let transcript = client.wire.transcript().clone();
    let exit = client.finish().await.expect("an exit");
    assert_eq!(exit.stderr, "");
    assert_eq!(exit.status.success(), has_chain, "{exit:?}");

    let aftermath = Aftermath::read(&folder, &transcript);
    aftermath.assert(row, policy);
    (row.also)(&aftermath);
    assert!(
        peak <= row.peak,
        "its memory came to {peak} MiB, over the bound of {} MiB",
        row.peak
    );
    results::add(name, policy, peak);
}

/// The chain does not start: the client gets the reason, and may try again.
async fn never_starts(client: &mut Process) {
    for _ in 0..2 {
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.as_deref().expect("an error");
        assert!(error.contains("proxy `hostile`"), "{error}");
    }
}

async fn run(client: &mut Process, row: &Row, policy: Policy) {
    client.initialize().await;
    let meanwhile = Turn::begin(client).await;
    let answer = play(client, row.script).await;
    if let Some(answer) = answer {
        assert_answer(&answer, row.answer_to_attack(policy));
    }
    let later = row.answer_to_neighbour(policy);
    let answer = meanwhile.end(client).await;
    assert_answer(&answer, later);
    let answer = Turn::whole(client).await;
    assert_answer(&answer, later);
}

/// Plays the client in the attacked session; returns the answer to the last prompt, if there is one.
async fn play(client: &mut Process, script: &[Step]) -> Option<Message> {
    let (mut open, mut last) = (Vec::new(), None);
    for step in script {
        match step {
            Step::Prompt(text) => open.push(ask(client, text)),
            Step::LongPrompt(size) => open.push(ask(client, &"a".repeat(*size))),
            Step::Await => last = answers(client, mem::take(&mut open)).await,
            Step::Withdraw => {
                let id = open.last().expect("a prompt");
                let params = format!(r#"{{"requestId":{id}}}"#);
                client.wire.notify("$/cancel_request", &params);
            }
            Step::Tell => client.wire.notify("_hostile/go", &attacked("")),
            Step::TellNobody => client.wire.notify("_hostile/go", "{}"),
            Step::TellBehindLong => {
                let long = prompt(NEIGHBOUR, &"a".repeat(100_000));
                client.wire.notify("_hostile/long", &long);
                let short = attacked(&"a".repeat(5000));
                client.wire.notify("_hostile/go", &short);
            }
        }
    }
    answers(client, open).await.or(last)
}

fn ask(client: &mut Process, text: &str) -> String {
    client.wire.ask("session/prompt", &attacked(text))
}

/// Waits for the answers to all of these; returns the last one.
async fn answers(client: &mut Process, ids: Vec<String>) -> Option<Message> {
    let mut last = None;
    for id in ids {
        last = Some(client.wire.response(&id).await);
    }
    last
}
