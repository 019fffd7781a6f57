//! What hooks cost: how long an agent takes for a tool call in a turn with many, without hooks, with two of the user's
//! own that do nothing, and with those of acp-chain.
//!
//! Three agents run at once, and take turns one after the other, so that a disturbance of the machine affects all.

use std::time::Instant;

use acp_chain_acp::PROMPT;
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::{Record, Trial, turn};
use crate::agents::hooked::Hooked;
use crate::agents::install::Installation;
use crate::agents::places::{Place, Side};
use crate::agents::roster::{Agent, Launch};
use crate::agents::tree;
use crate::client::Answer;
use crate::host::text;
use xtask::workspace::Workspace;

/// Adds hooks of the user's own before and after each tool.
type Own = fn(&Place) -> Result<()>;

/// The agents, by their names in `HOOKED`.
pub const AGENTS: [(&str, Own); 3] = [
    ("claude", |place| own(place, ".claude/settings.json")),
    ("codex", own_of_codex),
    ("qwen", |place| own(place, ".qwen/settings.json")),
];

/// The calls of a turn.
pub const CALLS: u32 = 20;

/// The turns of each agent.
pub const TURNS: usize = 10;

/// What the user's own hooks do.
const COMMAND: &str = "true";

/// The places of the three agents: without hooks, with the user's own, and with those of acp-chain.
pub fn places<'a>(
    workspace: &Workspace,
    installed: &'a Installation,
    name: &str,
) -> Result<[Place<'a>; 3]> {
    let make = |part: &str, side| {
        let folder = format!("{name}/speed/{part}");
        Place::make(workspace, installed, &folder, side)
    };
    Ok([
        make("without", Side::Direct)?,
        make("own", Side::Direct)?,
        make("ours", Side::Timed)?,
    ])
}

/// The milliseconds of a call, in the order of the places: the medians of all turns.
pub fn play(agent: &Agent, hooked: &Hooked, add_own: Own, places: &[Place; 3]) -> Result<[f64; 3]> {
    let times = times(agent, hooked, add_own, places);
    for place in places {
        tree::kill(&place.home);
    }
    times
}

fn times(agent: &Agent, hooked: &Hooked, add_own: Own, places: &[Place; 3]) -> Result<[f64; 3]> {
    let mut launches: Vec<Launch> = Vec::new();
    for place in places {
        let mut launch = agent.launch(place)?;
        (hooked.permit)(place, &mut launch)?;
        launches.push(launch);
    }
    let [_, with_own, with_ours] = places;
    add_own(with_own)?;
    // A guard for calls, and one for results.
    let rules = json!([{"decision": "deny", "command": "touch *forbidden*"}]);
    let permissions = json!({"use": "permissions", "config": {"rules": rules}});
    hooked.write_chain(with_ours, &[permissions, json!({"use": "redact"})])?;
    let mut trials = Vec::new();
    for (place, launch) in places.iter().zip(&launches) {
        let mut trial = Trial::connect(place, launch, "timed", Record::default())?;
        trial.greet()?;
        trials.push(trial);
    }
    let mut samples = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=TURNS {
        for step in 0..trials.len() {
            let at = (round + step) % trials.len();
            let took = trials[at].time_call()?;
            // The first turn warms up.
            samples[at].extend((round > 0).then_some(took));
        }
    }
    for trial in trials {
        trial.exit()?;
    }
    let [without, own, ours] = samples.map(middle);
    Ok([
        without.context("no turn")?,
        own.context("no turn")?,
        ours.context("no turn")?,
    ])
}

fn middle(mut samples: Vec<f64>) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}

/// Hooks in the form of Claude's settings.
fn own(place: &Place, file: &str) -> Result<()> {
    let group = json!({"matcher": "*", "hooks": [{"type": "command", "command": COMMAND}]});
    let hooks = json!({"PreToolUse": [group], "PostToolUse": [group]});
    place.add(file, &json!({"hooks": hooks}))
}

fn own_of_codex(place: &Place) -> Result<()> {
    // What Codex knows these hooks by, once a user trusts them.
    const HASHES: [(&str, &str); 2] = [
        (
            "pre_tool_use",
            "a7de97b60e1412f8e936f33ad7e97c04dfe69190d43e61d14c46265643383835",
        ),
        (
            "post_tool_use",
            "5ebec030354bb14e42dadb9396d4a8f7c02919d792939a667f26a5b710ec1bc3",
        ),
    ];
    let file = ".codex/hooks.json";
    let group = json!({"hooks": [{"type": "command", "command": COMMAND}]});
    let hooks = json!({"PreToolUse": [group], "PostToolUse": [group]});
    place.write(file, &json!({"hooks": hooks}))?;
    let path = text(&place.home.join(file))?;
    let trusted = HASHES.map(|(event, hash)| {
        format!("[hooks.state.\"{path}:{event}:0:0\"]\ntrusted_hash = \"sha256:{hash}\"\n")
    });
    let config = trusted.concat() + "[features]\nhooks = true\n";
    place.write(".codex/config.toml", &json!(config))
}

impl Trial<'_> {
    /// The milliseconds of a call in a turn with many, in a session of its own.
    fn time_call(&mut self) -> Result<f64> {
        let session = self.open_permissive()?;
        // What an agent does once in a session is not measured.
        self.client.ask(PROMPT, turn(&session, "text"))?;
        let place = self.place;
        let before = place.model.requests()?.len();
        let script = format!("calls {CALLS} {COMMAND}");
        let begin = Instant::now();
        let answer = self.client.ask(PROMPT, turn(&session, &script))?;
        let took = begin.elapsed();
        match &answer {
            Answer::Result(result) if result["stopReason"] == "end_turn" => {}
            other => bail!("a turn with calls does not end: {other:?}"),
        }
        // Each of them has the result of a call.
        let head = format!("{{\"script\":\"{script}\",\"result\":");
        let requests = place.model.requests()?;
        let results = requests[before..]
            .iter()
            .filter(|line| line.starts_with(&head));
        let count = results.count();
        ensure!(
            count >= CALLS as usize,
            "{count} of {CALLS} calls were made"
        );
        Ok(took.as_secs_f64() * 1e3 / f64::from(CALLS))
    }
}
