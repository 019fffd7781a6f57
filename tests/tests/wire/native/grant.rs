//! A native proxy starts only where the user permits it, and its rights are always stated clearly.

use acp_chain_tests::chain::{Chain, MANIFEST, error_of};
use acp_chain_tests::host;

use crate::native::{AGENT, program};

#[tokio::test]
async fn without_the_users_word_no_program_starts_and_the_error_says_which_key_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let manifest = program("helper", &["--pid", pid.to_str().unwrap()], "");
    let mut chain = Chain::start(&manifest, AGENT);
    let answer = chain.client.wire.request("initialize", "{}").await;
    let error = error_of(&answer);
    for words in [
        "proxy `helper`",
        "all of your rights",
        "`native = true`",
        "config.toml",
    ] {
        assert!(error.contains(words), "{error}");
    }
    assert!(!pid.exists());
}

#[tokio::test]
async fn check_says_in_words_what_a_program_may_do_and_whether_it_would_start() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join(MANIFEST);
    std::fs::write(&manifest, program("helper", &["--older"], "")).unwrap();
    let home = host::grants_native(folder.path());
    for (home, starts, words) in [
        (
            None,
            false,
            "would not start: no sandbox holds it; to let programs be proxies, write `native = true` into ",
        ),
        (
            Some(&home),
            true,
            "would start: your config.toml has `native = true`",
        ),
    ] {
        let mut command = host::check(&manifest);
        if let Some(home) = home {
            command.env("XDG_CONFIG_HOME", home);
        }
        let output = command.output().await.unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.success(), starts, "{printed}");
        assert!(printed.contains(words), "{printed}");
        assert!(
            printed.contains("! it is a program with all of your rights: it has no sandbox"),
            "{printed}"
        );
    }
    std::fs::write(
        &manifest,
        "[[proxy]]\nid = 'helper'\ncommand = '/nowhere/helper'\n",
    )
    .unwrap();
    let mut command = host::check(&manifest);
    let output = command.env("XDG_CONFIG_HOME", home).output().await.unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the program was not found"), "{told}");
}
