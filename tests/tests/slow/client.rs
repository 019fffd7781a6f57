//! A client that hardly reads, while its agent streams.

use acp_chain_tests::envelope::{notification, request, result};

use crate::ends::{End, Ends};
use crate::{READS, manifests};

/// Something that goes from the client to the agent, and is there.
async fn reaches(client: &mut End, agent: &mut End, count: &mut usize) {
    *count += 1;
    let params = count.to_string();
    client.say(&notification("test/ping", &params)).await;
    let came = agent.output.message().await;
    assert_eq!(came.params, Some(params));
}

async fn while_it_hardly_reads(manifest: &str) {
    let Ends {
        mut client,
        mut agent,
        program,
    } = Ends::begin(manifest).await;
    let params = r#"{"sessionId":"s","prompt":[]}"#;
    client
        .say(&request("\"turn\"", "session/prompt", params))
        .await;
    let prompt = agent.output.message().await;
    let ask = request(
        "\"may I\"",
        "session/request_permission",
        r#"{"sessionId":"s"}"#,
    );
    agent.say(&ask).await;
    let asked = client.output.message().await;

    let update = |count: usize| {
        let params = format!(
            r#"{{"sessionId":"s","update":{count},"x":"{}"}}"#,
            "x".repeat(2000)
        );
        notification("session/update", &params)
    };
    let flow = agent.flows(update);
    let mut pings = 0;
    flow.is_stuck(async || reaches(&mut client, &mut agent, &mut pings).await)
        .await;
    for _ in 0..READS {
        client.output.sip().await;
        reaches(&mut client, &mut agent, &mut pings).await;
    }
    let id = asked.id.expect("the id of a request");
    client.say(&result(&id, r#"{"outcome":1e400}"#)).await;
    let allowed = agent.output.message().await;
    assert!(allowed.answers("\"may I\""), "{}", allowed.line);
    client
        .say(&notification("session/cancel", r#"{"sessionId":"s"}"#))
        .await;
    let cancelled = agent.output.message().await;
    assert_eq!(cancelled.method.as_deref(), Some("session/cancel"));

    // The agent stops, and the client comes to read what there was.
    let count = flow.stop();
    let answers = tokio::spawn(async move {
        let mut agent = End {
            input: Some(flow.end().await),
            ..agent
        };
        agent
            .say(&prompt.result(r#"{"stopReason":"cancelled"}"#).concat())
            .await;
        agent
    });
    for number in 0..count {
        let update = client.output.message().await;
        let start = format!(r#"{{"sessionId":"s","update":{number},"#);
        let params = update.params.expect("an update");
        assert!(params.starts_with(&start), "{start}: {params}");
    }
    let answer = client.output.message().await;
    assert!(answer.answers("\"turn\""), "{}", answer.line);
    let _agent = answers.await.expect("it answers");
    program.is_small();
}

#[tokio::test]
async fn without_a_proxy() {
    while_it_hardly_reads(&manifests()[0]).await;
}

#[tokio::test]
async fn behind_a_component() {
    while_it_hardly_reads(&manifests()[1]).await;
}

#[tokio::test]
async fn behind_a_native_proxy() {
    while_it_hardly_reads(&manifests()[2]).await;
}

#[tokio::test]
async fn behind_proxies_of_both_sorts() {
    while_it_hardly_reads(&manifests()[3]).await;
}
