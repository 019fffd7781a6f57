//! Requests of a component to the client during a call.

use super::{ComponentProvider, FromComponent, Input, Offer, Table, request};
use crate::component::channel::{Ask, ToComponent};
use crate::seat::{Output, Seat};
use crate::tests::transcript::{META, alone, kept};
use acp_chain_rpc::{Message, member};

const TOOLS: &str = r#"{"tools":[{"name":"sum","inputSchema":{"type":"object"}},
    {"name":"add","inputSchema":{"type":"object"}}]}"#;

const ELICIT: &str = r#"{"message":"Which?","requestedSchema":{}}"#;
const ACCEPTED: &str = r#"{"action":"accept","content":{}}"#;

/// A server with tools, which a client has listed.
fn server() -> Table<ComponentProvider> {
    let mut table = Table::new(ComponentProvider::new(
        "calc",
        [Offer::Tools].into_iter().collect(),
        &kept(),
    ));
    table.connect(1);
    table.on(
        1,
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}"#,
    );
    table.result(1, TOOLS);
    table
}

/// The component sends equal requests in a call, with each of these numbers.
fn ask(table: &mut Table<ComponentProvider>, call: u64, asks: &[u64]) -> Vec<String> {
    let message = Message::request("elicitation/create", ELICIT);
    let asks = asks.iter().map(|ask| Ask {
        ask: *ask,
        message: message.clone(),
    });
    let asks = asks.collect();
    table.take(Input::Component(FromComponent::Asks { call, asks }))
}

/// The `requestState` for the client's retry.
fn state(answer: &[String]) -> String {
    let (_, result) = answer[0].split_once(": result ").expect("a result");
    member(result, "requestState").expect("a state").to_owned()
}

