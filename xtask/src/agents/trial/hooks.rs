//! An agent with its hooks attached, in its most permissive mode, behind a chain that refuses a command, changes
//! another, and hides a key.
//!
//! What the agent's model got is read from the requests to it, and what ran from the files that it made. Each turn has
//! a session of its own, so that no request repeats what an earlier one had.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use acp_chain_acp::{BEFORE_TOOL, PERMISSION, PROMPT};
use anyhow::Result;
use serde_json::{Value, json};

use super::{CALLED, Record, Trial, brake, mode, receipts, thirds, turn};
use crate::agents::hooked::{Hooked, OWN, PERMISSIVE};
use crate::agents::places::{Place, Side};
use crate::agents::roster::{Agent, Launch};
use crate::agents::steps::{Outcome, State, Step};
use crate::agents::tree;
use crate::client::Answer;

/// What `redact` hides.
const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// The file with the key, and with the word by which the model knows a result.
const KEY_FILE: &str = "key.txt";

/// The files that commands make. The chain refuses those whose names contain `forbidden`.
const ALLOWED: &str = "marker-allowed";
const ORIGINAL: &str = "marker-original";
const CHANGED: &str = "marker-changed";
const FORBIDDEN: &str = "marker-forbidden";
const OF_SUBAGENT: &str = "marker-forbidden-to-subagents";
const WITHOUT_HOOKS: &str = "marker-forbidden-without-hooks";

/// How long a subagent may go on after the turn that started it.
const TO_WORK: Duration = Duration::from_secs(30);

/// Takes all steps with an agent.
pub fn play(agent: &Agent, hooked: &Hooked, place: &mut Place) -> Result<Vec<Outcome>> {
    let outcomes = steps(agent, hooked, place);
    tree::kill(&place.home);
    outcomes
}

fn steps(agent: &Agent, hooked: &Hooked, place: &mut Place) -> Result<Vec<Outcome>> {
    let mut launch = agent.launch(place)?;
    (hooked.permit)(place, &mut launch)?;
    (hooked.own)(place)?;
    let files = files(&place.home)?;
    place.side = Side::Direct;
    alone(place, &launch)?;
    place.side = Side::Hooked;
    let contents = files.iter().map(|file| fs::read(file).ok());
    let settings: Vec<_> = files.iter().zip(contents).collect();
    write_chain(hooked, place)?;
    fs::write(place.work.join(KEY_FILE), format!("mark-42 {KEY}\n"))?;

    let mut trial = Trial::connect(place, &launch, "hooked", Record::default())?;
    trial.greet()?;
    trial.take_turns(hooked)?;
    let mut record = trial.exit()?;
    let trace = fs::read_to_string(place.trace()).unwrap_or_default();
    if !hooked.only_asks {
        record.forbid_questions();
    }
    let seen = if hooked.only_asks {
        PERMISSION
    } else {
        BEFORE_TOOL
    };
    let mut requests = trace.lines().filter(|line| line.contains(seen));
    if !requests.any(|line| line.contains(ALLOWED)) {
        record.fail(Step::Sees, "the chain has no request about it");
    }
    let own = place.home.join(OWN).exists();
    let mut changed = Vec::new();
    for (file, content) in &settings {
        if fs::read(file).ok() != *content {
            changed.push(file.display().to_string());
        }
    }
    record.outcomes.extend([
        Outcome::of(Step::OwnHook, own, "it has not run".into()),
        Outcome::of(Step::Settings, changed.is_empty(), changed.join(", ")),
    ]);
    let record = brake::steps(hooked, place, &launch, record)?;
    let mut record = thirds::steps(hooked, place, &launch, record)?;
    receipts::step(place, &[KEY, FORBIDDEN], &mut record);

    write_chain(hooked, place)?;
    (hooked.disable)(place, &mut launch)?;
    let mut trial = Trial::connect(place, &launch, "unhooked", record)?;
    trial.greet()?;
    trial.take_turn_without_hooks()?;
    Ok(trial.record.outcomes)
}

/// A turn without acp-chain, since agents change some of their settings by themselves.
fn alone(place: &Place, launch: &Launch) -> Result<()> {
    let mut trial = Trial::connect(place, launch, "alone", Record::default())?;
    trial.greet()?;
    trial.take_turn("text")?;
    trial.exit()?;
    Ok(())
}

/// Writes the manifest.
fn write_chain(hooked: &Hooked, place: &Place) -> Result<()> {
    let command = format!("/toolCall/rawInput{}", hooked.command);
    let change = json!([
        {"unless": {"pointer": "/canChange", "is": true}},
        {"unless": {"pointer": command, "is": touch(place, ORIGINAL)}},
        {"edit": {"pointer": command, "value": touch(place, CHANGED)}},
    ]);
    let does = json!({
        "id": "does",
        "path": place.installed.does,
        "powers": ["tool-runs.read", "tool-runs.change"],
        "config": {"requests": {BEFORE_TOOL: change}},
    });
    let rules = json!([{"decision": "deny", "command": "touch *forbidden*"}]);
    let permissions = json!({"use": "permissions", "config": {"rules": rules}});
    let redact = json!({"use": "redact"});
    hooked.write_chain(place, &[does, permissions, redact])
}

