//! What becomes of a proxy that breaks, of what it had, and of what it would see later, is what the
//! manifest says; and the user gets to know.

mod given_up;
mod held;
mod log;
mod restart;
mod start;
mod told;

use acp_chain_tests::chain::{Chain, entry};

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// What the proxy `does` does in these tests: it can be told to break in each way, it holds, it
/// counts, and it sees all that a client asks for.
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

/// A manifest with the proxy `does` under these terms. It may do everything.
fn does(terms: &str) -> String {
    let terms = format!("{terms}\n{CONFIG}");
    entry("does", "does", &terms)
}

async fn chain(terms: &str) -> Chain {
    Chain::initialized(&does(terms), AGENT).await
}
