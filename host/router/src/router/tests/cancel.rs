//! Cancellation, at every stage of a request.

use super::{PROMPT, Reaction, agent, client, forwards, received, scripted};
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc as rpc;

#[test]
fn a_cancellation_names_the_id_of_the_hop_and_keeps_the_rest() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"_meta":{"t":1},"requestId":"p"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"_meta":{"t":1},"requestId":1}}"#
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"x"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"x"}}"#]
    );
    // Cancellations that cross the answer, name no request, or name an unknown one are harmless.
    for params in [
        r#"{"requestId":"p"}"#,
        "{}",
        r#"{"requestId":{}}"#,
        r#"{"requestId":99}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{params}}}"#);
        client(&mut router, &line);
    }
    assert!(received(&mut router, Peer::Agent).is_empty());
}

#[test]
fn a_cancellation_from_the_agent_reaches_the_client() {
    let mut router = Router::new(vec![forwards("*")], None);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#
    );
}

#[test]
fn a_cancellation_of_a_held_request_reaches_its_holder() {
    let mut asked = None;
    let holds = scripted(
        "holds",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(_) => {
                asked = ledger.request(Peer::Agent, "own", "null").ok();
                Reaction::Decided(Decision::Hold)
            }
            Event::Cancel(id) => {
                ledger.cancel(asked.unwrap()).unwrap();
                let error = rpc::Error::new(-32800, "Request cancelled");
                ledger.settle(*id, Decision::Reject(error)).unwrap();
                Reaction::Told
            }
            Event::Answer(_) => Reaction::Told,
            Event::List(..) | Event::Call(_) => unreachable!("it has no tools"),
        },
    );
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"Request cancelled"}}"#]
    );
    assert_eq!(
        received(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"own"}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#,
        ]
    );
}
