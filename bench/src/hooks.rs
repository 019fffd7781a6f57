//! The processes that an agent starts for events of its hooks, and those beside which they are measured.
//!
//! The agent starts them as Claude does, with a report on standard input, and times each from its start to its end. It
//! fails if one does not end as it should: then no guard has decided.

use std::io::{Error, Result, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use crate::subjects::Family;
use HookProgram::{Client, Shell, True, WithoutHost};

/// What is started for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookProgram {
    /// A program that does nothing.
    True,
    /// The hook's client, which fails at once.
    WithoutHost,
    /// The hook's client.
    Client,
    /// The client in a shell, as Claude starts it.
    Shell,
}

/// An event of a command.
#[derive(Clone, Copy, Debug)]
pub struct HookEvent {
    /// The chain whose guard decides about it.
    pub chain: Family,
    name: &'static str,
    command: &'static str,
    /// A part of the decision; empty if the guard lets it pass.
    decision: &'static str,
}

const PASSES: HookEvent = HookEvent {
    chain: Family::Calls,
    name: "PreToolUse",
    command: "cargo test --workspace",
    decision: "",
};

const REFUSED: HookEvent = HookEvent {
    command: "rm -rf target",
    decision: r#""permissionDecision":"deny""#,
    ..PASSES
};

const CHANGED: HookEvent = HookEvent {
    chain: Family::Results,
    name: "PostToolUse",
    command: "cat .env",
    decision: "[redacted: ",
};

/// All processes, in words, each for an event. A prompt names one by its place.
pub static STARTS: [(&str, HookProgram, HookEvent); 6] = [
    ("`true`", True, PASSES),
    ("the hook's client without a host", WithoutHost, PASSES),
    ("a call that `permissions` lets pass", Client, PASSES),
    ("the same in a shell", Shell, PASSES),
    ("a call that `permissions` refuses", Client, REFUSED),
    ("a result that `redact` changes", Client, CHANGED),
];

/// The hooks of the agent's last session that has some.
#[derive(Debug, Default)]
pub struct Hooks {
    session: String,
    /// By event.
    settings: Value,
    calls: usize,
}

impl Hooks {
    /// Begins a session. If its request has hooks, that of the beginning runs.
    pub fn begin(&mut self, line: &[u8], session: &str) -> Result<()> {
        let mut request: Value = serde_json::from_slice(line)?;
        let place = "/params/_meta/claudeCode/options/settings/hooks";
        if let Some(settings) = request.pointer_mut(place) {
            self.settings = settings.take();
            session.clone_into(&mut self.session);
            let begun = json!({ "session_id": session, "source": "startup", "cwd": "/" });
            // Without a shell: what follows may be started like the first one, or by a shell.
            let words = client(self.command("SessionStart")?);
            let mut process = Command::new(words[0]);
            run(process.args(&words[1..]), &begun, 0, "")?;
        }
        Ok(())
    }

    /// Starts the process at this place in [`STARTS`]. Returns the milliseconds until its end.
    pub fn start(&mut self, place: usize) -> Result<f64> {
        let start = STARTS.get(place);
        let (_, program, event) = start.ok_or_else(|| Error::other("no such process"))?;
        self.calls += 1;
        let report = json!({
            "session_id": self.session,
            "hook_event_name": event.name,
            "cwd": "/",
            "tool_use_id": format!("call-{}", self.calls),
            "tool_name": "Bash",
            "tool_input": { "command": event.command },
            // What is about to run has none: there it is not read.
            "tool_response": { "stdout": "KEY=AKIAIOSFODNN7EXAMPLQ\n", "stderr": "" },
        });
        let command = self.command(event.name)?;
        let words: Vec<_> = match program {
            True => vec!["true"],
            Shell => vec!["sh", "-c", command],
            Client | WithoutHost => client(command),
        };
        let mut process = Command::new(words[0]);
        process.args(&words[1..]);
        let mut code = 0;
        if *program == WithoutHost {
            process.env_remove("ACP_CHAIN_HOOK_SOCKET");
            code = 2;
        }
        run(&mut process, &report, code, event.decision)
    }

    fn command(&self, event: &str) -> Result<&str> {
        let command = self.settings[event][0]["hooks"][0]["command"].as_str();
        command.ok_or_else(|| Error::other(format!("there is no hook of {event}")))
    }
}

/// What the shell of a command starts first: its words have no quotes, as the folder of the socket has a plain name.
fn client(command: &str) -> Vec<&str> {
    let (client, _) = command.split_once(" || ").unwrap_or((command, ""));
    client.split(' ').collect()
}

/// Runs a process with a report. Returns the milliseconds until its end; an error if it ends with another code, or
/// prints another decision.
fn run(process: &mut Command, report: &Value, code: i32, decision: &str) -> Result<f64> {
    let text = report.to_string();
    process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let mut child = process.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // Those that reach no host may end without reading.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output()?;
    let took = begin.elapsed();
    let printed = String::from_utf8_lossy(&output.stdout);
    let is_right = printed.contains(decision) && printed.is_empty() == decision.is_empty();
    if !is_right || output.status.code() != Some(code) {
        return Err(Error::other(format!("{process:?}: {output:?}")));
    }
    Ok(took.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_gets_its_report_and_has_to_print_the_decision() {
        let mut cat = Command::new("cat");
        let report = json!({ "permissionDecision": "deny" });
        assert!(run(&mut cat, &report, 0, REFUSED.decision).unwrap() > 0.0);
        for (code, decision) in [(2, REFUSED.decision), (0, PASSES.decision), (0, "other")] {
            assert!(run(&mut cat, &report, code, decision).is_err());
        }
    }
}
