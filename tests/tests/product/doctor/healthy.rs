//! On a healthy machine, no problem is reported, and nothing changes.

use acp_chain_tests::chain::{Chain, MANIFEST, entry};
use acp_chain_tests::host;
use acp_chain_tests::terminal::Terminal;

use crate::doctor::user::{AGENT, User, report, snapshot};

#[test]
fn on_a_healthy_machine_everything_is_fine_and_nothing_is_written() {
    let user = User::new();
    let before = snapshot(&user.path(""));
    let found = user.doctor(&[]);
    assert_eq!(
        (found.code, found.unwell().len()),
        (Some(0), 0),
        "{found:#?}"
    );
    let areas: Vec<_> = found
        .findings
        .iter()
        .map(|finding| finding["area"].as_str().unwrap())
        .collect();
    for area in [
        "program",
        "configuration",
        "project",
        "chain",
        "store",
        "values",
        "agent",
        "editors",
        "log",
    ] {
        assert!(areas.contains(&area), "{area}: {found:#?}");
    }
    let text = user.does(&["doctor"]);
    for expected in [
        "`redact`: redact, which comes with acp-chain\n",
        "is trusted, as it is now; sessions here have its proxies (1)\n",
        &format!("`{AGENT}` is wild-agent "),
        "`Wild` launches acp-chain run --with todo -- ",
        "\nEverything is fine.\n",
    ] {
        assert!(text.contains(expected), "{text}\nlacks\n{expected}");
    }
    assert_eq!(snapshot(&user.path("")), before);
}

#[test]
fn in_a_terminal_lines_are_broken_between_words() {
    const COLUMNS: u16 = 60;
    let user = User::new();
    let mut command = user.command(&["doctor"]);
    command.env("NO_COLOR", "1");
    let terminal = Terminal::open().unwrap();
    terminal.resize(24, COLUMNS).unwrap();
    let (_, shown) = terminal.run(command, "").unwrap();
    let texts: Vec<_> = shown
        .lines()
        .filter_map(|line| line.split_at_checked(11))
        .filter(|(_, text)| !text.starts_with('→'))
        .collect();
    assert!(
        texts.iter().any(|(begin, _)| begin.trim().is_empty()),
        "{shown}"
    );
    for (begin, text) in texts {
        let length = begin.len() + text.trim_end().chars().count();
        // What has no space, but in a command, cannot be broken.
        let words = text.trim();
        let quoted = words
            .strip_prefix('`')
            .and_then(|rest| rest.split_once('`'));
        let rest = quoted.map_or(words, |(_, rest)| rest);
        let fits = length <= usize::from(COLUMNS) || !rest.contains(' ');
        assert!(fits, "{shown}\n{text}");
    }
}

#[test]
fn a_log_that_the_command_line_names_is_looked_at_and_not_begun() {
    let user = User::new();
    let file = user.path("here.log");
    let found = user.doctor(&["--log-file", file.to_str().unwrap()]);
    assert_eq!(found.code, Some(0), "{found:#?}");
    assert!(!file.exists());
}

#[test]
fn wrong_usage_has_an_exit_code_of_its_own() {
    let output = User::new().output(&["doctor", "--timeout", "0"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[tokio::test]
async fn the_last_failure_of_a_proxy_is_found_afterwards_with_its_reason() {
    let config =
        "on-failure = 'refuse'\n[proxy.config.requests]\n'test/panic' = [{ break = 'panic' }]\n";
    let state = tempfile::tempdir().unwrap();
    let mut chain = Chain::launch(&entry("does", "does", config), |folder| {
        let mut command = host::run(Some(&folder.join(MANIFEST)), [AGENT]);
        command.env("XDG_STATE_HOME", state.path());
        command
    });
    chain.client.initialize().await;
    chain.client.wire.request("test/panic", "{}").await;
    chain.client.finish().await.unwrap();
    let mut user = User::new();
    user.set("XDG_STATE_HOME", state.path());
    let found = report(&user.output(&["doctor", "--json"]));
    let [note] = &found.unwell()[..] else {
        panic!("one note: {found:#?}")
    };
    let says = note["says"].as_str().unwrap();
    assert_eq!((&note["area"], found.code), (&"log".into(), Some(0)));
    assert!(says.starts_with("the proxy `does`, last at 2"), "{says}");
    let given_up = "is given up, and all its messages are refused: wasm trap";
    assert!(says.contains(given_up), "{says}");
}
