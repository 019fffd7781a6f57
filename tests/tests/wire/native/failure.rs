//! Native proxies that break: the manifest decides on the reports, and on how the chain keeps working.

use std::path::Path;

use acp_chain_tests::chain::{Chain, error_of};
use acp_chain_tests::host;
use acp_chain_tests::process::gone;
use rustix::process::{Pid, Signal, kill_process};

use crate::native::{AGENT, initialized, program};

/// The process id that a proxy wrote to a file.
pub fn number(file: &Path) -> u32 {
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

#[tokio::test]
async fn with_refuse_what_it_had_and_what_it_would_see_is_refused() {
    let manifest = program("n", &["--exit-on", "test/exit"], "on-failure = 'refuse'");
    let mut chain = initialized(&manifest, &[]).await;
    chain.reaches_the_agent("test/other").await;
    let error = chain.refused("test/exit").await;
    assert_eq!(
        error,
        "acp-chain: the proxy `n` failed on test/exit: it exited with code 3"
    );
    let error = chain.refused("test/other").await;
    assert!(
        error.contains("the proxy `n` failed on test/other: it broke before"),
        "{error}"
    );
    let log = chain.finish().await;
    assert!(
        log.contains("the proxy `n` broke: it exited with code 3"),
        "{log}"
    );
    assert!(log.contains("| its last words"), "{log}");
}

#[tokio::test]
async fn with_bypass_everything_passes_it_by() {
    let manifest = program("n", &["--exit-on", "test/exit"], "on-failure = 'bypass'");
    let mut chain = initialized(&manifest, &[]).await;
    // It is unknown whether the proxy has forwarded this request.
    let error = chain.refused("test/exit").await;
    assert!(
        error.contains("the proxy `n` failed on test/exit"),
        "{error}"
    );
    chain.reaches_the_agent("test/exit").await;
    chain.finish().await;
}

#[tokio::test]
async fn with_restart_another_takes_its_place_and_the_agent_does_not_begin_again() {
    let folder = tempfile::tempdir().unwrap();
    let once = folder.path().join("once");
    let args = ["--exit-on", "test/exit", "--once", once.to_str().unwrap()];
    let manifest = program("n", &args, "on-failure = 'restart'");
    let mut chain = initialized(&manifest, &[]).await;
    let error = chain.refused("test/exit").await;
    assert!(error.contains("it exited with code 3"), "{error}");
    chain.reaches_the_agent("test/exit").await;
    let end = chain.client.turn("echo still here").await;
    assert!(end.result.is_some(), "{}", end.line);
    let notices = chain.notices();
    assert!(
        notices[0].starts_with("the proxy `n` broke: it exited with code 3. It is restarted."),
        "{notices:?}"
    );
    chain.finish().await;
}

#[tokio::test]
async fn a_proxy_that_is_killed_in_a_turn_leaves_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let manifest = program(
        "n",
        &["--pid", pid.to_str().unwrap()],
        "on-failure = 'restart'",
    );
    let mut chain = initialized(&manifest, &[]).await;
    let first = number(&pid);
    let id = chain.client.prompt("echo first\nwait");
    chain.client.wire.receive().await;
    let process = Pid::from_raw(first.cast_signed()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    let end = chain.client.wire.response(&id).await;
    assert_eq!(
        error_of(&end),
        "acp-chain: the proxy `n` failed on session/prompt: it was ended by signal 9"
    );
    let end = chain.client.turn("echo second").await;
    assert!(end.result.is_some(), "{}", end.line);
    assert_ne!(number(&pid), first);
    chain.finish().await;
}

#[tokio::test]
async fn a_program_that_exits_at_once_is_named() {
    for policy in ["restart", "refuse"] {
        let terms = format!("on-failure = '{policy}'");
        let mut chain = Chain::granted(&program("n", &["--exit", "7"], &terms), &[AGENT]);
        let answer = chain.client.wire.request("initialize", "{}").await;
        let error = error_of(&answer);
        assert!(
            error.contains("the proxy `n` failed on initialize")
                && error.contains("exited with code 7"),
            "{policy}: {error}"
        );
        chain.finish().await;
    }
    let mut chain = Chain::granted(
        &program("n", &["--exit", "7"], "on-failure = 'bypass'"),
        &[AGENT],
    );
    let answer = chain.client.wire.request("initialize", "{}").await;
    assert!(answer.result.is_some(), "{}", answer.line);
    chain.reaches_the_agent("test/other").await;
    chain.finish().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let manifest = "[[proxy]]\nid = 'n'\ncommand = '/nowhere/at-all'\n";
    let mut chain = Chain::granted(manifest, &[AGENT]);
    let answer = chain.client.wire.request("initialize", "{}").await;
    let error = error_of(&answer);
    assert!(
        error.contains("proxy `n` (/nowhere/at-all): it did not start: the proxy command `/nowhere/at-all` was not found"),
        "{error}"
    );
}

#[tokio::test]
async fn garbage_is_logged_under_its_name_and_hurts_nobody() {
    let mut chain = initialized(&program("n", &["--garbage"], ""), &[]).await;
    let end = chain.client.turn("echo fine").await;
    assert!(end.result.is_some(), "{}", end.line);
    let notices = chain.notices();
    assert_eq!(chain.client.chunks().len(), notices.len() + 1);
    assert_eq!(
        chain.client.chunks().last().map(String::as_str),
        Some("fine")
    );
    let log = chain.finish().await;
    let lost = [
        "a line: the message is not JSON",
        "a response to no open request: id \"nobody's\"",
        "a proxy/successor must have a method in its params",
    ];
    assert_eq!(notices.len(), lost.len(), "{notices:?}");
    for (lost, notice) in lost.iter().zip(notices) {
        let lost = format!("dropped what the proxy `n` sent: {lost}");
        assert!(notice.starts_with(&lost), "{lost}:\n{notice}");
        assert!(log.contains(&lost), "{lost}:\n{log}");
    }
}

#[tokio::test]
async fn a_proxy_that_keeps_a_request_keeps_no_other() {
    let mut chain = initialized(&program("n", &["--swallow", "test/kept"], ""), &[]).await;
    let kept = chain.client.wire.ask("test/kept", "{}");
    chain.reaches_the_agent("test/other").await;
    chain.client.signal(Signal::TERM).unwrap();
    let answer = chain.client.wire.response(&kept).await;
    assert!(answer.error.is_some(), "{}", answer.line);
}

#[tokio::test]
async fn the_end_of_the_agent_is_told_through_a_native_proxy() {
    let mut chain = initialized(&program("n", &[], ""), &[]).await;
    let end = chain.client.turn("echo last\nexit 9").await;
    assert_eq!(error_of(&end), "acp-chain: the agent exited with code 9");
    assert_eq!(chain.client.chunks(), ["last"]);
}

#[tokio::test]
async fn nothing_of_a_native_proxy_outlives_the_host() {
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let folder = tempfile::tempdir().unwrap();
        let (pid, child) = (folder.path().join("pid"), folder.path().join("child"));
        let args = [
            "--survive-eof",
            "--pid",
            pid.to_str().unwrap(),
            "--child",
            child.to_str().unwrap(),
        ];
        let mut chain = initialized(&program("n", &args, ""), &[]).await;
        let transcript = chain.client.wire.transcript().clone();
        let (pid, child) = (number(&pid), number(&child));
        match signal {
            None => drop(chain.finish().await),
            Some(signal) => {
                chain.client.signal(signal).unwrap();
                chain.client.exited().await.unwrap();
            }
        }
        gone(&transcript, pid).await.unwrap();
        gone(&transcript, child).await.unwrap();
    }
}

