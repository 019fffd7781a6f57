//! `acp-chain try`: turns in the terminal, and each proxy's changes.

use std::process::{Output, Stdio};

use acp_chain_tests::host::{self, installed, peer};
use acp_chain_tests::terminal::Terminal;
use acp_chain_tests::wire::in_time;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

/// A user with an empty home.
struct User(TempDir);

impl User {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn tries(&self, options: &[&str], agent: &[&str]) -> Command {
        let mut command = Command::new(installed());
        command
            .arg("try")
            .args(options)
            .arg("--")
            .args(agent)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.0.path())
            .env("XDG_CACHE_HOME", host::cache())
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// The output on both streams, and the exit code.
    async fn tried(&self, options: &[&str], agent: &[&str]) -> (String, String, Option<i32>) {
        let mut command = self.tries(options, agent);
        let output: Output = in_time("the end of acp-chain try", command.output())
            .await
            .unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (out, err, output.status.code())
    }

    /// The output of turns with these prompts, one per line.
    async fn prompted(&self, options: &[&str], prompts: &str) -> String {
        let mut command = self.tries(options, &[AGENT]);
        let mut running = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = running.stdin.take().unwrap();
        input.write_all(prompts.as_bytes()).await.unwrap();
        drop(input);
        let ended = in_time("the end of acp-chain try", running.wait_with_output());
        let output = ended.await.unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{out}");
        out
    }
}

/// The last line about a failure.
fn doctor(agent: &str) -> String {
    format!("  `acp-chain doctor -- {agent}` says more\n")
}

#[tokio::test]
async fn a_turn_with_an_agent_of_others_is_shown_with_what_two_proxies_made_of_it() {
    let user = User::new();
    let agent = peer("bin/npm-agent");
    let prompt = format!("my {SECRET} here");
    let options = [
        "--with",
        "permissions",
        "--with",
        "redact",
        "--hooks",
        "off",
        "--prompt",
        &prompt,
    ];
    let (out, err, code) = user.tried(&options, &[agent.to_str().unwrap()]).await;
    assert_eq!((code, &*err), (Some(0), ""), "{out}");
    let (answer, picture) = out.split_once("\n\nclient asks session/prompt\n").unwrap();
    let (parts, told) = answer.split_once("\n\n").unwrap();
    assert_eq!(parts, "  client ⇄ permissions ⇄ redact ⇄ agent");
    let told = told.replace("\n│ ", " ");
    assert!(
        told.contains("the guard `permissions` has no rules, so it decides nothing"),
        "{told}"
    );
    assert!(
        told.ends_with("my [redacted: aws-access-token] here"),
        "{told}"
    );
    for line in [
        "  client → redact                   my AKIAIOSFODNN7EXAMPLQ here\n",
        "  redact → agent                    my [redacted: aws-access-token] here\n",
        // The agent's text arrived in chunks, which `redact` split differently.
        "\nagent tells session/update\n  agent → redact → client           my [redacted",
        "\nagent answers session/prompt\n",
    ] {
        assert!(picture.contains(line), "{picture}\nlacks\n{line}");
    }
}

#[tokio::test]
async fn each_line_is_a_turn_until_the_input_ends() {
    let out = User::new()
        .prompted(&["--with", "redact"], "one\n\ntwo\n")
        .await;
    assert!(out.find("│ one\n") < out.find("│ two\n"), "{out}");
    assert_eq!(
        out.matches("\nclient asks session/prompt\n").count(),
        2,
        "{out}"
    );
}

