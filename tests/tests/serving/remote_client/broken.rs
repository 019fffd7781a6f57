//! Connections that break, and the fate of their messages.

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope;
use acp_chain_tests::process::Process;

use super::server::{Events, Server};
use super::{INITIALIZE, connect};

const RESUMES: &str = "Acp-Resume: 1\r\n";

/// A notification of the agent, as an event.
fn event(id: usize) -> String {
    format!(
        "id: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x\",\ndata: \"params\":{{\"n\":{id}}}}}\n\n"
    )
}

/// The numbers of the next messages at the client.
async fn numbers(client: &mut Process, count: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    for _ in 0..count {
        let message = client.wire.receive().await.expect("a message");
        let params: serde_json::Value = serde_json::from_str(&message.params.unwrap()).unwrap();
        numbers.push(usize::try_from(params["n"].as_u64().unwrap()).unwrap());
    }
    numbers
}

/// A client, and its connection's stream.
async fn begun(server: &mut Server, headers: &str) -> (Process, Events) {
    let mut client = connect(&server.url());
    let id = client.wire.ask("initialize", INITIALIZE);
    let (events, answer) = tokio::join!(server.begin(headers), client.wire.response(&id));
    assert_eq!(answer.result.as_deref(), Some(r#"{"protocolVersion":1}"#));
    (client, events)
}

/// Disconnects the client, which must send DELETE to the server.
async fn end(client: Process, server: &mut Server) {
    let (exit, ()) = tokio::join!(client.finish(), async {
        let delete = server.delete().await;
        assert_eq!(delete.header("acp-connection-id"), Some("c"));
        delete.accept().await;
    });
    let exit = exit.unwrap();
    assert_eq!((exit.status.code(), &*exit.stderr), (Some(0), ""));
    assert!(exit.rest.is_empty(), "{:?}", exit.rest);
}

#[tokio::test]
async fn a_stream_that_breaks_anywhere_loses_and_doubles_nothing() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, "").await;
    let all: Vec<_> = (1..=8).map(event).collect();
    for (sent, text) in all.iter().enumerate() {
        // In the middle of the event, at each of its ends, and in the line break between.
        let cut = [0, 1, 5, 20, text.len() - 2, text.len() - 1][sent % 6];
        events.say(&text[..cut]).await;
        if sent == 0 {
            // No event has an id yet.
            events.say(&text[cut..]).await;
        } else {
            drop(events);
            let again = server.get(None).await;
            assert_eq!(again.header("last-event-id"), Some(&*sent.to_string()));
            assert_eq!(again.header("acp-connection-id"), Some("c"));
            events = again.open().await;
            // Some servers repeat the event of `Last-Event-ID`.
            events.say(&all[sent - 1]).await;
            events.say(text).await;
        }
        assert_eq!(numbers(&mut client, 1).await, [sent + 1]);
    }
    end(client, &mut server).await;
}

#[tokio::test]
async fn a_stream_is_opened_again_past_a_gateway_a_busy_server_and_its_own_ghost() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, RESUMES).await;
    events.say("id: 0\n\n").await;
    events.end().await;
    for (status, headers) in [
        ("502 Bad Gateway", ""),
        ("503 Service Unavailable", "Retry-After: 0\r\n"),
        ("429 Too Many Requests", "Retry-After: 0\r\n"),
        ("409 Conflict", ""),
    ] {
        server.get(None).await.answer(status, headers, "").await;
    }
    drop(server.get(None).await);
    let again = server.get(None).await;
    assert_eq!(again.header("last-event-id"), Some("0"));
    events = again.open().await;
    events.say(&event(1)).await;
    assert_eq!(numbers(&mut client, 1).await, [1]);
    end(client, &mut server).await;
}

