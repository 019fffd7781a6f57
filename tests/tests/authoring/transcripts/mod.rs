//! `acp-chain test`: transcripts of proxies, including our own.

mod format;
mod recorded;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::host;
use tempfile::TempDir;

use crate::shout;

/// A folder with transcripts.
struct Folder(TempDir);

impl Folder {
    /// A folder with one transcript of `shout` with these steps.
    fn of_shout(steps: &str) -> Self {
        let component = host::component("shout-rust");
        let component = component.display();
        Self::with(&format!("[[proxy]]\npath = '{component}'\n---\n{steps}"))
    }

    fn with(transcript: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir(folder.path("tests")).unwrap();
        fs::write(folder.path("tests/it.transcript"), transcript).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn transcript(&self) -> String {
        fs::read_to_string(self.path("tests/it.transcript")).unwrap()
    }

    /// Runs `acp-chain test` with these arguments. Returns its exit code and output.
    async fn test(&self, args: &[&str]) -> (i32, String) {
        told(test_in(self.0.path(), args).await)
    }
}

async fn test_in(folder: &Path, args: &[&str]) -> Output {
    let mut command = host::acp_chain("test");
    command.current_dir(folder).args(args);
    command.output().await.unwrap()
}

fn told(output: Output) -> (i32, String) {
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(text).unwrap(),
    )
}

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

#[tokio::test]
async fn our_proxies_do_what_their_transcripts_say() {
    let folders = [
        "guests",
        "examples/skills",
        "tests/examples",
        "tests/transcripts",
    ];
    let (code, text) = told(test_in(&root(), &folders).await);
    assert_eq!(code, 0, "{text}");
    for extension in host::EXTENSIONS {
        let folder = format!("ok       guests/{extension}/tests/");
        assert!(text.contains(&folder), "{extension} has none:\n{text}");
    }
}

#[tokio::test]
async fn examples_do_what_their_transcripts_say() {
    let all = fs::read_dir(root().join("examples")).unwrap();
    let all = all.map(|entry| entry.unwrap().path());
    let mut played = 0;
    for folder in all.filter(|folder| folder.join("chain.toml").exists()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let component = host::component(name).display().to_string();
        let args = [
            &*format!("examples/{name}/tests"),
            "--component",
            &component,
        ];
        let (code, text) = told(test_in(&root(), &args).await);
        assert_eq!(code, 0, "{name}: {text}");
        played += 1;
    }
    assert!(played >= 8, "{played} examples");
}

#[tokio::test]
async fn one_proxy_does_the_same_in_every_language() {
    shout::compile().await;
    for (transcript, component) in [
        ("shout", "shout-javascript"),
        ("shout", "shout-python"),
        ("shout", "shout-c"),
        ("words", "words-python"),
        ("words", "words-c"),
    ] {
        let component = host::component(component).display().to_string();
        let args = [
            "tests/examples/tests",
            "--filter",
            transcript,
            "--component",
            &component,
        ];
        let (code, text) = told(test_in(&root(), &args).await);
        assert_eq!(code, 0, "{component}: {text}");
    }
}

#[tokio::test]
async fn a_component_that_is_not_there_is_told_also_where_no_transcript_needs_it() {
    let folder = Folder::with("[[proxy]]\nuse = \"todo\"\n---\nclient: foo\n");
    let (code, text) = folder.test(&["--component", "none.wasm"]).await;
    assert_eq!(code, 2, "{text}");
    let told =
        "acp-chain: --component none.wasm: there is no such file; `acp-chain build` makes one";
    assert!(text.contains(told), "{text}");
}

#[tokio::test]
async fn without_a_head_it_is_the_component_in_the_folder() {
    let folder =
        Folder::with("client: p1 session/prompt {\"prompt\": []}\nagent gets: p1 session/prompt\n");
    let (code, text) = folder.test(&[]).await;
    assert_eq!(code, 2);
    assert!(
        text.contains(
            "here is neither a project nor a component; name one with `--component FILE`"
        ),
        "{text}"
    );
    fs::copy(host::component("shout-rust"), folder.path("shout.wasm")).unwrap();
    assert_eq!(
        folder.test(&[]).await,
        (
            0,
            "ok       tests/it.transcript\n\n1 transcript, all as written\n".to_owned()
        )
    );
}

#[tokio::test]
async fn a_proxy_that_sleeps_is_waited_for() {
    let files = host::component("files").display().to_string();
    let folder = Folder::with(&format!(
        "[[proxy]]\npath = {files:?}\nmethods = {{ 'test/files' = ['read', 'answer'] }}\n---\n\
         client: f1 test/files {{\"try\": \"sleep\", \"millis\": 100}}\n\
         client gets: f1 result {{\"done\": null}}\n"
    ));
    let (code, text) = folder.test(&[]).await;
    assert_eq!(code, 0, "{text}");
}

#[tokio::test]
async fn what_a_transcript_gives_a_proxy_nobody_has_agreed_to() {
    let pass = host::component("pass").display().to_string();
    for (given, told) in [
        (
            "path = \"..\", name = \"/it\", write = true",
            "which no test allows: leave out `write`",
        ),
        (
            "path = \"../..\", name = \"/it\"",
            "is outside the current folder",
        ),
    ] {
        let folder = Folder::with(&format!(
            "[[proxy]]\npath = {pass:?}\ndirectories = [{{ {given} }}]\n---\n"
        ));
        let (code, text) = folder.test(&[]).await;
        assert!(code == 2 && text.contains(told), "{text}");
    }
}

#[tokio::test]
async fn a_manifest_in_the_head_is_the_chain_as_a_run_has_it() {
    let folder = Folder::with(
        "manifest = \"../acp-chain.toml\"\n---\nclient: p1 session/prompt {\"prompt\": [{\"type\": \"text\", \"text\": \"a\"}]}\n",
    );
    let shout = host::component("shout-rust").display().to_string();
    let manifest = |powers: &str| {
        let text = format!("[[proxy]]\nid = 'shout'\npath = '{shout}'\npowers = [{powers}]\n");
        fs::write(folder.path("acp-chain.toml"), text).unwrap();
    };
    manifest("'prompts.read', 'prompts.change'");
    let (code, text) = folder.test(&[]).await;
    assert_eq!(code, 1);
    assert!(
        text.contains(
            "+ agent gets: p1 session/prompt {\"prompt\": [{\"type\": \"text\", \"text\": \"A\"}]}"
        ),
        "{text}"
    );
    // Without powers, the proxy receives nothing.
    manifest("");
    let (_, text) = folder.test(&[]).await;
    assert!(text.contains("\"text\": \"a\"}]}\n\n"), "{text}");
}
