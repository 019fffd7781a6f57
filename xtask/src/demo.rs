//! `cargo xtask demo`: runs one turn through the real host, with three of our extensions in the chain.
//!
//! The client and the agent are scripts in this program, on two ends of real pipes; everything between them is
//! `acp-chain run` with the components from `guests/`. The command prints the host's own trace. The promises at the end
//! are checked against what the two ends received.

pub mod agent;
mod script;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use acp_chain_acp::{INITIALIZE, NEW, PERMISSION, PROMPT};
use acp_chain_ends::client::{Services, new_session, prompt};
use anyhow::{Context, Result, ensure};
use console::{Term, style};
use serde_json::Value;

use crate::client::{Client, ReceivedUpdates};
use crate::host::{Host, text};
use crate::install;
use acp_chain_picture::{chain, legs, text_of, turn};
use xtask::workspace::Workspace;

const PROXIES: [&str; 3] = ["rules", "permissions", "redact"];

/// How long the host may take to end.
const TO_END: Duration = Duration::from_mins(1);

/// The files of one run, in `target/demo`.
struct Stage {
    /// The program, which carries the proxies.
    program: PathBuf,
    manifest: PathBuf,
    project: PathBuf,
    trace: PathBuf,
    received: PathBuf,
    /// Every line that the client sent or received.
    log: PathBuf,
}

/// Builds the program unless one is given, plays the turn, prints it, and succeeds if every promise is kept.
pub fn run(workspace: &Workspace, program: Option<PathBuf>) -> Result<ExitCode> {
    let mut stage = Stage::set(workspace)?;
    match program {
        Some(program) => stage.program = program,
        None => install::build(workspace, &PROXIES, &stage.program)?,
    }
    let (heard, answer) = stage.play()?;
    let trace = fs::read_to_string(&stage.trace).context("acp-chain wrote no trace")?;
    let legs = legs(&trace).context("the trace is not as expected")?;
    let columns = Term::stdout().size_checked().map(|(_, columns)| columns);
    let width = columns.map_or(110, usize::from);
    println!("\n{}\n{}", chain(PROXIES), turn(&legs, width));
    let received = fs::read_to_string(&stage.received).context("the agent received nothing")?;
    let told = fs::read_to_string(&stage.log)?;
    let kept = tell_promises(&heard, &answer, &told, &received)?;
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
            log: folder.join("client.log"),
        })
    }

    /// Launches the host as an editor would, plays the turn, and closes; returns what the client received, and the
    /// answer.
    fn play(&self) -> Result<(ReceivedUpdates, Value)> {
        let unknown = "the client of the demo does not know that";
        let services = Services::new(Some(self.project.clone()), unknown);
        let initialize = services.initialize();
        let host = Host::launch(&self.command()?)?;
        let mut client = Client::new(host, services, File::create(&self.log)?);
        client.ask(INITIALIZE, initialize)?.result()?;
        let session = client.ask(NEW, new_session(&self.project))?.result()?;
        let turn = prompt(&session["sessionId"], &script::prompt());
        let answer = client.ask(PROMPT, turn)?.result()?;
        let heard = client.heard();
        client.close(TO_END)?;
        Ok((heard, answer))
    }

    /// The command that an editor would launch.
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

/// Prints the promises, and whether each was kept.
fn tell_promises(
    heard: &ReceivedUpdates,
    answer: &Value,
    told: &str,
    received: &str,
) -> Result<bool> {
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
            !heard.kinds.contains(&format!("asks {PERMISSION}"))
                && heard.text.contains(script::ALLOWED),
        ),
        (
            "redact: the token, streamed in three pieces, never reaches the client",
            script::TOKEN.iter().all(|piece| !told.contains(piece))
                && heard.text.contains("[hidden here"),
        ),
        (
            "the turn ends as the agent ended it",
            answer["stopReason"] == "end_turn",
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

/// The text of the prompt as the agent received it.
fn prompt_of(received: &str) -> Result<String> {
    let messages = received.lines().map(serde_json::from_str::<Value>);
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    let prompt = messages.iter().find(|message| message["method"] == PROMPT);
    ensure!(prompt.is_some(), "the agent received no prompt");
    let text = prompt.map(|message| text_of(PROMPT, &message["params"]));
    Ok(text.unwrap_or_default())
}
