//! A message that no proxy changes arrives byte for byte, whatever it is, in both directions; only carriage
//! returns between its values become spaces.
//!
//! The proxies subscribe to everything and forward it, with bodies and without. Messages are generated from
//! the protocol's schemas; only the ids on the way are the host's.
//!
//! The host's own additions are excepted: MCP over ACP, and its capability in the answer of every agent.

use acp_chain::chain::sign_in::with_variable;
use acp_chain::mcp::capabilities::with_acp;
use acp_chain::mcp::declaration;
use acp_chain::rpc::{Id, member};
use acp_chain_tests::envelope::{self, Message, quoted};
use acp_chain_tests::host::InProcess;
use acp_chain_tests::schema::{Exchange, Kind, Side, exchanges, methods};
use acp_chain_tests::wire::Wire;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Exchanges of each method, in flight at once.
const BATCH: usize = 20;

const PASS: (&str, &str) = ("pass", "{}");
const PASS_WITHOUT_BODY: (&str, &str) = ("pass", r#"{"with-body":false}"#);

#[tokio::test]
async fn everything_crosses_no_proxy_byte_for_byte() {
    everything_crosses(&[]).await;
}

#[tokio::test]
async fn everything_crosses_one_proxy_byte_for_byte() {
    everything_crosses(&[PASS]).await;
}

#[tokio::test]
async fn everything_crosses_five_proxies_byte_for_byte() {
    everything_crosses(&[PASS, PASS_WITHOUT_BODY, PASS, PASS_WITHOUT_BODY, PASS]).await;
}

async fn everything_crosses(proxies: &[(&str, &str)]) {
    let mut chain = InProcess::initialized(proxies).await;
    let has_proxies = !proxies.is_empty();
    let mut runner = TestRunner::default();
    let methods = methods().iter();
    for method in methods.filter(|method| !method.name.starts_with("mcp/")) {
        let mut batch = || {
            let some = exchanges(move |other| other == method);
            let some = some.prop_filter("servers over ACP are the host's", |exchange| {
                let declared = declaration::read(&exchange.params).unwrap_or_default();
                !declared.iter().any(|entry| entry.over_acp)
            });
            let some = some.prop_filter("numbers of requests are the host's", |exchange| {
                let named = member(&exchange.params, "requestId").and_then(Id::parse);
                named.and_then(|id| id.answered()).is_none()
            });
            let some = vec(some, BATCH);
            some.new_tree(&mut runner)
                .expect("a generated batch")
                .current()
        };
        match method.side {
            Side::Agent => cross(&mut chain.client, &mut chain.agent, &batch(), has_proxies).await,
            Side::Client => cross(&mut chain.agent, &mut chain.client, &batch(), has_proxies).await,
            // The host's own methods, whose params name ids of one hop.
            Side::Protocol | Side::Proxy => {}
        }
    }
}

/// Sends a batch from one end, checks it at the other, answers it, and checks the answers.
async fn cross(near: &mut Wire, far: &mut Wire, batch: &[Exchange], has_proxies: bool) {
    for (at, exchange) in batch.iter().enumerate() {
        near.send(said(at, exchange));
    }
    let mut answers = Vec::new();
    for (at, exchange) in batch.iter().enumerate() {
        let came = far.receive().await.expect("the message arrives");
        let id = came.id.clone();
        let said = with_id(&said(at, exchange), at, id.as_deref());
        assert_eq!(came.line, unbroken(&said));
        let Some(outcome) = &exchange.outcome else {
            continue;
        };
        let id = id.expect("a request has an id");
        answers.push((at, id, shown(exchange, has_proxies), outcome));
    }
    for (_, id, _, outcome) in &answers {
        far.send(answer(id, outcome));
    }
    for (at, _, shown, outcome) in &answers {
        let came: Message = near.receive().await.expect("the answer arrives");
        match shown {
            Some(shown) => assert_eq!(came.result.as_ref(), Some(shown)),
            None => assert_eq!(came.line, unbroken(&answer(&own_id(*at), outcome))),
        }
    }
}

/// A message as it is forwarded: some readers would end a line at a carriage return between its values.
fn unbroken(line: &str) -> String {
    line.replace('\r', " ")
}

/// The answer to `initialize`, to which the host adds that servers are reached over ACP and, with proxies,
/// the purpose of a terminal.
fn shown(exchange: &Exchange, has_proxies: bool) -> Option<String> {
    if exchange.method.name != "initialize" {
        return None;
    }
    let result = exchange.outcome.as_ref()?.as_ref().ok()?;
    let shown = with_acp(result);
    let text = shown.as_ref().unwrap_or(result);
    let marked = with_variable(text).filter(|_| has_proxies);
    // A line break becomes a space where a body is rewritten.
    Some(marked.or(shown)?.replace(['\n', '\r'], " "))
}

/// Ids of all sorts, each different from the others.
fn own_id(at: usize) -> String {
    match at % 4 {
        0 => at.to_string(),
        1 => format!("-{at}"),
        2 => quoted(&format!("f81d4fae-7dec-11d0-a765-00a0c91e6bf6/{at}")),
        _ => format!(r#""\u00e9\/{at}""#),
    }
}

/// The line of a message, with members that no JSON-RPC message has.
fn said(at: usize, exchange: &Exchange) -> String {
    let method = quoted(&exchange.method.name);
    let params = &exchange.params;
    match exchange.method.kind {
        Kind::Request => format!(
            r#"{{ "x":[1e400],"id" :{id},"jsonrpc":"2.0","params": {params}, "method":{method}}}"#,
            id = own_id(at)
        ),
        Kind::Notification => {
            format!(r#"{{"jsonrpc":"2.0","method":{method} ,"params":{params},"\u0078":-0.0}}"#)
        }
    }
}

fn with_id(line: &str, at: usize, id: Option<&str>) -> String {
    match id {
        Some(id) => line.replacen(
            &format!(r#""id" :{}"#, own_id(at)),
            &format!(r#""id" :{id}"#),
            1,
        ),
        None => line.to_owned(),
    }
}

fn answer(id: &str, outcome: &Result<String, String>) -> String {
    match outcome {
        Ok(result) => envelope::result(id, result),
        Err(error) => envelope::error(id, error),
    }
}
