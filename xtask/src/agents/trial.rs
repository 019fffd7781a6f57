//! One agent takes all steps; in `hooks`, with its hooks attached, in `brake`, with limits, and in `thirds`, asked
//! about before it posts a key, with what `receipts` finds in their log. In `speed`, its calls are timed.

mod brake;
pub mod hooks;
mod receipts;
pub mod speed;
mod thirds;

use std::fs::File;
use std::thread;
use std::time::Duration;

use acp_chain_acp::{CANCEL, INITIALIZE, NEW, PROMPT};
use acp_chain_ends::client::{Services, prompt};
use anyhow::Result;
use serde_json::{Value, json};

use super::places::{Place, Side};
use super::roster::{Agent, Launch, Transport};
use super::steps::{Outcome, State, Step};
use super::tree;
use crate::client::{Answer, Client, ReceivedUpdates};
use crate::host::Host;

/// The texts of the model, see `tests/peers/coding-agents/model.mjs`.
pub const WELL: &str = "All is well.";
pub const CALLED: &str = "The tool said mark-42.";

const MISSING: &str = "No such tool";

/// How long an agent may take to end after its input is closed.
const TO_END: Duration = Duration::from_secs(15);

/// How long the other processes of an agent may take to end after it.
const TO_VANISH: Duration = Duration::from_secs(10);

/// A connection on which steps are taken.
struct Trial<'a> {
    place: &'a Place<'a>,
    launch: &'a Launch,
    client: Client,
    record: Record,
}

/// What is known of the agent so far.
#[derive(Default)]
struct Record {
    outcomes: Vec<Outcome>,
    capabilities: Value,
}

/// Takes all steps with an agent.
pub fn play(agent: &Agent, place: &Place) -> Result<Vec<Outcome>> {
    let outcomes = steps(agent, place);
    tree::kill(&place.home);
    outcomes
}

fn steps(agent: &Agent, place: &Place) -> Result<Vec<Outcome>> {
    let launch = agent.launch(place)?;
    let mut trial = Trial::connect(place, &launch, "first", Record::default())?;
    trial.initialize()?;
    let session = trial.new_session()?;
    let tool = trial.tool();
    trial.prompt(Step::Text, &session, "text", WELL)?;
    trial.prompt(Step::Shell, &session, "shell", CALLED)?;
    trial.prompt(Step::ClientTool, &session, "probe", CALLED)?;
    trial.prompt(Step::ChainTool, &session, tool, CALLED)?;
    let (second, opened) = trial.open()?;
    trial.prompt(Step::SecondSession, &second, tool, CALLED)?;
    trial.set_mode(&second, &opened)?;
    trial.cancel(&session)?;
    let record = trial.exit()?;

    thread::sleep(launch.rest);
    // A new process, which has to know the earlier sessions.
    let mut trial = Trial::connect(place, &launch, "second", record)?;
    trial.greet()?;
    trial.return_to(Step::Load, "session/load", &session)?;
    trial.return_to(Step::Resume, "session/resume", &second)?;
    Ok(trial.record.outcomes)
}

impl<'a> Trial<'a> {
    fn connect(place: &'a Place, launch: &'a Launch, name: &str, record: Record) -> Result<Self> {
        let file = |kind: &str| File::create(place.logs.join(format!("{name}.{kind}")));
        let words = place.words(launch)?;
        let mut command = place.start(launch, &words[0])?;
        command.args(&words[1..]);
        let host = Host::start(command.stderr(file("err")?))?;
        let services = Services::new(None, "the client does not do this");
        Ok(Self {
            client: Client::new(host, services, file("jsonl")?),
            place,
            launch,
            record,
        })
    }

