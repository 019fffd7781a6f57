//! The examples, each in a different language, work together in one chain; and `skills` serves its resources.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_author::LANGUAGES;
use acp_chain_package::Package;
use acp_chain_tests::envelope::quoted;
use acp_chain_tests::host::{self, InProcess};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// All examples, in chain order.
const EXAMPLES: [&str; 11] = [
    "session-title",
    "ticket",
    "glossary",
    "cost",
    "language-reminder",
    "mild-words",
    "branch-note",
    "quiet-thoughts",
    "careful-shell",
    "private-words",
    "command-linter",
];

/// The `chain.toml` of an example, with the path of its built component.
fn entry(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
        .join("chain.toml");
    let text = fs::read_to_string(file).unwrap();
    let path = format!("build/{name}.wasm");
    assert!(text.contains(&path), "{name}: {text}");
    text.replace(&path, &host::component(name).display().to_string())
}

/// Writes the manifest of a chain of all examples, and compiles them once: some are interpreters, which compile slowly,
/// and tests that start at the same time would each compile them.
async fn compiled(folder: &TempDir) -> PathBuf {
    static COMPILED: OnceCell<()> = OnceCell::const_new();
    let manifest = folder.path().join("acp-chain.toml");
    fs::write(&manifest, EXAMPLES.map(entry).concat()).unwrap();
    let compile = async || {
        let checked = host::check(&manifest).output().await.unwrap();
        assert!(checked.status.success(), "{checked:?}");
    };
    COMPILED.get_or_init(compile).await;
    manifest
}

