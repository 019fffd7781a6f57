//! Messages of the protocol with a list in the place of named members: some readers take its elements for the members.

use super::native::{begun, says, sent_to};
use super::{PROMPT, agent, client, forwards, received};
use crate::router::Router;
use acp_chain_channel::{FailurePolicy, Peer};

fn passing() -> Router {
    Router::new(vec![forwards("*")], None)
}

#[test]
fn parameters_of_the_protocol_that_are_a_list_reach_neither_side() {
    let mut router = passing();
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":7,"method":"session/load","params": [[],"/p",[],"theirs",null]}"#,
    );
    assert!(received(&mut router, Peer::Agent).is_empty());
    let refused = received(&mut router, Peer::Client).remove(0);
    let expected =
        r#""id":7,"error":{"code":-32602,"message":"the parameters of session/load are an object"#;
    assert!(refused.contains(expected), "{refused}");
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"session/update","params":["s",["plan",[],null],null]}"#,
    );
    assert!(received(&mut router, Peer::Client).is_empty());
    // What the protocol leaves open passes.
    let own = r#"{"jsonrpc":"2.0","method":"_list","params":[1]}"#;
    client(&mut router, own);
    assert_eq!(received(&mut router, Peer::Agent), [own]);
}

#[test]
fn an_answer_of_the_protocol_that_is_a_list_becomes_an_error() {
    let mut router = passing();
    client(&mut router, PROMPT);
    received(&mut router, Peer::Agent);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"result":["end_turn",null]}"#,
    );
    let answer = received(&mut router, Peer::Client).remove(0);
    assert!(
        answer.contains(r#""id":"p","error":{"code":-32603"#),
        "{answer}"
    );
}

#[test]
fn an_answer_of_a_proxy_that_is_a_list_becomes_an_error() {
    let mut router = begun(FailurePolicy::Refuse);
    client(&mut router, PROMPT);
    assert_eq!(sent_to(&mut router, 0).len(), 1);
    says(
        &mut router,
        0,
        r#"{"jsonrpc":"2.0","id":3,"result":["end_turn",null]}"#,
    );
    let answer = received(&mut router, Peer::Client).remove(0);
    assert!(
        answer.contains(r#""id":"p","error":{"code":-32603"#),
        "{answer}"
    );
}

/// As software in PHP and Lua writes an object without members.
#[test]
fn an_empty_list_passes() {
    let mut router = passing();
    let logout = r#"{"jsonrpc":"2.0","id":1,"method":"logout","params":[ ]}"#;
    client(&mut router, logout);
    assert_eq!(received(&mut router, Peer::Agent), [logout]);
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":[]}"#;
    agent(&mut router, answer);
    assert_eq!(received(&mut router, Peer::Client), [answer]);
}
