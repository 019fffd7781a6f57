//! Networks that break between our client and our server: no message is lost, duplicated or reordered; and where that
//! is impossible, both sides get an error or the end.
//!
//! A test plays the client and the agent, and the network is a relay with the faults that the test chooses. Long times
//! are not waited for: the clock is advanced.

mod ends;
mod network;

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time;

use self::ends::{End, Ends, TransportKind, WINDOW, answer, request};
use self::network::{Fault, faults};

const SESSIONS: [&str; 3] = ["one", "two", "three"];

/// How many turns each session has, and how many updates each turn.
const TURNS: usize = 4;
const UPDATES: usize = 12;

/// Longer than either side may be silent.
const SILENCE: Duration = Duration::from_secs(50);

/// What one end has received, by session.
type Transcript = BTreeMap<String, Vec<Value>>;

/// Runs turns in all sessions at once. Returns what the client and the agent have received.
async fn turns(ends: &mut Ends) -> (Transcript, Transcript) {
    tokio::join!(client(&mut ends.client), agent(&mut ends.agent))
}

async fn client(client: &mut End) -> Transcript {
    let mut received = Transcript::new();
    let mut turns: BTreeMap<_, _> = (100..).step_by(100).zip(SESSIONS).collect();
    for (id, session) in &turns {
        prompt(client, *id, session);
    }
    while !turns.is_empty() {
        let message = client.receive().await;
        if message["method"] == "session/update" {
            let params = &message["params"];
            let session = params["sessionId"].as_str().unwrap();
            let received = received.entry(session.to_owned()).or_default();
            received.push(params["update"].clone());
            continue;
        }
        let id = usize::try_from(message["id"].as_u64().unwrap()).unwrap();
        let session = turns.remove(&id).expect("a turn that is open");
        assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
        let received = received.entry(session.to_owned()).or_default();
        received.push(json!({"turn": id % 100}));
        if id % 100 + 1 < TURNS {
            prompt(client, id + 1, session);
            turns.insert(id + 1, session);
        }
    }
    received
}

fn prompt(client: &End, id: usize, session: &str) {
    let count = json!({"sessionId": session, "before": id % 100});
    client.send(json!({"jsonrpc": "2.0", "method": "x/count", "params": count}));
    let prompt = [json!({"type": "text", "text": "hello"})];
    let params = json!({"sessionId": session, "prompt": prompt});
    client.send(request(id, "session/prompt", params));
}

async fn agent(agent: &mut End) -> Transcript {
    let mut received = Transcript::new();
    for _ in 0..SESSIONS.len() * TURNS * 2 {
        let message = agent.receive().await;
        let session = message["params"]["sessionId"].as_str().unwrap().to_owned();
        let received = received.entry(session.clone()).or_default();
        let Some(id) = message["id"].as_u64() else {
            received.push(message["params"]["before"].clone());
            continue;
        };
        let id = usize::try_from(id).unwrap();
        received.push(json!({"turn": id % 100}));
        for number in 0..UPDATES {
            agent.send(update(&session, id % 100, number));
        }
        agent.send(answer(id, json!({"stopReason": "end_turn"})));
    }
    received
}

fn update(session: &str, turn: usize, number: usize) -> Value {
    let update = json!({"turn": turn, "number": number, "text": "some words"});
    json!({
        "jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update},
    })
}

/// What the client and the agent have received in the end.
fn expected() -> (Transcript, Transcript) {
    let by_client = (0..TURNS).flat_map(|turn| {
        let updates = (0..UPDATES).map(move |number| update("", turn, number));
        let updates = updates.map(|update| update["params"]["update"].clone());
        updates.chain([json!({"turn": turn})])
    });
    let by_client: Vec<_> = by_client.collect();
    let by_agent = (0..TURNS).flat_map(|turn| [json!(turn), json!({"turn": turn})]);
    let by_agent: Vec<_> = by_agent.collect();
    let of_all = |received: Vec<Value>| {
        let all = SESSIONS.map(|session| (session.to_owned(), received.clone()));
        Transcript::from(all)
    };
    (of_all(by_client), of_all(by_agent))
}

/// No message arrives that was not sent.
async fn ends_without_more(mut ends: Ends) {
    ends.client
        .send(json!({"jsonrpc": "2.0", "method": "x/last"}));
    assert_eq!(ends.agent.receive().await["method"], "x/last");
    ends.agent
        .send(json!({"jsonrpc": "2.0", "method": "x/last"}));
    assert_eq!(ends.client.receive().await["method"], "x/last");
    drop(ends.client);
    assert_eq!(ends.agent.next().await.unwrap(), None);
}

