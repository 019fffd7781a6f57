//! What an author of proxies in JavaScript and TypeScript is told: a function that could not work ends the
//! build, or is named at the first call, and the types are what is passed.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;
use tokio::process::Command;

/// Says what it subscribes to, all in vain.
const INIT: &str = r#"init: () => ({ subscriptions: [], onFailure: "refuse", guard: false })"#;

/// A source beside the frame and the types that the examples have.
struct Source(TempDir);

impl Source {
    fn new(name: &str, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let examples = checkout("examples/javascript");
        for file in ["acp-chain.d.ts", "proxy.js", "tsconfig.json"] {
            fs::copy(examples.join(file), folder.path().join(file)).unwrap();
        }
        fs::write(folder.path().join(name), source).unwrap();
        Self(folder)
    }

    /// Builds one of its files as the examples are built: the component, or what the toolchain says.
    async fn build(&self, file: &str) -> Result<PathBuf, String> {
        let component = self.0.path().join("it.wasm");
        let mut build = tool("componentize-qjs");
        build
            .args(["--sync", "--world", "tool-proxy", "--wit"])
            .arg(checkout("wit"))
            .arg("--js")
            .arg(self.0.path().join(file))
            .arg("--output")
            .arg(&component);
        succeeds(build).await.map(|()| component)
    }

    /// Starts one of its files in front of an agent.
    async fn run(&self, file: &str) -> Process {
        let component = self.build(file).await.unwrap();
        let manifest = host::manifest(self.0.path(), &[("it", &component, "")]).unwrap();
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

/// Runs a program; what it says if it fails.
async fn succeeds(mut program: Command) -> Result<(), String> {
    let output = program.output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&said).into_owned()),
    }
}

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[tokio::test]
async fn a_function_that_could_not_work_ends_the_build() {
    for (handler, tools, reason) in [
        (
            "onRequest: async () => ({ tag: 'forward' })",
            "listTools() {}, callTool() {}",
            "handler.onRequest is async, and its result would be lost: make it a plain function",
        ),
        // The one whose promise nobody would miss.
        (
            "async onCancel(id) {}",
            "listTools() {}, callTool() {}",
            "handler.onCancel is async",
        ),
        (
            "",
            "listTools() {}, async callTool() {}",
            "tools.callTool is async",
        ),
        ("", "callTool() {}", "tools.listTools is missing"),
        (
            "onPrompt() {}",
            "listTools() {}, callTool() {}",
            "handler.onPrompt is unknown; there are init, onRequest, onNotification, onResponse, onCancel",
        ),
    ] {
        let source = format!(
            "import {{ defineHandler, defineTools }} from './proxy.js';\n\
             export const handler = defineHandler({{ {INIT}, {handler} }});\n\
             export const tools = defineTools({{ {tools} }});"
        );
        let said = Source::new("it.js", &source)
            .build("it.js")
            .await
            .unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
}

/// As compilers to older JavaScript make of one that is `async`.
#[tokio::test]
async fn a_promise_of_a_plain_function_is_named_when_it_comes() {
    let source = Source::new(
        "it.js",
        r#"
        import { defineHandler, defineTools } from "./proxy.js";
        const subscriptions = [
          { method: "session/prompt", sender: null, kinds: { request: true }, withBody: true },
        ];
        export const handler = defineHandler({
          init: () => ({ subscriptions, onFailure: "refuse", guard: false }),
          onRequest: () => Promise.resolve({ tag: "forward" }),
        });
        export const tools = defineTools({ listTools() {}, callTool() {} });
        "#,
    );
    let mut client = source.run("it.js").await;
    let error = client.turn("hello").await.error.unwrap();
    let told = "handler.onRequest is async, and its result would be lost";
    assert!(error.contains(told), "{error}");
    client.finish().await.unwrap();
}

#[tokio::test]
async fn what_is_left_out_gives_up_what_is_withdrawn() {
    let source = Source::new(
        "it.js",
        r#"
        import { defineHandler, defineTools } from "./proxy.js";
        const subscriptions = [
          { method: "session/prompt", sender: null, kinds: { request: true }, withBody: true },
        ];
        export const handler = defineHandler({
          init: () => ({ subscriptions, onFailure: "refuse", guard: false }),
          onRequest: () => ({ tag: "hold" }),
        });
        export const tools = defineTools({ listTools() {}, callTool() {} });
        "#,
    );
    let mut client = source.run("it.js").await;
    let held = client.prompt("hello");
    client.wire.notify("session/cancel", r#"{"sessionId":"s"}"#);
    let answer = client.wire.response(&held).await;
    let cancelled = r#"{"stopReason":"cancelled"}"#;
    assert_eq!(answer.result.as_deref(), Some(cancelled), "{}", answer.line);
    client.finish().await.unwrap();
}

#[tokio::test]
async fn the_examples_are_of_the_types() {
    let mut check = tool("tsc");
    check.arg("--project").arg(checkout("examples/javascript"));
    succeeds(check).await.unwrap();
}

/// The source says, beside what it does, what the types refuse.
#[tokio::test]
async fn the_types_are_what_is_passed() {
    let source = fs::read_to_string(checkout("tests/javascript/fields.ts")).unwrap();
    let source = Source::new("it.ts", &source);
    let mut compile = tool("tsc");
    let folder = source.0.path();
    compile
        .args(["--noEmit", "false", "--outDir"])
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
        r#"denied: {"tag":"denied","val":"string"}"#,
        r#"save: "undefined""#,
        r#"request: {"head":{"id":"number","sender":"string","method":"string","session":"string","size":"number"},"params":"string"}"#,
        r#"sent: "number""#,
        r#"part: "string""#,
        r#"no part: "null""#,
        r#"unknown message: {"tag":"unknown-message"}"#,
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
