//! Plays events against a chain, one after the other, and notes what the chain does with each.
//!
//! Proxies see the client's prompts, and the requests about tool runs that hooks report. Nothing that they decide
//! changes what comes next: the recording goes on as it was. A question to the user is answered with yes.

use std::collections::HashMap;
use std::time::Duration;

use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, INITIALIZE, NEW, PERMISSION, PROMPT};
use acp_chain_channel::limits::LINE;
use acp_chain_channel::{Action, Outcome, Peer};
use acp_chain_hooks::{self as hooks, Moment};
use acp_chain_kit::stage::{Stage, StageError, Tested};
use acp_chain_kit::transcript::log::{Log, LogLine};
use acp_chain_rpc::{Id, Kind, Message, code, text_member};
use serde_json::json;

use crate::event::Event;
use crate::find::Recording;
use crate::findings::{
    Decision, DecisionKind, Findings, Place, Problem, SecretKind, Totals, Within,
};
use crate::format::Format;
use crate::masks::{Masks, new_markers};
use crate::words::{rule, title, title_of_question, yes};

/// The method with which a client ends a session.
const CLOSE: &str = "session/close";

/// The folder of sessions whose own is not known, or is relative.
const NOWHERE: &str = "/";

/// How many messages the chain may send until it has decided about one.
const MOST: usize = 10_000;

/// How long the user thinks about a question, in simulated time: some proxies take a yes that comes at once for that of
/// an editor, and may be told to wait for ten seconds.
const ANSWERED_AFTER: Duration = Duration::from_secs(11);

/// How many sessions are open at once. Past it, all of them end.
const MOST_SESSIONS: usize = 100;

/// The longest name of a session, in bytes. Of a longer one, this is the name.
const LONGEST_NAME: usize = 1000;

/// The longest parameters that are sent, in bytes: the chain accepts no line that is longer, with the rest of a
/// request.
const LONGEST_PARAMS: usize = LINE - 1024;

/// Plays recordings against one chain.
pub(crate) struct Player {
    proxies: Vec<Tested>,
    is_as_written: bool,
    stage: Stage,
    log: Log,
    masks: Masks,
    /// The number of the last request of ours, and of the last session.
    last: u64,
    /// The sessions of this recording, by their names in it.
    sessions: HashMap<String, Session>,
    /// The name of the present session.
    session: Option<String>,
    /// The format of the present recording, and where the present event is.
    format: Format,
    place: Place,
    /// Whether something of the present recording was recognized, or the findings say why not.
    is_reported: bool,
    pub(crate) findings: Findings,
}

/// A session in the chain.
struct Session {
    id: String,
    /// A prompt that the agent has not answered: our number for it, and the agent's.
    turn: Option<(u64, Id)>,
}

/// What the chain has done with a request.
struct Done {
    fate: Fate,
    /// The proxy that asked the user, and the title of the question.
    asked: Option<(String, String)>,
}

enum Fate {
    /// It has reached the other end, with this id.
    Arrived(Message, Id),
    /// It was answered.
    Answered(Message),
}

impl Player {
    /// Starts a chain. Must be called within the runtime of a stage, whose thread logs to `log`.
    pub(crate) async fn start(
        proxies: Vec<Tested>,
        is_as_written: bool,
        log: Log,
    ) -> Result<Self, StageError> {
        let mut player = Self {
            stage: Stage::start(proxies.clone(), is_as_written).await?,
            proxies,
            is_as_written,
            log,
            masks: Masks::default(),
            last: 0,
            sessions: HashMap::new(),
            session: None,
            format: Format::Trace,
            place: Place::default(),
            is_reported: false,
            findings: Findings::default(),
        };
        player.greet().await?;
        Ok(player)
    }

    /// Starts the chain anew, in place of one that does not go on.
    pub(crate) async fn restart(&mut self) -> Result<(), StageError> {
        self.stage = Stage::start(self.proxies.clone(), self.is_as_written).await?;
        self.sessions.clear();
        self.session = None;
        self.greet().await
    }