    /// The script that makes the model call a tool of the chain, or without a chain a similar tool of the client.
    fn tool(&self) -> &'static str {
        match self.place.side {
            Side::Direct => "add",
            Side::Behind | Side::Hooked | Side::Timed => "todo",
        }
    }

    /// `initialize`, and `authenticate` where the agent needs it.
    fn greet(&mut self) -> Result<Answer> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "acp-chain-trial", "version": "1.0.0"},
        });
        let answer = self.client.ask(INITIALIZE, params)?;
        let Some(method) = self.launch.sign_in else {
            return Ok(answer);
        };
        match self
            .client
            .ask("authenticate", json!({"methodId": method}))?
        {
            Answer::Result(_) => Ok(answer),
            other => Ok(other),
        }
    }

    fn initialize(&mut self) -> Result<()> {
        let answer = self.greet()?;
        if let Answer::Result(result) = &answer {
            self.record.capabilities = result["agentCapabilities"].clone();
        }
        let version = |result: &Value| result["protocolVersion"] == 1;
        self.took(Step::Initialize, &answer, version);
        Ok(())
    }

    fn new_session(&mut self) -> Result<Value> {
        let (session, answer) = self.open()?;
        self.took(Step::NewSession, &answer, |result| {
            result["sessionId"].is_string()
        });
        Ok(session)
    }

    fn open(&mut self) -> Result<(Value, Answer)> {
        let answer = self.client.ask(NEW, self.where_it_works())?;
        let session = match &answer {
            Answer::Result(result) => result["sessionId"].clone(),
            _ => json!("none"),
        };
        Ok((session, answer))
    }

    /// The parameters of all methods that open a session: the folder, and the client's own MCP server.
    fn where_it_works(&self) -> Value {
        let installed = self.place.installed;
        let server = match self.launch.servers {
            Transport::Stdio => json!({
                "name": "probe",
                "command": installed.modules.join("node/bin/node"),
                "args": [installed.scripts.join("probe.mjs")],
                "env": [],
            }),
            Transport::Http => json!({
                "type": "http",
                "name": "probe",
                "url": format!("{}/mcp", self.place.model.url),
                "headers": [],
            }),
        };
        json!({"cwd": self.place.work, "mcpServers": [server]})
    }

    fn prompt(&mut self, step: Step, session: &Value, script: &str, wanted: &str) -> Result<()> {
        let turn = turn(session, script);
        let mut answer = self.client.ask(PROMPT, turn.clone())?;
        // Some agents take a turn before they have requested the tools of all servers.
        for _ in 0..2 {
            if self.client.text().contains(MISSING) {
                self.client.heard();
                answer = self.client.ask(PROMPT, turn.clone())?;
            }
        }
        let text = self.client.text().to_owned();
        self.took(step, &answer, |result| {
            result["stopReason"] == "end_turn" && text.contains(wanted)
        });
        Ok(())
    }

    fn cancel(&mut self, session: &Value) -> Result<()> {
        let model = &self.place.model;
        model.holds();
        let cancel = json!({"sessionId": session});
        let answer = self
            .client
            .ask_while(PROMPT, turn(session, "hold"), |client| {
                if model.holds() {
                    client.notify(CANCEL, cancel.clone())?;
                }
                Ok(())
            })?;
        self.took(Step::Cancel, &answer, |result| {
            result["stopReason"] == "cancelled"
        });
        Ok(())
    }

    /// Sets the first mode other than the current one.
    fn set_mode(&mut self, session: &Value, opened: &Answer) -> Result<()> {
        let Some((method, mut params)) = mode(opened, |id, current| id != current) else {
            self.record.outcomes.push(Outcome::not_offered(Step::Mode));
            return Ok(());
        };
        params["sessionId"] = session.clone();
        let answer = self.client.ask(method, params)?;
        self.took(Step::Mode, &answer, |_| true);
        Ok(())
    }

    /// Loads or resumes an earlier session, and takes a turn in it.
    fn return_to(&mut self, step: Step, method: &str, session: &Value) -> Result<()> {
        let offered = match step {
            Step::Load => self.record.capabilities["loadSession"] == true,
            _ => self.record.capabilities["sessionCapabilities"]["resume"].is_object(),
        };
        if !offered {
            self.record.outcomes.push(Outcome::not_offered(step));
            return Ok(());
        }
        let mut params = self.where_it_works();
        params["sessionId"] = session.clone();
        let answer = self.client.ask(method, params)?;
        let Answer::Result(_) = answer else {
            self.took(step, &answer, |_| false);
            return Ok(());
        };
        let replayed = self.client.heard().kinds;
        self.prompt(step, session, "text", WELL)?;
        let replayed = replayed.iter().map(|kind| format!("replays {kind}"));
        if let Some(outcome) = self.record.outcomes.last_mut() {
            outcome.seen.extend(replayed);
        }
        Ok(())
    }

    /// Closes the client's end, and checks that all processes end.
    fn exit(mut self) -> Result<Record> {
        let seen = self.client.besides.clone();
        let status = self.client.close(TO_END)?;
        let left = match status {
            Some(_) => tree::left(&self.place.home, TO_VANISH),
            None => Vec::new(),
        };
        tree::kill(&self.place.home);
        let said = match (status, left.is_empty()) {
            (None, _) => format!("it does not end within {} s", TO_END.as_secs()),
            (Some(status), true) => format!("it ends with {status}"),
            (Some(_), false) => format!("it leaves behind {}", left.join(", ")),
        };
        let well = status.is_some() && left.is_empty();
        self.record.outcomes.push(Outcome {
            step: Step::Exit,
            state: State::of(well),
            said,
            seen,
        });
        Ok(self.record)
    }

    /// Records the outcome of a step, which worked if the result is right.
    fn took(&mut self, step: Step, answer: &Answer, is_right: impl FnOnce(&Value) -> bool) {
        let ReceivedUpdates { kinds, text } = self.client.heard();
        let mut seen = kinds;
        let (works, said) = match answer {
            Answer::Result(result) => {
                seen.extend(shape(result));
                seen.extend(texts(&text));
                (is_right(result), said(result, &text))
            }
            Answer::Error(error) => (false, format!("error {error}")),
            Answer::None(why) => (false, why.clone()),
        };
        match step {
            // How much of the answer comes before the cancellation is chance.
            Step::Cancel => seen.retain(|kind| kind.starts_with("ends")),
            // A history may arrive after the answer, and contains the names of the called tools.
            Step::Load | Step::Resume => seen.retain(|kind| !kind.starts_with("says")),
            _ => {}
        }
        self.record.outcomes.push(Outcome {
            step,
            state: State::of(works),
            said,
            seen,
        });
    }
}

