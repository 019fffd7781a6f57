//! The values that componentize-qjs passes to a component, and accepts from it, have the interface's types; and the
//! examples type-check against the SDK.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host;
use acp_chain_tests::powers;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;
use tokio::process::Command;

/// A source file in a folder with the interface's types.
struct Source(TempDir);

impl Source {
    fn new(name: &str, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (from, to) in [
            ("host/author/sdk/javascript/wit.d.ts", "sdk/wit.d.ts"),
            (
                "host/author/templates/typescript/all/tsconfig.json",
                "tsconfig.json",
            ),
        ] {
            let to = folder.path().join(to);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(checkout(from), to).unwrap();
        }
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src").join(name), source).unwrap();
        Self(folder)
    }

    /// Builds one of its files as the examples are built. Returns the component, or the toolchain's error.
    async fn build(&self, file: &str) -> Result<PathBuf, String> {
        let component = self.0.path().join("it.wasm");
        let mut build = tool("componentize-qjs");
        build
            .args(["--sync", "--world", "proxy", "--wit"])
            .arg(checkout("wit"))
            .arg("--js")
            .arg(self.0.path().join(file))
            .arg("--output")
            .arg(&component);
        succeeds(build).await.map(|()| component)
    }

    /// Builds one of its files and starts it in front of an agent.
    async fn run(&self, file: &str) -> Process {
        let component = self.build(file).await.unwrap();
        let manifest = host::manifest(self.0.path(), &[("it", &component, "")]).unwrap();
        let text = fs::read_to_string(&manifest).unwrap();
        let text = text.replace(powers::in_one_process(), powers::everything());
        fs::write(&manifest, text).unwrap();
        let log = self.0.path().join("log");
        let options = [
            "--log-file".as_ref(),
            log.as_os_str(),
            "--manifest".as_ref(),
            manifest.as_os_str(),
        ];
        let program = host::run_with(options, [env!("CARGO_BIN_EXE_wild-agent")]);
        let mut client = Process::start("client", &Transcript::new(), program).unwrap();
        client.initialize().await;
        client
    }
}

/// A program of the toolchain.
fn tool(name: &str) -> Command {
    Command::new(host::toolchain("javascript/node_modules/.bin").join(name))
}

/// Runs a program. Returns its output if it fails.
async fn succeeds(mut program: Command) -> Result<(), String> {
    let output = program.output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&said).into_owned())
    }
}

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[tokio::test]
async fn the_examples_are_of_the_types() {
    let mut check = tool("tsc");
    check
        .arg("--project")
        .arg(checkout("tests/examples/javascript"));
    succeeds(check).await.unwrap();
}

#[tokio::test]
async fn the_sdk_calls_the_interface_by_its_types() {
    let mut check = tool("tsc");
    check.args(["--noEmit", "--allowJs", "--strict", "--target", "es2023"]);
    check.args([
        "--module",
        "es2022",
        "--moduleResolution",
        "bundler",
        "--lib",
        "es2024",
    ]);
    for file in ["wit.js", "wit.d.ts"] {
        check.arg(checkout("host/author/sdk/javascript").join(file));
    }
    succeeds(check).await.unwrap();
}

/// The source also marks what the types reject.
#[tokio::test]
async fn the_types_are_what_is_passed() {
    let source = fs::read_to_string(checkout("tests/javascript/fields.ts")).unwrap();
    let source = Source::new("it.ts", &source);
    let mut compile = tool("tsc");
    let folder = source.0.path();
    compile
        .args(["--noEmit", "false", "--rootDir"])
        .arg(folder.join("src"))
        .arg("--outDir")
        .arg(folder.join("made"))
        .arg("--project")
        .arg(folder);
    succeeds(compile).await.unwrap();

    let mut client = source.run("made/it.js").await;
    client.turn("echo hello").await;
    let held = client.wire.ask("vendor/hold", "{}");
    let withdraw = format!(r#"{{"requestId":{held}}}"#);
    client.wire.notify("$/cancel_request", &withdraw);
    client.wire.response(&held).await;
    client.finish().await.unwrap();
    let log = fs::read_to_string(folder.join("log")).unwrap();
    for told in [
        r#"config: "string""#,
        r#"saved: "null""#,
        r#"denied: {"code":"denied","message":"string"}"#,
        r#"save: "undefined""#,
        r#"request: {"head":{"id":"number","sender":"string","method":"string","session":"string","size":"number"},"params":"string"}"#,
        r#"sent: "number""#,
        r#"loading: "number""#,
        r#"removing: "number""#,
        r#"part: "string""#,
        r#"no part: "null""#,
        r#"unknown message: {"code":"unknown-message","message":"string"}"#,
        r#"notification: {"head":{"id":"number","sender":"string","method":"string","session":"string","size":"number"},"params":"string"}"#,
        r#"ok: {"head":{"id":"number","sender":"string","method":"string","session":"string","size":"number"},"outcome":{"tag":"ok","val":"string"}}"#,
        r#"err: {"head":{"id":"number","sender":"string","method":"string","session":"null","size":"number"},"outcome":{"tag":"err","val":{"code":"number","message":"string","data":"null"}}}"#,
        r#"cancelled: "number""#,
    ] {
        assert!(
            log.contains(&format!(" {told} ")),
            "{told} is not in:\n{log}"
        );
    }
}
