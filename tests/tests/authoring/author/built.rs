//! The output of a build, and the other files of a project.

use std::fs;

use acp_chain_author::{LANGUAGES, TEMPLATES};
use serde_json::Value;

use super::project::{NAME, Project};

#[tokio::test]
async fn a_build_says_what_it_made_as_json_too() {
    let project = Project::new("c", "guard").await;
    let said = project.acp_chain(&["build"], ".").await;
    for expected in [
        "tried 0.1.0\n  Allows the agent what only reads, without asking you\n",
        "made for version 0.1.2 of the interface\n",
        "(permissions.read)\n      its author says: to see what the agent asks your permission for\n",
        "It cannot\n  reach files, the network, programs",
        "It imports acp-chain:proxy/types@0.1.2, acp-chain:proxy/channel@0.1.2\n",
        "It is in WORLD/tried/build/tried.wasm\n",
    ] {
        assert!(said.out.contains(expected), "{said:?}\nlacks\n{expected}");
    }
    // From another folder, with the path of its `extension.toml`.
    let said = project
        .acp_chain(&["build", "tried/extension.toml", "--json"], "..")
        .await;
    let facts: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(facts["name"], NAME);
    assert_eq!(facts["interface"], "0.1.2");
    assert_eq!(facts["file"], "WORLD/tried/build/tried.wasm");
    let size = fs::metadata(project.path("build/tried.wasm"))
        .unwrap()
        .len();
    assert_eq!(facts["size"], size);
}

#[tokio::test]
async fn every_project_has_what_its_author_needs_and_its_own_name() {
    for language in LANGUAGES {
        for template in TEMPLATES {
            let project = Project::new(language.name, template).await;
            let of = |file: &str| fs::read_to_string(project.path(file)).unwrap();
            assert!(of("README.md").starts_with("# tried\n\n"));
            assert!(of("chain.toml").contains("path = \"build/tried.wasm\"\n"));
            assert!(of(".gitignore").contains("/build\n"));
            let workflow = of(".github/workflows/build.yml");
            assert!(workflow.contains("path: build/tried.wasm\n"));
            assert!(workflow.contains("- run: acp-chain test\n"));
            assert!(of("sdk/LICENSE-MIT").contains("Permission is hereby granted"));
            assert_eq!(granted(&of("chain.toml")), asked(&project));
        }
    }
}

/// The powers that a project asks for.
fn asked(project: &Project) -> Vec<String> {
    let described = acp_chain_package::Project::read(&project.path("")).unwrap();
    assert_eq!(described.package.name, NAME);
    let powers = described.package.asks.powers.into_iter();
    let mut powers: Vec<_> = powers.map(|asked| asked.power).collect();
    powers.sort_unstable();
    powers
}

/// The powers that a manifest gives its one proxy.
fn granted(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let powers = manifest["proxy"][0]["powers"].clone();
    let mut powers: Vec<_> = powers.try_into().unwrap();
    powers.sort_unstable();
    powers
}

/// Only the SDK for Rust has a test kit.
#[tokio::test]
async fn the_tests_of_a_project_in_rust_pass_and_it_is_formatted() {
    for template in TEMPLATES {
        let project = Project::new("rust", template).await;
        for args in [&["test", "--quiet"][..], &["fmt", "--check"]] {
            let mut cargo = project.command("cargo", ".");
            let output = cargo.args(args).output().await.unwrap();
            assert!(output.status.success(), "{template}: {output:?}");
        }
    }
}

#[tokio::test]
async fn the_sources_in_javascript_and_typescript_are_of_the_types() {
    for lang in ["js", "ts"] {
        for template in TEMPLATES {
            let project = Project::new(lang, template).await;
            let output = project.command("tsc", ".").output().await.unwrap();
            assert!(output.status.success(), "{lang} {template}: {output:?}");
        }
    }
}

#[tokio::test]
async fn an_error_of_zig_is_told_by_its_name_whatever_that_is() {
    let project = Project::new("zig", "prompt").await;
    let source = "src/proxy.zig";
    project.change(source, ".bypass", ".refuse");
    project.change(
        source,
        "return acp.edit(\"/prompt/-\", .{ .type = \"text\", .text = \"Be brief.\" });",
        "return error.Failed;",
    );
    let transcript = "client: p session/prompt {\"prompt\": []}\n\
        client gets: p error {\"message\": \"[..] failed on session/prompt: Failed\"}\n";
    fs::write(project.path("tests/brief.transcript"), transcript).unwrap();
    project.build().await;
    project.passes_its_tests().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_project_with_a_build_file_of_its_own_is_built_by_that() {
    use std::os::unix::fs::PermissionsExt;

    let mut project = Project::new("zig", "prompt").await;
    fs::write(project.path("build.zig"), "").unwrap();
    let programs = project.path("programs");
    fs::create_dir(&programs).unwrap();
    let zig = programs.join("zig");
    // The build system of Zig takes minutes to compile itself.
    let script = "#!/bin/sh\nif [ $1 = version ]; then echo 0.17.0; else echo \"called: $*\" >&2; exit 1; fi\n";
    fs::write(&zig, script).unwrap();
    fs::set_permissions(&zig, fs::Permissions::from_mode(0o755)).unwrap();
    project.finds_only(&programs);
    let said = project.refused().await;
    assert!(said.contains("called: build --prefix "), "{said}");
}

#[tokio::test]
async fn a_handler_that_gives_up_says_why_and_where() {
    for (lang, file, from, to, expected) in [
        (
            "cpp",
            "src/proxy.cpp",
            "  return edit(",
            "  if (prompt.params.empty()) std::string().at(1);\n  return edit(",
            &["out_of_range was thrown"][..],
        ),
        (
            "zig",
            "src/proxy.zig",
            "(_: acp.Request) !acp.Action {",
            "(prompt: acp.Request) !acp.Action {\n    if (prompt.params.len == 0) @panic(\"oh no\");",
            &["| oh no\n", "tried/src/proxy.zig:14\n"],
        ),
        (
            "go",
            "main.go",
            "\treturn proxy.Edit(",
            "\tpanic(\"oh no\")\n\treturn proxy.Edit(",
            &["panic: oh no", "tried/main.go:17\n"],
        ),
        (
            "as",
            "assembly/proxy.ts",
            "  return edit(",
            "  if (_prompt.params.length == 0) throw new Error(\"oh no\");\n  return edit(",
            &["| Error: oh no (assembly/proxy.ts:11)\n"],
        ),
    ] {
        let project = Project::new(lang, "prompt").await;
        project.change(file, from, to);
        project.build().await;
        let said = project.acp_chain(&["test"], ".").await;
        let is_told = expected.iter().all(|expected| said.out.contains(expected));
        assert!(!said.is_success && is_told, "{said:?}");
    }
}
