//! Guards: other proxies cannot change their decisions, and ambiguous messages do not pass them.

use super::{PROMPT, Reaction, agent, client, forwards, received, scripted};
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Kinds, Peer};
use acp_chain_hops::member::Proxy;
use acp_chain_rpc as rpc;

pub(super) fn guard(mut proxy: Proxy) -> Proxy {
    proxy.registration.guard = true;
    proxy
}

/// Writes its name into every message of that method.
fn signs(name: &'static str, method: &str) -> Proxy {
    scripted(name, method, move |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Replace(format!(r#"{{"by":"{name}"}}"#))),
        _ => Reaction::Decided(Decision::Forward),
    })
}

const NEWS: &str = r#"{"jsonrpc":"2.0","method":"m","params":{"by":"agent"}}"#;

#[test]
fn only_guards_change_what_a_guard_changed() {
    let mut router = Router::new(vec![signs("front", "m"), guard(signs("guard", "m"))], None);
    agent(&mut router, NEWS);
    let expected = r#"{"jsonrpc":"2.0","method":"m","params":{"by":"guard"}}"#;
    assert_eq!(received(&mut router, Peer::Client), [expected]);
    // Another guard may.
    let guards = vec![guard(signs("one", "m")), guard(signs("two", "m"))];
    let mut router = Router::new(guards, None);
    agent(&mut router, NEWS);
    assert!(received(&mut router, Peer::Client)[0].contains(r#""by":"one""#));
    // Passing a message unchanged is no decision.
    let mut router = Router::new(vec![signs("front", "m"), guard(forwards("m"))], None);
    agent(&mut router, NEWS);
    assert!(received(&mut router, Peer::Client)[0].contains(r#""by":"front""#));
}

#[test]
fn only_guards_change_what_a_guard_answered_or_refused() {
    for says in [
        Decision::Respond(r#""mine""#.to_owned()),
        Decision::Reject(rpc::Error::new(7, "no")),
    ] {
        let front = scripted("front", "session/prompt", |event, _| match event {
            Event::Message(delivery) if delivery.message.kind().is_response() => {
                Reaction::Decided(Decision::Replace(r#""altered""#.to_owned()))
            }
            _ => Reaction::Decided(Decision::Forward),
        });
        let answers = scripted("guard", "session/prompt", move |_, _| {
            Reaction::Decided(says.clone())
        });
        let mut router = Router::new(vec![front, guard(answers)], None);
        client(&mut router, PROMPT);
        let answer = received(&mut router, Peer::Client).remove(0);
        assert!(!answer.contains("altered"), "{answer}");
        assert!(
            answer.contains(r#""mine""#) || answer.contains(r#""code":7"#),
            "{answer}"
        );
    }
}

#[test]
fn only_guards_change_what_a_guard_sends() {
    let tells = scripted("guard", "session/prompt", |_, ledger| {
        ledger
            .notify(Peer::Client, "m", r#"{"by":"guard"}"#)
            .unwrap();
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![signs("front", "m"), guard(tells)], None);
    client(&mut router, PROMPT);
    let got = received(&mut router, Peer::Client).remove(0);
    assert!(got.contains(r#""by":"guard""#), "{got}");
}

#[test]
fn ambiguous_messages_do_not_pass_a_guard() {
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"sessionId":"s","SessionId":"t"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":{"b":1,"\u0062":2}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{},"Params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"Session/Request_Permission","params":{}}"#,
    ] {
        let mut router = Router::new(vec![guard(forwards("*"))], None);
        agent(&mut router, line);
        assert!(received(&mut router, Peer::Client).is_empty(), "{line}");
        let refused = received(&mut router, Peer::Agent).remove(0);
        let expected = r#""id":7,"error":{"code":-32600,"message":"acp-chain: "#;
        assert!(refused.contains(expected), "{refused}");
        // Without a guard, the message passes unchanged.
        let mut router = Router::new(vec![forwards("*")], None);
        agent(&mut router, line);
        assert_eq!(received(&mut router, Peer::Client).len(), 1, "{line}");
    }
}

/// Some readers find the prompt under this name, while the guard finds none.
#[test]
fn a_member_whose_name_differs_in_case_alone_does_not_pass_a_guard() {
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","Prompt":[]}}"#;
    let mut router = Router::new(vec![guard(forwards("session/prompt"))], None);
    client(&mut router, line);
    assert!(received(&mut router, Peer::Agent).is_empty());
    let refused = received(&mut router, Peer::Client).remove(0);
    let expected = "it has a member that some readers take for `prompt`";
    assert!(refused.contains(expected), "{refused}");
    let mut router = Router::new(vec![forwards("session/prompt")], None);
    client(&mut router, line);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
    // An answer is read by the method of its request.
    let mut router = Router::new(vec![guard(forwards("session/prompt"))], None);
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"StopReason":"end_turn"}}"#;
    agent(&mut router, answer);
    let refused = received(&mut router, Peer::Client).remove(0);
    assert!(
        refused.contains("some readers take for `stopReason`"),
        "{refused}"
    );
}

/// Readers in Rust take its elements for the members, while the guard finds no text and no tool call.
#[test]
fn a_list_in_the_place_of_an_object_does_not_pass_a_guard() {
    for update in [
        r#"["agent_message_chunk",{"type":"text","text":"a"}]"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":["text",null,"a"]}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","locations":[["/p",1]]}"#,
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        );
        let mut router = Router::new(vec![guard(forwards("session/update"))], None);
        agent(&mut router, &line);
        assert!(received(&mut router, Peer::Client).is_empty(), "{line}");
        let mut router = Router::new(vec![forwards("session/update")], None);
        agent(&mut router, &line);
        assert_eq!(received(&mut router, Peer::Client), [line]);
    }
    let mut router = Router::new(vec![guard(forwards("session/prompt"))], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[["text",null,"a"]]}}"#,
    );
    assert!(received(&mut router, Peer::Agent).is_empty());
    let refused = received(&mut router, Peer::Client).remove(0);
    let expected = "it has a list in the place of an object";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn a_prompt_as_a_notification_does_not_pass_a_guard() {
    let mut router = Router::new(vec![guard(forwards("session/prompt"))], None);
    let line = r#"{"jsonrpc":"2.0","method":"session/prompt","params":{"sessionId":"s"}}"#;
    client(&mut router, line);
    assert!(received(&mut router, Peer::Agent).is_empty());
}

#[test]
fn an_answer_that_can_be_read_in_two_ways_becomes_an_error() {
    let mut router = Router::new(vec![guard(forwards("*"))], None);
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"a","StopReason":"b"}}"#,
    );
    let answer = received(&mut router, Peer::Client).remove(0);
    assert!(answer.contains(r#""error":{"code":-32600"#), "{answer}");
}

#[test]
fn only_the_envelope_of_messages_without_a_subscription_is_checked() {
    let mut front = guard(forwards("session/prompt"));
    front.registration.subscriptions[0].kinds = Kinds::REQUEST;
    let mut router = Router::new(vec![front], None);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"a":1,"A":2}}"#,
    );
    assert_eq!(received(&mut router, Peer::Client).len(), 1);
}

#[test]
fn the_user_is_notified_of_the_first_message_of_the_agent_that_cannot_pass_a_guard() {
    let guards = || {
        let names = ["one", "two"];
        names.map(|name| {
            guard(scripted(name, "session/update", |_, _| {
                Reaction::Decided(Decision::Forward)
            }))
        })
    };
    let mut router = Router::new(Vec::from(guards()), None);
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    let twice = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","sessionUpdate":"tool_call"}}}"#;
    for expected in [1, 0] {
        agent(&mut router, twice);
        let notices = received(&mut router, Peer::Client);
        assert_eq!(notices.len(), expected, "{notices:?}");
        let named = "session/update cannot pass the guard `two`: ";
        assert!(
            notices.iter().all(|notice| notice.contains(named)),
            "{notices:?}"
        );
    }
}
