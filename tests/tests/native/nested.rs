//! Chains within chains, with the reference conductor above and below.

use std::fs;

use acp_chain_tests::chain::entry;
use acp_chain_tests::host::{self, peer, program};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;
use tokio::process::Command;

use crate::AGENT;
use crate::peers::{passing, turns_pass, turns_pass_chain};

/// Where the manifests of inner chains are.
struct Nest(TempDir);

impl Nest {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// The command line of a chain with this manifest.
    fn command(&self, name: &str, manifest: &str) -> [String; 4] {
        let path = self.0.path().join(name).with_extension("toml");
        fs::write(&path, manifest).expect("a manifest");
        let program = program().display().to_string();
        [
            program,
            "run".into(),
            "--manifest".into(),
            path.display().to_string(),
        ]
    }

    /// The manifest's entry of a chain with this manifest.
    fn chain(&self, name: &str, manifest: &str) -> String {
        native(name, &self.command(name, manifest))
    }
}

/// The manifest's entry of a program.
fn native(id: &str, command: &[impl AsRef<str>]) -> String {
    let words: Vec<_> = command
        .iter()
        .map(|word| format!("'{}'", word.as_ref()))
        .collect();
    let (program, args) = words.split_first().expect("a command");
    format!(
        "[[proxy]]\nid = {id:?}\ncommand = {program}\nargs = [{}]\n",
        args.join(", ")
    )
}

fn conductor() -> String {
    peer("bin/agent-client-protocol-conductor")
        .display()
        .to_string()
}

/// A turn through the reference conductor with these proxies.
async fn turns_pass_reference(nest: &Nest, proxies: &[String]) {
    let mut command = Command::new(conductor());
    // It splits command lines as a shell does.
    command.arg("agent").args(proxies).arg(AGENT);
    let chain = host::acp_chain("run");
    for (name, value) in chain.as_std().get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("XDG_CONFIG_HOME", host::grants_native(nest.0.path()));
    let mut client = Process::start("client", &Transcript::new(), command).expect("it starts");
    client.initialize().await;
    turns_pass(&mut client).await;
    let exit = client.finish().await.expect("it ends");
    assert!(exit.status.success(), "{}: {}", exit.status, exit.stderr);
}

#[tokio::test]
async fn turns_pass_three_levels_of_chains() {
    let nest = Nest::new();
    let innermost = entry("deep", "pass", "");
    let inner =
        entry("a", "pass", "") + &nest.chain("innermost", &innermost) + &entry("b", "pass", "");
    let outer = nest.chain("inner", &inner) + &entry("c", "pass", "");
    turns_pass_chain(&outer).await;
}

#[tokio::test]
async fn turns_pass_chains_side_by_side_and_an_empty_one() {
    let nest = Nest::new();
    let outer = nest.chain("one", &entry("a", "pass", ""))
        + &nest.chain("empty", "")
        + &nest.chain("two", &passing("python"));
    turns_pass_chain(&outer).await;
}

#[tokio::test]
async fn turns_pass_the_reference_conductor_as_a_proxy() {
    let pass = peer("bin/pass-proxy").display().to_string();
    let reference = [conductor(), "proxy".into(), pass];
    let manifest =
        entry("a", "pass", "") + &native("reference", &reference) + &entry("b", "pass", "");
    turns_pass_chain(&manifest).await;
}

#[tokio::test]
async fn turns_pass_a_chain_under_the_reference_conductor() {
    let nest = Nest::new();
    let pass = peer("bin/pass-proxy").display().to_string();
    let chain = nest.command("inner", &(entry("a", "pass", "") + &passing("python")));
    turns_pass_reference(&nest, &[pass.clone(), chain.join(" "), pass]).await;
}

#[tokio::test]
async fn turns_pass_a_chain_between_two_reference_conductors() {
    let nest = Nest::new();
    let pass = peer("bin/pass-proxy").display().to_string();
    let reference = [conductor(), "proxy".into(), pass];
    let inner = entry("a", "pass", "") + &native("reference", &reference);
    let chain = nest.command("inner", &inner);
    turns_pass_reference(&nest, &[chain.join(" ")]).await;
}