#[tokio::test]
async fn all_of_them_work_in_one_chain_in_front_of_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = compiled(&folder).await;
    let received = folder.path().join("received");
    let agent = host::recorded(&received, [env!("CARGO_BIN_EXE_wild-agent")]);
    let mut client = Process::start(
        "client",
        &Transcript::new(),
        host::run(Some(&manifest), agent),
    )
    .unwrap();
    client.initialize().await;
    let begun = client
        .wire
        .request("session/new", r#"{"cwd":"/project","mcpServers":[]}"#)
        .await;
    let begun: Value = serde_json::from_str(&begun.result.unwrap()).unwrap();

    let script = "echo What the heck is ABC-7?\n\
        update {\"sessionUpdate\":\"usage_update\",\"size\":9,\"used\":1,\"cost\":{\"amount\":0.5,\"currency\":\"USD\"}}\n\
        permission execute git push --force /project";
    let block = json!({ "type": "text", "text": script });
    let prompt = json!({ "sessionId": begun["sessionId"], "prompt": [block] });
    let turn = client.wire.ask("session/prompt", &prompt.to_string());
    for _ in 0..2 {
        let asked = loop {
            let message = client.wire.receive().await.unwrap();
            if message.is_request() {
                break message;
            }
        };
        let params: Value = serde_json::from_str(asked.params.as_deref().unwrap()).unwrap();
        let content = match params["path"].as_str().unwrap() {
            "/project/tickets/ABC-7.md" => "It leaks.",
            "/project/.git/HEAD" => "ref: refs/heads/fix\n",
            other => panic!("unexpected request for {other}"),
        };
        client
            .wire
            .send_all(asked.result(&json!({ "content": content }).to_string()));
    }
    let answer = client.wire.response(&turn).await;
    assert!(answer.result.is_some(), "{}", answer.line);

    let chunks = client.chunks().concat();
    for expected in [
        "What the **** is ABC-7?",
        "**command-linter** refused `git push --force`: it rewrites what others have pulled.",
        "selected reject-once",
        "The ticket ABC-7:\n\nIt leaks.",
        "Answer in French.",
        "The git branch is fix.",
        "**cost**: this turn 0.50 USD, this session 0.50",
    ] {
        assert!(chunks.contains(expected), "{chunks}\nlacks\n{expected}");
    }
    let lines = client.wire.transcript().received("client");
    let title = r#""title":"echo What the heck is ABC-7?""#;
    assert!(lines.iter().any(|line| line.contains(title)), "{lines:?}");

    let exit = client.finish().await.unwrap();
    assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    let received = fs::read_to_string(received).unwrap();
    let servers = received
        .lines()
        .find(|line| line.contains("session/new"))
        .unwrap();
    assert!(servers.contains(r#""name":"glossary""#), "{servers}");
}

#[test]
fn there_is_one_in_each_language_and_its_chain_gives_it_what_it_asks_for() {
    for name in EXAMPLES {
        let component = fs::File::open(host::component(name)).unwrap();
        let package = Package::read(component).unwrap();
        assert_eq!(package.name, name);
        let manifest: toml::Table = entry(name).parse().unwrap();
        let granted: Vec<String> = manifest["proxy"][0]["powers"].clone().try_into().unwrap();
        let asked = package.asks.powers.into_iter().map(|asked| asked.power);
        let (mut asked, mut granted): (Vec<_>, _) = (asked.collect(), granted);
        asked.sort_unstable();
        granted.sort_unstable();
        assert_eq!(asked, granted, "{name}");
    }
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/README.md"))
            .unwrap();
    for language in LANGUAGES {
        assert!(
            page.contains(&format!("| {} |", language.title)),
            "{} has no example",
            language.title
        );
    }
}

#[tokio::test]
async fn each_bears_what_every_proxy_has_to_bear() {
    let folder = tempfile::tempdir().unwrap();
    compiled(&folder).await;
    for name in EXAMPLES {
        let manifest = folder.path().join(name).with_extension("toml");
        fs::write(&manifest, entry(name)).unwrap();
        let mut command = host::acp_chain("conformance");
        command.arg(host::component(name)).args(["--cases", "3"]);
        let output = command
            .arg("--manifest")
            .arg(&manifest)
            .output()
            .await
            .unwrap();
        let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(
            output.status.success() && !told.contains("failed"),
            "{name}:\n{told}"
        );
    }
}

#[tokio::test]
async fn a_command_is_judged_however_its_name_is_spelt() {
    let mut chain = InProcess::initialized(&[("command-linter", "{}")]).await;
    chain.session("s", "[]").await;
    let call = r#"{"toolCallId":"1","title":"ls","rawInput":{"\u0063ommand":"rm -rf /"}}"#;
    let asked = format!(r#"{{"sessionId":"s","toolCall":{call},"options":[]}}"#);
    let method = "session/request_permission";
    let answer = chain.agent.request(method, &asked).await;
    let answer: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
    assert_eq!(answer["outcome"]["outcome"], "cancelled");
}

/// An agent that reaches MCP servers over ACP.
const NATIVE: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;

#[tokio::test]
async fn a_skill_is_a_resource_that_is_read_through_the_client_when_it_is_needed() {
    let config = r#"{"skill":[{"name":"release","description":"How to release.","path":"/skills/release.md"}]}"#;
    let mut chain = InProcess::initialized_with(&[("skills", config)], NATIVE).await;
    let server = chain.session("session-1", "[]").await.remove(0);
    let request = |method: &str, members: &str| {
        let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
        let (server, method) = (&server["serverId"], quoted(method));
        format!(
            r#"{{"serverId":{server},"requestId":"r","method":{method},"params":{{{members}"_meta":{{{meta}}}}}}}"#
        )
    };
    let found = request("server/discover", "");
    let found = chain.agent.request("mcp/message", &found).await;
    let found: Value = serde_json::from_str(&found.result.unwrap()).unwrap();
    let instructions = found["result"]["instructions"].as_str().unwrap();
    assert!(instructions.ends_with("- skill:/release: How to release."));
    let listed = request("resources/list", "");
    let listed = chain.agent.request("mcp/message", &listed).await;
    let listed: Value = serde_json::from_str(&listed.result.unwrap()).unwrap();
    assert_eq!(listed["result"]["resources"][0]["uri"], "skill:/release");
    let read = request("resources/read", r#""uri":"skill:/release","#);
    let read = chain.agent.ask("mcp/message", &read);
    let asked = chain.client.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("fs/read_text_file"));
    assert_eq!(
        asked.params.as_deref(),
        Some(r#"{"path":"/skills/release.md","sessionId":"session-1"}"#)
    );
    for line in asked.result(r##"{"content":"# Tag it."}"##) {
        chain.client.send(line);
    }
    let read = chain.agent.response(&read).await;
    let read: Value = serde_json::from_str(&read.result.unwrap()).unwrap();
    assert_eq!(read["result"]["contents"][0]["text"], "# Tag it.");
}
