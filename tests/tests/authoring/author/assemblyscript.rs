//! The bindings and the SDK for `AssemblyScript`. `tests/assemblyscript/every.ts` uses the whole interface.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use acp_chain_author::TEMPLATES;
use acp_chain_tests::host;
use tokio::sync::OnceCell;

use super::project::Project;

/// The head of a transcript.
const HEAD: &str = "[[proxy]]\npath = '../build/tried.wasm'\n";

fn ours(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A project with that source, built once for all tests.
async fn every() -> Project {
    static BUILT: OnceCell<Vec<u8>> = OnceCell::const_new();
    let project = Project::new("as", "tools").await;
    fs::remove_dir_all(project.path("tests")).unwrap();
    fs::create_dir(project.path("tests")).unwrap();
    for (from, to) in [
        ("assemblyscript/every.ts", "assembly/proxy.ts"),
        ("assemblyscript/package.json", "package.json"),
        ("released/0.1.2/world.wit", "wit/world.wit"),
        ("released/0.1.2/every.transcript", "tests/every.transcript"),
        (
            "assemblyscript/fields.transcript",
            "tests/fields.transcript",
        ),
    ] {
        fs::copy(ours(from), project.path(to)).unwrap();
    }
    project.change(
        "tests/every.transcript",
        "every.wasm",
        "../build/tried.wasm",
    );
    let build = async || fs::read(project.build().await).unwrap();
    let component = BUILT.get_or_init(build).await;
    fs::create_dir_all(project.path("build")).unwrap();
    fs::write(project.path("build/tried.wasm"), component).unwrap();
    project
}

/// A transcript of requests, each answered with its own parameters.
fn echoes(limits: &str, texts: impl Iterator<Item = String>) -> String {
    let mut transcript = format!("{HEAD}{limits}\n---\n");
    for (at, text) in texts.enumerate() {
        let body = format!("{{\"text\": \"{text}\", \"empty\": \"\"}}");
        let _ = writeln!(transcript, "client: r{at} _every/written {body}");
        let _ = writeln!(transcript, "client gets: r{at} result {body}");
    }
    transcript
}

#[tokio::test]
async fn each_function_each_case_and_each_field_is_passed_as_it_is() {
    let project = every().await;
    let said = project.acp_chain(&["test"], ".").await;
    assert!(said.is_success, "{said:?}");
    assert!(
        said.out.ends_with("2 transcripts, all as written\n"),
        "{said:?}"
    );
}

#[tokio::test]
async fn a_prompt_waits_for_an_answer() {
    let project = Project::new("as", "prompt").await;
    for (from, to) in [
        ("tests/authoring/author/waits/proxy.ts", "assembly/proxy.ts"),
        (
            "tests/authoring/author/waits/file.transcript",
            "tests/brief.transcript",
        ),
    ] {
        fs::copy(ours(from), project.path(to)).unwrap();
    }
    let power = "\"prompts.change\":";
    let more = format!("\"files.read\": \"to read it\", {power}");
    project.change("package.json", power, &more);
    project.build().await;
    project.passes_its_tests().await;
}

#[tokio::test]
async fn memory_is_freed_from_message_to_message() {
    let project = every().await;
    let many = (0..20_000).map(|at| format!("“nø” {at}"));
    let long = (0..6).map(|_| "ü".repeat(1 << 19));
    for (name, transcript) in [
        ("many", echoes("limits.memory = '256 KiB'", many)),
        ("long", echoes("limits.memory = '24 MiB'", long)),
    ] {
        let file = format!("tests/{name}.transcript");
        fs::write(project.path(&file), transcript).unwrap();
        let said = project.acp_chain(&["test", &file], ".").await;
        let told: String = said.out.chars().take(2000).collect();
        assert!(said.is_success, "{name}: {told}");
    }
}

#[tokio::test]
async fn a_loop_and_memory_that_is_used_up_are_told_with_their_place() {
    let project = every().await;
    for (method, limit, expected) in [
        (
            "loop",
            "limits.time = '200 ms'",
            [
                "it computed longer than 200ms",
                "assembly/proxy/onRequest at assembly/proxy.ts:",
            ],
        ),
        (
            "grow",
            "limits.memory = '8 MiB'",
            [
                "it needs more than 8 MiB of memory",
                "assembly/proxy/onRequest at ",
            ],
        ),
    ] {
        let transcript = format!("{HEAD}{limit}\n---\nclient: r _every/{method} {{}}\n");
        fs::write(project.path("tests/it.transcript"), transcript).unwrap();
        let said = project
            .acp_chain(&["test", "tests/it.transcript"], ".")
            .await;
        let is_told = expected.iter().all(|expected| said.out.contains(expected));
        assert!(!said.is_success && is_told, "{said:?}");
    }
}

#[tokio::test]
async fn editors_know_the_types_of_every_template() {
    for template in TEMPLATES {
        let project = Project::new("as", template).await;
        let packages = host::toolchain("assemblyscript/node_modules");
        symlink(packages, project.path("node_modules")).unwrap();
        let mut tsc = project.command("tsc", ".");
        let output = tsc.args(["-p", "assembly"]).output().await.unwrap();
        assert!(output.status.success(), "{template}: {output:?}");
    }
}

#[tokio::test]
async fn what_no_proxy_is_given_is_told() {
    let project = Project::new("as", "prompt").await;
    let source = "assembly/proxy.ts";
    project.change(
        source,
        "  return edit(",
        "  console.log(\"oh\");\n  return edit(",
    );
    let said = project.refused().await;
    let expected =
        "it imports \"console.log\" of \"env\", which proxies cannot import: `console`, `trace`";
    assert!(said.contains(expected), "{said}");
}

#[tokio::test]
async fn what_the_world_has_and_the_source_has_not_is_told() {
    let project = Project::new("as", "tools").await;
    project.change(
        "assembly/proxy.ts",
        "export function callTool",
        "function callTool",
    );
    let said = project.refused().await;
    let expected = "assembly/proxy.ts does not export the function callTool";
    assert!(said.contains(expected), "{said}");
}
