//! Streamable HTTP with sessions, on exact texts.

use acp_chain::mcp::LinkId;
use acp_chain::rpc::{Kind, Message};
use reqwest::{Body, Method, Response};

use super::server::{
    BridgeServer, INITIALIZE, Web, error_code, event, events, named_event, sent, status,
};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn call(id: &str, name: &str, token: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","_meta":{{"progressToken":{token}}}}}}}"#
    )
}

fn pong(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[tokio::test]
async fn a_session_begins_with_initialize_and_ends_with_delete() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    assert_eq!(served.said("initialize").await.0, link);

    assert_eq!(status(web.say(&session, INITIALIZED)).await, 202);
    let (_, said) = served.said("notifications/initialized").await;
    assert_eq!(said.kind(), Kind::Notification);

    // Ids come back in their original spelling.
    for id in ["0", "1e3", r#""a\u0062""#] {
        let answer = sent(web.say(&session, ping(id))).await;
        assert_eq!(events(answer).await, [pong(id)]);
        served.said("ping").await;
    }

    let end = web.request(Method::DELETE);
    assert_eq!(status(end.header("mcp-session-id", &session)).await, 204);
    assert_eq!(served.closed().await, link);
    assert_eq!(status(web.say(&session, ping("1"))).await, 404);
    assert_eq!(status(web.listen(&session)).await, 404);
}

/// A session with an open call, and the stream for its answer, of which one event has arrived.
struct OpenCall {
    session: String,
    link: LinkId,
    stream: Response,
    last: String,
}

/// Begins such a session in this version of MCP.
async fn waiting(served: &mut BridgeServer, web: &Web, version: &str) -> OpenCall {
    let begins = INITIALIZE.replace("2025-11-25", version);
    let session = web.begin_with(begins).await;
    let link = served.opened().await;
    served.said("initialize").await;
    let call = tokio::spawn(web.say(&session, call("5", "wait", "7")).send());
    served.said("tools/call").await;
    let progress = r#"{"progressToken":7,"progress":1}"#;
    served
        .notify(link, "notifications/progress", progress)
        .await;
    let mut stream = call.await.unwrap().unwrap();
    let mut event = named_event(&mut stream).await.unwrap();
    if event.1.is_empty() {
        event = named_event(&mut stream).await.unwrap();
    }
    assert!(event.1.contains(progress), "{event:?}");
    OpenCall {
        session,
        link,
        stream,
        last: event.0,
    }
}

#[tokio::test]
async fn a_client_that_lost_a_stream_comes_back_to_it() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut served = BridgeServer::start();
        let web = served.web().await;
        let OpenCall {
            session,
            link,
            stream,
            last,
        } = waiting(&mut served, &web, version).await;
        drop(stream);
        let changed = r#"{"progressToken":7,"progress":2}"#;
        served.notify(link, "notifications/progress", changed).await;
        served
            .bridge(move |bridge| bridge.send(link, &Message::result("{}"), Some("5")))
            .await;
        let back = web.listen(&session).header("last-event-id", &last);
        let missed = events(sent(back).await).await;
        assert_eq!(missed.last(), Some(&pong("5")), "{missed:?}");
        // The answer is delivered: a client that reconnects once more does not get it again.
        served
            .notify(link, "notifications/tools/list_changed", "{}")
            .await;
        let back = web.listen(&session).header("last-event-id", &last);
        let mut anew = sent(back).await;
        assert!(event(&mut anew).await.unwrap().contains("list_changed"));
    }
}

#[tokio::test]
async fn nobody_comes_back_to_a_stream_of_anothers_or_to_none() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let OpenCall { stream, last, .. } = waiting(&mut served, &web, "2025-11-25").await;
    drop(stream);
    let other = web.begin().await;
    let link = served.opened().await;
    served.said("initialize").await;
    for last in [&*last, "99-1", "1-99", "x"] {
        let back = web.listen(&other).header("last-event-id", last);
        let mut anew = sent(back).await;
        assert_eq!(anew.status(), 200);
        served
            .notify(link, "notifications/tools/list_changed", "{}")
            .await;
        assert!(event(&mut anew).await.unwrap().contains("list_changed"));
    }
}

