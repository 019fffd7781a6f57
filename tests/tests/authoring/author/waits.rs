//! In the languages without `await`, a prompt is held until the proxy's own request is answered. The folder `waits` has
//! the same proxy in each language.

use std::fs;
use std::path::Path;

use super::project::Project;

async fn a_prompt_waits_for_an_answer(lang: &str) {
    let project = Project::new(lang, "prompt").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/authoring/author/waits");
    let source = format!("proxy.{lang}");
    fs::copy(folder.join(&source), project.path("src").join(&source)).unwrap();
    fs::remove_dir_all(project.path("tests")).unwrap();
    fs::create_dir(project.path("tests")).unwrap();
    let transcript = "file.transcript";
    fs::copy(
        folder.join(transcript),
        project.path("tests").join(transcript),
    )
    .unwrap();
    let power = "\"prompts.change\" =";
    let more = format!("\"files.read\" = \"to read it\"\n{power}");
    project.change("extension.toml", power, &more);
    let component = project.build().await;
    project.passes_its_tests().await;

    // The host takes back a prompt that is held too long, without a failure. A difference makes the test show the log.
    let late = format!(
        "[[proxy]]\npath = '{}'\nlimits.hold-time = \"5 s\"\n---\n\
         client: p session/prompt {{\"prompt\": []}}\nclient gets: f fs/read_text_file\nafter 5s\n",
        component.display()
    );
    fs::write(project.path("tests/late.transcript"), late).unwrap();
    let said = project
        .acp_chain(&["test", "tests/late.transcript"], ".")
        .await;
    let is_taken_back = said.out.contains("its `settle` was rejected");
    let has_failed = said.out.contains("failed on a cancellation");
    assert!(is_taken_back && !has_failed, "{said:?}");
}

#[tokio::test]
async fn a_prompt_waits_for_an_answer_in_c() {
    a_prompt_waits_for_an_answer("c").await;
}

#[tokio::test]
async fn a_prompt_waits_for_an_answer_in_cpp() {
    a_prompt_waits_for_an_answer("cpp").await;
}

#[tokio::test]
async fn a_prompt_waits_for_an_answer_in_zig() {
    a_prompt_waits_for_an_answer("zig").await;
}
