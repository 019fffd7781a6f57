//! Turns are stopped when an observer of the trace, which must have everything, has failed.

use std::io;
use std::time::SystemTime;

use super::{PROMPT, agent, client, forwards, received, update};
use crate::router::Router;
use acp_chain_channel::Peer;
use acp_chain_recorder::{Beginning, Event, Line, Observer, OnFailure, Role, Trace};

/// An observer that fails when a turn ends.
struct FailingObserver;

impl Observer for FailingObserver {
    fn began(&mut self, _: &Line, _: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn happened(&mut self, _: &str, _: SystemTime, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn ended(&mut self, _: &str, _: SystemTime) -> io::Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

fn observed(on_failure: OnFailure) -> Router {
    let tracer = Trace::default()
        .observed(FailingObserver, on_failure)
        .tracer();
    let recorder = tracer.connection(Beginning {
        role: Role::Agent,
        proxies: vec!["forwards".to_owned()],
        agent: None,
        chain: None,
    });
    Router::new(vec![forwards("*")], Some(recorder))
}

const OTHER: &str =
    r#"{"jsonrpc":"2.0","id":"q","method":"session/prompt","params":{"sessionId":"t"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#;
const STOP: &str = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"t"}}"#;

/// The id under which the agent has a prompt.
fn id(line: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(line).unwrap();
    message["id"].to_string()
}

#[test]
fn other_turns_are_stopped_and_no_turn_begins() {
    let mut router = observed(OnFailure::Halt);
    client(&mut router, PROMPT);
    client(&mut router, OTHER);
    let prompts = received(&mut router, Peer::Agent);
    let answer = ANSWER.replace(r#""id":1"#, &format!(r#""id":{}"#, id(&prompts[0])));
    agent(&mut router, &answer);
    assert_eq!(received(&mut router, Peer::Agent), [STOP]);
    let told = received(&mut router, Peer::Client);
    assert!(told[0].contains("Receipts cannot be written"), "{told:?}");
    assert!(told.last().unwrap().contains("end_turn"), "{told:?}");
    client(&mut router, &PROMPT.replace(r#""p""#, r#""r""#));
    assert!(received(&mut router, Peer::Agent).is_empty());
    let refused = received(&mut router, Peer::Client);
    assert!(
        refused[0].contains("there can be no receipts"),
        "{refused:?}"
    );
    // Messages of the turns that end still pass.
    agent(&mut router, &update("t", "x"));
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn turns_go_on_where_only_the_receipts_end() {
    let mut router = observed(OnFailure::GoOn);
    for _ in 0..2 {
        client(&mut router, PROMPT);
        let prompts = received(&mut router, Peer::Agent);
        let answer = ANSWER.replace(r#""id":1"#, &format!(r#""id":{}"#, id(&prompts[0])));
        agent(&mut router, &answer);
        let told = received(&mut router, Peer::Client);
        assert!(told.last().unwrap().contains("end_turn"), "{told:?}");
    }
}
