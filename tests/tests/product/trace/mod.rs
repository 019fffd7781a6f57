//! The trace of a real chain: the content of its lines, and that it stays whole and bounded and delays no message.

#[cfg(target_os = "linux")]
mod broken;
mod command;
mod exported;
mod masked;
mod written;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_trace::{Line, Reader};
use tempfile::TempDir;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A folder with the manifest of `first`, which forwards everything, and `second`, which writes capitals.
fn stage() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (pass, shout) = (host::component("pass"), host::component("shout-rust"));
    let proxies = [("first", &*pass, ""), ("second", &*shout, "")];
    let manifest = host::manifest(folder.path(), &proxies).unwrap();
    (folder, manifest)
}

/// A client of that chain, which writes its trace to this file.
fn traced(manifest: &Path, trace: &Path) -> Process {
    let options: [&OsStr; 4] = [
        "--manifest".as_ref(),
        manifest.as_os_str(),
        "--trace".as_ref(),
        trace.as_os_str(),
    ];
    let command = host::run_with(options, [AGENT]);
    Process::start("client", &Transcript::new(), command).unwrap()
}

/// The lines of a trace, and how many were cut off.
fn lines(trace: &Path) -> (Vec<Line>, usize) {
    let text = fs::read(trace).unwrap();
    let mut reader = Reader::new(&*text);
    let lines = reader.by_ref().map(|line| line.unwrap().1).collect();
    (lines, reader.cut())
}

/// A connection with one turn, which ends well.
async fn turn(manifest: &Path, trace: &Path, said: &str) {
    let mut client = traced(manifest, trace);
    client.initialize().await;
    client.turn(said).await;
    assert!(client.finish().await.unwrap().status.success());
}
