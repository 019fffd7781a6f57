//! Native proxies, on exact lines.

use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::time::Instant;

use super::{PROMPT, agent, client, forwards, received, update};
use crate::native::Dialect;
use crate::router::Router;
use crate::{Member, Native};
use acp_chain_channel::{Failure, FailurePolicy, Peer};
use acp_chain_hops::native_peer::{Order, START_UP};
use acp_chain_rpc::Message;
use acp_chain_rpc::transport::Frame;

pub(super) const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;

pub(super) fn native(name: &str, on_failure: FailurePolicy) -> Native {
    Native {
        name: name.to_owned(),
        dialect: None,
        on_failure,
        sees_tool_runs: false,
        program: None,
    }
}

fn alone(on_failure: FailurePolicy) -> Router {
    Router::new(vec![native("n", on_failure)], None)
}

/// Sends a line from a native proxy.
pub(super) fn says(router: &mut Router, index: usize, line: &str) {
    let message = Message::parse(Bytes::copy_from_slice(line.as_bytes())).unwrap();
    router.receive_from_native(index, message);
    router.pump(1000);
}

/// Takes the lines that wait for a native proxy.
pub(super) fn sent_to(router: &mut Router, index: usize) -> Vec<String> {
    let (.., mut natives) = router.split();
    let outbox = natives.outbox(index).unwrap();
    let bytes = outbox.copy_to_bytes(outbox.remaining());
    let text = std::str::from_utf8(&bytes).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A router with one native proxy, in which the connection has begun.
pub(super) fn begun(on_failure: FailurePolicy) -> Router {
    let mut router = alone(on_failure);
    client(&mut router, INITIALIZE);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}"#,
    );
    says(&mut router, 0, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
    assert_eq!(sent_to(&mut router, 0).len(), 2);
    router
}

#[test]
fn messages_from_the_client_are_plain_and_those_from_the_agent_are_wrapped() {
    let mut router = begun(FailurePolicy::Refuse);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0", "id":"p","method":"m","params":{"n":1e400},"x":1}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"p","method":"asked","params":{"n" : -0.0}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"told","params":null}"#,
    );
    assert_eq!(
        sent_to(&mut router, 0),
        [
            r#"{"jsonrpc":"2.0", "id":3,"method":"m","params":{"n":1e400},"x":1}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"proxy/successor","params":{"method":"asked","params":{"n" : -0.0}}}"#,
            r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"told"}}"#,
        ]
    );
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":4,"result":{"s":"\u00e9"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","id":"p","result":{"s":"\u00e9"}}"#]
    );
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"x"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"x"}}"#]
    );
}

#[test]
fn plain_messages_of_a_native_proxy_go_to_the_client_and_wrapped_ones_to_the_agent() {
    let mut router = begun(FailurePolicy::Refuse);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":0,"method":"q","params":[1]}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":3,"method":"q","params":[1]}"#]
    );
    for (meta, params) in [
        (r#""_meta":{"a":1},"#, r#","params":{"n" : 1e400}"#),
        (r#""meta":{"a":1},"#, r#","params":{"n" : 1e400}"#),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"proxy/successor","params":{{{meta}"method":"t"{params}}}}}"#
        );
        says(&mut router, 0, &line);
        assert_eq!(
            received(&mut router, Peer::Agent),
            [r#"{"jsonrpc":"2.0","method":"t","params":{"n" : 1e400}}"#]
        );
    }
    for params in ["", r#","params":null"#] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"\u0061","method":"proxy/successor","params":{{"method":"t"{params}}}}}"#
        );
        says(&mut router, 0, &line);
        let [sent] = &received(&mut router, Peer::Agent)[..] else {
            panic!("one message")
        };
        let id: u64 = sent
            .strip_prefix(r#"{"jsonrpc":"2.0","id":"#)
            .and_then(|rest| rest.strip_suffix(r#","method":"t"}"#))
            .unwrap()
            .parse()
            .unwrap();
        agent(
            &mut router,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#),
        );
        assert_eq!(
            sent_to(&mut router, 0),
            [r#"{"jsonrpc":"2.0","id":"\u0061","result":null}"#]
        );
    }
}

#[test]
fn every_native_proxy_gets_proxy_initialize_and_the_agent_initialize() {
    let members: Vec<Member> = vec![
        native("a", FailurePolicy::Refuse).into(),
        forwards("*").into(),
        native("b", FailurePolicy::Refuse).into(),
    ];
    let mut router = Router::new(members, None);
    client(&mut router, INITIALIZE);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}"#]
    );
    let forward = r#"{"jsonrpc":"2.0","id":7,"method":"proxy/successor","params":{"method":"initialize","params":{"protocolVersion":1}}}"#;
    says(&mut router, 0, forward);
    assert_eq!(
        sent_to(&mut router, 2),
        [r#"{"jsonrpc":"2.0","id":2,"method":"proxy/initialize","params":{"protocolVersion":1}}"#]
    );
    assert!(received(&mut router, Peer::Agent).is_empty());
    says(&mut router, 2, forward);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1}}"#]
    );
}

