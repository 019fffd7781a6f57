//! What the log contains about a failure, and where the log is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use acp_chain_tests::chain::{Chain, MANIFEST};
use acp_chain_tests::host;
use tokio::process::Command;

use super::{AGENT, does};

/// Part of the offending message, which is private to the user.
const BODY: &str = r#"{"sessionId":"s-1","text":"between us"}"#;

/// Breaks a proxy at a message with [`BODY`], and checks the report in the log file.
async fn tells_of_a_failure(mut chain: Chain, file: &Path) {
    chain.client.initialize().await;
    let answer = chain.client.wire.request("test/panic", BODY).await;
    assert!(answer.error.is_some(), "{}", answer.line);
    // The proxy's output may repeat the message, so the error leaves it out.
    let said = ["last words", "panicked"];
    assert!(
        said.iter().all(|said| !answer.line.contains(said)),
        "{}",
        answer.line
    );
    let [asked] = &chain.client.wire.transcript().sent("client")[..] else {
        panic!("one request")
    };
    let head = format!(
        r#"the request "test/panic" of {} bytes from the client of session "s-1": wasm trap"#,
        asked.len()
    );
    chain.client.turn("echo on").await;
    let [notice] = &chain.notices()[..] else {
        panic!("one notice")
    };
    assert!(
        notice.ends_with(&format!(" More is in {}.", file.display())),
        "{notice}"
    );
    let mode = fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner only");
    let log = fs::read_to_string(file).unwrap();
    let at = log.find("the proxy `does` broke at ").expect("a report");
    let report = &log[at..];
    for part in [
        &*head,
        // The place in the proxy's code.
        "does::breaks::panic_as_told\n",
        // The proxy's output.
        "    | Its last output:\n    |   its last words\n    |   panicked at ",
    ] {
        assert!(report.contains(part), "{log}\nlacks\n{part}");
    }
    assert!(!log.contains("between us"), "{log}");
}

/// The program as an editor starts it, without options for a log.
fn silent(folder: &Path) -> Command {
    let mut command = host::run(Some(&folder.join(MANIFEST)), [AGENT]);
    command.env("XDG_STATE_HOME", folder.join("state"));
    command
}

#[tokio::test]
async fn the_users_own_log_has_where_it_broke_on_which_message_and_what_it_said_last() {
    let mut file = PathBuf::new();
    let chain = Chain::launch(&does("on-failure = 'restart'"), |folder| {
        file = folder.join("state/acp-chain/acp-chain.log");
        silent(folder)
    });
    tells_of_a_failure(chain, &file).await;
}

#[tokio::test]
async fn the_file_that_the_command_line_names_has_it_instead() {
    for policy in ["restart", "refuse"] {
        let chain = Chain::start(&does(&format!("on-failure = '{policy}'")), AGENT);
        let file = chain.log_file();
        tells_of_a_failure(chain, &file).await;
    }
}

#[tokio::test]
async fn the_next_run_adds_to_the_log() {
    let state = tempfile::tempdir().unwrap();
    for count in [1, 2] {
        let mut chain = Chain::launch(&does(""), |folder| {
            let mut command = silent(folder);
            command.env("XDG_STATE_HOME", state.path());
            command
        });
        chain.client.initialize().await;
        chain.reaches_the_agent("test/panic").await;
        chain.client.finish().await.unwrap();
        let log = fs::read_to_string(state.path().join("acp-chain/acp-chain.log")).unwrap();
        assert_eq!(log.matches("the proxy `does` broke at").count(), count);
        let tally = " rejected calls: 0 denied, 0 invalid, 0 past a limit";
        assert!(log.contains(tally) && !log.contains("Tally"), "{log}");
    }
}

#[tokio::test]
async fn without_an_environment_or_a_place_for_a_log_it_works() {
    // With folders of its own, so that the program does not use the home of the user who runs the test; then
    // with a home in which nothing can be created.
    let quiet = format!("agent.hooks = 'off'\n{}", does("on-failure = 'restart'"));
    for folders in [
        &["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"][..],
        &[],
    ] {
        let mut chain = Chain::launch(&quiet, |folder| {
            let mut command = silent(folder);
            command.env_clear();
            match folders {
                [] => command.env("HOME", "/dev/null"),
                folders => command.envs(folders.iter().map(|name| (name, folder))),
            };
            command
        });
        chain.client.initialize().await;
        chain.refused("test/panic").await;
        assert_eq!(chain.request("test/count").await.result.unwrap(), "1");
        chain.client.turn("echo on").await;
        let [notice] = &chain.notices()[..] else {
            panic!("one notice")
        };
        assert_eq!(
            notice.contains("More is in"),
            !folders.is_empty(),
            "{notice}"
        );
        let exit = chain.client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    }
}
