//! `acp-chain trace`.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Output;

use acp_chain_tests::host;
use tokio::process::Command;

use super::{lines, stage, traced, turn};

async fn trace(args: &[&OsStr]) -> (Option<i32>, String) {
    let mut command = Command::new(host::program());
    command.arg("trace").args(args);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().await.unwrap();
    let [said, errors] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (status.code(), said + &errors)
}

fn os(path: &Path) -> &OsStr {
    path.as_os_str()
}

#[tokio::test]
async fn a_good_run_is_shown_as_asked_for_and_has_no_findings() {
    let (folder, manifest) = stage();
    let file = folder.path().join("trace");
    turn(&manifest, &file, "hi").await;
    let check = ["check".as_ref(), os(&file)];
    assert_eq!(trace(&check).await, (Some(0), String::new()));
    let (code, all) = trace(&["show".as_ref(), os(&file)]).await;
    assert_eq!((code, all.lines().count()), (Some(0), lines(&file).0.len()));
    assert!(!all.contains('\u{1b}'), "no terminal, no colours: {all}");
    let asked = ["--method", "session/prom*", "--proxy", "second"].map(OsStr::new);
    let (_, some) = trace(&[&["show".as_ref(), os(&file)], &asked[..]].concat()).await;
    // The request and the answer: each a line to the proxy, a line from it and a decision.
    assert_eq!(some.lines().count(), 6, "{some}");
    assert!(
        some.contains("second → agent") && some.contains("change 2 session/prompt"),
        "{some}"
    );
    let (_, none) = trace(&[
        "show".as_ref(),
        os(&file),
        "--session".as_ref(),
        "x".as_ref(),
    ])
    .await;
    assert_eq!(none, "");
}

#[tokio::test]
async fn a_request_that_was_never_answered_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let proxies = [("first", &*host::component("pass"), "")];
    let manifest = host::manifest(folder.path(), &proxies).unwrap();
    let file = folder.path().join("trace");
    let mut client = traced(&manifest, &file);
    client.initialize().await;
    client.prompt("never");
    client.turn("hi").await;
    client.wire.hang_up();
    client.exited().await.unwrap();
    let (code, found) = trace(&["check".as_ref(), os(&file)]).await;
    assert_eq!(code, Some(1), "{found}");
    assert!(
        found.contains("session/prompt of client (request 2) has no answer"),
        "{found}"
    );
}

#[tokio::test]
async fn two_runs_differ_in_the_turn_in_which_something_else_was_said() {
    let (folder, manifest) = stage();
    let [one, other, another] = ["a", "b", "c"].map(|name| folder.path().join(name));
    turn(&manifest, &one, "hi").await;
    turn(&manifest, &other, "hi").await;
    turn(&manifest, &another, "ho").await;
    let diff = |first, second| trace_of_diff(first, second);
    assert_eq!(diff(&*one, &*other).await, (Some(0), String::new()));
    let (code, told) = diff(&one, &another).await;
    assert_eq!(code, Some(1));
    assert!(told.starts_with("session 1, turn 1\n"), "{told}");
    assert!(
        told.contains("- client → first: request session/prompt"),
        "{told}"
    );
}

async fn trace_of_diff(first: &Path, second: &Path) -> (Option<i32>, String) {
    trace(&["diff".as_ref(), os(first), os(second)]).await
}

#[tokio::test]
async fn what_cannot_be_read_is_told_with_its_place_and_steers_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    for (text, told) in [
        ("{}\nno\n", "trace:2: not a line of a trace: expected"),
        ("{\"version\":9}\n", "trace:1: the trace has version 9"),
        (
            "{\"name\":\"x\"}\n",
            "trace: no line of it is one of a trace; `acp-chain try --trace FILE`",
        ),
    ] {
        fs::write(&file, text).unwrap();
        for command in ["show", "check"] {
            let (code, said) = trace(&[command.as_ref(), os(&file)]).await;
            assert!(code == Some(2) && said.contains(told), "{command}: {said}");
        }
    }
    let evil = r#"{"from":"a\u001b[2J","to":"b","kind":"request","method":"\u202em","why":"x"}"#;
    fs::write(&file, format!("{evil}\n")).unwrap();
    let (_, said) = trace(&["show".as_ref(), os(&file)]).await;
    assert!(
        !said.contains('\u{1b}') && !said.contains('\u{202e}'),
        "{said:?}"
    );
    let (code, said) = trace(&["show".as_ref(), os(folder.path())]).await;
    assert!(
        code == Some(2) && said.contains("the trace cannot be read"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_cut_off_is_told_of_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let line =
        r#"{"connection":"c","from":"client","to":"agent","kind":"notification","method":"m"}"#;
    fs::write(&file, format!("{line}\n{}", &line[..20])).unwrap();
    for format in ["transcript", "conductor", "chrome", "har", "otlp"] {
        let args = ["export", "--to", format].map(OsStr::new);
        let (code, said) = trace(&[&args[..], &[os(&file)]].concat()).await;
        assert!(
            code == Some(0) && said.contains("1 lines end too early"),
            "{format}: {said}"
        );
    }
}

#[tokio::test]
async fn a_trace_without_lines_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    fs::write(&file, "").unwrap();
    let nothing = "trace: there is nothing in this trace";
    let (code, said) = trace(&["check".as_ref(), os(&file)]).await;
    assert!(code == Some(2) && said.contains(nothing), "{said}");
    let (code, said) = trace_of_diff(&file, &file).await;
    assert!(code == Some(2) && said.contains(nothing), "{said}");
    let args = ["export", "--to", "transcript"].map(OsStr::new);
    let (code, said) = trace(&[&args[..], &[os(&file)]].concat()).await;
    assert!(
        code == Some(2) && said.contains("trace: the trace has no message of a client or an agent"),
        "{said}"
    );
}

#[tokio::test]
async fn the_flag_counts_more_than_the_environment_and_that_more_than_the_file() {
    let (folder, manifest) = stage();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("acp-chain")).unwrap();
    fs::write(home.join("acp-chain/config.toml"), "trace = 'of-file'\n").unwrap();
    let of_file = home.join("acp-chain/of-file");
    let of_environment = folder.path().join("of-environment");
    let of_flag = folder.path().join("of-flag");
    let run = async |environment: Option<&OsStr>, flag: &[&OsStr]| {
        let manifest = ["--manifest".as_ref(), os(&manifest)];
        let options = [&manifest[..], flag].concat();
        let mut command = host::run_with(options, [super::AGENT]);
        command.env("XDG_CONFIG_HOME", &home);
        if let Some(file) = environment {
            command.env("ACP_CHAIN_TRACE", file);
        }
        let transcript = acp_chain_tests::transcript::Transcript::new();
        let process = acp_chain_tests::process::Process::start("client", &transcript, command);
        let mut client = process.unwrap();
        client.initialize().await;
        client.finish().await.unwrap();
        [&of_file, &of_environment, &of_flag].map(|file| file.exists())
    };
    let both = ["--trace".as_ref(), os(&of_flag)];
    assert_eq!(run(Some("".as_ref()), &[]).await, [false, false, false]);
    assert_eq!(
        run(Some(os(&of_environment)), &both).await,
        [false, false, true]
    );
    assert_eq!(
        run(Some(os(&of_environment)), &[]).await,
        [false, true, true]
    );
    assert_eq!(run(None, &[]).await, [true, true, true]);
}