/// The params of a retried call.
fn again(state: &str, responses: &str) -> String {
    format!(r#""name":"sum","requestState":{state},"inputResponses":{responses}"#)
}

#[test]
fn a_component_gets_the_clients_meta_and_capabilities() {
    let mut table = server();
    let mut params = |method, params: &str, caller| {
        let made = table
            .seat
            .take(request(9, caller, "9", method, params, false));
        match &made[..] {
            [
                Output::Component {
                    asks: ToComponent::Call { params, .. },
                    ..
                },
            ] => params.clone(),
            other => panic!("{other:?}"),
        }
    };
    let on = crate::seat::Caller::Connection(1);
    assert_eq!(
        params(
            "tools/call",
            r#"{"name":"sum","_meta":{"a":1e400}}"#,
            on.clone()
        ),
        concat!(
            r#"{"name":"sum","arguments":{},"_meta":{"a":1e400,"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}"#
        )
    );
    assert_eq!(
        params("tools/call", r#"{"name":"sum","_meta":7}"#, on),
        concat!(
            r#"{"name":"sum","arguments":{},"_meta":{"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}"#
        )
    );
    let alone_by = crate::seat::Caller::Request("r".into());
    assert_eq!(
        params("tools/call", &alone(r#""name":"sum""#), alone_by),
        format!(r#"{{"name":"sum","arguments":{{}},"_meta":{{{META}}}}}"#)
    );
}

#[test]
fn a_legacy_client_gets_requests_on_its_connection() {
    let mut table = server();
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    assert_eq!(
        ask(&mut table, 2, &[70, 71]),
        [
            format!("ask 1 3: elicitation/create {ELICIT}"),
            format!("ask 1 4: elicitation/create {ELICIT}"),
        ]
    );
    assert_eq!(
        table.result(3, ACCEPTED),
        [format!("answer 70: result {ACCEPTED}")]
    );
    let refused = r#"{"code":-1,"message":"no"}"#;
    assert_eq!(
        table.error(4, refused),
        [format!("answer 71: error {refused}")]
    );
    assert!(table.result(2, r#"{"content":[]}"#)[0].starts_with("answer 3: result"));
}

#[test]
fn a_stateless_client_retries_its_call_with_the_answers() {
    let mut table = server();
    assert_eq!(
        table.alone("r", "tools/call", r#""name":"sum""#),
        [r#"call 2: tools/call {"name":"sum","arguments":{}}"#]
    );
    let required = ask(&mut table, 2, &[70, 71]);
    let first = state(&required);
    assert_eq!(
        required,
        [format!(
            concat!(
                r#"answer 3: result {{"resultType":"input_required","inputRequests":{{"#,
                r#""70":{{"method":"elicitation/create","params":{0}}},"#,
                r#""71":{{"method":"elicitation/create","params":{0}}}}},"requestState":{1}}}"#
            ),
            ELICIT, first
        )]
    );
    // Missing or malformed answers are requested again, with another state.
    let responses = format!(r#"{{"70":{ACCEPTED},"71":7,"72":{{}},"x":{{}}}}"#);
    let required = table.alone("s", "tools/call", &again(&first, &responses));
    assert_eq!(required[0], format!("answer 70: result {ACCEPTED}"));
    let second = state(&required[1..]);
    assert!(required[1].contains(r#""inputRequests":{"71":"#) && first != second);
    let stale = table.alone("t", "tools/call", &again(&first, "{}"));
    assert!(stale[0].contains(r#"-32602,"message":"No call with this requestState"#));
    let responses = format!(r#"{{"71":{ACCEPTED}}}"#);
    assert_eq!(
        table.alone("t", "tools/call", &again(&second, &responses)),
        [format!("answer 71: result {ACCEPTED}")]
    );
    assert_eq!(
        table.result(2, r#"{"content":[]}"#),
        [r#"answer 6: result {"content":[],"resultType":"complete"}"#]
    );
}

#[test]
fn only_a_retry_of_the_same_call_from_the_same_place_continues_it() {
    let mut table = server();
    table.alone("r", "tools/call", r#""name":"sum""#);
    let state = state(&ask(&mut table, 2, &[70]));
    let responses = format!(r#"{{"70":{ACCEPTED}}}"#);
    let other = again(&state, &responses).replace("sum", "add");
    for answer in [
        table.alone("s", "tools/call", &other),
        table.alone("s", "resources/read", &again(&state, &responses)),
        table.alone("s", "tools/call", &again("\"x\"", &responses)),
        table.on(1, "tools/call", &alone(&again(&state, &responses))),
    ] {
        assert!(answer[0].contains(r#"error {"code":-32602,"#), "{answer:?}");
    }
    let goes_on = table.alone("s", "tools/call", &again(&state, &responses));
    assert_eq!(goes_on, [format!("answer 70: result {ACCEPTED}")]);
}

#[test]
fn requests_to_the_client_end_with_their_call() {
    let mut table = server();
    let over = r#"error {"code":-32800,"message":"Request cancelled"}"#;
    // On a connection, the request is cancelled, and the client's answer still goes to the component.
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    ask(&mut table, 2, &[70]);
    let ended = table.result(2, r#"{"content":[]}"#);
    assert_eq!(ended[0], "withdraw 3");
    assert_eq!(ended.len(), 2);
    assert_eq!(
        table.result(3, ACCEPTED),
        [format!("answer 70: result {ACCEPTED}")]
    );
    // If the client would have to retry, no request waits for the result of the call.
    table.alone("r", "tools/call", r#""name":"sum""#);
    let state = state(&ask(&mut table, 4, &[71]));
    assert_eq!(
        table.result(4, r#"{"content":[]}"#),
        [format!("answer 71: {over}")]
    );
    assert!(table.alone("r", "tools/call", &again(&state, "{}"))[0].contains("-32602"));
    // In an ended or cancelled call, requests to the client fail.
    assert_eq!(ask(&mut table, 4, &[72]), [format!("answer 72: {over}")]);
    table.alone("r", "tools/call", r#""name":"sum""#);
    assert_eq!(table.withdraw(6), ["withdraw 5"]);
    assert_eq!(ask(&mut table, 5, &[73]), [format!("answer 73: {over}")]);
}

#[test]
fn a_component_can_cancel_its_requests() {
    let mut table = server();
    table.on(1, "tools/call", r#"{"name":"sum"}"#);
    ask(&mut table, 2, &[70]);
    assert_eq!(table.withdraw(70), ["withdraw 3"]);
    assert_eq!(
        table.error(3, r#"{"code":-32800,"message":"over"}"#).len(),
        1
    );
    table.alone("r", "tools/call", r#""name":"sum""#);
    ask(&mut table, 4, &[71]);
    assert_eq!(
        table.withdraw(71),
        [r#"answer 71: error {"code":-32800,"message":"Request cancelled"}"#]
    );
}

#[test]
fn a_call_whose_client_disconnects_is_cancelled() {
    let mut table = server();
    table.on(1, "tools/call", &alone(r#""name":"sum""#));
    assert!(ask(&mut table, 2, &[70])[0].contains("input_required"));
    let ended = table.disconnect(1);
    assert_eq!(ended[0], "withdraw 2");
    assert_eq!(
        table.error(2, r#"{"code":-32800,"message":"over"}"#),
        [r#"answer 70: error {"code":-32800,"message":"Request cancelled"}"#]
    );
}
