//! Clients without a token: whatever they do with their connections, clients with a token are served.

use std::path::Path;

use acp_chain_tests::wire::in_time;
use futures_util::stream::{self, StreamExt};
use reqwest::Method;

use super::limits;
use super::raw::{END_HEADERS, END_STREAM, HEADERS, Raw, SETTINGS, field, h2, named};
use super::served::{ServerProcess, initialize, posted};

/// The server's limit of connections; its limit of sockets is four times as high.
const CONNECTIONS: usize = 16;

/// How many connections flood the server at once. Each waits for a second until the server closes it.
const AT_ONCE: usize = 4;

async fn serve(folder: &Path) -> (ServerProcess, String) {
    let limits = format!("connections = {CONNECTIONS}\nconnections-per-user = 1000");
    let (served, [ann, _]) = limits::serve(folder, &limits).await;
    (served, ann)
}

/// The user connects, is served and disconnects; a health check is answered.
async fn is_served(served: &ServerProcess, token: &str) {
    let begun = posted(served.asks(Method::POST).bearer_auth(token), &initialize()).await;
    assert_eq!(begun.status(), 200);
    let id = begun.headers()["acp-connection-id"].clone();
    let ends = served.asks(Method::DELETE).bearer_auth(token);
    let ended = ends.header("acp-connection-id", id).send();
    assert_eq!(in_time("the end", ended).await.unwrap().status(), 202);
    assert_eq!(served.beside("/healthz").await, 200);
}

#[tokio::test]
async fn they_do_not_take_the_room_of_those_who_may_come_in() {
    let folder = tempfile::tempdir().unwrap();
    let (served, token) = serve(folder.path()).await;
    let mut strangers = Vec::new();
    for number in 0..20 * CONNECTIONS {
        let mut raw = Raw::open(&served).await;
        let preflight = format!(
            "OPTIONS /acp HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\n\
             Access-Control-Request-Method: POST\r\n\r\n",
            raw.host
        );
        match number % 3 {
            0 => assert!(raw.says(preflight.as_bytes()).await),
            1 => assert!(raw.says(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await),
            _ => {}
        }
        strangers.push(raw);
        if number % 10 == 0 {
            is_served(&served, &token).await;
        }
    }
}

/// The server announces when the client must open another connection.
#[tokio::test]
async fn all_checks_of_a_balancer_on_one_connection_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (served, _) = serve(folder.path()).await;
    let url = served.url.replace("/acp", "/healthz");
    for builder in [
        reqwest::Client::builder().http1_only(),
        reqwest::Client::builder().http2_prior_knowledge(),
    ] {
        let client = builder.build().unwrap();
        for number in 0..100 {
            let answer = in_time("an answer", client.get(&url).send()).await;
            assert_eq!(answer.unwrap().status(), 200, "{number}");
        }
    }
}

/// Neither an allowed preflight nor a connection that answers pings proves anything.
#[tokio::test]
async fn they_make_few_requests_and_leave_little_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (served, token) = serve(folder.path()).await;
    is_served(&served, &token).await;
    let before = served.memory();
    let floods = ["GET", "OPTIONS"]
        .into_iter()
        .flat_map(|method| [method; 100]);
    let floods = stream::iter(floods);
    floods
        .for_each_concurrent(AT_ONCE, |method| flood(&served, method))
        .await;
    is_served(&served, &token).await;
    let grown = served.memory().saturating_sub(before) >> 20;
    assert!(grown < 64, "{grown} MiB more");
}

/// Sends as many requests as one connection allows, whose answers are blocked.
async fn flood(served: &ServerProcess, method: &str) {
    let mut raw = Raw::http2(served).await;
    let origin = format!("http://{}", raw.host);
    // The window of each stream is 0.
    let window = [0, 4, 0, 0, 0, 0];
    let mut flood = h2(SETTINGS, 0, 0, &window);
    let fields = [
        named(":method", method),
        vec![0x86],
        field(0x04, "/acp"),
        field(0x01, &raw.host),
        named("origin", &origin),
        named("access-control-request-method", "POST"),
    ];
    for number in 0..1020 {
        let flags = END_STREAM | END_HEADERS;
        flood.extend(h2(HEADERS, flags, 2 * number + 1, &fields.concat()));
    }
    raw.says(&flood).await;
    // The server closes the connection.
    raw.rest().await;
}