#[tokio::test]
async fn in_2025_11_25_a_stream_begins_with_an_event_to_come_back_to() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    served.said("initialize").await;
    let mut stream = sent(web.listen(&session)).await;
    let (first, nothing) = named_event(&mut stream).await.unwrap();
    assert_eq!(nothing, "");
    served
        .notify(link, "notifications/tools/list_changed", "{}")
        .await;
    let (_, changed) = named_event(&mut stream).await.unwrap();
    let back = web.listen(&session).header("last-event-id", &first);
    assert_eq!(event(&mut sent(back).await).await.unwrap(), changed);
}

#[tokio::test]
async fn every_client_has_a_session_of_its_own() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let (one, other) = (web.begin().await, web.begin().await);
    assert_ne!(one, other);
    let first = served.opened().await;
    served.said("initialize").await;
    assert_ne!(served.opened().await, first);
}

#[tokio::test]
async fn a_session_that_the_server_refuses_is_over_and_has_no_id() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let refused = sent(web.post(INITIALIZE.replace("\"t\"", "\"unwelcome\""))).await;
    assert!(refused.headers().get("mcp-session-id").is_none());
    assert!(events(refused).await[0].contains("not you"));
    assert_eq!(served.closed().await, 1);
}

#[tokio::test]
async fn what_is_not_in_a_session_is_refused() {
    let served = BridgeServer::start();
    let web = served.web().await;
    assert_eq!(status(web.post(ping("1"))).await, 400);
    assert_eq!(status(web.post(INITIALIZED)).await, 400);
    assert_eq!(status(web.request(Method::GET)).await, 400);
    assert_eq!(status(web.request(Method::DELETE)).await, 400);
    assert_eq!(status(web.say("unknown", ping("1"))).await, 404);
    assert_eq!(status(web.request(Method::PUT)).await, 405);
}

#[tokio::test]
async fn initialize_begins_a_session_whichever_one_it_names() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let first = web.begin().await;
    served.opened().await;
    served.said("initialize").await;
    for named in ["unknown", &first] {
        let begun = sent(web.say(named, INITIALIZE)).await;
        assert_eq!(begun.status(), 200);
        let session = begun.headers()["mcp-session-id"].to_str().unwrap();
        assert!(session != named && session != first);
        served.opened().await;
        served.said("initialize").await;
        let answer = sent(web.say(session, ping("1"))).await;
        assert_eq!(events(answer).await, [pong("1")]);
        served.said("ping").await;
    }
    assert_eq!(status(web.say(&first, ping("2"))).await, 200);
}

#[tokio::test]
async fn a_session_is_of_one_server_only() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    served.opened().await;
    let other = served
        .bridge(|bridge| bridge.offer(2, "other", acp_chain::bridge::BridgeKind::Http))
        .await;
    let other = super::server::Web::new(&other.unwrap());
    assert_ne!(web.url, other.url);
    assert_eq!(status(other.say(&session, ping("1"))).await, 404);
    // Nor does the secret of one server open the path of another.
    let mut thief = web.clone();
    thief.url = other.url;
    assert_eq!(status(thief.post(INITIALIZE)).await, 401);
}

