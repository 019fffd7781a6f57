//! The agent of the demo (`xtask demo-agent`): it requests permission to edit a file, then leaks a token.

use std::fs::File;
use std::io::{Write, stdin, stdout};
use std::path::Path;

use acp_chain_ends::agent::{Agent, Script};
use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::script;
use crate::host::send;

#[derive(Default)]
struct Leak;

/// Serves on standard input and output until the input ends. Writes the received messages to a file, which the demo
/// checks.
pub fn run(received: &Path) -> Result<()> {
    let mut kept = File::create(received)
        .with_context(|| format!("{} cannot be written", received.display()))?;
    let mut agent = Agent::<Leak>::default();
    let mut output = stdout().lock();
    for line in stdin().lines() {
        let line = line?;
        writeln!(kept, "{line}")?;
        for said in agent.take(serde_json::from_str(&line)?) {
            send(&mut output, &said)?;
        }
    }
    Ok(())
}

impl Script for Leak {
    const UNKNOWN: &'static str = "the agent of the demo does not know that";

    fn call(&self, folder: &str) -> Value {
        json!({
            "toolCallId": "edit-1",
            "title": "Edit src/upload.rs",
            "kind": "edit",
            "locations": [{"path": format!("{folder}/src/upload.rs")}],
        })
    }

    fn say(&self, _prompt: &Value, is_allowed: bool) -> Vec<String> {
        let edit = if is_allowed {
            script::ALLOWED
        } else {
            "I was not allowed to edit."
        };
        [edit.to_owned()]
            .into_iter()
            .chain(script::leak())
            .collect()
    }
}