#[test]
fn a_cancellation_is_plain_on_each_hop_and_names_that_hops_id() {
    let mut router = begun(FailurePolicy::Refuse);
    client(&mut router, PROMPT);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":"x","method":"proxy/successor","params":{"method":"session/prompt"}}"#,
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p","_meta":{}}}"#,
    );
    assert_eq!(
        sent_to(&mut router, 0)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3,"_meta":{}}}"#
    );
    received(&mut router, Peer::Agent);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}"#,
    );
    // The wrapped form of older software, a second one, and those that name nothing.
    for cancel in [
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"$/cancel_request","params":{"requestId":"x"}}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"y"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request"}"#,
    ] {
        says(&mut router, 0, cancel);
    }
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4}}"#]
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":0,"method":"asks","params":{}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#,
    );
    assert_eq!(
        sent_to(&mut router, 0)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#
    );
}

#[test]
fn a_wrapped_cancellation_alone_is_understood() {
    let mut router = begun(FailurePolicy::Refuse);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":9,"method":"proxy/successor","params":{"method":"own"}}"#,
    );
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"$/cancel_request","params":{"requestId":9}}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}"#
    );
}

#[test]
fn a_proxy_that_does_not_support_the_method_gets_it_once_in_the_older_dialect() {
    let mut router = alone(FailurePolicy::Refuse);
    client(&mut router, INITIALIZE);
    sent_to(&mut router, 0);
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#;
    says(&mut router, 0, unknown);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","id":1,"method":"_proxy/initialize","params":{"protocolVersion":1}}"#]
    );
    says(&mut router, 0, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":0,"result":{"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}"#
        ]
    );
    agent(&mut router, &update("s", "t"));
    assert!(sent_to(&mut router, 0)[0].contains(r#""method":"_proxy/successor""#));

    let mut router = alone(FailurePolicy::Refuse);
    client(&mut router, INITIALIZE);
    says(&mut router, 0, unknown);
    says(&mut router, 0, unknown);
    let [error] = &received(&mut router, Peer::Client)[..] else {
        panic!("one answer")
    };
    assert!(
        error.contains(
            "the proxy `n` failed on initialize: it does not support `_proxy/initialize`"
        ),
        "{error}"
    );
}

#[test]
fn a_dialect_of_the_manifest_is_not_tried_but_taken() {
    let mut proxy = native("n", FailurePolicy::Refuse);
    proxy.dialect = Some(Dialect::ProxyMeta);
    let mut router = Router::new(vec![proxy], None);
    client(&mut router, INITIALIZE);
    sent_to(&mut router, 0);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#,
    );
    assert!(sent_to(&mut router, 0).is_empty());
    assert!(
        received(&mut router, Peer::Client)[0].contains("it does not support `proxy/initialize`")
    );
}

#[test]
fn a_program_that_sends_its_first_message_back_is_said_to_be_no_proxy() {
    for (dialect, method) in [
        (None, "proxy/initialize"),
        (Some(Dialect::Underscore), "_proxy/initialize"),
    ] {
        let mut proxy = native("n", FailurePolicy::Refuse);
        proxy.dialect = dialect;
        let mut router = Router::new(vec![proxy], None);
        client(&mut router, INITIALIZE);
        let [first] = &sent_to(&mut router, 0)[..] else {
            panic!("one message")
        };
        says(&mut router, 0, first);
        let told = format!(
            "the proxy `n` failed on initialize: it sent `{method}` back as it was, so its program is not a proxy"
        );
        let answers = received(&mut router, Peer::Client);
        assert!(answers[0].contains(&told), "{answers:?}");
        assert_eq!(router.take_orders(), [Order::End(0)]);
    }
}

#[test]
fn an_error_of_the_agent_is_not_taken_for_the_proxys_own() {
    let mut router = alone(FailurePolicy::Refuse);
    client(&mut router, INITIALIZE);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":{"method":"initialize"}}"#,
    );
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#;
    says(&mut router, 0, unknown);
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"?"}}"#]
    );
}