    async fn greet(&mut self) -> Result<(), StageError> {
        let [params, result] = Stage::greeting();
        self.set_up(INITIALIZE, params, result).await?;
        Ok(())
    }

    /// Begins the recording with this number.
    pub(crate) fn begin(&mut self, recording: usize, about: &Recording) {
        self.format = about.format;
        self.place = Place { recording, line: 0 };
        self.is_reported = false;
        let totals = self.totals();
        totals.recordings += 1;
        totals.bytes = totals.bytes.saturating_add(about.size);
    }

    /// Plays an event of a line of the recording.
    pub(crate) async fn play(&mut self, line: u64, event: Event) -> Result<(), StageError> {
        self.at(line);
        self.is_reported = true;
        match event {
            Event::Session { id, cwd } => self.enter(id, cwd).await?,
            Event::Prompt(texts) => self.prompt(&texts).await?,
            Event::Tool(run) => self.run(&run).await?,
            Event::Used { model, tokens } => self.findings.used(self.format, &model, tokens),
            Event::Cost { currency, amount } => self.findings.cost(&currency, amount),
        }
        Ok(())
    }

    /// Notes that a part of the recording was not played.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.is_reported = true;
        self.findings.problem(problem, self.place);
    }

    /// What comes next is in this line of the recording.
    pub(crate) fn at(&mut self, line: u64) {
        self.place.line = line;
    }

    /// Counts the recording if nothing in it was recognized: it has no message, or a newer version has written it.
    pub(crate) fn count_unrecognized(&mut self, about: &Recording) {
        if !self.is_reported && about.size > 0 {
            self.totals().unrecognized += 1;
        }
    }

    /// Ends the sessions of a recording.
    pub(crate) async fn end(&mut self) -> Result<(), StageError> {
        self.session = None;
        let names: Vec<_> = self.sessions.keys().cloned().collect();
        for name in names {
            self.end_turn(&name).await?;
            if let Some(session) = self.sessions.remove(&name) {
                let params = json!({ "sessionId": session.id }).to_string();
                self.set_up(CLOSE, &params, "{}").await?;
            }
        }
        Ok(())
    }

    fn totals(&mut self) -> &mut Totals {
        self.findings.totals.entry(self.format).or_default()
    }

    /// Begins a session, or goes on with one.
    async fn enter(&mut self, mut name: String, cwd: Option<String>) -> Result<(), StageError> {
        name.truncate(name.floor_char_boundary(LONGEST_NAME));
        if !self.sessions.contains_key(&name) {
            if self.sessions.len() >= MOST_SESSIONS {
                self.end().await?;
            }
            self.totals().sessions += 1;
            let id = format!("scan-{}", self.last + 1);
            let cwd = cwd.filter(|cwd| cwd.starts_with('/'));
            let cwd = cwd.as_deref().unwrap_or(NOWHERE);
            let params = json!({ "cwd": cwd, "mcpServers": [] }).to_string();
            let result = json!({ "sessionId": id }).to_string();
            let answer = self.set_up(NEW, &params, &result).await?;
            if answer.kind() == Kind::Error {
                self.problem(Problem::Refused);
            }
            self.sessions
                .insert(name.clone(), Session { id, turn: None });
        }
        self.session = Some(name);
        Ok(())
    }

    /// The name of the present session, and its id in the chain. Events before any session begin one.
    async fn present(&mut self) -> Result<(String, String), StageError> {
        let name = self.session.clone().unwrap_or_default();
        if !self.sessions.contains_key(&name) {
            self.enter(name.clone(), None).await?;
        }
        let session = self.sessions.get(&name);
        let id = session.map(|session| session.id.clone());
        Ok((name, id.unwrap_or_default()))
    }

    async fn prompt(&mut self, texts: &[String]) -> Result<(), StageError> {
        self.totals().prompts += 1;
        let (name, id) = self.present().await?;
        self.end_turn(&name).await?;
        let blocks = texts
            .iter()
            .map(|text| json!({ "type": "text", "text": text }));
        let blocks: Vec<_> = blocks.collect();
        let params = json!({ "sessionId": id, "prompt": blocks }).to_string();
        if !self.fits(&params) {
            return Ok(());
        }
        let done = self.send(Peer::Client, PROMPT, &params).await?;
        let number = self.last;
        self.note_question(None, done.asked);
        match done.fate {
            Fate::Arrived(message, theirs) => {
                self.note_change(None, Within::Prompt, &params, message.body());
                if let Some(session) = self.sessions.get_mut(&name) {
                    session.turn = Some((number, theirs));
                }
            }
            Fate::Answered(answer) => self.note_refusal(None, Decision::Denied, &answer),
        }
        Ok(())
    }

    async fn run(&mut self, run: &hooks::Event) -> Result<(), StageError> {
        let (_, id) = self.present().await?;
        let is_result = run.moment == Moment::AfterTool;
        let dialect = self.format.dialect();
        let changes_input = dialect.is_none_or(|dialect| dialect.changes_input);
        let Ok(params) = run.params(&id, is_result || changes_input) else {
            self.problem(Problem::Damaged);
            return Ok(());
        };
        if !self.fits(&params) {
            return Ok(());
        }
        let (method, refused) = if is_result {
            (AFTER_TOOL, Decision::Withheld)
        } else {
            self.totals().calls += 1;
            (BEFORE_TOOL, Decision::Denied)
        };
        let done = self.send(Peer::Agent, method, &params).await?;
        self.note_question(Some(run), done.asked);
        match done.fate {
            Fate::Answered(answer) if answer.kind() == Kind::Result => {
                self.note_change(Some(run), Within::Result, &params, answer.body());
            }
            Fate::Answered(answer) => self.note_refusal(Some(run), refused, &answer),
            // No end ever gets a report.
            Fate::Arrived(..) => {}
        }
        Ok(())
    }

    /// Whether the chain accepts a message with these parameters. A problem if not.
    fn fits(&mut self, params: &str) -> bool {
        let fits = params.len() <= LONGEST_PARAMS;
        if !fits {
            self.problem(Problem::TooLong);
        }
        fits
    }

    /// Ends the turn of a session, if it has one.
    async fn end_turn(&mut self, name: &str) -> Result<(), StageError> {
        let session = self.sessions.get_mut(name);
        let Some((number, theirs)) = session.and_then(|session| session.turn.take()) else {
            return Ok(());
        };
        let result = r#"{"stopReason":"end_turn"}"#;
        self.stage.answer(Peer::Agent, &theirs, result).await?;
        self.settle(Peer::Client, number, "").await?;
        Ok(())
    }

    /// Sends a request of the client that the agent answers with this result. Returns what the client is answered.
    async fn set_up(
        &mut self,
        method: &str,
        params: &str,
        result: &str,
    ) -> Result<Message, StageError> {
        let done = self.send(Peer::Client, method, params).await?;
        let number = self.last;
        match done.fate {
            Fate::Answered(answer) => Ok(answer),
            Fate::Arrived(_, id) => {
                self.stage.answer(Peer::Agent, &id, result).await?;
                match self.settle(Peer::Client, number, "").await?.fate {
                    Fate::Answered(answer) => Ok(answer),
                    Fate::Arrived(..) => Err(StageError::Stuck),
                }
            }
        }
    }

    /// Sends a request, and waits until it has reached the other end, or was answered.
    async fn send(&mut self, from: Peer, method: &str, params: &str) -> Result<Done, StageError> {
        self.log.take();
        self.stage.calls().for_each(drop);
        self.last += 1;
        self.stage.ask(from, self.last, method, params).await?;
        self.settle(from, self.last, method).await
    }

    /// Waits until a request with this method has reached the other end, or was answered.
    async fn settle(&mut self, from: Peer, number: u64, method: &str) -> Result<Done, StageError> {
        let mut asked = None;
        for _ in 0..MOST {
            let (to, message) = self.stage.next().await?;
            match (message.kind(), message.id()) {
                (Kind::Request, Some(id)) if to != from && &**message.method() == method => {
                    let fate = Fate::Arrived(message, id);
                    return Ok(Done { fate, asked });
                }
                (Kind::Request, Some(id)) if &**message.method() == PERMISSION => {
                    let sender = self.stage.sender(to, &message).unwrap_or("acp-chain");
                    asked = Some((sender.to_owned(), title_of_question(message.body())));
                    Stage::wait(ANSWERED_AFTER).await;
                    let answer = yes(message.body());
                    self.stage.answer(to, &id, &answer).await?;
                }
                (Kind::Request, Some(id)) => {
                    let error =
                        json!({ "code": code::METHOD_NOT_FOUND, "message": "not in a scan" });
                    self.stage.reject(to, &id, &error.to_string()).await?;
                }
                (Kind::Result | Kind::Error, Some(id))
                    if to == from && id.as_str() == number.to_string() =>
                {
                    let fate = Fate::Answered(message);
                    return Ok(Done { fate, asked });
                }
                _ => {}
            }
        }
        Err(StageError::Stuck)
    }

    /// A question to the user, about a call or a prompt.
    fn note_question(&mut self, call: Call, asked: Option<(String, String)>) {
        let Some((proxy, question)) = asked else {
            return;
        };
        let lines = self.log.take();
        let is_own = |line: &&LogLine| line.proxy.as_deref() == Some(proxy.as_str());
        let own = lines.iter().filter(is_own);
        let own: Vec<_> = own.map(|line| line.text.as_str()).collect();
        // Titles of calls, which are texts from outside, may name rules, too.
        let naming = own.iter().rfind(|line| line.starts_with("rule "));
        let said = naming.or(own.last()).copied();
        let why = said.map_or(question, str::to_owned);
        self.decide(call, Decision::Asked, proxy, &why);
    }

    /// A refusal.
    fn note_refusal(&mut self, call: Call, decision: Decision, answer: &Message) {
        let refuses = |outcome: &Outcome| match outcome {
            Outcome::Decided(Action::Answer(answer)) => answer.kind() == Kind::Error,
            Outcome::Refused(_) | Outcome::Broke(_) => true,
            Outcome::Decided(_) | Outcome::Told => false,
        };
        let proxy = self.first(refuses);
        let why = text_member(answer.body(), "message").unwrap_or_default();
        self.decide(call, decision, proxy, &why);
    }

    /// The first proxy with such an outcome.
    fn first(&self, is_such: impl Fn(&Outcome) -> bool) -> String {
        let mut proxies = self.stage.calls();
        let found = proxies.find(|(_, calls)| calls.iter().any(|call| is_such(&call.outcome)));
        found.map_or("acp-chain", |(name, _)| name).to_owned()
    }

    fn decide(&mut self, call: Call, decision: Decision, proxy: String, why: &str) {
        let shown = rule(why).unwrap_or_else(|| self.masks.shown(why));
        let kind = DecisionKind {
            decision,
            proxy,
            why: shown,
        };
        let group = self.findings.decided(kind);
        group.add(1, self.place, || shown_call(call, &self.masks));
    }

    /// What has passed the chain, perhaps changed.
    fn note_change(&mut self, call: Call, within: Within, before: &str, after: &str) {
        if before == after {
            return;
        }
        let secrets = new_markers(before, after);
        if secrets.is_empty() {
            let changes =
                |outcome: &Outcome| matches!(outcome, Outcome::Decided(Action::Replace(_)));
            let proxy = self.first(changes);
            self.decide(call, Decision::Changed, proxy, "");
        }
        for (name, count) in secrets {
            let group = self.findings.secret(SecretKind { name, within });
            group.add(count, self.place, || shown_call(call, &self.masks));
        }
    }
}

/// What is decided about: a call, or else a prompt.
type Call<'c> = Option<&'c hooks::Event>;

/// A call in a report.
fn shown_call(call: Call, masks: &Masks) -> String {
    call.map_or_else(|| "a prompt".to_owned(), |call| masks.shown(&title(call)))
}
