//! What an author of proxies in JavaScript is told: a function that could not work ends the build, or is
//! named at the first call.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::client::prompt;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tempfile::TempDir;
use tokio::process::Command;

/// Says what it subscribes to, all in vain.
const INIT: &str = r#"init: () => ({ subscriptions: [], onFailure: "refuse", guard: false })"#;

/// A source beside the frame that the examples have.
struct Source(TempDir);

impl Source {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(
            checkout("examples/javascript/proxy.js"),
            folder.path().join("proxy.js"),
        )
        .unwrap();
        let frame = r#"import { defineHandler, defineTools } from "./proxy.js";"#;
        fs::write(folder.path().join("it.js"), format!("{frame}\n{source}")).unwrap();
        Self(folder)
    }

    /// Builds it as the examples are built: the component, or what the toolchain says.
    async fn build(&self) -> Result<PathBuf, String> {
        let component = self.0.path().join("it.wasm");
        let mut build = Command::new(host::toolchain(
            "javascript/node_modules/.bin/componentize-qjs",
        ));
        build
            .args(["--sync", "--world", "tool-proxy", "--wit"])
            .arg(checkout("wit"))
            .arg("--js")
            .arg(self.0.path().join("it.js"))
            .arg("--output")
            .arg(&component);
        let output = build.output().await.unwrap();
        match output.status.success() {
            true => Ok(component),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
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
            "export const handler = defineHandler({{ {INIT}, {handler} }});\n\
             export const tools = defineTools({{ {tools} }});"
        );
        let said = Source::new(&source).build().await.unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
}

/// As compilers to older JavaScript make of one that is `async`.
#[tokio::test]
async fn a_promise_of_a_plain_function_is_named_when_it_comes() {
    let source = Source::new(
        r#"
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
    let component = source.build().await.unwrap();
    let manifest = host::manifest(source.0.path(), &[("it", &component, "")]).unwrap();
    let agent = [env!("CARGO_BIN_EXE_wild-agent")];
    let program = host::run(Some(&manifest), agent);
    let mut client = Process::start("client", &Transcript::new(), program).unwrap();
    client.initialize().await;
    let refused = client
        .wire
        .request("session/prompt", &prompt("s", "hello"))
        .await;
    let error = refused.error.unwrap();
    assert!(
        error.contains("handler.onRequest is async, and its result would be lost"),
        "{error}"
    );
    client.finish().await.unwrap();
}