#[test]
fn a_proxy_that_does_not_answer_the_first_message_is_ended_unless_it_waits_itself() {
    let mut router = alone(FailurePolicy::Refuse);
    client(&mut router, INITIALIZE);
    router.advance(Instant::now() + START_UP + Duration::from_secs(1));
    assert!(received(&mut router, Peer::Client)[0].contains(
        "the proxy `n` failed on initialize: it did not answer `proxy/initialize` within 30 s"
    ));
    assert_eq!(router.take_orders(), [Order::End(0)]);

    let mut router = alone(FailurePolicy::Refuse);
    client(&mut router, INITIALIZE);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":{"method":"initialize"}}"#,
    );
    router.advance(Instant::now() + START_UP + Duration::from_secs(1));
    assert!(received(&mut router, Peer::Client).is_empty());
    says(&mut router, 0, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
    router.advance(Instant::now() + START_UP * 3);
    assert!(router.take_orders().is_empty());
}

#[test]
fn with_bypass_the_first_message_bypasses_a_proxy_that_did_not_pass_it_on() {
    let mut router = alone(FailurePolicy::Bypass);
    client(&mut router, INITIALIZE);
    router.native_broke(0, &Failure::new("it exited with code 1"));
    assert_eq!(
        received(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#]
    );
    client(&mut router, PROMPT);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn a_broken_native_proxy_leaves_no_request_open_in_either_direction() {
    for (policy, later) in [
        (
            FailurePolicy::Refuse,
            "the proxy `n` failed on m: it broke before: it exited",
        ),
        (FailurePolicy::Bypass, ""),
    ] {
        let mut router = begun(policy);
        client(&mut router, PROMPT);
        agent(
            &mut router,
            r#"{"jsonrpc":"2.0","id":0,"method":"asks","params":{}}"#,
        );
        says(
            &mut router,
            0,
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"own"}}"#,
        );
        received(&mut router, Peer::Agent);
        router.native_broke(0, &Failure::new("it exited"));
        let client_heard = received(&mut router, Peer::Client);
        let answer = client_heard
            .iter()
            .find(|line| line.contains(r#""id":"p""#));
        assert!(
            answer.is_some_and(|line| line
                .contains("acp-chain: the proxy `n` failed on session/prompt: it exited")),
            "{client_heard:?}"
        );
        let agent_heard = received(&mut router, Peer::Agent);
        assert_eq!(
            agent_heard[0],
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#
        );
        assert!(agent_heard[1].contains("the proxy `n` failed on asks: it exited"));
        // The answer to the earlier process's request arrives too late.
        agent(&mut router, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        client(&mut router, r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#);
        match later {
            "" => assert_eq!(received(&mut router, Peer::Agent).len(), 1),
            later => assert!(received(&mut router, Peer::Client)[0].contains(later)),
        }
    }
}

#[test]
fn a_restarted_native_proxy_is_initialized_again_and_the_agent_is_not() {
    let mut router = begun(FailurePolicy::Restart);
    router.native_broke(0, &Failure::new("it exited"));
    assert_eq!(router.take_orders(), [Order::End(0)]);
    client(&mut router, PROMPT);
    router.advance(Instant::now() + Duration::from_secs(1));
    assert_eq!(router.take_orders(), [Order::Launch(0)]);
    router.launched(0, Ok(()));
    router.pump(1000);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","id":4,"method":"proxy/initialize","params":{"protocolVersion":1}}"#]
    );
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"initialize","params":{}}}"#,
    );
    assert!(received(&mut router, Peer::Agent).is_empty());
    assert_eq!(
        sent_to(&mut router, 0),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}}"#
        ]
    );
    // The proxy may send requests before it answers its first message.
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"more"}}"#,
    );
    agent(&mut router, r#"{"jsonrpc":"2.0","id":5,"result":7}"#);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","id":2,"result":7}"#]
    );
    says(&mut router, 0, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
    router.pump(1000);
    assert_eq!(
        sent_to(&mut router, 0),
        [r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s"}}"#]
    );
    says(&mut router, 0, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Client).last().unwrap(),
        r#"{"jsonrpc":"2.0","id":"p","result":{}}"#
    );
}

