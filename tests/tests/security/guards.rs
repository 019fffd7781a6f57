//! Guards stand next to the agent, in chains of real components.

use std::fs;

use acp_chain_tests::chain::{Chain, entry};
use acp_chain_tests::host;
use acp_chain_tests::powers::all_but;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// `redact`, which is a guard.
fn redact() -> String {
    entry("redact", "redact", "")
}

fn pass() -> String {
    entry("pass", "pass", "")
}

#[tokio::test]
async fn a_chain_starts_wherever_its_guards_are_written() {
    for manifest in [
        pass() + &redact(),
        redact() + &pass(),
        redact(),
        format!("order = 'as-written'\n{}{}", redact(), pass()),
    ] {
        let mut chain = Chain::initialized(&manifest, AGENT).await;
        chain.client.turn("echo hi").await;
        assert_eq!(chain.client.chunks().concat(), "hi");
        chain.finish().await;
    }
}

#[tokio::test]
async fn a_tool_call_passes_a_guard_though_its_variables_differ_in_case_only() {
    let mut chain = Chain::initialized(&redact(), AGENT).await;
    let call = |input: &str| {
        format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"Build","rawInput":{input}}}"#
        )
    };
    let passes = call(r#"{"env":{"http_proxy":"a","HTTP_PROXY":"b"}}"#);
    let held = call(r#"{"command":"ls","Command":"rm"}"#);
    let with_meta = r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","_meta":{"terminal":{"env":{"no_proxy":"a","NO_PROXY":"b"}}}}"#;
    chain
        .client
        .turn(&format!(
            "update {passes}\nupdate {held}\nupdate {with_meta}"
        ))
        .await;
    let got = chain.client.wire.transcript().received("client").concat();
    assert!(got.contains("HTTP_PROXY"), "{got}");
    assert!(got.contains("NO_PROXY"), "{got}");
    assert!(!got.contains(r#""rm""#), "{got}");
    chain.finish().await;
}

/// Clients in Rust take the elements of a list for the members of an object.
#[tokio::test]
async fn what_lists_its_members_does_not_pass_a_guard_and_the_user_is_told() {
    let mut chain = Chain::initialized(&redact(), AGENT).await;
    let update = r#"["agent_message_chunk",{"type":"text","text":"hidden in an update"}]"#;
    let block =
        r#"{"sessionUpdate":"agent_message_chunk","content":["text",null,"hidden in a block"]}"#;
    chain
        .client
        .turn(&format!("update {update}\nupdate {block}\necho on"))
        .await;
    let got = chain.client.wire.transcript().received("client").concat();
    assert!(!got.contains("hidden in"), "{got}");
    assert!(
        got.contains("it has a list in the place of an object"),
        "{got}"
    );
    chain.finish().await;
}

#[tokio::test]
async fn what_a_guard_redacted_nobody_in_front_of_it_can_alter() {
    let config = "[proxy.config.notifications]
        'session/update' = [{ edit = { pointer = '/update/content/text', value = 'altered' } }]";
    let alters = entry("does", "does", &format!("on-failure = 'bypass'\n{config}"));
    // The guard does not see the prompt, which the agent is to echo unchanged.
    let granted = all_but(&["prompts.read", "prompts.change"]);
    // Without these powers, it cannot guard everything, so the policy has to let the rest pass.
    let granted = format!("on-failure = 'bypass'\n{granted}");
    let redact = entry("redact", "redact", &granted);
    let mut chain = Chain::initialized(&(alters + &redact), AGENT).await;
    chain
        .client
        .turn("echo my key is AKIAIOSFODNN7EXAMPLQ.")
        .await;
    let text = chain.client.chunks().concat();
    assert!(!text.contains("AKIAIOSFODNN7EXAMPLQ"), "{text}");
    assert!(text.contains("[hidden here, the agent has it: "), "{text}");
    chain.finish().await;
}

/// The result and the output of `acp-chain check --start` for a manifest.
async fn check(manifest: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("acp-chain.toml");
    fs::write(&path, manifest).unwrap();
    let mut command = Command::new(host::program());
    command.args(["check", "--start", "--manifest"]).arg(path);
    let output = command.output().await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn check_starts_components_and_compares_what_they_ask_for_with_their_powers() {
    let rules = entry(
        "rules",
        "rules",
        "powers = ['prompts.change', 'plans.read', 'mcp.read', 'files.read']",
    );
    let (valid, said) = check(&rules).await;
    assert!(valid, "{said}");
    for part in [
        "subscribes to session/prompt requests from the client\n",
        "subscribes to initialize requests from the client, but does not see it: it needs `capabilities.read`",
        "! never uses `mcp.read`",
        r#"powers = ["prompts.change", "plans.read", "turns.read", "files.read", "capabilities.read", "session-setup.read", "titles.read"]"#,
    ] {
        assert!(said.contains(part), "{said}\nlacks {part}");
    }
    for (order, first) in [("", "\npass  "), ("order = 'as-written'\n", "\nredact  ")] {
        let (valid, said) = check(&format!("{order}{}{}", redact(), pass())).await;
        let places = ["\nredact  ", "\npass  "].map(|name| said.find(name));
        assert!(
            valid && said.find(first) == places.into_iter().min().flatten(),
            "{said}"
        );
        assert_eq!(
            order.is_empty(),
            said.contains("your guards, next to the agent"),
            "{said}"
        );
    }
    let twice = entry(
        "tools",
        "tools",
        "powers = ['tools']\nconfig.duplicate = true",
    );
    let (_, said) = check(&twice).await;
    let left_out = "! tools that it lists are left out: it lists two tools \"echo\"";
    assert!(said.contains(left_out), "{said}");
    let misspelt = "powers = ['prompts.read']\n[proxy.config.requests]\n'session/promt' = ['hold']";
    let (_, said) = check(&entry("does", "does", misspelt)).await;
    assert!(
        said.contains("unknown method; did you mean `session/prompt`?"),
        "{said}"
    );
}