impl Trial<'_> {
    fn take_turns(&mut self, hooked: &Hooked) -> Result<()> {
        let place = self.place;
        let exists = |name: &str| place.work.join(name).exists();
        let shell = |name: &str| format!("shell {}", touch(place, name));
        let file = place.work.join(KEY_FILE);
        let key = file.display();
        let hides = |requests: &[String]| !requests.iter().any(|line| line.contains(KEY));

        self.runs(Step::Sees, &shell(ALLOWED), |_, _| exists(ALLOWED))?;
        self.runs(Step::Refuses, &shell(FORBIDDEN), |_, requests| {
            !exists(FORBIDDEN) && is_refused(requests, &shell(FORBIDDEN))
        })?;
        self.runs(Step::Changes, &shell(ORIGINAL), |_, _| {
            exists(CHANGED) && !exists(ORIGINAL)
        })?;
        self.runs(Step::HidesFile, &format!("read {key}"), |text, requests| {
            text.contains(CALLED) && hides(requests)
        })?;
        let cat = format!("shell cat {key}");
        self.runs(Step::HidesOutput, &cat, |text, requests| {
            text.contains(CALLED) && hides(requests)
        })?;
        let fail = format!("shell cat {key}; exit 3");
        self.runs(Step::HidesFailure, &fail, |text, requests| {
            text.contains("The tool said") && hides(requests)
        })?;
        self.have_subagent_refused(hooked.subagent)
    }

    /// Takes a turn. The step worked if it ended, and the rest is right: the text of the model, and the requests to it.
    fn runs(
        &mut self,
        step: Step,
        script: &str,
        is_right: impl FnOnce(&str, &[String]) -> bool,
    ) -> Result<()> {
        let place = self.place;
        let before = place.model.requests()?.len();
        let answer = self.take_turn(script)?;
        let text = self.client.text().to_owned();
        let requests = place.model.requests()?;
        self.took(step, &answer, |result| {
            result["stopReason"] == "end_turn" && is_right(&text, &requests[before..])
        });
        Ok(())
    }

    /// Takes a turn in a session of its own, in which the agent asks for nothing.
    pub(super) fn take_turn(&mut self, script: &str) -> Result<Answer> {
        let session = self.open_permissive()?;
        self.client.ask(PROMPT, turn(&session, script))
    }

    /// Opens a session in which the agent asks for nothing.
    pub(super) fn open_permissive(&mut self) -> Result<Value> {
        let (session, opened) = self.open()?;
        let is_permissive = |id: &Value| PERMISSIVE.split(' ').any(|known| id == known);
        if let Some((method, mut params)) = mode(&opened, |id, _| is_permissive(id)) {
            params["sessionId"] = session.clone();
            self.client.ask(method, params)?;
        }
        Ok(session)
    }

    fn have_subagent_refused(&mut self, kind: Option<&str>) -> Result<()> {
        let step = Step::Subagent;
        let Some(kind) = kind else {
            self.record.outcomes.push(Outcome::not_offered(step));
            return Ok(());
        };
        let place = self.place;
        let command = touch(place, OF_SUBAGENT);
        self.runs(step, &format!("subagent {kind} {command}"), |_, _| true)?;
        // Some agents do not wait for their subagents.
        let script = format!("shell {command}");
        let start = Instant::now();
        while !is_refused(&place.model.requests()?, &script) {
            if start.elapsed() > TO_WORK {
                self.record.fail(step, "the subagent is not refused");
                return Ok(());
            }
            thread::sleep(Duration::from_millis(500));
        }
        if place.work.join(OF_SUBAGENT).exists() {
            self.record.fail(step, "the subagent's command has run");
        }
        Ok(())
    }

    fn take_turn_without_hooks(&mut self) -> Result<()> {
        let place = self.place;
        let command = touch(place, WITHOUT_HOOKS);
        let answer = self.take_turn(&format!("shell {command}"))?;
        // It may be refused, cancelled or answered with an error.
        let is_answered = !matches!(answer, Answer::None(_));
        let works = is_answered && !place.work.join(WITHOUT_HOOKS).exists();
        let said = format!("{answer:?}, \"{}\"", self.client.text().trim());
        let outcome = Outcome::of(Step::HooksOff, works, said);
        self.record.outcomes.push(outcome);
        Ok(())
    }
}

impl Record {
    /// Marks the steps in which the agent asked for permission as failed.
    fn forbid_questions(&mut self) {
        let asks = format!("asks {PERMISSION}");
        let outcomes = self.outcomes.iter();
        let asking = outcomes.filter(|outcome| outcome.seen.contains(&asks));
        let steps: Vec<_> = asking.map(|outcome| outcome.step).collect();
        for step in steps {
            self.fail(step, "it asks for permission");
        }
    }

    /// Marks a step that was taken as failed.
    fn fail(&mut self, step: Step, why: &str) {
        let mut outcomes = self.outcomes.iter_mut();
        if let Some(outcome) = outcomes.find(|outcome| outcome.step == step) {
            outcome.state = State::Fails;
            outcome.said = format!("{why}: {}", outcome.said);
        }
    }
}

/// The command that makes a file.
fn touch(place: &Place, name: &str) -> String {
    format!("touch {}", place.work.join(name).display())
}

/// Whether the model was told that the call of a script was refused.
fn is_refused(requests: &[String], script: &str) -> bool {
    let lines = requests.iter().filter(|line| line.contains(script));
    let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut results = lines.filter(|line| line["script"] == script);
    results.any(|line| {
        let result = line["result"].as_str().unwrap_or_default().to_lowercase();
        let refusals = ["denied", "refused", "canceled by the user"];
        refusals.iter().any(|words| result.contains(words))
    })
}

/// All files in a folder and below.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
