//! A project from each template works in a turn, in each language. The sources of those in Python are in one component.

use std::path::PathBuf;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::quoted;
use acp_chain_tests::host::{self, InProcess};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

use super::project::{NAME, Project};
use super::python::build_as;

macro_rules! languages {
    ($($module:ident $lang:literal)*) => {$(
        mod $module {
            #[tokio::test]
            async fn the_prompt_is_changed() {
                super::the_prompt_is_changed($lang).await;
            }

            #[tokio::test]
            async fn permission_is_answered() {
                super::permission_is_answered($lang).await;
            }

            #[tokio::test]
            async fn tool_calls_are_counted() {
                super::tool_calls_are_counted($lang).await;
            }

            #[tokio::test]
            async fn the_tool_is_called() {
                super::the_tool_is_called($lang).await;
            }
        }
    )*};
}

languages!(
    rust "rust" javascript "js" typescript "ts" python "python" c "c" cpp "cpp" zig "zig" go "go"
    assemblyscript "assemblyscript"
);

/// A project of a template, built and tested as its author would, and its component.
async fn built(lang: &str, template: &str) -> (Project, PathBuf) {
    let project = Project::new(lang, template).await;
    let component = if lang == "python" {
        build_as(&project, template).await
    } else {
        project.build().await
    };
    project.passes_its_tests().await;
    (project, component)
}

/// A project in front of an agent, with its own `chain.toml`.
async fn run(project: &Project) -> Process {
    let manifest = project.path("chain.toml");
    let command = host::run(Some(&manifest), [env!("CARGO_BIN_EXE_wild-agent")]);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    client
}

async fn finish(client: Process) {
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
}

async fn the_prompt_is_changed(lang: &str) {
    let (project, _) = built(lang, "prompt").await;
    let mut client = run(&project).await;
    client.turn("show").await;
    let shown = &client.chunks()[0];
    let sent: Value = serde_json::from_str(shown).unwrap();
    let mut expected: Value = serde_json::from_str(&prompt("s", "show")).unwrap();
    let block = json!({ "type": "text", "text": "Be brief." });
    expected["prompt"].as_array_mut().unwrap().push(block);
    assert_eq!(sent["params"], expected);
    finish(client).await;
}

async fn permission_is_answered(lang: &str) {
    let (project, _) = built(lang, "guard").await;
    let mut client = run(&project).await;
    client.turn("permission read Look /a").await;
    assert_eq!(client.chunks(), ["selected allow-once"]);

    let turn = client.prompt("permission execute Run /a");
    let asked = loop {
        let message = client.wire.receive().await.unwrap();
        if message.is_request() {
            break message;
        }
    };
    assert_eq!(asked.method.as_deref(), Some("session/request_permission"));
    let outcome = r#"{"outcome":{"outcome":"cancelled"}}"#;
    client.wire.send_all(asked.result(outcome));
    client.wire.response(&turn).await;
    assert_eq!(client.chunks(), ["selected allow-once", "cancelled"]);
    finish(client).await;
}

async fn tool_calls_are_counted(lang: &str) {
    let (project, _) = built(lang, "observer").await;
    let mut client = run(&project).await;
    let call = r#"update {"sessionUpdate":"tool_call","toolCallId":"1","title":"Look"}"#;
    // The count restarts in the second turn.
    for count in [2, 1] {
        client.turn(&[call].repeat(count).join("\n")).await;
        let said = client.chunks().pop().unwrap();
        let calls = if count == 1 { "call" } else { "calls" };
        let expected = format!("**{NAME}**: {count} tool {calls} in this turn.");
        assert_eq!(said.trim(), expected);
    }
    // A turn without tool calls gets no count.
    client.turn("echo no tools").await;
    assert_eq!(client.chunks().last().unwrap(), "no tools");
    finish(client).await;
}

/// An agent that reaches MCP servers over ACP.
const NATIVE: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;

async fn the_tool_is_called(lang: &str) {
    let (_project, component) = built(lang, "tools").await;
    let proxy = host::extension(NAME, &component).await;
    let chain = InProcess::of(vec![proxy.into()], &Transcript::new());
    let mut chain = chain.initialize(NATIVE).await;
    let server = chain.session("session-1", "[]").await.remove(0);
    let request = |method: &str, params: Value| {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let (server, method) = (&server["serverId"], quoted(method));
        format!(r#"{{"serverId":{server},"requestId":"r","method":{method},"params":{params}}}"#)
    };
    let listed = request("tools/list", json!({}));
    let listed = chain.agent.request("mcp/message", &listed).await;
    let listed: Value = serde_json::from_str(&listed.result.unwrap()).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("count_words")));

    let call = json!({ "name": "count_words", "arguments": { "text": "one  two\n\"three\" é" } });
    let called = request("tools/call", call);
    let called = chain.agent.request("mcp/message", &called).await;
    let called: Value = serde_json::from_str(&called.result.unwrap()).unwrap();
    assert_eq!(called["result"]["content"][0]["text"], "4");
}
