//! The SDK for JavaScript and TypeScript. Each source in `tests/javascript` is a proxy that passes the transcript
//! beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use acp_chain_tests::host;

use super::project::Project;

/// A project with one of the sources, the exports of a template, and the npm packages that it may import.
async fn project(name: &str, template: &str) -> Project {
    let project = Project::new("ts", template).await;
    symlink(
        host::toolchain("javascript-packages/node_modules"),
        project.path("node_modules"),
    )
    .unwrap();
    fs::remove_dir_all(project.path("tests")).unwrap();
    fs::create_dir(project.path("tests")).unwrap();
    for (from, to) in [
        ("package.json", "package.json".to_owned()),
        ("config.schema.json", "config.schema.json".to_owned()),
        (&*format!("{name}.ts"), "src/proxy.ts".to_owned()),
        (
            &*format!("{name}.transcript"),
            format!("tests/{name}.transcript"),
        ),
    ] {
        fs::copy(ours(from), project.path(&to)).unwrap();
    }
    project
}

fn ours(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("javascript")
        .join(name)
}

/// The same project, which passes its transcript.
async fn plays(name: &str, template: &str) -> Project {
    let project = project(name, template).await;
    project.build().await;
    project.passes_its_tests().await;
    project
}

#[tokio::test]
async fn a_count_that_is_saved_outlives_a_restart_and_a_prompt_waits_for_a_file() {
    plays("reference", "tools").await;
}

#[tokio::test]
async fn a_handler_may_return_and_await_all_that_there_is() {
    plays("values", "prompt").await;
}

#[tokio::test]
async fn a_prompt_waits_for_a_turn_of_the_proxys_own() {
    plays("turn", "prompt").await;
}

#[tokio::test]
async fn values_are_stored_and_loaded_and_no_change_is_lost() {
    plays("stored", "prompt").await;
}

#[tokio::test]
async fn what_fails_is_told_with_its_place_in_the_source() {
    let project = plays("errors", "tools").await;
    let transcript = "[[proxy]]\npath = '../build/tried.wasm'\nconfig.fail = true\n---\n";
    fs::write(project.path("tests/start.transcript"), transcript).unwrap();
    let said = project
        .acp_chain(&["test", "tests/start.transcript"], ".")
        .await;
    let expected = "Error: not with this (src/proxy.ts:12)";
    assert!(said.err.contains(expected), "{said:?}");
}

#[tokio::test]
async fn a_tool_takes_its_arguments_by_any_schema() {
    plays("tools", "tools").await;
}

#[tokio::test]
async fn resources_prompts_and_completion_are_served() {
    let project = project("offers", "tools").await;
    project.serves(&["resource-proxy", "prompt-proxy", "completion-proxy"]);
    project.build().await;
    project.passes_its_tests().await;
}

#[tokio::test]
async fn tools_that_nobody_would_call_are_told() {
    let project = project("reference", "tools").await;
    project.change("wit/world.wit", "tool-proxy", "proxy");
    let expected = "acp-chain: src/proxy.ts: it exports `tools`, and the world in wit/world.wit does not: write \
                    `include acp-chain:proxy/tool-proxy@0.1.2;` into it\n";
    assert_eq!(project.refused().await, expected);

    project.change("src/proxy.ts", "{ handler, tools }", "{ handler }");
    project.build().await;
    let said = project.acp_chain(&["test"], ".").await;
    let expected =
        "the proxy has tools, and does not export them: export const { handler, tools } = proxy";
    assert!(said.err.contains(expected), "{said:?}");

    project.change("wit/world.wit", "/proxy@", "/tool-proxy@");
    let expected = "acp-chain: src/proxy.ts: it does not export `tools`, which the world in wit/world.wit has: \
                    `export const { handler, tools } = proxy`\n";
    assert_eq!(project.refused().await, expected);
}

#[tokio::test]
async fn messages_and_arguments_are_typed_by_their_methods_and_schemas() {
    let project = project("reference", "tools").await;
    for name in [
        "values", "errors", "tools", "turn", "typed", "offers", "stored",
    ] {
        let source = format!("{name}.ts");
        fs::copy(ours(&source), project.path("src").join(source)).unwrap();
    }
    let output = project.command("tsc", ".").output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}
