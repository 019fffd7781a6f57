//! However `acp-chain dev` ends, none of its processes is left: neither the agent nor a running build.

use std::fs;

use acp_chain_tests::client::prompt;
use acp_chain_tests::host::executable;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::tree::{MARK, is_gone};
use acp_chain_tests::wire::in_time;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::spawn_blocking;

use super::author::{BEGIN, Project, start};

/// A compiler that reports its start and never ends.
const ENDLESS: &str = r#"#!/bin/sh
if [ "$1" = version ]; then echo 0.17.0; exit; fi
tail -f /dev/null &
echo begun >"$BEGUN"
wait
"#;

#[tokio::test]
async fn when_it_is_told_to_stop_or_killed_a_build_ends_with_it() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let project = Project::new("c", "prompt");
        let begun = compiler(&project, ENDLESS);
        let mut command = project.acp_chain("dev");
        command
            .env("BEGUN", &begun)
            .env(MARK, project.path("."))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", project.path("bin").display()),
            )
            .args(["--", env!("CARGO_BIN_EXE_wild-agent")]);
        let (mut child, _input, _output, _said) = start(command);
        let reads = spawn_blocking(move || fs::read_to_string(begun));
        let said = in_time("a build", reads).await.unwrap().unwrap();
        assert_eq!(said, "begun\n");
        kill_process(id(&child), signal).unwrap();
        in_time("the end of acp-chain dev", child.wait())
            .await
            .unwrap();
        is_gone(&Transcript::new(), &project.path(".")).await;
    }
}

#[tokio::test]
async fn when_the_client_leaves_during_the_first_build_that_ends_at_once() {
    let project = Project::new("c", "prompt");
    let begun = compiler(&project, ENDLESS);
    let mut dev = project.dev_with(&[], |command| {
        command
            .env("BEGUN", &begun)
            .env(MARK, project.path("."))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", project.path("bin").display()),
            );
    });
    let asked = dev.client.ask("initialize", BEGIN);
    let reads = spawn_blocking(move || fs::read_to_string(begun));
    in_time("a build", reads).await.unwrap().unwrap();
    dev.client.close();
    let answer = dev.client.response(&asked).await;
    let expected = "the client disconnected while the project was built";
    assert!(answer.line.contains(expected), "{}", answer.line);
    let transcript = dev.client.transcript().clone();
    dev.finish_refused().await;
    is_gone(&transcript, &project.path(".")).await;
}

#[tokio::test]
async fn when_it_is_told_to_stop_its_agent_ends_with_it() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev_with(&[], |command| {
        command.env(MARK, project.path("."));
    });
    dev.client.request("initialize", BEGIN).await;
    let _never = dev
        .client
        .ask("session/prompt", &prompt("s", "echo a\nnever"));
    dev.client.receive().await.unwrap();
    kill_process(id(&dev.child), Signal::INT).unwrap();
    in_time("the end of acp-chain dev", dev.child.wait())
        .await
        .unwrap();
    is_gone(dev.client.transcript(), &project.path(".")).await;
}

/// A compiler that never ends on the first source, and fails on a changed one.
const ENDLESS_AT_FIRST: &str = r#"#!/bin/sh
if [ "$1" = version ]; then echo 0.17.0; exit; fi
if grep -q "Be bold" "$SOURCE"; then echo "compiled anew" >&2; exit 1; fi
tail -f /dev/null &
echo begun >"$BEGUN"
wait
"#;

#[tokio::test]
async fn a_build_is_given_up_for_one_of_what_was_saved_meanwhile() {
    let project = Project::new("c", "prompt");
    let begun = compiler(&project, ENDLESS_AT_FIRST);
    let mut command = project.acp_chain("dev");
    command
        .env("BEGUN", &begun)
        .env("SOURCE", project.path("src/proxy.c"))
        .env(MARK, project.path("."))
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", project.path("bin").display()),
        )
        .args(["--", env!("CARGO_BIN_EXE_wild-agent")]);
    let (mut child, _input, _output, mut said) = start(command);
    let reads = spawn_blocking(move || fs::read_to_string(begun));
    in_time("a build", reads).await.unwrap().unwrap();
    project.change("src/proxy.c", "Be brief.", "Be bold.");
    said.next("compiled anew").await;
    kill_process(id(&child), Signal::INT).unwrap();
    in_time("the end of acp-chain dev", child.wait())
        .await
        .unwrap();
    is_gone(&Transcript::new(), &project.path(".")).await;
}

fn id(child: &tokio::process::Child) -> Pid {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw).unwrap()
}

/// Installs this script as the project's compiler. Returns a pipe between the script and the test.
pub fn compiler(project: &Project, script: &str) -> std::path::PathBuf {
    fs::create_dir(project.path("bin")).unwrap();
    executable(&project.path("bin/zig"), script).unwrap();
    // Beside the project, in a folder that is not watched.
    let pipe = project.path("../begun");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    pipe
}
