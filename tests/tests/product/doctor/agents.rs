//! Agents that do not start, do not answer, or have requirements.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use acp_chain_tests::host;
use acp_chain_tests::process::gone;
use acp_chain_tests::transcript::Transcript;
use serde_json::json;

use crate::doctor::user::{AGENT, User};

#[test]
fn an_agent_that_is_not_there_is_named() {
    let found = User::new().doctor(&["--", "/no/such/agent"]);
    let remedy = found.only("agent", "the agent command `/no/such/agent` was not found");
    assert!(
        remedy.contains("install it, or give its full path"),
        "{remedy}"
    );
}

#[test]
fn no_agent_is_started_that_others_may_have_named() {
    let user = User::new();
    let started = user.path("started");
    let script = format!("touch {}", started.display());
    user.does(&["agent", "add", "it", "--", "sh", "-c", &script]);
    let agents = user.path(".local/share/acp-chain/agents");
    fs::set_permissions(&agents, fs::Permissions::from_mode(0o777)).unwrap();
    let found = user.doctor(&[]);
    found.among("program", "others may write to");
    assert!(!started.exists());
    fs::set_permissions(&agents, fs::Permissions::from_mode(0o700)).unwrap();
    user.doctor(&[]);
    assert!(started.exists());
}

#[tokio::test]
async fn an_agent_that_hangs_is_ended_with_all_that_it_started() {
    let user = User::new();
    let child = user.path("child");
    let agent = [
        AGENT,
        "--never",
        "initialize",
        "--survive-eof",
        "--child",
        child.to_str().unwrap(),
    ];
    let found = user.doctor(&[&["--timeout", "1", "--"], &agent[..]].concat());
    let remedy = found.only(
        "agent",
        "did not answer `initialize` within 1 s, and was ended",
    );
    assert!(
        remedy.contains("`--timeout SECONDS` waits longer"),
        "{remedy}"
    );
    let child: u32 = fs::read_to_string(child).unwrap().parse().unwrap();
    gone(&Transcript::new(), child).await.unwrap();
}

#[test]
fn what_an_agent_says_when_it_fails_is_shown_and_cannot_steer_a_terminal() {
    let user = User::new();
    let script = "printf 'one\\nbroken \\033[2J here\\n' >&2; exit 3";
    let found = user.doctor(&["--", "sh", "-c", script]);
    let remedy = found.only(
        "agent",
        "exited with code 3 before it answered `initialize`",
    );
    assert!(
        remedy.starts_with("run it by hand, and fix what it reports: sh -c "),
        "{remedy}"
    );
    let unwell = found.unwell();
    assert_eq!(unwell[0]["lines"], json!(["one", "broken \\u{1b}[2J here"]));
    let output = user.output(&["doctor", "--", "sh", "-c", script]);
    assert!(!output.stdout.contains(&0x1b), "{output:?}");
}