#[tokio::test]
async fn what_the_client_says_last_reaches_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    let received = folder.path().join("received");
    let manifest = program("a", &[], "") + &program("b", &[], "");
    let agent = host::recorded(&received, [AGENT]);
    let agent: Vec<_> = agent.iter().map(|word| word.to_str().unwrap()).collect();
    let mut chain = Chain::granted(&manifest, &agent);
    chain.client.initialize().await;
    chain.client.wire.notify("test/last", "{}");
    chain.finish().await;
    let received = std::fs::read_to_string(received).unwrap();
    assert!(received.contains("test/last"), "{received}");
}

#[tokio::test]
async fn a_flood_is_slowed_to_what_the_client_takes() {
    let line = r#"{"jsonrpc":"2.0","method":"test/flood","params":{}}"#;
    let manifest = format!("[[proxy]]\nid = 'n'\ncommand = 'yes'\nargs = ['{line}']\n");
    let mut chain = Chain::granted(&manifest, &[AGENT]);
    chain.client.wire.ask("initialize", "{}");
    for _ in 0..100_000 {
        let read = chain.client.wire.bytes().await.expect("a line");
        assert_eq!(read, line.as_bytes());
    }
    let peak = chain.client.peak_memory().expect("still running");
    assert!(peak < 64 << 20, "{peak} bytes");
    chain.client.signal(Signal::TERM).unwrap();
    chain.client.exited().await.unwrap();
}

#[tokio::test]
async fn a_flood_of_garbage_does_not_flood_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let script = "for i in $(seq 20000); do echo garbage; done";
    let script_file = folder.path().join("script");
    std::fs::write(&script_file, script).unwrap();
    let manifest = format!(
        "[[proxy]]\nid = 'n'\ncommand = 'sh'\nargs = ['{}']\non-failure = 'refuse'\n",
        script_file.display()
    );
    let mut chain = Chain::granted(&manifest, &[AGENT]);
    let answer = chain.client.wire.request("initialize", "{}").await;
    let error = error_of(&answer);
    assert!(
        error.contains("the proxy `n` failed on initialize: it exited with code 0"),
        "{error}"
    );
    let log = chain.finish().await;
    let told = log.matches("dropped what the proxy `n` sent").count();
    // The first hundred, then the 128th, the 256th, …
    assert!((100..=108).contains(&told), "{told}");
}
