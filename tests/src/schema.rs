//! Exchanges of messages generated from the protocol's schemas, which proptest makes and shrinks.
//! [`acp_chain_messages`] defines their content.

use acp_chain_messages::DECISIONS;
pub use acp_chain_messages::{Kind, Method, Side, Version, methods};
use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Strategy, any};
use proptest::sample::select;

/// A message and its answer, as generated text.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The method.
    pub method: &'static Method,
    /// Its parameters.
    pub params: String,
    /// The result, or the error object, that answers it; none for a notification.
    pub outcome: Option<Result<String, String>>,
}

/// Exchanges of the methods of both versions that `wanted` accepts.
///
/// # Panics
/// If `wanted` accepts no method.
pub fn exchanges(wanted: impl Fn(&Method) -> bool) -> BoxedStrategy<Exchange> {
    let wanted: Vec<&'static Method> = methods().iter().filter(|method| wanted(method)).collect();
    assert!(!wanted.is_empty(), "no method is wanted");
    (select(wanted), decisions(), decisions(), any::<bool>())
        .prop_map(|(method, params, answer, fails)| Exchange {
            method,
            params: method.params(&params),
            outcome: if fails {
                method.error(&answer).map(Err)
            } else {
                method.result(&answer).map(Ok)
            },
        })
        .boxed()
}

fn decisions() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=DECISIONS)
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn an_exchange_has_an_answer_if_its_method_has_one() {
        let mut runner = TestRunner::deterministic();
        let exchanges = exchanges(|method| method.side == Side::Client);
        for _ in 0..200 {
            let exchange = exchanges.new_tree(&mut runner).unwrap().current();
            assert_eq!(exchange.method.side, Side::Client);
            assert_eq!(
                exchange.outcome.is_some(),
                exchange.method.kind == Kind::Request
            );
        }
    }
}
