//! Chains within chains, with the reference conductor above and below.

use acp_chain_tests::chain::{Chain, ManifestFolder, entry, error_of, program as native};
use acp_chain_tests::host::{self, peer};
use acp_chain_tests::process::{Process, gone};
use acp_chain_tests::transcript::Transcript;
use rustix::process::Signal;
use tokio::process::Command;

use crate::native::failure::number;
use crate::native::peers::{passing, turns_pass, turns_pass_chain};
use crate::native::{AGENT, initialized, program};

fn conductor() -> String {
    peer("bin/agent-client-protocol-conductor")
        .display()
        .to_string()
}

/// A turn through the reference conductor with these proxies.
async fn turns_pass_reference(nest: &ManifestFolder, proxies: &[String]) {
    let mut command = Command::new(conductor());
    // The conductor splits command lines as a shell does.
    command.arg("agent").args(proxies).arg(AGENT);
    command.envs(host::environment(&host::acp_chain("run")));
    command.env("XDG_CONFIG_HOME", host::grants_native(nest.folder()));
    let mut client = Process::start("client", &Transcript::new(), command).expect("a process");
    client.initialize().await;
    turns_pass(&mut client).await;
    let exit = client.finish().await.expect("an exit");
    assert!(exit.status.success(), "{}: {}", exit.status, exit.stderr);
}

#[tokio::test]
async fn turns_pass_three_levels_of_chains() {
    let nest = ManifestFolder::new();
    let innermost = entry("deep", "pass", "");
    let inner =
        entry("a", "pass", "") + &nest.chain("innermost", &innermost) + &entry("b", "pass", "");
    let outer = nest.chain("inner", &inner) + &entry("c", "pass", "");
    turns_pass_chain(&outer).await;
}

#[tokio::test]
async fn turns_pass_chains_side_by_side_and_an_empty_one() {
    let nest = ManifestFolder::new();
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
    let nest = ManifestFolder::new();
    let pass = peer("bin/pass-proxy").display().to_string();
    let chain = nest.command("inner", &(entry("a", "pass", "") + &passing("python")));
    turns_pass_reference(&nest, &[pass.clone(), chain.join(" "), pass]).await;
}

#[tokio::test]
async fn turns_pass_a_chain_between_two_reference_conductors() {
    let nest = ManifestFolder::new();
    let pass = peer("bin/pass-proxy").display().to_string();
    let reference = [conductor(), "proxy".into(), pass];
    let inner = entry("a", "pass", "") + &native("reference", &reference);
    let chain = nest.command("inner", &inner);
    turns_pass_reference(&nest, &[chain.join(" ")]).await;
}

#[tokio::test]
async fn nothing_of_any_level_outlives_the_host() {
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let nest = ManifestFolder::new();
        let files = ["a", "b", "c"].map(|name| nest.folder().join(name));
        let [a, b, c] = files.each_ref().map(|pid| {
            let args = ["--survive-eof", "--pid", pid.to_str().unwrap()];
            program("n", &args, "")
        });
        let inner = b + &nest.chain("innermost", &c);
        let mut chain = initialized(&(a + &nest.chain("inner", &inner)), &[]).await;
        let transcript = chain.client.wire.transcript().clone();
        let pids = files.map(|file| number(&file));
        match signal {
            None => drop(chain.finish().await),
            Some(signal) => {
                chain.client.signal(signal).unwrap();
                chain.client.exited().await.unwrap();
            }
        }
        for pid in pids {
            gone(&transcript, pid).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_inner_chain_that_does_not_start_says_why() {
    let nest = ManifestFolder::new();
    let mut chain = Chain::granted(
        &nest.chain("inner", &entry("typo", "pass", "limits = 7")),
        &[AGENT],
    );
    let answer = chain.client.wire.request("initialize", "{}").await;
    let error = error_of(&answer);
    assert!(error.contains("inner.toml:6:10: "), "{error}");
    chain.finish().await;
}

#[tokio::test]
async fn a_chain_with_an_agent_of_its_own_is_no_proxy() {
    let nest = ManifestFolder::new();
    let mut command = nest.command("inner", "").to_vec();
    command.extend(["--".to_owned(), AGENT.to_owned()]);
    let mut chain = Chain::granted(&native("inner", &command), &[AGENT]);
    let answer = chain.client.wire.request("initialize", "{}").await;
    assert_eq!(
        error_of(&answer),
        "acp-chain: an agent is named, so this chain is not a proxy, and does not support \
         proxy/initialize; leave out its name, and the command after `--`"
    );
    chain.finish().await;
}
