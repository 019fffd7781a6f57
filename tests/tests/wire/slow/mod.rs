//! Ends that read slowly: memory does not grow, the other direction is not held up, and nothing is lost or
//! out of order when the end reads the rest.
//!
//! No test waits for time. A slow end reads 1 kB, and no more until a message has crossed the other way.

mod agent;
mod client;
mod sessions;

use acp_chain_tests::chain::entry;

/// A test of a function with each of the [`manifests`].
macro_rules! with_every_chain {
    ($test:ident) => {
        with_every_chain!($test: without_a_proxy 0, behind_a_component 1, behind_a_native_proxy 2,
            behind_proxies_of_both_sorts 3);
    };
    ($test:ident: $($name:ident $which:literal),+) => {
        $(#[tokio::test]
        async fn $name() {
            $test(&crate::slow::manifests()[$which]).await;
        })+
    };
}
use with_every_chain;

const NATIVE: &str = env!("CARGO_BIN_EXE_native-proxy");

/// How often the slow end reads.
const READS: usize = 300;

/// The most memory that the host may ever have had, in bytes.
const MEMORY: u64 = 64 << 20;

/// Chains of no proxy, of a component, of a native proxy, and of all of these.
fn manifests() -> [String; 4] {
    let component = entry("component", "pass", "");
    let native = |id| format!("[[proxy]]\nid = '{id}'\ncommand = '{NATIVE}'\n");
    let all = native("before") + &component + &native("behind");
    [String::new(), component, native("native"), all]
}
