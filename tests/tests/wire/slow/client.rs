//! A client that hardly reads while its agent streams.

use acp_chain_tests::chain::error_of;
use acp_chain_tests::ends::{End, Ends};
use acp_chain_tests::envelope::{Message, notification, request, result};
use acp_chain_tests::stand_in::kill;
use rustix::process::Pid;
use serde_json::Value;
use tokio::io::AsyncWriteExt;

use crate::slow::{MEMORY, NATIVE, READS, manifests, with_every_chain};

/// Sends a notification from the client to the agent, and checks that it arrives.
async fn reaches(client: &mut End, agent: &mut End, count: &mut usize) {
    *count += 1;
    let params = count.to_string();
    client.say(&notification("test/ping", &params)).await;
    let came = agent.output.message().await;
    assert_eq!(came.params, Some(params));
}

/// One of the many updates that the agent streams.
fn update(count: usize) -> String {
    let much = "x".repeat(2000);
    let params = format!(r#"{{"sessionId":"s","update":{count},"x":"{much}"}}"#);
    notification("session/update", &params)
}

/// The number of an update.
fn number_of(message: &Message) -> Option<u64> {
    let params: Value = serde_json::from_str(message.params.as_deref()?).ok()?;
    params["update"].as_u64()
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

    // The agent stops, and the client reads the remaining updates.
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
    let _agent = answers.await.expect("no panic");
    program.is_smaller_than(MEMORY);
}

with_every_chain!(while_it_hardly_reads);

#[tokio::test]
async fn an_agent_that_is_killed_meanwhile_is_told_of_behind_all_that_it_said() {
    for manifest in manifests() {
        let Ends {
            mut client,
            mut agent,
            program,
        } = Ends::begin(&manifest).await;
        client.say(&request("1", "session/prompt", "{}")).await;
        agent.output.message().await;
        let flow = agent.flows(update);
        let mut pings = 0;
        flow.is_stuck(async || reaches(&mut client, &mut agent, &mut pings).await)
            .await;
        kill(program.agent).unwrap();
        for _ in 0..READS {
            client.output.sip().await;
        }
        program.is_smaller_than(MEMORY);
        let mut seen = 0;
        let answer = loop {
            let message = client.output.message().await;
            match number_of(&message) {
                Some(number) => assert_eq!(number, seen),
                None => break message,
            }
            seen += 1;
        };
        assert!(answer.answers("1"), "{}", answer.line);
        let error = error_of(&answer);
        assert_eq!(error, "acp-chain: the agent was ended by signal 9");
        flow.give_up();
    }
}

#[tokio::test]
async fn a_native_proxy_that_is_killed_meanwhile_is_told_of_and_the_stream_goes_on() {
    for policy in ["bypass", "restart"] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let (native, file) = (NATIVE, pid.display());
        let manifest = format!(
            "[[proxy]]\nid = 'n'\ncommand = '{native}'\nargs = ['--pid', '{file}']\non-failure = '{policy}'\n"
        );
        let Ends {
            mut client,
            mut agent,
            program,
        } = Ends::begin(&manifest).await;
        client.say(&request("1", "session/prompt", "{}")).await;
        agent.output.message().await;
        let flow = agent.flows(update);
        let mut pings = 0;
        flow.is_stuck(async || reaches(&mut client, &mut agent, &mut pings).await)
            .await;
        let number = std::fs::read_to_string(&pid).unwrap().parse().unwrap();
        kill(Pid::from_raw(number).unwrap()).unwrap();
        for _ in 0..READS {
            client.output.sip().await;
        }
        let mut last = None;
        let mut is_next = |message: &Message| {
            let number = number_of(message);
            assert!(number.is_none() || number > last, "{number:?} {last:?}");
            last = number.or(last);
            number.is_some()
        };
        // Messages that the proxy had are lost with it; later ones are in order.
        let answer = loop {
            let message = client.output.message().await;
            if !is_next(&message) {
                break message;
            }
        };
        let error = error_of(&answer);
        assert_eq!(
            error,
            "acp-chain: the proxy `n` failed on session/prompt: it was ended by signal 9"
        );
        let count = flow.stop();
        let agent = tokio::spawn(async move {
            let mut input = flow.end().await;
            let end = notification("test/end", "{}") + "\n";
            input.write_all(end.as_bytes()).await.unwrap();
            (input, agent)
        });
        let end = loop {
            let message = client.output.message().await;
            if !is_next(&message) {
                break message;
            }
        };
        assert_eq!(end.method.as_deref(), Some("test/end"));
        assert_eq!(last, Some(count as u64 - 1), "{policy}");
        let _agent = agent.await.unwrap();
        program.is_smaller_than(MEMORY);
    }
}
