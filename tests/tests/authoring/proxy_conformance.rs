//! `acp-chain conformance`: good proxies pass, and each check fails the proxy that violates it.

use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use serde_json::Value;
use tempfile::TempDir;

use crate::shout;

/// The command's output and exit code.
struct CommandOutput {
    code: i32,
    text: String,
}

async fn conformance(component: &Path, args: &[&str]) -> CommandOutput {
    let mut command = host::acp_chain("conformance");
    let output = command.arg(component).args(args).output().await.unwrap();
    CommandOutput {
        code: output.status.code().unwrap(),
        text: String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
    }
}

/// A manifest with a proxy under these terms, in its own folder.
fn manifest(component: &str, terms: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.toml");
    let component = host::component(component);
    let text = format!(
        "[[proxy]]\nid = 'it'\npath = '{}'\n{terms}",
        component.display()
    );
    fs::write(&path, text).unwrap();
    (folder, path.display().to_string())
}

/// Runs the checks on a proxy under these terms.
async fn under(component: &str, terms: &str, args: &[&str]) -> CommandOutput {
    let (_folder, manifest) = manifest(component, terms);
    let args = [&["--manifest", &manifest], args].concat();
    conformance(&host::component(component), &args).await
}

#[tokio::test]
async fn a_component_that_is_not_there_is_named_once() {
    let told = conformance(Path::new("/no/such.wasm"), &[]).await;
    assert_eq!(told.code, 2, "{}", told.text);
    let expected = "acp-chain: /no/such.wasm: the file cannot be read: ";
    assert!(told.text.starts_with(expected), "{}", told.text);
}

#[tokio::test]
async fn our_extensions_and_examples_pass() {
    shout::compile().await;
    let examples = [
        "shout-rust",
        "shout-javascript",
        "shout-python",
        "shout-c",
        "words-python",
    ];
    for component in host::EXTENSIONS.into_iter().chain(examples) {
        let told = conformance(&host::component(component), &["--cases", "3"]).await;
        assert_eq!(told.code, 0, "{component}:\n{}", told.text);
        assert!(!told.text.contains("failed"), "{component}:\n{}", told.text);
    }
    let skills = host::component("skills");
    let config = r#"{"skill":[]}"#;
    let told = conformance(&skills, &["--cases", "3", "--config", config]).await;
    assert!([0, 2].contains(&told.code), "{}", told.text);
}

/// A check, a proxy that violates it under these terms, and the expected finding.
struct Violation {
    check: &'static str,
    component: &'static str,
    terms: &'static str,
    told: &'static str,
}

const PROMPTS: &str = "powers = ['prompts.read', 'prompts.change']\n";

const BAD: &[Violation] = &[
    Violation {
        check: "starts",
        component: "hostile",
        terms: "[proxy.config]\nmode = 'trap-in-init'",
        told: "it breaks when it starts: ",
    },
    Violation {
        check: "untouched",
        component: "does",
        terms: "[proxy.config]\nrequests = { 'session/prompt' = ['rewrite'] }",
        told: "the number 18446744073709551616 becomes 1.8446744073709552e+19, in `session/prompt`",
    },
    Violation {
        check: "untouched",
        component: "does",
        terms: "[proxy.config]\nrequests = { 'session/prompt' = [{ edit = { pointer = '/sessionId', value = 'x' } }] }",
        told: "it cannot decide about `session/prompt`: its decision cannot be carried out",
    },
    Violation {
        check: "order",
        component: "does",
        terms: "[proxy.config]\nnotifications = { 'session/update' = \
                [{ unless = { pointer = '/update/sessionUpdate', is = 'agent_thought_chunk' } }, 'hold'] }",
        told: "of a session arrives at the client before message",
    },
    Violation {
        check: "answers",
        component: "does",
        terms: "[proxy.config]\nrequests = { 'session/prompt' = ['hold'] }",
        told: "it holds the client's request `session/prompt` until its `hold-time` has run out",
    },
    Violation {
        check: "cancellation",
        component: "does",
        terms: "[proxy.config]\nholds-on = true\nrequests = { 'session/prompt' = ['hold'] }",
        told: "it still holds the client's request `session/prompt` after it was cancelled",
    },
    Violation {
        check: "restart",
        component: "does",
        terms: "[proxy.config]\nbreaks-again = true\nrequests = { 'session/prompt' = ['count'] }",
        told: "it breaks when it is restarted: ",
    },
    Violation {
        check: "limits",
        component: "does",
        terms: "[proxy.config]\nnotifications = { 'session/update' = ['keep'] }",
        told: "its memory grows with every turn of the same 30 sessions",
    },
    Violation {
        check: "versions",
        component: "does",
        terms: "methods = { '_vendor/x' = ['read'] }\n[proxy.config]\nrequests = { '_vendor/x' = [{ break = 'panic' }] }",
        told: "it breaks on the client's request `_vendor/x`: ",
    },
    Violation {
        check: "tools",
        component: "tools",
        terms: "[proxy.config]\nduplicate = true",
        told: "some of its tools are left out: it lists two tools \"echo\"",
    },
    Violation {
        check: "tools",
        component: "tools",
        terms: "",
        told: "its answer to `tools/call` is not an MCP result",
    },
];

#[tokio::test]
async fn each_check_finds_the_proxy_that_breaks_its_promise() {
    for bad in BAD {
        let powers = match bad.component {
            "tools" => "powers = ['tools']\n",
            "hostile" => "",
            _ => {
                "powers = ['prompts.read', 'prompts.change', 'answers.read', 'answers.change', 'tool-calls.read', 'plans.read']\n"
            }
        };
        let terms = format!("{powers}{}", bad.terms);
        let args = ["--cases", "3", "--only", bad.check];
        let told = under(bad.component, &terms, &args).await;
        let (check, text) = (bad.check, &told.text);
        assert_eq!(told.code, 1, "{check}: {text}");
        assert!(text.contains(bad.told), "{check}: {text}");
        assert!(text.contains("\n  → "), "{check} says what to do: {text}");
    }
}

