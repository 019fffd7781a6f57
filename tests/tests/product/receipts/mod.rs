//! Receipts as the program writes, verifies and exports them.

#[cfg(target_os = "linux")]
mod broken;
mod recorded;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::output::CommandOutput;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

const PERMISSION: &str = "session/request_permission";

/// What `second` does to prompts.
const EDITS: &str = r#"requests = { "session/prompt" = [{ edit = { pointer = "/prompt/0/_meta", value = { n = 1 } } }] }"#;

/// A folder with the manifest of `first`, which forwards everything, and `second`, which changes prompts.
fn stage() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (pass, does) = (host::component("pass"), host::component("does"));
    let proxies = [("first", &*pass, ""), ("second", &*does, EDITS)];
    let manifest = host::manifest(folder.path(), &proxies).unwrap();
    (folder, manifest)
}

/// The folder of that chain and its log of receipts, after one turn.
async fn turn_recorded() -> (TempDir, PathBuf) {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    finish(client).await;
    (folder, log)
}

/// A client of that chain, whose receipts are in this folder, with these further options.
async fn begin(manifest: &Path, receipts: &Path, more: &[&str]) -> Process {
    let mut options = vec![
        OsStr::new("--manifest"),
        manifest.as_os_str(),
        OsStr::new("--receipts"),
        receipts.as_os_str(),
    ];
    options.extend(more.iter().map(OsStr::new));
    let command = host::run_with(options, [AGENT]);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    client
}

/// A turn in which the agent asks, and the user chooses this option.
async fn asked(client: &mut Process, title: &str, option: &str) -> Message {
    let prompt = client.prompt(&format!("permission edit {title} /work/file"));
    loop {
        let message = client.wire.receive().await.unwrap();
        if message.method.as_deref() == Some(PERMISSION) {
            let id = message.id.unwrap();
            client.wire.send(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}}}"#
            ));
        } else if message.method.is_none() && message.id.as_deref() == Some(&*prompt) {
            return message;
        }
    }
}

/// Ends a client. Returns the checkpoint that was printed.
async fn finish(client: Process) -> String {
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    let printed = exit.stderr.lines().find(|line| line.contains("receipts:"));
    printed.unwrap_or_else(|| panic!("{exit:?}")).to_owned()
}

async fn receipts(args: &[&OsStr]) -> (Option<i32>, CommandOutput) {
    let mut command = Command::new(host::program());
    command.arg("receipts").args(args);
    let output = command.output().await.unwrap();
    (output.status.code(), output.into())
}

async fn verify(folder: &Path, more: &[&OsStr]) -> (Option<i32>, String) {
    let mut args = vec![OsStr::new("verify"), folder.as_os_str()];
    args.extend(more);
    let (code, output) = receipts(&args).await;
    (code, output.out + &output.err)
}

/// All records, by the command that exports them.
async fn exported(folder: &Path) -> Vec<Value> {
    let args = [
        OsStr::new("export"),
        folder.as_os_str(),
        OsStr::new("--to"),
        OsStr::new("json"),
    ];
    let (code, output) = receipts(&args).await;
    assert_eq!(code, Some(0), "{output:?}");
    serde_json::from_str(&output.out).unwrap()
}

/// The files of the records.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect()
}
