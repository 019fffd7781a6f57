//! The agent of the demo, a process of its own: in the first turn it asks to edit a file, and then leaks a token; in
//! the second it asks to delete everything.

use std::fs::File;
use std::io::{self, BufRead, Write, stdin};
use std::path::Path;

use acp_chain_ends::agent::{Agent, Script};
use acp_chain_rpc::untrusted::Untrusted;
use serde_json::{Value, json};

use super::script;
use crate::{Error, Result};

#[derive(Default)]
struct Careless;

/// Plays the agent on standard input and output until the input ends. What it receives goes into a file.
pub fn play_agent(received: &Path) -> Result<()> {
    let kept = File::create(received);
    let path = Untrusted::new(received.display());
    let mut kept = kept.map_err(Error::io(format!("{path} cannot be written")))?;
    #[expect(clippy::disallowed_methods, reason = "the chain reads it")]
    let output = io::stdout().lock();
    serve(stdin().lock(), output, &mut kept)
        .map_err(Error::io("the agent of the demo cannot go on"))
}

/// Serves until the input ends, and copies it to `kept`.
fn serve(input: impl BufRead, mut output: impl Write, kept: &mut impl Write) -> io::Result<()> {
    let mut agent = Agent::<Careless>::default();
    for line in input.lines() {
        let line = line?;
        writeln!(kept, "{line}")?;
        for said in agent.take(serde_json::from_str(&line)?) {
            writeln!(output, "{said}")?;
            output.flush()?;
        }
    }
    Ok(())
}

impl Script for Careless {
    const UNKNOWN: &'static str = "the agent of the demo does not support this method";

    fn call(&self, prompt: &Value, folder: &str) -> Value {
        if script::is_clean(prompt) {
            return json!({
                "toolCallId": "clean",
                "title": script::COMMAND,
                "kind": "execute",
                "rawInput": { "command": script::COMMAND },
            });
        }
        json!({
            "toolCallId": "edit",
            "title": script::EDIT,
            "kind": "edit",
            "locations": [{ "path": format!("{folder}/src/upload.rs") }],
        })
    }

    fn say(&self, prompt: &Value, is_allowed: bool) -> Vec<String> {
        if !script::is_clean(prompt) {
            return script::leak().into();
        }
        let said = if is_allowed {
            "Everything is gone."
        } else {
            "I was not allowed to."
        };
        vec![said.to_owned()]
    }
}