#[test]
fn a_native_proxy_that_breaks_too_often_is_given_up() {
    let mut router = begun(FailurePolicy::RestartThenBypass);
    let mut now = Instant::now();
    for _ in 0..4 {
        router.native_broke(0, &Failure::new("it exited"));
        router.take_orders();
        now += Duration::from_secs(2);
        router.advance(now);
        if router.take_orders() == [Order::Launch(0)] {
            router.launched(0, Ok(()));
        }
    }
    client(&mut router, PROMPT);
    let received = received(&mut router, Peer::Agent);
    assert!(
        received
            .last()
            .is_some_and(|line| line.contains("session/prompt"))
    );
}

#[test]
fn malformed_messages_of_a_native_proxy_are_refused_without_side_effects() {
    let mut router = begun(FailurePolicy::Refuse);
    let long = "x".repeat(2000);
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"m"}}"#);
    for (line, answer) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{}}"#,
            r#""id":1,"error":{"code":-32602,"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor"}"#,
            "-32602",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":7}}"#,
            "-32602",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{}}"#,
            "-32600",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"proxy/initialize"}}"#,
            "-32601",
        ),
        (&*long, "-32600"),
    ] {
        says(&mut router, 0, line);
        let [got] = &sent_to(&mut router, 0)[..] else {
            panic!("one answer to {line}")
        };
        assert!(got.contains(answer), "{got}");
    }
    for line in [
        r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"proxy/initialize"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"99","error":{"code":1,"message":""}}"#,
    ] {
        says(&mut router, 0, line);
        assert!(sent_to(&mut router, 0).is_empty(), "{line}");
    }
    // Twice under one id.
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"q"}"#;
    says(&mut router, 0, twice);
    says(&mut router, 0, twice);
    assert!(sent_to(&mut router, 0)[0].contains("belongs to a request that is still open"));
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
    assert!(received(&mut router, Peer::Agent).is_empty());
}

#[test]
fn a_malformed_answer_is_an_error_for_the_requester() {
    let mut router = begun(FailurePolicy::Refuse);
    client(&mut router, PROMPT);
    let torn = Frame::Line(r#"{"jsonrpc":"2.0","id":3,"result":{"#.into());
    let malformed = acp_chain_rpc::read(torn).unwrap_err();
    router.take_malformed_from_native(0, &malformed);
    let [got, answer] = &received(&mut router, Peer::Client)[..] else {
        panic!("a notice and the error")
    };
    let line = "dropped what the proxy `n` sent: a line: the message is not JSON";
    assert!(got.contains(line), "{got}");
    let lost = "the answer of the proxy `n` is lost: the message is not JSON";
    assert!(answer.contains(lost), "{answer}");
}

#[test]
fn nothing_overtakes_on_its_way_through_components_and_native_proxies() {
    let members: Vec<Member> = vec![
        forwards("*").into(),
        native("n", FailurePolicy::Refuse).into(),
        forwards("*").into(),
    ];
    let mut router = Router::new(members, None);
    client(&mut router, PROMPT);
    for count in 0..3 {
        agent(&mut router, &update("s", &count.to_string()));
    }
    let got = sent_to(&mut router, 1);
    assert_eq!(got.len(), 4);
    for line in &got[1..] {
        let inner = line
            .replacen(r#""method":"proxy/successor","params":{"#, "", 1)
            .replacen("}}}", "}}", 1);
        says(&mut router, 1, &inner);
    }
    says(&mut router, 1, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            update("s", "0"),
            update("s", "1"),
            update("s", "2"),
            r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned(),
        ]
    );
}

#[test]
fn a_successor_may_be_named_if_there_is_one_of_that_name() {
    let mut router = begun(FailurePolicy::Refuse);
    let asks = |peer: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"q","method":"proxy/successor","params":{{"method":"m","peer":{peer}}}}}"#
        )
    };
    for (peer, number) in [(r#""agent""#, 3), ("null", 4)] {
        says(&mut router, 0, &asks(peer));
        assert_eq!(
            received(&mut router, Peer::Agent),
            [format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"m"}}"#)]
        );
        agent(
            &mut router,
            &format!(r#"{{"jsonrpc":"2.0","id":{number},"result":1}}"#),
        );
        assert_eq!(
            sent_to(&mut router, 0),
            [r#"{"jsonrpc":"2.0","id":"q","result":1}"#]
        );
    }
    for peer in [r#""research-agent""#, "7"] {
        says(&mut router, 0, &asks(peer));
        let named = peer.trim_matches('"');
        let got = &sent_to(&mut router, 0)[0];
        assert!(
            got.contains("-32602") && got.contains("it is `agent`"),
            "{got}"
        );
        assert!(got.contains(named) && received(&mut router, Peer::Agent).is_empty());
    }
}