/// The prompt that makes the model run a script.
pub fn script(word: &str) -> String {
    format!("Do as the script says: [[{word}]]")
}

fn turn(session: &Value, word: &str) -> Value {
    prompt(session, &script(word))
}

/// The request that sets the first mode that fits, without its session. `fits` gets its id, and that of the current
/// one.
fn mode(opened: &Answer, fits: impl Fn(&Value, &Value) -> bool) -> Option<(&'static str, Value)> {
    let Answer::Result(opened) = opened else {
        return None;
    };
    let modes = opened["modes"]["availableModes"].as_array();
    let other = modes.and_then(|modes| {
        let ids = modes.iter().map(|mode| &mode["id"]);
        ids.into_iter()
            .find(|id| fits(id, &opened["modes"]["currentModeId"]))
    });
    if let Some(id) = other {
        return Some(("session/set_mode", json!({"modeId": id})));
    }
    let options = opened["configOptions"].as_array()?;
    let option = options.iter().find(|option| option["category"] == "mode")?;
    let values = option["options"]
        .as_array()?
        .iter()
        .map(|one| &one["value"]);
    let other = values
        .into_iter()
        .find(|value| fits(value, &option["currentValue"]))?;
    let params = json!({"configId": option["id"], "value": other});
    Some(("session/set_config_option", params))
}

/// The parts of a result that are the same each time: how the turn ended, and the names of its members.
fn shape(result: &Value) -> Vec<String> {
    let Some(reason) = result["stopReason"].as_str() else {
        return names("", result);
    };
    let mut shape = names("", result);
    shape.push(format!("ends with {reason}"));
    shape
}

/// The paths of all members, without those in lists.
fn names(path: &str, value: &Value) -> Vec<String> {
    let members = value.as_object().into_iter().flatten();
    let names = members.flat_map(|(name, value)| {
        let path = format!("{path}/{name}");
        let within = names(&path, value);
        [format!("has {path}")].into_iter().chain(within)
    });
    names.collect()
}

/// The streamed text, and whether it contains a notice of acp-chain.
pub fn texts(text: &str) -> Vec<String> {
    let Some((before, notice)) = text.split_once("\n\n**acp-chain**: ") else {
        return vec![format!("says {text:?}")];
    };
    let after = notice.split_once("\n\n").map_or("", |(_, after)| after);
    vec![
        format!("says {:?}", [before, after].concat()),
        "a notice of acp-chain".into(),
    ]
}

/// The end of a turn, or another result, in a few words.
fn said(result: &Value, text: &str) -> String {
    match result["stopReason"].as_str() {
        Some(reason) => format!("{reason}, \"{}\"", text.trim()),
        None => "answered".into(),
    }
}