#[test]
fn a_node_that_is_too_old_for_the_agents_package_is_named() {
    let user = User::new();
    let executable = |path: &str, text: &str| {
        let path = user.write(path, "");
        host::executable(&path, text).unwrap();
        path
    };
    let old = "#!/bin/sh\n[ \"$1\" = --version ] && echo v16.20.2 && exit\necho 'SyntaxError: using' >&2\nexit 1\n";
    let node = executable("bin/node", old);
    let agent = executable("lib/agent/dist/cli.js", "#!/usr/bin/env node\nusing;\n");
    user.write("lib/agent/package.json", r#"{"engines": {"node": ">=20"}}"#);
    let path = format!(
        "{}:{}",
        node.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = user.command(&["doctor", "--json", "--", agent.to_str().unwrap()]);
    let found = crate::doctor::user::report(&command.env("PATH", path).output().unwrap());
    let remedy = found.among(
        "agent",
        "is run by `node` 16.20.2, and its package asks for Node >=20",
    );
    assert_eq!(remedy, "install Node >=20, and put it first in PATH");
    found.among(
        "agent",
        "exited with code 1 before it answered `initialize`",
    );

    let agent = executable("agent", "#!/usr/bin/env no-such-runtime\n");
    let found = user.doctor(&["--", agent.to_str().unwrap()]);
    let remedy = found.among("agent", "is run by `no-such-runtime`, which was not found");
    assert!(
        remedy.starts_with("install `no-such-runtime`, or let PATH name"),
        "{remedy}"
    );
}

#[test]
fn an_agent_that_may_want_a_login_is_told_with_the_command() {
    let found = User::new().doctor(&["--", AGENT, "--login"]);
    assert_eq!(found.code, Some(0));
    let unwell = found.unwell();
    let says = unwell[0]["says"].as_str().unwrap();
    assert!(says.ends_with("in one of these ways:"), "{says}");
    assert_eq!(unwell[0]["lines"], json!(["Log in"]));
    let command = format!("{AGENT} --login --sign-in");
    assert_eq!(unwell[0]["remedy"], json!({ "command": command }));
}

#[test]
fn noise_on_standard_output_is_told() {
    let found = User::new().doctor(&["--", AGENT, "--garbage"]);
    let unwell = found.unwell();
    assert_eq!((found.code, unwell.len()), (Some(0), 1));
    assert!(
        unwell[0]["says"]
            .as_str()
            .unwrap()
            .contains("something other than messages"),
        "{found:#?}"
    );
}

#[test]
fn an_agent_that_is_installed_is_asked_and_a_broken_one_is_named() {
    let user = User::new();
    let agent = user.path("agent");
    host::executable(&agent, fs::read(AGENT).unwrap()).unwrap();
    let agent = agent.to_str().unwrap();
    user.does(&["agent", "add", "mine", "--", agent, "--login"]);
    let asked = |found: &crate::doctor::user::Report| {
        let about = |finding: &&serde_json::Value| {
            let says = finding["says"].as_str().unwrap();
            finding["area"] == "agent" && says.contains(agent)
        };
        found.findings.iter().any(|finding| about(&finding))
    };
    assert!(asked(&user.doctor(&[])), "among all known agents");
    assert!(asked(&user.doctor(&["mine"])), "by its name");

    fs::remove_file(agent).unwrap();
    let remedy = user.doctor(&[]).only("agent", "the agent `mine` is broken");
    assert_eq!(remedy, "acp-chain agent remove mine");
    user.follows(&remedy);
    assert_eq!(user.doctor(&[]).code, Some(0));

    let remedy = user
        .doctor(&["mine"])
        .only("agent", "no agent `mine` is installed");
    assert_eq!(remedy, "acp-chain agent list");
}

#[test]
fn a_known_agent_is_told_with_what_its_hooks_let_proxies_do() {
    let user = User::new();
    let agent = user.write("lib/agent/cli", "");
    host::executable(&agent, format!("#!/bin/sh\nexec '{AGENT}' \"$@\"\n")).unwrap();
    let about = |version: &str| {
        let package = json!({ "name": "@augmentcode/auggie", "version": version });
        user.write("lib/agent/package.json", &package.to_string());
        let found = user.doctor(&["--", agent.to_str().unwrap()]);
        assert_eq!(found.code, Some(0), "{found:#?}");
        let hooks = found.findings.iter().find(|finding| {
            let says = finding["says"].as_str().unwrap();
            says.starts_with("the hooks of @augmentcode/auggie")
        });
        let hooks = hooks.unwrap_or_else(|| panic!("{found:#?}"));
        (
            hooks["state"].clone(),
            hooks["says"].as_str().unwrap().to_owned(),
        )
    };
    let (state, says) = about("0.36.0");
    assert_eq!(state, "fine");
    assert!(
        says.ends_with(
            "auggie 0.36.0 can be attached; by them, calls are seen, refused, changed; results seen; results of \
             failed calls seen"
        ),
        "{says}"
    );
    let (state, says) = about("0.36.1");
    assert_eq!(state, "note");
    assert!(says.ends_with("they are tried with 0.36.0 only"), "{says}");
}

#[test]
fn an_agent_that_only_asks_is_told_to_be_one() {
    let user = User::new();
    let agent = user.write("lib/agent/cli", "");
    host::executable(&agent, format!("#!/bin/sh\nexec '{AGENT}' \"$@\"\n")).unwrap();
    let package = json!({ "name": "@google/gemini-cli", "version": "0.61.0" });
    user.write("lib/agent/package.json", &package.to_string());
    let found = user.doctor(&["--", agent.to_str().unwrap()]);
    assert_eq!(found.unwell().len(), 0, "{found:#?}");
    assert!(
        found.findings.iter().any(|finding| {
            let says = finding["says"].as_str().unwrap();
            finding["area"] == "agent" && says.contains("0.61.0 runs no hooks in ACP")
        }),
        "{found:#?}"
    );
}

#[test]
fn an_agent_whose_hooks_are_not_for_one_run_is_told_with_the_reason() {
    let user = User::new();
    let agent = user.write("bin/fast-agent-acp", "");
    host::executable(&agent, format!("#!/bin/sh\nexec '{AGENT}' \"$@\"\n")).unwrap();
    let found = user.doctor(&["--", agent.to_str().unwrap()]);
    assert_eq!(found.unwell().len(), 0, "{found:#?}");
    assert!(
        found.findings.iter().any(|finding| {
            let says = finding["says"].as_str().unwrap();
            finding["area"] == "agent"
                && says.contains("fast-agent")
                && says.contains("agent cards")
        }),
        "{found:#?}"
    );
}

#[test]
fn an_agent_without_known_hooks_is_told_to_be_one() {
    let found = User::new().doctor(&["--", AGENT]);
    assert_eq!(found.unwell().len(), 0, "{found:#?}");
    assert!(
        found.findings.iter().any(|finding| {
            let says = finding["says"].as_str().unwrap();
            finding["area"] == "agent" && says.contains("has no hooks that can be attached")
        }),
        "{found:#?}"
    );
}

#[test]
fn a_program_that_echoes_is_named_as_no_agent() {
    let found = User::new().doctor(&["--", "cat"]);
    let remedy = found.among("agent", "`cat` sends back what it gets: it is no ACP agent");
    assert!(remedy.contains("name the command of an agent"), "{remedy}");
}
