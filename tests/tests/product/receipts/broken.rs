//! Receipts that cannot be written.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tokio::process::Command;

use super::{AGENT, begin, exported, stage, verify};

#[tokio::test]
async fn the_client_learns_that_receipts_the_trace_or_the_log_cannot_be_written() {
    let (folder, manifest) = stage();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let beneath = file.join("trace.jsonl");
    let filter = PathBuf::from("acp_chain=loud");
    for (option, path, expected) in [
        ("--receipts", &file, "receipts cannot be written: "),
        ("--trace", &beneath, "the trace file "),
        ("--log-file", &beneath, "the log file "),
        ("--log", &filter, "the log filter "),
    ] {
        let options = [
            OsStr::new("--manifest"),
            manifest.as_os_str(),
            OsStr::new(option),
            path.as_os_str(),
        ];
        let command = host::run_with(options, [AGENT]);
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        let refused = client
            .wire
            .request("initialize", r#"{"protocolVersion":1}"#)
            .await;
        let error = refused.error.unwrap_or_else(|| panic!("{}", refused.line));
        let named = path.display().to_string();
        assert!(
            error.contains(expected) && error.contains(&named),
            "{error}"
        );
        let is_advised = error.contains("name a folder that you may write to");
        assert_eq!(is_advised, option == "--receipts", "{error}");
        let exit = client.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(2), "{exit:?}");
    }
}

/// The working directory is gone, so a relative path leads nowhere.
#[tokio::test]
async fn the_client_learns_that_the_folder_of_the_receipts_means_nothing() {
    let (folder, manifest) = stage();
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let options = [
        OsStr::new("--manifest"),
        manifest.as_os_str(),
        OsStr::new("--receipts"),
        OsStr::new("log"),
    ];
    let run = host::run_with(options, [AGENT]);
    let mut command = Command::new("sh");
    let script = r#"cd "$0" && rmdir "$0" && exec "$@""#;
    command.args(["-c", script]).arg(&gone);
    let program = run.as_std();
    command.arg(program.get_program()).args(program.get_args());
    command.envs(host::environment(&run));
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    let refused = client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let error = refused.error.unwrap_or_else(|| panic!("{}", refused.line));
    for part in ["receipts cannot be written to ", "by its whole path"] {
        assert!(error.contains(part), "{error}");
    }
    let exit = client.finish().await.unwrap();
    assert_eq!(exit.status.code(), Some(2), "{exit:?}");
}

#[tokio::test]
async fn turns_stop_when_receipts_cannot_be_written() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    assert!(client.turn("hi").await.result.is_some());
    fs::rename(&log, folder.path().join("moved")).unwrap();
    // This turn ends with the records that cannot be written.
    assert!(client.turn("hi").await.result.is_some());
    for _ in 0..2 {
        let refused = client.turn("hi").await;
        let error = refused.error.unwrap_or_else(|| panic!("{}", refused.line));
        assert!(error.contains("there can be no receipts"), "{error}");
    }
    client.finish().await.unwrap();
}

#[tokio::test]
async fn only_the_receipts_stop_where_the_user_says_so_and_the_user_is_told_once() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let more = ["--receipts-on-failure", "continue"];
    let mut client = begin(&manifest, &log, &more).await;
    fs::rename(&log, folder.path().join("moved")).unwrap();
    for _ in 0..3 {
        assert!(client.turn("hi").await.result.is_some());
    }
    let chunks = client.chunks();
    let told = chunks
        .iter()
        .filter(|chunk| chunk.contains("Receipts cannot be written"));
    assert_eq!(told.count(), 1, "{chunks:?}");
    client.finish().await.unwrap();
}

#[tokio::test]
async fn a_chain_that_is_killed_leaves_a_log_that_goes_on() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    client.kill().await.unwrap();
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    client.finish().await.unwrap();
    let (code, said) = verify(&log, &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let records = exported(&log).await;
    let ends = records.iter().filter(|one| one["what"] == "end");
    assert_eq!(ends.count(), 1);
}
