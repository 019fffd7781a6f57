//! An agent that hardly reads while its client sends prompt after prompt.

use acp_chain_tests::ends::{End, Ends};
use acp_chain_tests::envelope::{notification, request};

use crate::slow::{MEMORY, READS, with_every_chain};

/// Sends a notification from the agent to the client, and checks that it arrives.
async fn reaches(agent: &mut End, client: &mut End, count: &mut usize) {
    *count += 1;
    let params = format!(r#"{{"sessionId":"s","update":{count}}}"#);
    agent.say(&notification("session/update", &params)).await;
    let came = client.output.message().await;
    assert_eq!(came.params, Some(params));
}

async fn while_it_hardly_reads(manifest: &str) {
    let Ends {
        mut client,
        mut agent,
        program,
    } = Ends::begin(manifest).await;
    let prompt = |count: usize| {
        let text = "x".repeat(50_000);
        let params = format!(r#"{{"sessionId":"s-{count}","prompt":"{text}"}}"#);
        request(&count.to_string(), "session/prompt", &params)
    };
    let flow = client.flows(prompt);
    let mut updates = 0;
    flow.is_stuck(async || reaches(&mut agent, &mut client, &mut updates).await)
        .await;
    for _ in 0..READS {
        agent.output.sip().await;
        reaches(&mut agent, &mut client, &mut updates).await;
    }

    // The client stops, and the agent reads the remaining prompts.
    for number in 0..flow.stop() {
        answers(&mut agent, &mut client, number).await;
    }
    let _client = flow.end().await;
    program.is_smaller_than(MEMORY);
}

/// The agent answers the next prompt, and the client receives the answer.
async fn answers(agent: &mut End, client: &mut End, number: usize) {
    let prompt = agent.output.message().await;
    let start = format!(r#"{{"sessionId":"s-{number}","#);
    let params = prompt.params.as_deref().unwrap_or_default();
    assert!(params.starts_with(&start), "{start}: {}", &params[..40]);
    agent.say(&prompt.result("{}").concat()).await;
    let answer = client.output.message().await;
    assert!(answer.answers(&number.to_string()), "{}", answer.line);
}

with_every_chain!(while_it_hardly_reads);
