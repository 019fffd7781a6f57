//! The SDKs for C and C++. The folder `c` has the same proxy in both languages.

use std::fs;
use std::path::Path;

use acp_chain_tests::chain::error_of;
use acp_chain_tests::host::{self, InProcess};
use acp_chain_tests::transcript::Transcript;

use super::project::{NAME, Project};

async fn what_a_message_says_is_found_and_a_refused_read_is_told(lang: &str) {
    let project = Project::new(lang, "prompt").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/authoring/author/c");
    let source = format!("proxy.{lang}");
    fs::copy(folder.join(&source), project.path("src").join(&source)).unwrap();
    let power = "\"prompts.change\" =";
    let more = format!("\"prompts.read\" = \"to read it\"\n{power}");
    project.change("extension.toml", power, &more);
    let proxy = host::extension(NAME, &project.build().await).await;
    let chain = InProcess::of(vec![proxy.into()], &Transcript::new());
    let mut chain = chain.initialize(r#"{"protocolVersion":1}"#).await;
    chain.session("s", "[]").await;

    for (member, expected) in [
        // The member is found with any escapes in its name.
        (r#""é€😀\"\\/\n":1"#, "found 1"),
        (
            r#""\u00e9\u20AC\ud83D\uDE00\u0022\u005c\/\u000A":2"#,
            "found 2",
        ),
        (r#""é€😀\"\\/":3"#, "refused: "),
    ] {
        let prompt = format!(r#"{{"sessionId":"s","prompt":[],{member}}}"#);
        let answer = chain.client.request("session/prompt", &prompt).await;
        let error = error_of(&answer);
        let expected = format!("failed on session/prompt: {expected}");
        assert!(error.contains(&expected), "{error}");
    }
}

#[tokio::test]
async fn what_a_message_says_is_found_and_a_refused_read_is_told_in_c() {
    what_a_message_says_is_found_and_a_refused_read_is_told("c").await;
}

#[tokio::test]
async fn what_a_message_says_is_found_and_a_refused_read_is_told_in_cpp() {
    what_a_message_says_is_found_and_a_refused_read_is_told("cpp").await;
}