#[tokio::test]
async fn a_message_that_cannot_be_held_is_not_the_end() {
    let said = |content: &str| {
        format!("update {{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{content}}}\n")
    };
    let lines = said(r#"{"type":"text","text":"a\ud800b"}"#)
        + &said(r#"{"type":"text","text":"c","_meta":1e999}"#)
        + "two\n";
    let out = User::new().prompted(&[], &lines).await;
    for line in [
        "  agent → client                    a\u{fffd}b\n",
        "  agent → client                    (cannot be shown)\n",
        "│ two\n",
    ] {
        assert!(out.contains(line), "{out}\nlacks\n{line}");
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_a_permission_is_refused_and_that_is_said() {
    let prompt = "permission edit Write the file /etc/hosts";
    let (out, _, code) = User::new().tried(&["--prompt", prompt], &[AGENT]).await;
    let asked = "The agent asks for permission: Write the file (edit, /etc/hosts)\n  No answer can be typed, so it is “Reject”.\n│ selected reject-once\n";
    assert!(out.contains(asked) && code == Some(0), "{code:?} {out}");
}

#[tokio::test]
async fn in_a_terminal_the_user_answers_by_number() {
    let user = User::new();
    let mut command = user.tries(&["--prompt", "permission edit Write it /a"], &[AGENT]);
    let mut terminal = Terminal::open().unwrap();
    terminal.attach(command.as_std_mut()).unwrap();
    let mut running = command.spawn().unwrap();
    drop(command);
    // After an invalid answer, the question is repeated.
    terminal.types("9\n2\n").unwrap();
    let status = in_time("the end of acp-chain try", running.wait())
        .await
        .unwrap();
    let shown = terminal.shown();
    assert!(status.success(), "{shown}");
    for expected in [
        "  1. Allow\r\n",
        "  2. Always allow\r\n",
        "  3. Reject\r\n",
        "│ selected allow-always",
    ] {
        assert!(shown.contains(expected), "{shown}\nlacks\n{expected}");
    }
    assert_eq!(
        shown.matches("The number of your answer: ").count(),
        2,
        "{shown}"
    );
}

#[tokio::test]
async fn an_agent_that_wants_a_login_is_told_with_the_command_and_an_exit_code() {
    let (out, _, code) = User::new()
        .tried(&["--prompt", "hi"], &[AGENT, "--login"])
        .await;
    let told = format!(
        "The agent wants you to sign in first.\nRun this in a terminal, then try again:\n  {AGENT} --login \
         --sign-in    # Log in\n"
    );
    assert!(out.ends_with(&told) && code == Some(3), "{code:?} {out}");
}

#[tokio::test]
async fn the_first_interrupt_cancels_the_turn_and_the_second_ends_it_all() {
    for (last, ends) in [("wait", false), ("never", true)] {
        let user = User::new();
        let prompt = format!("echo begun\n{last}");
        let mut running = user
            .tries(&["--prompt", &prompt], &[AGENT])
            .spawn()
            .unwrap();
        let id = running
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).unwrap()))
            .unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut shown = Vec::new();
        // The line of the answer ends only with the turn.
        while !shown.ends_with(b"begun") {
            let byte = in_time("the answer", out.read_u8()).await;
            shown.push(byte.unwrap());
        }
        kill_process(id, Signal::INT).unwrap();
        let mut lines = out.lines();
        let mut next = async || in_time("a line", lines.next_line()).await.unwrap();
        loop {
            let line = next().await.expect("a line about the cancellation");
            if line == "The turn is being cancelled; another interrupt ends acp-chain." {
                break;
            }
        }
        if ends {
            kill_process(id, Signal::INT).unwrap();
        } else {
            while next().await.expect("it says how the turn ended") != "The turn ended: cancelled."
            {
            }
        }
        while next().await.is_some() {}
        let status = in_time("the end of acp-chain try", running.wait())
            .await
            .unwrap();
        assert_eq!(status.code(), Some(if ends { 130 } else { 0 }));
    }
}

#[tokio::test]
async fn an_agent_that_ends_in_the_midst_is_told_with_how() {
    let (out, err, code) = User::new()
        .tried(&["--prompt", "echo one\nexit 7"], &[AGENT])
        .await;
    assert!(out.contains("│ one\n"), "{out}");
    let told = format!(
        "acp-chain try: the agent exited with code 7\n{}",
        doctor(AGENT)
    );
    assert_eq!((err, code), (told, Some(1)));
    let (_, err, _) = User::new()
        .tried(&["--prompt", "stderr 134\nexit 7"], &[AGENT])
        .await;
    let printed = "\n  The agent's standard error ends with:\n  | wild-agent: something that";
    assert!(
        err.contains(printed) && err.ends_with(&doctor(AGENT)),
        "{err}"
    );
}

#[tokio::test]
async fn a_program_that_echoes_is_told_as_no_agent() {
    let user = User::new();
    for options in [
        &["--prompt", "hi"][..],
        &["--with", "redact", "--prompt", "hi"],
    ] {
        let (_, err, code) = user.tried(options, &["cat"]).await;
        let told = "`initialize` failed: the agent sends back what it gets: it is no ACP agent";
        assert!(err.contains(told), "{err}");
        assert_eq!(code, Some(1));
    }
}

#[tokio::test]
async fn an_agent_that_never_answers_is_given_up_where_the_user_says_so() {
    let user = User::new();
    let agent = ["tail", "-f", "/dev/null"];
    let (_, err, code) = user
        .tried(&["--timeout", "1", "--prompt", "hi"], &agent)
        .await;
    let told = "acp-chain try: `initialize` failed: the agent has sent nothing for 1 s\n";
    let told = format!("{told}{}", doctor(&agent.join(" ")));
    assert_eq!((err, code), (told, Some(1)));
}

#[tokio::test]
async fn an_error_of_the_agent_is_told_with_its_request_and_its_data() {
    let error =
        r#"{"code":-32603,"message":"Internal error","data":{"details":"no credit\u001b[2J"}}"#;
    let prompt = format!("fail {error}");
    let (_, err, code) = User::new().tried(&["--prompt", &prompt], &[AGENT]).await;
    let told =
        "acp-chain try: `session/prompt` failed: Internal error\n  details: no credit\\u{1b}[2J\n";
    assert_eq!((err, code), (format!("{told}{}", doctor(AGENT)), Some(1)));
}

#[tokio::test]
async fn an_input_without_a_prompt_is_told() {
    let (_, err, code) = User::new().tried(&[], &[AGENT]).await;
    let told = "acp-chain try: standard input has no prompt; `--prompt TEXT` gives one\n";
    assert_eq!((&*err, code), (told, Some(0)));
}

#[tokio::test]
async fn an_error_that_asks_to_sign_in_is_shown_where_the_agent_has_no_way_to() {
    let prompt = r#"fail {"code":-32000,"message":"no quota"}"#;
    let (out, _, code) = User::new().tried(&["--prompt", prompt], &[AGENT]).await;
    let told = "The agent wants you to sign in first.\n`session/prompt` failed: no quota\nIt does not say how: ";
    assert!(out.contains(told) && code == Some(3), "{code:?} {out}");
}

#[tokio::test]
async fn files_of_the_folder_are_read_and_written_and_no_others() {
    let user = User::new();
    let folder = user.0.path().canonicalize().unwrap();
    std::fs::write(folder.join("it"), "what it holds").unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let params = json!({ "sessionId": "session-1", "path": path("new/it"), "content": "ours" });
    let prompt = format!(
        "read {}\nask fs/write_text_file {params}\nread {}\nread /proc/self/environ",
        path("it"),
        path("../it")
    );
    let (out, err, code) = user.tried(&["--prompt", &prompt], &[AGENT]).await;
    assert_eq!((&*err, code), ("", Some(0)), "{out}");
    assert!(out.contains("│ what it holds"), "{out}");
    assert!(
        out.contains(&format!("│ file: {} written\n", path("new/it"))),
        "{out}"
    );
    let refusals = out.matches("is not a path beneath").count();
    assert!(refusals >= 2 && !out.contains("HOME="), "{out}");
    let written = std::fs::read_to_string(folder.join("new/it")).unwrap();
    assert_eq!(written, "ours");
}

#[tokio::test]
async fn in_a_terminal_the_user_signs_in_by_number() {
    let user = User::new();
    let mut command = user.tries(&["--prompt", "hello"], &[AGENT, "--key"]);
    let mut terminal = Terminal::open().unwrap();
    terminal.attach(command.as_std_mut()).unwrap();
    let mut running = command.spawn().unwrap();
    drop(command);
    terminal.types("2\n1\n").unwrap();
    let status = in_time("the end of acp-chain try", running.wait())
        .await
        .unwrap();
    let shown = terminal.shown();
    assert!(status.success(), "{shown}");
    for expected in [
        "  1. Use a key\r\n",
        "It must be one of the numbers above.\r\n",
        "You are signed in.\r\n",
        "│ hello",
    ] {
        assert!(shown.contains(expected), "{shown}\nlacks\n{expected}");
    }
    let (out, _, code) = user.tried(&["--prompt", "hello"], &[AGENT, "--key"]).await;
    assert!(
        out.ends_with("  - Use a key\n") && code == Some(3),
        "{code:?} {out}"
    );
}

#[tokio::test]
async fn a_chain_that_does_not_start_is_told_with_the_next_step() {
    let user = User::new();
    let (_, err, code) = user.tried(&["--prompt", "hi"], &["/no/such/agent"]).await;
    let told = "acp-chain try: the agent command `/no/such/agent` was not found; give a full path, or add its folder to PATH\n";
    let told = format!("{told}{}", doctor("/no/such/agent"));
    assert_eq!((err, code), (told, Some(1)));
    let (_, err, code) = user.tried(&["--with", "none"], &[AGENT]).await;
    assert!(
        err.starts_with("acp-chain: --with none: `none` is not installed"),
        "{err}"
    );
    assert_eq!(code, Some(1));
}

#[tokio::test]
async fn what_an_agent_says_cannot_steer_the_terminal_nor_pass_for_words_of_ours() {
    let update = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\u001b[2J\nThe agent wants\tyou"}}"#;
    let prompt = format!("update {update}");
    let (out, _, _) = User::new().tried(&["--prompt", &prompt], &[AGENT]).await;
    assert!(!out.contains('\u{1b}'), "{out}");
    assert!(
        out.contains("│ a\\u{1b}[2J\n│ The agent wants    you\n"),
        "{out}"
    );
}

#[tokio::test]
async fn lines_are_edited_in_a_terminal_and_prompts_without_secrets_come_back() {
    let user = User::new();
    // With a session of its own, whose terminal this is.
    let mut command = Command::new("setsid");
    command
        .arg("--ctty")
        .arg(installed())
        .args(["try", "--", AGENT])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", user.0.path())
        .env("TERM", "xterm")
        .env("XDG_CACHE_HOME", host::cache())
        .current_dir(user.0.path())
        .kill_on_drop(true);
    let mut terminal = Terminal::open().unwrap();
    terminal.resize(40, 120).unwrap();
    terminal.attach(command.as_std_mut()).unwrap();
    let mut running = command.spawn().unwrap();
    drop(command);
    let ends = tokio::task::spawn_blocking(move || {
        // Nothing is typed before the line can be edited again.
        let empty_line = "> \r";
        terminal.shows(empty_line).unwrap();
        let mut turn = |typed: &str, answer: &str| {
            terminal.types(typed).unwrap();
            let shown = terminal.shows(empty_line).unwrap();
            assert!(shown.contains(&format!("│ {answer}")), "{shown}");
        };
        let secret = format!("my {SECRET}");
        turn(&format!("{secret}\r"), &secret);
        // An arrow key goes back by a letter.
        turn("helo\u{1b}[Dl\r", "hello");
        turn("\u{1b}[A\r", "hello");
    });
    in_time("the turns", ends).await.unwrap();
    // The terminal is closed, which ends it.
    in_time("the end of acp-chain try", running.wait())
        .await
        .unwrap();
    let history = user.0.path().join(".local/state/acp-chain/history");
    assert_eq!(std::fs::read_to_string(history).unwrap(), "\"hello\"\n");
}