#[tokio::test]
async fn headers_say_what_comes_and_what_may_come_back() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let with = |name: &'static str, value: &'static str| {
        let request = web.request(Method::POST).body(ping("1"));
        let request = request.header("mcp-session-id", &session);
        let (mut accept, mut content_type) =
            ("application/json, text/event-stream", "application/json");
        match name {
            "accept" => accept = value,
            _ => content_type = value,
        }
        request
            .header("accept", accept)
            .header("content-type", content_type)
    };
    assert_eq!(status(with("content-type", "text/plain")).await, 415);
    assert_eq!(status(with("accept", "text/html")).await, 406);
    for (coding, expected) in [("gzip", 415), ("identity", 200)] {
        let coded = web.say(&session, ping("1"));
        let coded = coded.header("content-encoding", coding);
        assert_eq!(status(coded).await, expected, "{coding}");
    }
    assert_eq!(
        status(with("content-type", "application/json; charset=utf-8")).await,
        200
    );
    let json = sent(with("accept", "application/json")).await;
    assert_eq!(json.headers()["content-type"], "application/json");
    assert_eq!(json.text().await.unwrap(), pong("1"));
    let listen = web.request(Method::GET).header("mcp-session-id", &session);
    assert_eq!(
        status(listen.header("accept", "application/json")).await,
        406
    );
}

#[tokio::test]
async fn a_version_that_is_unknown_is_refused() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    for (version, expected) in [
        ("2024-11-05", 200),
        ("2025-03-26", 200),
        ("2025-06-18", 200),
        ("2025-11-25", 200),
        ("2026-07-28", 200),
        ("1999-01-01", 400),
    ] {
        let said = web.say(&session, ping("1"));
        let said = said.header("mcp-protocol-version", version);
        assert_eq!(status(said).await, expected, "{version}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_told_apart() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    for (body, code) in [
        ("hello", -32700),
        (r#"{"jsonrpc":"2.0","#, -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"params":{}}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},7]"#, -32600),
    ] {
        let answer = sent(web.say(&session, body)).await;
        assert_eq!(answer.status(), 400, "{body}");
        assert_eq!(error_code(answer).await, code, "{body}");
    }
    let not_text = sent(web.say(&session, vec![b'"', 0xff, b'"'])).await;
    assert_eq!(error_code(not_text).await, -32700);
}

#[tokio::test]
async fn a_batch_is_answered_on_one_stream() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web
        .begin_with(INITIALIZE.replace("2025-11-25", "2025-03-26"))
        .await;
    let batch = format!("[{},\r\n{INITIALIZED},\n{}]", ping("1"), ping("2"));
    let answer = sent(web.say(&session, batch.clone())).await;
    assert_eq!(events(answer).await, [pong("1"), pong("2")]);
    served.opened().await;
    for method in ["initialize", "ping", "notifications/initialized", "ping"] {
        served.said(method).await;
    }

    let only_json = web.say(&session, batch.clone());
    let (client, mut only_json) = only_json.build_split();
    let only_json = only_json.as_mut().unwrap();
    let json = "application/json".parse().unwrap();
    only_json.headers_mut().insert("accept", json);
    let answer = client
        .execute(only_json.try_clone().unwrap())
        .await
        .unwrap();
    let array = answer.text().await.unwrap();
    assert_eq!(array, format!("[{},{}]", pong("1"), pong("2")));

    // Later versions have no batches, whether the version is in the header or agreed on.
    let later = web.say(&session, batch.clone());
    let later = later.header("mcp-protocol-version", "2025-06-18");
    assert_eq!(error_code(sent(later).await).await, -32600);
    let session = web.begin().await;
    let refused = sent(web.say(&session, batch)).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(error_code(refused).await, -32600);
}

