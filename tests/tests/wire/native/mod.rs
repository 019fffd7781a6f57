//! Native proxies: programs that stand in the chain by the proxy protocol.

mod bad;
mod begin;
mod failure;
mod grant;
mod mcp;
mod mixed;
mod nested;
mod peers;
mod turns;

use acp_chain_tests::chain::Chain;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");
const PROXY: &str = env!("CARGO_BIN_EXE_native-proxy");

/// The manifest's entry of a program; `args` and `terms` are TOML.
fn program(id: &str, args: &[&str], terms: &str) -> String {
    let args = args.iter().map(|arg| format!("'{arg}'"));
    let args = args.collect::<Vec<_>>().join(", ");
    format!("[[proxy]]\nid = {id:?}\ncommand = '{PROXY}'\nargs = [{args}]\n{terms}\n")
}

/// A chain after `initialize`.
async fn initialized(manifest: &str, agent: &[&str]) -> Chain {
    let mut agent = agent.to_vec();
    agent.insert(0, AGENT);
    let mut chain = Chain::granted(manifest, &agent);
    chain.client.initialize().await;
    chain
}
