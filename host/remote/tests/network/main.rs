//! Networks that break between our client and our server: nothing is lost, nothing comes twice, and all is in order;
//! and where that cannot be, both sides are told.
//!
//! A test is the client and the agent, and the network is a relay that breaks where it says. What takes long is not
//! waited for: the clock is advanced.

mod ends;
mod weather;

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time;

use self::ends::{End, Ends, WINDOW, Way, answers, asks};
use self::weather::{Fault, faults};

const SESSIONS: [&str; 3] = ["one", "two", "three"];

/// How many turns each of them has, and how many updates a turn.
const TURNS: usize = 4;
const UPDATES: usize = 12;

/// Longer than either side lets the other be silent.
const SILENCE: Duration = Duration::from_secs(50);

/// What each end has heard, by its session.
type Heard = BTreeMap<String, Vec<Value>>;

/// Turns in all sessions at once. Gives what the client and the agent have heard.
async fn turns(ends: &mut Ends) -> (Heard, Heard) {
    tokio::join!(client(&mut ends.client), agent(&mut ends.agent))
}

async fn client(client: &mut End) -> Heard {
    let mut heard = Heard::new();
    let mut turns: BTreeMap<_, _> = (100..).step_by(100).zip(SESSIONS).collect();
    for (id, session) in &turns {
        prompts(client, *id, session);
    }
    while !turns.is_empty() {
        let message = client.hears().await;
        if message["method"] == "session/update" {
            let params = &message["params"];
            let session = params["sessionId"].as_str().unwrap();
            let heard = heard.entry(session.to_owned()).or_default();
            heard.push(params["update"].clone());
            continue;
        }
        let id = usize::try_from(message["id"].as_u64().unwrap()).unwrap();
        let session = turns.remove(&id).expect("a turn that is open");
        assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
        let heard = heard.entry(session.to_owned()).or_default();
        heard.push(json!({"turn": id % 100}));
        if id % 100 + 1 < TURNS {
            prompts(client, id + 1, session);
            turns.insert(id + 1, session);
        }
    }
    heard
}

fn prompts(client: &End, id: usize, session: &str) {
    let count = json!({"sessionId": session, "before": id % 100});
    client.says(json!({"jsonrpc": "2.0", "method": "x/count", "params": count}));
    let prompt = [json!({"type": "text", "text": "hello"})];
    let params = json!({"sessionId": session, "prompt": prompt});
    client.says(asks(id, "session/prompt", params));
}

async fn agent(agent: &mut End) -> Heard {
    let mut heard = Heard::new();
    for _ in 0..SESSIONS.len() * TURNS * 2 {
        let message = agent.hears().await;
        let session = message["params"]["sessionId"].as_str().unwrap().to_owned();
        let heard = heard.entry(session.clone()).or_default();
        let Some(id) = message["id"].as_u64() else {
            heard.push(message["params"]["before"].clone());
            continue;
        };
        let id = usize::try_from(id).unwrap();
        heard.push(json!({"turn": id % 100}));
        for number in 0..UPDATES {
            agent.says(update(&session, id % 100, number));
        }
        agent.says(answers(id, json!({"stopReason": "end_turn"})));
    }
    heard
}

fn update(session: &str, turn: usize, number: usize) -> Value {
    let update = json!({"turn": turn, "number": number, "text": "some words"});
    json!({
        "jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update},
    })
}

/// What both have heard in the end.
fn expected() -> (Heard, Heard) {
    let by_client = (0..TURNS).flat_map(|turn| {
        let updates = (0..UPDATES).map(move |number| update("", turn, number));
        let updates = updates.map(|update| update["params"]["update"].clone());
        updates.chain([json!({"turn": turn})])
    });
    let by_client: Vec<_> = by_client.collect();
    let by_agent = (0..TURNS).flat_map(|turn| [json!(turn), json!({"turn": turn})]);
    let by_agent: Vec<_> = by_agent.collect();
    let of_all = |heard: Vec<Value>| {
        let all = SESSIONS.map(|session| (session.to_owned(), heard.clone()));
        Heard::from(all)
    };
    (of_all(by_client), of_all(by_agent))
}

/// Nothing comes that was not said.
async fn is_quiet(mut ends: Ends) {
    ends.client
        .says(json!({"jsonrpc": "2.0", "method": "x/last"}));
    assert_eq!(ends.agent.hears().await["method"], "x/last");
    ends.agent
        .says(json!({"jsonrpc": "2.0", "method": "x/last"}));
    assert_eq!(ends.client.hears().await["method"], "x/last");
    drop(ends.client);
    assert_eq!(ends.agent.heard().await.unwrap(), None);
}

/// So much time is over, in each second of which all do what there is to do.
async fn passes(time: Duration) {
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
    fn nothing_is_lost_twice_or_out_of_order_wherever_the_network_breaks(faults in faults()) {
        runtime().block_on(async {
            let mut ends = Ends::begin(Way::Http, &SESSIONS, faults).await;
            assert_eq!(turns(&mut ends).await, expected());
            ends.network.breaks(Vec::new());
            is_quiet(ends).await;
        });
    }
}