#[tokio::test]
async fn a_stream_without_names_is_not_opened_again() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, RESUMES).await;
    events.say(&event(1)).await;
    events
        .say("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"n\":2}}\n\n")
        .await;
    assert_eq!(numbers(&mut client, 2).await, [1, 2]);
    drop(events);
    assert_eq!(client.exited().await.unwrap().code(), Some(1));
    let exit = client.finish().await.unwrap();
    assert!(exit.stderr.contains("may be lost"), "{}", exit.stderr);
    assert!(server.is_quiet());
}

#[tokio::test]
async fn a_server_that_has_forgotten_what_came_between_is_an_error() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, RESUMES).await;
    events.say(&event(1)).await;
    assert_eq!(numbers(&mut client, 1).await, [1]);
    drop(events);
    server.get(None).await.answer("410 Gone", "", "").await;
    assert_eq!(client.exited().await.unwrap().code(), Some(1));
    let exit = client.finish().await.unwrap();
    assert!(exit.stderr.contains("it has not kept"), "{}", exit.stderr);
}

#[tokio::test]
async fn a_connection_that_the_server_ends_is_over() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, RESUMES).await;
    events.say(&event(1)).await;
    events.end().await;
    server.get(None).await.answer("404 Not Found", "", "").await;
    assert_eq!(client.exited().await.unwrap().code(), Some(0));
    assert_eq!(numbers(&mut client, 1).await, [1]);
}

#[tokio::test]
async fn messages_leave_in_order_and_one_that_broke_leaves_again_under_its_key() {
    let mut server = Server::start().await;
    let (mut client, _events) = begun(&mut server, RESUMES).await;
    for n in 1..=3 {
        client
            .wire
            .notify("x", &format!(r#"{{"n":{n}, "big":1e400}}"#));
    }
    for n in 1..=3 {
        let key = format!("\"{n}\"");
        let line = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"n":{n}, "big":1e400}}}}"#);
        for attempt in ["cut", "502 Bad Gateway", "202 Accepted"] {
            let post = server.post().await;
            assert_eq!(post.header("idempotency-key"), Some(&*key));
            assert_eq!(post.header("content-type"), Some("application/json"));
            assert_eq!(post.body, line);
            // The next message is not sent yet.
            assert!(server.is_quiet());
            match attempt {
                "cut" => drop(post),
                status => post.answer(status, "", "").await,
            }
        }
    }
    end(client, &mut server).await;
}

#[tokio::test]
async fn a_message_that_broke_ends_the_connection_to_a_server_that_may_take_it_twice() {
    let mut server = Server::start().await;
    let (mut client, _events) = begun(&mut server, "").await;
    client.wire.notify("x", "{}");
    drop(server.post().await);
    assert_eq!(client.exited().await.unwrap().code(), Some(1));
    let exit = client.finish().await.unwrap();
    assert!(
        exit.stderr.contains("the connection broke"),
        "{}",
        exit.stderr
    );
    assert!(server.is_quiet());
}

