//! The manifest's policy decides over a proxy that breaks, over the messages that it had, and over those that
//! it would see later; the user is notified.

mod given_up;
mod held;
mod log;
mod restart;
mod start;
mod told;

use acp_chain_tests::chain::{Chain, entry};

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The configuration of the proxy `does`: on request it breaks in each way, holds a message, or counts, and
/// it sees all requests of the client.
const CONFIG: &str = "
    [proxy.config.requests]
    'test/panic' = [{ log = 'its last words' }, { break = 'panic' }]
    'test/spin' = [{ break = 'spin' }]
    'test/grow' = [{ break = 'grow' }]
    'test/hold' = ['hold']
    'test/count' = ['count', 'respond-count']
    'test/read' = ['respond-count']
    'test/seen' = []
    'test/ask' = [{ ask = { to = 'client', method = 'test/asked', params = {} } }]
    ";

/// A manifest with the proxy `does` under these terms, with all powers.
fn does(terms: &str) -> String {
    let terms = format!("{terms}\n{CONFIG}");
    entry("does", "does", &terms)
}

async fn chain(terms: &str) -> Chain {
    Chain::initialized(&does(terms), AGENT).await
}
