//! Every method of the protocol's schemas, in both versions and both directions.
//!
//! Native proxies get nothing of an envelope but method and params, so only these, results and errors stay the same.

use acp_chain::chain::sign_in::with_variable;
use acp_chain::mcp::capabilities::with_acp;
use acp_chain::mcp::declaration;
use acp_chain::rpc::{Id, member};
use acp_chain_tests::envelope;
use acp_chain_tests::schema::{Exchange, Method, Side, exchanges, methods};
use acp_chain_tests::wire::Wire;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::surface::mixed;

/// Exchanges of each method, in flight at once, each way.
const BATCH: usize = 8;

#[tokio::test]
async fn every_method_crosses_both_ways_byte_for_byte() {
    let mut chain = mixed().await;
    let begin = chain.client.ask("initialize", "{}");
    let asked = chain.agent.receive().await.expect("initialize");
    let result = asked.result(r#"{"protocolVersion":1}"#);
    chain.agent.send_all(result);
    chain.client.response(&begin).await;
    let mut runner = TestRunner::default();
    let mut crossed = 0;
    for method in methods().iter().filter(|method| is_of_the_ends(method)) {
        let batch = batch(method, &mut runner);
        cross(&mut chain.client, &mut chain.agent, &batch, true).await;
        cross(&mut chain.agent, &mut chain.client, &batch, false).await;
        crossed += 1;
    }
    assert!(crossed > 60, "{crossed}");
}

/// Whether the client and the agent use the method with each other, and not with the host.
fn is_of_the_ends(method: &Method) -> bool {
    matches!(method.side, Side::Agent | Side::Client) && !method.name.starts_with("mcp/")
}

fn batch(method: &'static Method, runner: &mut TestRunner) -> Vec<Exchange> {
    let some = exchanges(move |other| other == method);
    let some = some.prop_filter("servers over ACP are the host's", |exchange| {
        let declared = declaration::read(&exchange.params).unwrap_or_default();
        !declared.iter().any(|entry| entry.over_acp)
    });
    let some = some.prop_filter("a question names no request of the host's", |exchange| {
        let named = member(&exchange.params, "requestId").and_then(Id::parse);
        named.and_then(|id| id.answered()).is_none()
    });
    let batch = vec(some, BATCH).new_tree(runner);
    batch.expect("it can be generated").current()
}

async fn cross(near: &mut Wire, far: &mut Wire, batch: &[Exchange], is_client: bool) {
    let mut ids = Vec::new();
    for exchange in batch {
        let (method, params) = (&exchange.method.name, &exchange.params);
        match exchange.outcome {
            Some(_) => ids.push(near.ask(method, params)),
            None => near.notify(method, params),
        }
    }
    let mut asked = Vec::new();
    for exchange in batch {
        let came = far.receive().await.expect("the message arrives");
        assert_eq!(came.method.as_ref(), Some(&exchange.method.name));
        assert_eq!(
            came.params.as_deref().map(line),
            Some(line(&exchange.params))
        );
        asked.extend(came.id);
    }
    let outcomes = || {
        batch
            .iter()
            .filter_map(|exchange| Some((exchange, exchange.outcome.as_ref()?)))
    };
    for (id, (_, outcome)) in asked.iter().zip(outcomes()) {
        far.send(match outcome {
            Ok(result) => envelope::result(id, result),
            Err(error) => envelope::error(id, error),
        });
    }
    for (id, (exchange, outcome)) in ids.iter().zip(outcomes()) {
        let came = near.response(id).await;
        let expected = match outcome {
            // Here the host adds that every agent reaches servers over ACP, and the purpose of a terminal.
            Ok(result) if is_client && exchange.method.name == "initialize" => {
                let result = with_acp(result).unwrap_or_else(|| result.clone());
                Ok(with_variable(&result).unwrap_or(result))
            }
            outcome => outcome.clone(),
        };
        let came = came.result.ok_or_else(|| came.error.unwrap_or_default());
        let (came, expected) = (came.as_deref(), expected.as_deref());
        assert_eq!(
            came.map(line).map_err(line),
            expected.map(line).map_err(line)
        );
    }
}

/// A line break becomes a space where a body is rewritten.
fn line(text: impl AsRef<str>) -> String {
    text.as_ref().replace('\r', " ")
}
