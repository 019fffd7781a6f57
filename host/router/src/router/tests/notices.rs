//! The host's notices for the user, and when they are sent.

use super::{PROMPT, agent, client, forwards, received};
use crate::Proxy;
use crate::router::Router;
use acp_chain_channel::limits::NOTICES;
use acp_chain_channel::{Offer, Peer};

#[test]
fn notices_without_a_turn_are_kept_up_to_a_bound_and_the_rest_is_counted() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    let text = "x".repeat(1000);
    for _ in 0..10_000 {
        router.tell_user(&text);
    }
    router.tell_user(&"y".repeat(1 << 20));
    assert!(received(&mut router, Peer::Client).is_empty());
    client(&mut router, PROMPT);
    let got = received(&mut router, Peer::Client);
    let kept = NOTICES / 1024;
    assert!((kept - 1..=kept + 2).contains(&got.len()), "{}", got.len());
    let left_out = 10_001 + 1 - got.len();
    let last = got.last().expect("a notice");
    assert!(last.contains(&format!("{left_out} of them")), "{last}");
    client(&mut router, &PROMPT.replace("\"p\"", "\"q\""));
    assert!(received(&mut router, Peer::Client).is_empty(), "sent once");
}

#[test]
fn a_notice_ends_before_the_log_is_named() {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    router.set_log(Some("/x".into()));
    for text in ["It stops", "It broke.", "Why?"] {
        router.tell_user(text);
    }
    client(&mut router, PROMPT);
    let got = received(&mut router, Peer::Client).concat();
    for text in ["It stops.", "It broke.", "Why?"] {
        let expected = format!(": {text} More is in /x.");
        assert!(got.contains(&expected), "{got}");
    }
}

/// A router with a connection that has begun.
fn speaking(version: u64) -> Router {
    let mut router = Router::new(Vec::<Proxy>::new(), None);
    initialize(&mut router, version);
    router
}

fn initialize(router: &mut Router, version: u64) {
    let params = format!(r#"{{"protocolVersion":{version}}}"#);
    let initialize =
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
    client(router, &initialize);
    agent(
        router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{params}}}"#),
    );
    received(router, Peer::Client);
}

fn request(method: &str, session: &str) -> String {
    let params = format!(r#"{{"sessionId":"{session}"}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":"{method} {session}","method":"{method}","params":{params}}}"#
    )
}

/// The answer to the first prompt, which in version 2 means that the agent has it.
const ACCEPTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}"#;

fn notice(session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"notice","severity":"warning","title":"acp-chain: {text}"}}}}}}"#
    )
}

#[test]
fn in_version_1_it_is_a_message_within_a_turn() {
    let mut router = speaking(1);
    router.tell_user("one");
    assert!(received(&mut router, Peer::Client).is_empty());
    client(&mut router, &request("session/prompt", "s"));
    let message = |number: u64, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"content":{{"text":"\n\n**acp-chain**: {text}\n\n","type":"text"}},"messageId":"acp-chain-{number}","sessionUpdate":"agent_message_chunk"}}}}}}"#
        )
    };
    assert_eq!(received(&mut router, Peer::Client), [message(1, "one")]);
    router.tell_user("two");
    assert_eq!(received(&mut router, Peer::Client), [message(2, "two")]);
    agent(&mut router, ACCEPTED);
    received(&mut router, Peer::Client);
    router.tell_user("three");
    assert!(received(&mut router, Peer::Client).is_empty());
}

#[test]
fn in_version_2_it_is_a_notice_in_the_session_that_was_prompted_last() {
    let mut router = speaking(2);
    router.tell_user("one");
    client(&mut router, &request("session/new", "none"));
    assert!(received(&mut router, Peer::Client).is_empty());
    client(&mut router, &request("session/prompt", "s"));
    assert_eq!(received(&mut router, Peer::Client), [notice("s", "one")]);
    agent(&mut router, ACCEPTED);
    received(&mut router, Peer::Client);
    router.tell_user("two");
    assert_eq!(received(&mut router, Peer::Client), [notice("s", "two")]);
    client(&mut router, &request("session/prompt", "t"));
    router.tell_user("three");
    assert_eq!(received(&mut router, Peer::Client), [notice("t", "three")]);
}

#[test]
fn in_version_2_no_notice_is_sent_in_a_closed_session() {
    for close in ["session/close", "session/archive"] {
        let mut router = speaking(2);
        client(&mut router, &request("session/prompt", "s"));
        client(&mut router, &request(close, "t"));
        router.tell_user("one");
        assert_eq!(received(&mut router, Peer::Client), [notice("s", "one")]);
        client(&mut router, &request(close, "s"));
        router.tell_user("two");
        assert!(received(&mut router, Peer::Client).is_empty());
        client(&mut router, &request("session/prompt", "t"));
        assert_eq!(received(&mut router, Peer::Client), [notice("t", "two")]);
    }
}

/// A router with a proxy that has tools, after the first prompt to an agent of version 2 with these capabilities.
fn with_tools(capabilities: &str) -> Router {
    let mut tools = forwards("none");
    tools.registration.offers = [Offer::Tools].into_iter().collect();
    let mut router = Router::new(vec![tools], None);
    router.tell_of_unused_tools();
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}"#,
    );
    let result = format!(r#"{{"protocolVersion":2,"capabilities":{capabilities}}}"#);
    agent(
        &mut router,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[]}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    );
    client(&mut router, &request("session/prompt", "s"));
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":3,"result":{"messageId":"m"}}"#,
    );
    router
}

/// A report that the agent is in this state.
fn state(state: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"state_update","state":"{state}"}}}}}}"#
    )
}

#[test]
fn in_version_2_unused_tools_are_reported_once_when_the_agent_is_idle() {
    let mut router = with_tools(r#"{"session":{"mcp":{"acp":{}}}}"#);
    let got = "has not connected to the tools of the proxy `forwards`";
    agent(&mut router, &state("running"));
    let shown = received(&mut router, Peer::Client).concat();
    assert!(!shown.contains(got), "{shown}");
    agent(&mut router, &state("idle"));
    let shown = received(&mut router, Peer::Client);
    assert!(shown[0].contains(got), "{shown:?}");
    assert_eq!(shown[1..], [state("idle")]);
    agent(&mut router, &state("idle"));
    assert_eq!(received(&mut router, Peer::Client), [state("idle")]);
}

#[test]
fn tools_that_an_agent_without_mcp_cannot_be_given_are_told_of_once() {
    let mut router = with_tools(r#"{"session":{}}"#);
    for state_of_agent in ["running", "idle"] {
        agent(&mut router, &state(state_of_agent));
    }
    let shown = received(&mut router, Peer::Client).concat();
    assert_eq!(
        shown.matches("cannot be given the MCP server").count(),
        1,
        "{shown}"
    );
    assert!(!shown.contains("has not connected"), "{shown}");
}