#[tokio::test]
async fn a_network_that_only_crumbles_and_waits_is_borne_by_either_way() {
    for way in [Way::Http, Way::WebSocket] {
        let faults = vec![
            (1, Fault::Crumbles(7)),
            (500, Fault::Parts),
            (2000, Fault::Parts),
        ];
        let mut ends = Ends::begin(way, &SESSIONS, faults).await;
        assert_eq!(turns(&mut ends).await, expected(), "{way:?}");
        is_quiet(ends).await;
    }
}

#[tokio::test]
async fn parted_within_the_window_both_go_on_where_they_were() {
    let mut ends = Ends::begin(Way::Http, &SESSIONS, Vec::new()).await;
    prompts(&ends.client, 100, "one");
    assert_eq!(ends.agent.hears().await["method"], "x/count");
    assert_eq!(ends.agent.hears().await["id"], 100);
    ends.agent.says(update("one", 0, 0));
    assert_eq!(ends.client.hears().await, update("one", 0, 0));
    ends.network.parts();
    ends.network.suffers(Fault::Cut);
    // Meanwhile both say something.
    for number in 1..UPDATES {
        ends.agent.says(update("one", 0, number));
    }
    prompts(&ends.client, 200, "two");
    passes(SILENCE).await;
    ends.network.heals();
    for number in 1..UPDATES {
        assert_eq!(ends.client.hears().await, update("one", 0, number));
    }
    assert_eq!(ends.agent.hears().await["method"], "x/count");
    assert_eq!(ends.agent.hears().await["id"], 200);
    is_quiet(ends).await;
}

#[tokio::test]
async fn parted_for_longer_both_are_told_that_it_is_over() {
    let mut ends = Ends::begin(Way::Http, &SESSIONS, Vec::new()).await;
    ends.network.parts();
    ends.network.suffers(Fault::Cut);
    ends.agent.says(update("one", 0, 0));
    passes(2 * WINDOW).await;
    assert_eq!(ends.agent.heard().await.unwrap(), None);
    ends.network.heals();
    let error = ends.client.heard().await.unwrap_err().to_string();
    assert!(error.contains(&ends.network.address.to_string()), "{error}");
}

#[tokio::test]
async fn a_client_goes_on_when_its_server_seems_to_live_but_is_gone() {
    let mut ends = Ends::begin(Way::Http, &SESSIONS, Vec::new()).await;
    ends.network.suffers(Fault::LosesServer);
    for number in 0..UPDATES {
        ends.agent.says(update("one", 0, number));
    }
    passes(SILENCE).await;
    for number in 0..UPDATES {
        assert_eq!(ends.client.hears().await, update("one", 0, number));
    }
    is_quiet(ends).await;
}

#[tokio::test]
async fn a_client_goes_on_when_the_server_takes_its_old_streams_for_open() {
    let mut ends = Ends::begin(Way::Http, &SESSIONS, Vec::new()).await;
    for number in 0..UPDATES {
        ends.network.suffers(Fault::LosesClient);
        ends.agent.says(update("one", 0, number));
        assert_eq!(ends.client.hears().await, update("one", 0, number));
    }
    is_quiet(ends).await;
}

#[tokio::test]
async fn a_message_that_stopped_halfway_does_not_hold_up_itself_when_it_comes_again() {
    let mut ends = Ends::begin(Way::Http, &SESSIONS, vec![(5000, Fault::LosesClient)]).await;
    let text = "x".repeat(10_000);
    let message = json!({"jsonrpc": "2.0", "method": "x/long", "params": {"text": text}});
    ends.client.says(message.clone());
    // Less than the server waits for the rest of it.
    passes(Duration::from_secs(10)).await;
    assert!(ends.agent.has_heard());
    assert_eq!(ends.agent.hears().await, message);
    is_quiet(ends).await;
}

#[tokio::test]
async fn a_websocket_that_is_lost_is_over_for_whoever_sees_it_and_for_the_other_in_the_end() {
    for fault in [Fault::Cut, Fault::LosesClient, Fault::LosesServer] {
        let mut ends = Ends::begin(Way::WebSocket, &SESSIONS, Vec::new()).await;
        ends.network.suffers(fault);
        if fault != Fault::LosesServer {
            let error = ends.client.heard().await.unwrap_err().to_string();
            assert!(error.contains("may be lost"), "{fault:?}: {error}");
        }
        passes(SILENCE).await;
        assert_eq!(ends.agent.heard().await.unwrap(), None, "{fault:?}");
        if fault == Fault::LosesServer {
            let error = ends.client.heard().await.unwrap_err().to_string();
            assert!(error.contains("says nothing any more"), "{error}");
        }
    }
}
