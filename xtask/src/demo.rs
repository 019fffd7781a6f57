//! `cargo xtask demo`: one turn through the real host, with our three extensions in the chain.
//!
//! The client and the agent are scripts in this program, on two ends of real pipes; everything
//! between them is `acp-chain run` with the components from `guests/`. What is printed is the
//! host's own trace. What is promised at the end is judged by what the two ends saw.

pub mod agent;
mod client;
mod script;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use console::{Term, style};
use serde_json::Value;

use crate::host::text;
use crate::install;
use acp_chain_picture::{chain, legs, text_of, turn};
use client::Heard;
use xtask::workspace::Workspace;

const PROXIES: [&str; 3] = ["rules", "permissions", "redact"];

/// The files of one run, in `target/demo`.
struct Stage {
    /// The program, which carries the proxies.
    program: PathBuf,
    manifest: PathBuf,
    project: PathBuf,
    trace: PathBuf,
    received: PathBuf,
}

/// Builds the program, unless there is one, plays the turn, tells it, and succeeds if it went as promised.
pub fn run(workspace: &Workspace, program: Option<PathBuf>) -> Result<ExitCode> {
    let mut stage = Stage::set(workspace)?;
    match program {
        Some(program) => stage.program = program,
        None => install::build(workspace, &PROXIES, &stage.program)?,
    }
    let heard = client::play(&stage.command()?, &stage.project)?;
    let trace = fs::read_to_string(&stage.trace).context("acp-chain wrote no trace")?;
    let legs = legs(&trace).context("the trace is not as expected")?;
    let columns = Term::stdout().size_checked().map(|(_, columns)| columns);
    let width = columns.map_or(110, usize::from);
    println!("\n{}\n{}", chain(PROXIES), turn(&legs, width));
    let received = fs::read_to_string(&stage.received).context("the agent received nothing")?;
    let kept = tell_promises(&heard, &received)?;
    println!("\nThe trace: {}", stage.trace.display());
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Stage {
    fn set(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target("demo");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let project = folder.join("project");
        fs::create_dir_all(&project)?;
        fs::write(project.join("AGENTS.md"), script::RULES)?;
        let manifest = folder.join("acp-chain.toml");
        fs::write(&manifest, script::MANIFEST)?;
        Ok(Self {
            program: folder.join("acp-chain"),
            manifest,
            project,
            trace: folder.join("trace.ndjson"),
            received: folder.join("received.ndjson"),
        })
    }

    /// What an editor would launch.
    fn command(&self) -> Result<Vec<String>> {
        let ourselves = std::env::current_exe()?;
        Ok(vec![
            text(&self.program)?,
            "run".into(),
            "--manifest".into(),
            text(&self.manifest)?,
            "--trace".into(),
            text(&self.trace)?,
            "--".into(),
            text(&ourselves)?,
            "demo-agent".into(),
            text(&self.received)?,
        ])
    }
}

/// Prints what was promised, and whether it was kept.
fn tell_promises(heard: &Heard, received: &str) -> Result<bool> {
    let prompt = prompt_of(received)?;
    let promises = [
        (
            "rules: the project's AGENTS.md comes with the prompt, behind the question",
            prompt
                .find(script::RULES.trim())
                .zip(prompt.find(script::QUESTION))
                .is_some_and(|(rules, question)| question < rules),
        ),
        (
            "redact: the key in the prompt never reaches the agent",
            !received.contains(script::KEY) && prompt.contains("[redacted"),
        ),
        (
            "permissions: the edit is allowed, and the user never asked",
            heard.permissions_asked == 0 && heard.text.contains(script::ALLOWED),
        ),
        (
            "redact: the token, streamed in three pieces, never reaches the client",
            script::TOKEN
                .iter()
                .all(|piece| !heard.everything.contains(piece))
                && heard.text.contains("[hidden here"),
        ),
        (
            "the turn ends as the agent ended it",
            heard.stop_reason == "end_turn",
        ),
    ];
    println!();
    for (promise, kept) in promises {
        let mark = if kept {
            style("✓").green()
        } else {
            style("✗ broken:").red()
        };
        println!("{mark} {promise}");
    }
    Ok(promises.iter().all(|(_, kept)| *kept))
}

/// The text of the prompt as the agent got it.
fn prompt_of(received: &str) -> Result<String> {
    let messages = received.lines().map(serde_json::from_str::<Value>);
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    let prompt = messages
        .iter()
        .find(|message| message["method"] == "session/prompt");
    ensure!(prompt.is_some(), "the agent received no prompt");
    let text = prompt.map(|message| text_of("session/prompt", &message["params"]));
    Ok(text.unwrap_or_default())
}