#[tokio::test]
async fn refusals_are_errors_of_json_rpc() {
    let served = BridgeServer::start();
    let web = served.web().await;
    for (request, status) in [
        (web.post(ping("1")), 400),
        (web.say("unknown", ping("1")), 404),
        (web.listen("unknown"), 404),
        (web.request(Method::PUT), 405),
    ] {
        let refused = sent(request).await;
        assert_eq!(refused.status(), status);
        assert_eq!(error_code(refused).await, -32600);
    }
    let refused = sent(web.say("unknown", ping("1"))).await;
    let text = refused.text().await.unwrap();
    assert!(
        text.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
        "{text}"
    );
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_on_the_stream_of_get_or_waits_for_it() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    let changed = "notifications/tools/list_changed";
    served.notify(link, changed, r#"{"n":1}"#).await;
    let mut stream = sent(web.listen(&session)).await;
    served.notify(link, changed, r#"{"n":2}"#).await;
    for n in 1..=2 {
        let expected = format!(r#"{{"jsonrpc":"2.0","method":"{changed}","params":{{"n":{n}}}}}"#);
        assert_eq!(event(&mut stream).await, Some(expected));
    }
    // Only the newest stream gets the next message.
    let mut newer = sent(web.listen(&session)).await;
    served.notify(link, changed, r#"{"n":3}"#).await;
    assert!(event(&mut newer).await.unwrap().contains(r#""n":3"#));
    served.bridge(move |bridge| bridge.hang_up(link)).await;
    assert_eq!(event(&mut stream).await, None);
    assert_eq!(event(&mut newer).await, None);
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_request() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    let mut one = sent(web.say(&session, call("1", "wait", "7"))).await;
    let mut other = sent(web.say(&session, call("2", "wait", r#""7""#))).await;
    let progress = "notifications/progress";
    served
        .notify(link, progress, r#"{"progressToken":7,"progress":1}"#)
        .await;
    served
        .notify(link, progress, r#"{"progressToken":"7","progress":2}"#)
        .await;
    // Changes come on the GET stream, and everything else on the newest stream.
    let mut listening = sent(web.listen(&session)).await;
    let changed = "notifications/tools/list_changed";
    served.notify(link, changed, "{}").await;
    assert!(event(&mut listening).await.unwrap().contains(changed));
    served.notify(link, "notifications/message", "{}").await;
    assert!(
        event(&mut one)
            .await
            .unwrap()
            .contains(r#""progressToken":7"#)
    );
    assert!(
        event(&mut other)
            .await
            .unwrap()
            .contains(r#""progressToken":"7""#)
    );
    assert!(
        event(&mut other)
            .await
            .unwrap()
            .contains("notifications/message")
    );
}

#[tokio::test]
async fn two_open_requests_have_two_ids() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let waits = sent(web.say(&session, call("1", "wait", "1"))).await;
    let again = sent(web.say(&session, ping("1"))).await;
    assert_eq!(again.status(), 400);
    assert_eq!(error_code(again).await, -32600);
    let twice = format!("[{},{}]", ping("2"), ping("2"));
    assert_eq!(status(web.say(&session, twice)).await, 400);
    drop(waits);
}

#[tokio::test]
async fn a_request_that_is_withdrawn_need_not_be_answered() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let mut waits = sent(web.say(&session, call("1", "wait", "1"))).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(status(web.say(&session, cancel)).await, 202);
    assert_eq!(event(&mut waits).await, None);
    served.opened().await;
    for method in ["initialize", "tools/call", "notifications/cancelled"] {
        served.said(method).await;
    }
}

#[tokio::test]
async fn a_client_that_breaks_off_keeps_its_session() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    let waits = sent(web.say(&session, call("1", "wait", "1"))).await;
    served.said("initialize").await;
    served.said("tools/call").await;
    drop(waits);
    let answer = sent(web.say(&session, ping("2"))).await;
    assert_eq!(events(answer).await, [pong("2")]);
    assert_eq!(served.said("ping").await.0, link);
}

#[tokio::test]
async fn a_message_in_several_lines_is_one_line_for_the_server() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    served.opened().await;
    served.said("initialize").await;
    let pretty = "{\r\n  \"jsonrpc\": \"2.0\",\r\n  \"method\": \"m\",\n  \"params\": {\n}}";
    assert_eq!(status(web.say(&session, pretty)).await, 202);
    let (_, said) = served.said("m").await;
    assert_eq!(said.body(), "{ }");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let large = vec![b' '; acp_chain::limits::MCP_MESSAGE + 1];
    assert_eq!(status(web.say(&session, large)).await, 413);
    let mut fits = ping("1").into_bytes();
    fits.resize(acp_chain::limits::MCP_MESSAGE, b' ');
    let answer = sent(web.say(&session, Body::from(fits))).await;
    assert_eq!(events(answer).await, [pong("1")]);
}