#[tokio::test]
async fn a_session_has_a_stream_of_its_own_and_what_is_asked_by_it_is_answered_there() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, "Set-Cookie: place=here; Path=/\r\n").await;
    let id = client.wire.ask("session/new", "{}");
    let post = server.post().await;
    assert_eq!(
        (post.header("acp-session-id"), post.header("cookie")),
        (None, Some("place=here"))
    );
    post.accept().await;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessionId":"s"}}}}"#);
    events.say(&format!("data: {answer}\n\n")).await;
    assert_eq!(client.wire.response(&id).await.line, answer);
    let mut session = server.get(Some("s")).await.open().await;
    // An answer that only seems to name a session.
    events
        .say("data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"sessionId\":\"other\"}}\n\n")
        .await;
    client.wire.response("99").await;

    let turn = client.wire.ask("session/prompt", &prompt("s", "hello"));
    let post = server.post().await;
    assert_eq!(post.header("acp-session-id"), Some("s"));
    post.accept().await;
    session.say("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"session/request_permission\",\"params\":{}}\n\n").await;
    assert_eq!(
        client.wire.receive().await.unwrap().id.as_deref(),
        Some("\"q\"")
    );
    client
        .wire
        .send(r#"{"jsonrpc":"2.0","id":"q","result":{}}"#);
    let post = server.post().await;
    assert_eq!(post.header("acp-session-id"), Some("s"));
    post.accept().await;

    // The server ends the stream: the turn fails, and the next turn opens another stream.
    session.end().await;
    let failed = client.wire.response(&turn).await;
    assert!(
        failed
            .error
            .unwrap()
            .contains("has closed the session's stream")
    );
    client.wire.notify("session/cancel", r#"{"sessionId":"s"}"#);
    let _session = server.get(Some("s")).await.open().await;
    server.post().await.accept().await;
    assert!(server.is_quiet());
    end(client, &mut server).await;
}

#[tokio::test]
async fn what_is_refused_of_a_session_fails_its_requests_and_no_others() {
    let mut server = Server::start().await;
    let (mut client, _events) = begun(&mut server, "").await;
    let turn = client.wire.ask("session/prompt", &prompt("taken", "hello"));
    server
        .get(Some("taken"))
        .await
        .answer("409 Conflict", "", "somebody reads it")
        .await;
    let refused = client.wire.response(&turn).await.error.unwrap();
    assert!(refused.contains("somebody reads it"), "{refused}");

    let turn = client.wire.ask("session/prompt", &prompt("s", "hello"));
    let _session = server.get(Some("s")).await.open().await;
    server
        .post()
        .await
        .answer("413 Content Too Large", "", "")
        .await;
    let refused = client.wire.response(&turn).await.error.unwrap();
    assert!(refused.contains("413"), "{refused}");

    // The client waits for the time in `Retry-After`.
    let turn = client.wire.ask("session/prompt", &prompt("s", "hello"));
    server
        .post()
        .await
        .answer("503 Service Unavailable", "Retry-After: 0\r\n", "")
        .await;
    server.post().await.answer("409 Conflict", "", "").await;
    assert!(client.wire.response(&turn).await.error.is_some());
    end(client, &mut server).await;
}

#[tokio::test]
async fn a_message_that_is_refused_by_itself_does_not_end_the_connection() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, "").await;
    // No header can hold this session id, so nothing is sent.
    let unspeakable = r#"{"sessionId":"a\nb"}"#;
    client.wire.notify("session/cancel", unspeakable);
    let turn = client.wire.ask("session/prompt", unspeakable);
    assert!(client.wire.response(&turn).await.error.is_some());

    client.wire.notify("vendor/large", "{}");
    server
        .post()
        .await
        .answer("413 Content Too Large", "", "")
        .await;

    events
        .say("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"vendor/ask\"}\n\n")
        .await;
    let asked = client.wire.receive().await.unwrap();
    assert!(asked.is_request());
    client.wire.send(envelope::result("7", r#"{"large":1}"#));
    let answer = server.post().await;
    assert!(answer.body.contains("large"), "{}", answer.body);
    answer.answer("413 Content Too Large", "", "").await;
    let failed = server.post().await;
    assert!(
        failed
            .body
            .starts_with(r#"{"jsonrpc":"2.0","id":7,"error":"#)
            && failed.body.contains("413"),
        "{}",
        failed.body
    );
    failed.accept().await;
    end(client, &mut server).await;
}

#[tokio::test]
async fn a_session_that_the_server_knows_only_once_it_is_loaded_is_loaded_by_the_connection() {
    let mut server = Server::start().await;
    let (mut client, mut events) = begun(&mut server, "").await;
    let id = client.wire.ask("session/load", r#"{"sessionId":"s"}"#);
    server
        .get(Some("s"))
        .await
        .answer("404 Not Found", "", "")
        .await;
    let post = server.post().await;
    assert_eq!(post.header("acp-session-id"), None);
    post.accept().await;
    events
        .say(&format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}\n\n"
        ))
        .await;
    assert_eq!(
        client.wire.response(&id).await.result.as_deref(),
        Some("null")
    );
    end(client, &mut server).await;
}
