//! acpx, a third-party client, in several versions: its turns with an agent, directly and behind acp-chain.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Stdio;

use anyhow::Result;
use serde_json::Value;

use super::places::{Place, Side};
use super::roster::Agent;
use super::steps::{Outcome, State, Step};
use super::tree;
use super::trial::{CALLED, WELL, script, texts};
use crate::client::{is_besides, kind_of};

/// The packages of acpx, the newest first.
pub const PACKAGES: [&str; 3] = ["acpx-0.19", "acpx-0.10", "acpx-0.3"];

/// The agent of their turns, which requests permissions and has the tools of servers.
pub const AGENT: &str = "opencode";

/// The steps of a client.
pub const STEPS: [Step; 3] = [Step::Text, Step::Shell, Step::ChainTool];

/// Longer than a turn takes on a busy machine.
const SECONDS: &str = "120";

/// Takes the steps with a client.
pub fn play(package: &str, agent: &Agent, place: &Place) -> Result<Vec<Outcome>> {
    let outcomes = STEPS.map(|step| match (step, place.side) {
        // acpx has no server of its own.
        (Step::ChainTool, Side::Direct) => Ok(Outcome::not_offered(step)),
        (Step::Text, _) => turn(package, agent, place, step, "text", WELL),
        (Step::Shell, _) => turn(package, agent, place, step, "shell", CALLED),
        _ => turn(package, agent, place, step, "todo", CALLED),
    });
    tree::kill(&place.home);
    outcomes.into_iter().collect()
}

fn turn(
    package: &str,
    agent: &Agent,
    place: &Place,
    step: Step,
    word: &str,
    wanted: &str,
) -> Result<Outcome> {
    let launch = agent.launch(place)?;
    let program = place.installed.npm_program(package, "acpx")?;
    let mut command = place.start(&launch, "timeout")?;
    command.args([SECONDS, "node"]).arg(program);
    command.arg("--agent").arg(place.words(&launch)?.join(" "));
    command.arg("--cwd").arg(&place.work);
    command.args(["--approve-all", "--format", "json", "--json-strict", "exec"]);
    command.arg(script(word));
    let errors = File::create(place.logs.join(format!("{word}.err")))?;
    let output = command.stdin(Stdio::null()).stderr(errors).output()?;
    Ok(outcome(step, &String::from_utf8(output.stdout)?, wanted))
}

/// The outcome of a turn, from the messages that acpx prints, one a line.
fn outcome(step: Step, printed: &str, wanted: &str) -> Outcome {
    let messages = printed.lines().map(serde_json::from_str::<Value>);
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    let mut reason = "no end of the turn".to_owned();
    for message in messages.flatten() {
        if let Some(stop) = message["result"]["stopReason"].as_str() {
            stop.clone_into(&mut reason);
        }
        match message["method"].as_str() {
            Some("session/update") => {
                let update = &message["params"]["update"];
                seen.insert(kind_of(update));
                if update["sessionUpdate"] == "agent_message_chunk" {
                    text.push_str(update["content"]["text"].as_str().unwrap_or(""));
                }
            }
            Some(method) => {
                seen.insert(format!("has {method}"));
            }
            None => {}
        }
    }
    seen.retain(|kind| !is_besides(kind));
    seen.insert(format!("ends with {reason}"));
    seen.extend(texts(&text));
    let works = reason == "end_turn" && text.contains(wanted);
    Outcome {
        step,
        state: State::of(works),
        said: format!("{reason}, \"{}\"", text.trim()),
        seen,
    }
}