/// Advances the clock, second by second, and lets all tasks run in each.
async fn advance(time: Duration) {
    for _ in 0..time.as_secs() {
        time::pause();
        time::advance(Duration::from_secs(1)).await;
        time::resume();
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn no_message_is_lost_duplicated_or_reordered_wherever_the_network_breaks(faults in faults()) {
        runtime().block_on(async {
            let mut ends = Ends::begin(TransportKind::Http, &SESSIONS, faults).await;
            assert_eq!(turns(&mut ends).await, expected());
            ends.network.schedule(Vec::new());
            ends_without_more(ends).await;
        });
    }
}

#[tokio::test]
async fn both_transports_survive_a_slow_network() {
    for way in [TransportKind::Http, TransportKind::WebSocket] {
        let faults = vec![
            (1, Fault::Crumbles(7)),
            (500, Fault::Parts),
            (2000, Fault::Parts),
        ];
        let mut ends = Ends::begin(way, &SESSIONS, faults).await;
        assert_eq!(turns(&mut ends).await, expected(), "{way:?}");
        ends_without_more(ends).await;
    }
}

#[tokio::test]
async fn after_a_partition_within_the_window_both_sides_resume() {
    let mut ends = Ends::begin(TransportKind::Http, &SESSIONS, Vec::new()).await;
    prompt(&ends.client, 100, "one");
    assert_eq!(ends.agent.receive().await["method"], "x/count");
    assert_eq!(ends.agent.receive().await["id"], 100);
    ends.agent.send(update("one", 0, 0));
    assert_eq!(ends.client.receive().await, update("one", 0, 0));
    ends.network.part();
    ends.network.inject(Fault::Cut);
    // Meanwhile both send messages.
    for number in 1..UPDATES {
        ends.agent.send(update("one", 0, number));
    }
    prompt(&ends.client, 200, "two");
    advance(SILENCE).await;
    ends.network.heal();
    for number in 1..UPDATES {
        assert_eq!(ends.client.receive().await, update("one", 0, number));
    }
    assert_eq!(ends.agent.receive().await["method"], "x/count");
    assert_eq!(ends.agent.receive().await["id"], 200);
    ends_without_more(ends).await;
}

#[tokio::test]
async fn after_a_longer_partition_both_sides_get_the_end() {
    let mut ends = Ends::begin(TransportKind::Http, &SESSIONS, Vec::new()).await;
    ends.network.part();
    ends.network.inject(Fault::Cut);
    ends.agent.send(update("one", 0, 0));
    advance(2 * WINDOW).await;
    assert_eq!(ends.agent.next().await.unwrap(), None);
    ends.network.heal();
    let error = ends.client.next().await.unwrap_err().to_string();
    assert!(error.contains(&ends.network.address.to_string()), "{error}");
}

#[tokio::test]
async fn a_client_resumes_when_its_server_is_silently_disconnected() {
    let mut ends = Ends::begin(TransportKind::Http, &SESSIONS, Vec::new()).await;
    ends.network.inject(Fault::LosesServer);
    for number in 0..UPDATES {
        ends.agent.send(update("one", 0, number));
    }
    advance(SILENCE).await;
    for number in 0..UPDATES {
        assert_eq!(ends.client.receive().await, update("one", 0, number));
    }
    ends_without_more(ends).await;
}

#[tokio::test]
async fn a_client_resumes_when_the_server_still_considers_its_old_streams_open() {
    let mut ends = Ends::begin(TransportKind::Http, &SESSIONS, Vec::new()).await;
    for number in 0..UPDATES {
        ends.network.inject(Fault::LosesClient);
        ends.agent.send(update("one", 0, number));
        assert_eq!(ends.client.receive().await, update("one", 0, number));
    }
    ends_without_more(ends).await;
}

#[tokio::test]
async fn an_incomplete_message_does_not_block_its_retry() {
    let mut ends = Ends::begin(
        TransportKind::Http,
        &SESSIONS,
        vec![(5000, Fault::LosesClient)],
    )
    .await;
    let text = "x".repeat(10_000);
    let message = json!({"jsonrpc": "2.0", "method": "x/long", "params": {"text": text}});
    ends.client.send(message.clone());
    // Less than the server waits for the rest of the message.
    advance(Duration::from_secs(10)).await;
    assert!(ends.agent.has_message());
    assert_eq!(ends.agent.receive().await, message);
    ends_without_more(ends).await;
}

#[tokio::test]
async fn a_lost_websocket_ends_for_both_sides() {
    for fault in [Fault::Cut, Fault::LosesClient, Fault::LosesServer] {
        let mut ends = Ends::begin(TransportKind::WebSocket, &SESSIONS, Vec::new()).await;
        ends.network.inject(fault);
        if fault != Fault::LosesServer {
            let error = ends.client.next().await.unwrap_err().to_string();
            assert!(error.contains("may be lost"), "{fault:?}: {error}");
        }
        advance(SILENCE).await;
        assert_eq!(ends.agent.next().await.unwrap(), None, "{fault:?}");
        if fault == Fault::LosesServer {
            let error = ends.client.next().await.unwrap_err().to_string();
            assert!(error.contains("no longer responds"), "{error}");
        }
    }
}