#[tokio::test]
async fn what_depends_on_the_clock_is_a_warning() {
    let terms = "powers = ['turns.read', 'marks.add']\nconfig = { stamps = true }\n";
    let told = under("files", terms, &["--only", "determinism"]).await;
    assert_eq!(told.code, 0, "{}", told.text);
    assert!(
        told.text.starts_with("warning  determinism"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn what_no_power_lets_it_see_is_a_warning() {
    let told = conformance(&host::component("pass"), &["--only", "starts"]).await;
    assert_eq!(told.code, 0, "{}", told.text);
    assert!(told.text.starts_with("warning  starts"), "{}", told.text);
}

#[tokio::test]
async fn a_failure_is_told_with_its_shortest_case_and_what_to_do() {
    let terms = format!("{PROMPTS}[proxy.config]\nrequests = {{ 'session/prompt' = ['hold'] }}");
    let args = ["--cases", "2", "--only", "order", "--only", "answers"];
    let told = under("does", &terms, &args).await;
    // The number of messages depends on the schemas.
    let lines = told.text.lines();
    let lines = lines.map(|line| {
        if line.ends_with(" messages") {
            line[..21].trim_end()
        } else {
            line
        }
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text, @r#"
    ok       order
    failed   answers
      it holds the client's request `session/prompt` until its `hold-time` has run out
          client: session/prompt {"sessionId":"s0","prompt":[{"type":"text","text":"What is a chain?"}],"_meta":{"conformance":"0/1"}}
      → settle each held message (`channel.settle`, `channel.fail`) on every path, including errors and missing answers

    it: 1 ok, 1 failed; `--seed 1 --cases 2` plays the same again
    "#);
}

#[tokio::test]
async fn whatever_a_hostile_component_does_the_report_is_finished() {
    let limits = "limits = { time = '200ms', init-time = '500ms' }\n";
    let everything = acp_chain_tests::powers::everything();
    for mode in [
        "spin",
        "spin-in-init",
        "grow",
        "recurse",
        "trap",
        "ask-again",
        "ask",
        "emit",
        "log",
        "hold",
        "not-json",
        "misfit",
        "save-and-trap",
        "huge-reason",
    ] {
        let terms = format!(
            "{limits}{everything}[proxy.config]\nmode = '{mode}'\neverywhere = true\ncount = 20\nsize = 1000\n"
        );
        let told = under("hostile", &terms, &["--cases", "1"]).await;
        assert!([0, 1].contains(&told.code), "{mode}: {}", told.text);
        assert!(told.text.contains("\nit: "), "{mode}: {}", told.text);
    }
}

#[tokio::test]
async fn a_component_that_does_not_start_is_checked_no_further() {
    let told = under(
        "hostile",
        "[proxy.config]\nmode = 'err-in-init'",
        &["--cases", "1"],
    )
    .await;
    assert_eq!(told.code, 1, "{}", told.text);
    assert!(told.text.starts_with("failed   starts"), "{}", told.text);
    assert!(
        told.text
            .ends_with("\nit: 1 failed, 9 not run; `--seed 1 --cases 1` plays the same again\n"),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn programs_read_the_same_report() {
    let (_folder, manifest) = manifest(
        "does",
        "[proxy.config]\nrequests = { 'session/prompt' = ['hold'] }",
    );
    let junit = tempfile::tempdir().unwrap();
    let junit = junit.path().join("report.xml");
    let component = host::component("does");
    let mut command = host::acp_chain("conformance");
    command.arg(component).args([
        "--manifest",
        &manifest,
        "--json",
        "--only",
        "starts",
        "--junit",
    ]);
    let output = command.arg(&junit).output().await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["component"], "it");
    assert_eq!(report["ok"], true);
    assert_eq!(report["checks"][0]["check"], "starts");
    assert_eq!(report["checks"][0]["verdict"], "warning");
    assert!(report["checks"][0]["findings"][0]["next"].is_string());
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains("<testcase name=\"starts\""), "{junit}");
}

#[tokio::test]
async fn the_same_seed_plays_the_same() {
    let shout = host::component("shout-rust");
    let args = ["--cases", "2", "--seed", "7"];
    let (one, other) = (
        conformance(&shout, &args).await,
        conformance(&shout, &args).await,
    );
    assert_eq!(one.text, other.text);
}

#[tokio::test]
async fn what_cannot_be_run_says_why() {
    let rules = host::component("rules");
    for (component, args, told) in [
        (Path::new("gone.wasm"), &[][..], "gone.wasm"),
        (&rules, &["--config", "7"], "`--config` takes a JSON object"),
        (
            &rules,
            &["--config", r#"{"filse":[]}"#],
            "unknown key `filse`; did you mean `files`?",
        ),
        (
            &rules,
            &["--only", "nothing"],
            "[possible values: starts, untouched,",
        ),
        (&rules, &["--manifest", "gone.toml"], "gone.toml"),
    ] {
        let got = conformance(component, args).await;
        assert_eq!(got.code, 2, "{}", got.text);
        assert!(got.text.contains(told), "{}", got.text);
    }
    let (_folder, manifest) = manifest("does", "");
    let got = conformance(&rules, &["--manifest", &manifest, "--proxy", "other"]).await;
    assert_eq!(got.code, 2, "{}", got.text);
    assert!(got.text.contains("it has no proxy `other`"), "{}", got.text);
}
