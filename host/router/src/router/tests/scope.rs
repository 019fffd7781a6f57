//! Elicitations that belong to a request, which has another id on each hop.

use super::native::{begun, says, sent_to};
use super::{agent, client, forwards, received};
use crate::router::Router;
use acp_chain_channel::{FailurePolicy, Peer};

const SIGN_IN: &str = r#"{"jsonrpc":"2.0","id":"s","method":"authenticate","params":{}}"#;

fn question(id: &str, named: &str) -> String {
    let params = format!(r#"{{"mode":"url","requestId":{named},"url":"x"}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{params}}}"#)
}

#[test]
fn a_question_names_the_request_by_the_clients_own_id() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, SIGN_IN);
    assert!(received(&mut router, Peer::Agent)[0].contains(r#""id":1,"#));
    // Some agents keep all ids as strings.
    for (named, id) in [("1", "2"), (r#""1""#, "3")] {
        agent(&mut router, &question("7", named));
        let asked = question(id, r#""s""#);
        assert_eq!(received(&mut router, Peer::Client), [asked]);
        client(
            &mut router,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"cancel"}}}}"#),
        );
    }
}

#[test]
fn a_question_about_a_request_of_another_sender_is_refused() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, SIGN_IN);
    agent(&mut router, &question("7", "1"));
    received(&mut router, Peer::Agent);
    received(&mut router, Peer::Client);
    // The named request is the agent's own.
    agent(&mut router, &question("8", "2"));
    let refused = r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"acp-chain: the requestId names a request of another sender"}}"#;
    assert_eq!(received(&mut router, Peer::Agent), [refused]);
    // An unknown id is passed on, for the client to judge.
    for (id, named) in [("9", "99"), ("10", r#""s""#), ("11", "{}"), ("12", "null")] {
        agent(&mut router, &question(id, named));
        let asked = &received(&mut router, Peer::Client)[0];
        assert!(
            asked.contains(&format!(r#""requestId":{named}"#)),
            "{asked}"
        );
    }
}

#[test]
fn a_question_about_an_answered_request_is_refused() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, SIGN_IN);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    received(&mut router, Peer::Agent);
    received(&mut router, Peer::Client);
    agent(&mut router, &question("7", "1"));
    let refused = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"acp-chain: the requestId names a request that is answered already"}}"#;
    assert_eq!(received(&mut router, Peer::Agent), [refused]);
}

#[test]
fn a_native_proxy_is_asked_by_its_own_id_and_may_pass_that_on() {
    for passes_on in [r#""own""#, "3"] {
        let mut router = begun(FailurePolicy::Refuse);
        client(&mut router, SIGN_IN);
        assert!(sent_to(&mut router, 0)[0].contains(r#""id":3,"#));
        says(
            &mut router,
            0,
            r#"{"jsonrpc":"2.0","id":"own","method":"proxy/successor","params":{"method":"authenticate","params":{}}}"#,
        );
        assert!(received(&mut router, Peer::Agent)[0].contains(r#""id":4,"#));
        agent(&mut router, &question("7", "4"));
        let asked = &sent_to(&mut router, 0)[0];
        assert!(asked.contains(r#""requestId":"own""#), "{asked}");
        says(&mut router, 0, &question("0", passes_on));
        let asked = &received(&mut router, Peer::Client)[0];
        assert!(asked.contains(r#""requestId":"s""#), "{asked}");
    }
}
