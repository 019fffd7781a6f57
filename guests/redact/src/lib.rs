//! Keeps secrets from the agent, and out of the messages that it shows to the user.
//!
//! See the README for what is covered and what is not.

mod body;
mod config;
mod files;
mod idle;
mod streams;
mod update;
mod whole;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use acp_chain_proxy::acp::{
    AFTER_TOOL, BEFORE_TOOL, Change, ELICITATION, Life, METHODS, PERMISSION, PROMPT, READ, UPDATE,
    WRITE,
};
use acp_chain_proxy::{
    Action, Configure, Edit, Error, FailurePolicy, Head, Json, MessageId, Notification, Peer,
    Proxy, Request, Response, Result, Step, Strings, Subscription, Version, debug, export, id,
    save, sleep, spawn, warn,
};
use acp_chain_secrets::{Detector, Effort, End, Marker, Marking};
use serde::{Deserialize, Serialize};

use body::Findings;
use config::Config;
use files::Files;
use files::markers::{markers, name};
use idle::IdleSessions;
use streams::Streams;
use update::Update;

struct Redact {
    detector: Rc<Detector>,
    reads: bool,
    state: Rc<State>,
    files: Files,
    idle: IdleSessions,
    /// Whether a task waits for a pause of the agent.
    waits: Rc<Cell<bool>>,
}

/// State that must survive a restart, so that a new instance passes no secret. If it cannot be saved, the message is
/// refused.
#[derive(Default, Deserialize, Serialize)]
struct State {
    streams: Streams,
    /// The kinds of secrets that were withheld from the agent.
    given: RefCell<BTreeSet<String>>,
    /// The form of notices.
    version: Cell<Version>,
}

impl Configure for Redact {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            reads: config.reads,
            detector: Rc::new(config.detector()?),
            state: Rc::default(),
            files: Files::default(),
            idle: IdleSessions::default(),
            waits: Rc::default(),
        })
    }
}

const OUTPUT: &str = "terminal/output";

/// The agent pauses when it sends nothing for this long, or for up to twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// The methods whose errors are examined.
const COVERED: &[&str] = &[PROMPT, READ, OUTPUT];

impl Proxy for Redact {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Version::SUBSCRIPTION,
        // Without body: prompts of any length are read in `whole`.
        Subscription::requests(PROMPT)
            .from(Peer::Client)
            .without_body(),
        Subscription::notifications(UPDATE).from(Peer::Agent),
        Subscription::requests(PERMISSION).from(Peer::Agent),
        Subscription::requests(ELICITATION).from(Peer::Agent),
        Subscription::requests(WRITE).from(Peer::Agent),
        // The rest of a text is sent before these.
        Subscription::responses(PROMPT)
            .from(Peer::Agent)
            .without_body(),
    ];

    /// Bypassing it would let secrets through.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Refuse;

    /// As a guard it sees every message that the agent sends and receives.
    const GUARD: bool = true;

    fn subscriptions(&self) -> Vec<Subscription> {
        let reads = [
            Subscription::requests(READ)
                .from(Peer::Agent)
                .without_body(),
            Subscription::responses(READ).from(Peer::Client),
            Subscription::responses(OUTPUT).from(Peer::Client),
            Subscription::requests(AFTER_TOOL).from(Peer::Agent),
            Subscription::requests(BEFORE_TOOL).from(Peer::Agent),
        ];
        let reads = reads.into_iter().filter(|_| self.reads);
        // They replay a history. The rest of a text is sent before their responses.
        let setups = METHODS.iter().filter(|method| method.life.sets_up());
        let setups = setups.flat_map(|method| {
            let loads = method.life == Life::Loads;
            let request = loads.then(|| Subscription::requests(method.name).from(Peer::Client));
            let response = Subscription::responses(method.name).from(Peer::Agent);
            request.into_iter().chain([response])
        });
        // Nothing of a session arrives after it has ended.
        let ends = METHODS
            .iter()
            .filter(|method| method.life == Life::Ends)
            .map(|method| Subscription::responses(method.name).from(Peer::Agent));
        let setups = setups.chain(ends).map(Subscription::without_body);
        Self::SUBSCRIPTIONS
            .iter()
            .cloned()
            .chain(setups)
            .chain(reads)
            .collect()
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.state = Rc::new(saved.parse()?);
        self.wait_for_a_pause();
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        match request.head.method.as_str() {
            PROMPT => {
                self.idle.remove(session(&request.head));
                self.prompt(&request.head)
            }
            WRITE => self.write(&request),
            READ => {
                self.files.on_read(session(&request.head), &request.head);
                Ok(Action::Forward)
            }
            AFTER_TOOL => self.tool_result(&request.params),
            BEFORE_TOOL => self.tool_run(session(&request.head), &request.params),
            method => {
                self.flush(session(&request.head))?;
                if Life::of(method) == Life::Loads {
                    self.idle.remove(session(&request.head));
                }
                match method {
                    PERMISSION => self.permission(&request.params),
                    ELICITATION => self.question(&request.params),
                    _ => Ok(Action::Forward),
                }
            }
        }
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let Notification { head, params } = update;
        let session = session(&head);
        let text = params.spelling();
        let mut update = Update::of(self.hiding(), &text)?;
        let Some(chunk) = update.chunk.take() else {
            self.before(&update, session)?;
            if update.is_idle {
                self.idle.insert(session);
            }
            return Ok(update.findings.action(&params)?);
        };
        let streams = &self.state.streams;
        // Other proxies search the user's words, which the agent repeats unchanged, for their own additions.
        let end = match &*update.kind {
            "user_message_chunk" => End::Here,
            _ => self.idle.end_of(session),
        };
        let decided = streams.next(self.hiding(), session, &chunk, end, || {
            update.without_text(&text, &chunk)
        })?;
        save(&*self.state)?;
        self.wait_for_a_pause();
        let own = &chunk.decoded;
        // Without a decided text they are equal: comparing them would take as long as the search.
        let is_changed = decided
            .as_deref()
            .is_some_and(|decided| decided != own.text);
        let shown = decided.as_deref().unwrap_or(&own.text);
        if shown.is_empty() && !own.text.is_empty() {
            return Ok(Action::Discard);
        }
        if own.is_loose || is_changed {
            update
                .findings
                .change(&chunk.string, chunk.pointer.clone(), &chunk.spelt(shown));
        }
        Ok(update.findings.action(&params)?)
    }

    async fn on_response(&self, response: Response) -> Result {
        if let Some(version) = Version::agreed(&response) {
            self.state.version.set(version);
            save(&*self.state)?;
            return Ok(Action::Forward);
        }
        // Otherwise the agent only confirms the prompt, and may be in the middle of a text.
        let ends = response.head.method != PROMPT || response.ends_turn();
        let Response { head, outcome } = response;
        if head.sender == Peer::Agent && ends {
            self.flush(session(&head))?;
            self.idle.insert(session(&head));
            // A session that begins; the history of a fork is in it.
            if let Some(begun) = head.read::<String>("/sessionId") {
                self.flush(&begun)?;
                self.idle.insert(&begun);
            }
        }
        match outcome {
            Ok(result) if head.method == READ => self.read_file(head.id, &result),
            Ok(result) if head.sender == Peer::Client => self.read(&result),
            Err(error) if COVERED.contains(&&*head.method) => {
                self.files.on_no_content(head.id);
                self.error(head.sender, error)
            }
            Ok(_) | Err(_) => Ok(Action::Forward),
        }
    }
}

/// Updates without a session make one text.
fn session(head: &Head) -> &str {
    head.session.as_deref().unwrap_or_default()
}

impl Redact {
    /// Keeps secrets from the agent.
    fn keeping(&self) -> Marking<'_> {
        self.detector.marking(Marker::Redacted)
    }

    /// Hides secrets that the agent has.
    fn hiding(&self) -> Marking<'_> {
        self.detector.marking(Marker::Hidden)
    }

    /// Output that the agent reads, without secrets.
    fn read(&self, body: &Json) -> Result {
        let findings = look(self.keeping(), body, body::is_text)?;
        self.give(&findings)?;
        Ok(findings.action(body)?)
    }

    /// The user's prompt, without secrets.
    fn prompt(&self, head: &Head) -> Result {
        let Some(body) = whole::prompt(head)? else {
            return Ok(Action::Forward);
        };
        let findings = look(self.keeping(), &body, body::is_text)?;
        // Some clients write a text without a block.
        let is_of_prompt = |place: &str| place == "/prompt" || place.starts_with("/prompt/");
        findings.check(PROMPT, |place| !is_of_prompt(place))?;
        whole::check(&findings, head)?;
        self.give(&findings)?;
        Ok(findings.action(&body)?)
    }

    /// A file that the agent reads, without secrets, and may write back.
    fn read_file(&self, id: MessageId, body: &Json) -> Result {
        let content: String = body.at("/content").unwrap_or_default();
        let redacted = self.keeping().redact(&content, &mut Effort::default())?;
        self.files.on_content(id, &content, redacted.as_ref());
        self.read(body)
    }

    /// The result of a tool that the agent has run itself, without secrets. If the agent takes no other texts, one with
    /// a secret is withheld; the host notifies the user if the agent's hooks cannot do that, either.
    fn tool_result(&self, params: &Json) -> Result {
        let findings = look(self.keeping(), params, body::is_output)?;
        if params.at::<bool>("/canChange") == Some(true) {
            self.give(&findings)?;
            return Ok(findings.action(params)?);
        }
        if findings.names.is_empty() {
            return Ok(Action::Forward);
        }
        let kinds: BTreeSet<&str> = findings.names.iter().copied().collect();
        let names = kinds.into_iter().collect::<Vec<_>>().join(", ");
        let proxy = id();
        let why = format!(
            "withheld by the proxy `{proxy}`: the result has a secret ({names}), which cannot be taken out"
        );
        Ok(Action::Reject(Error::new(INVALID_PARAMS, why)))
    }

    /// A tool that the agent is about to run. If it writes a marker, that would destroy the secret. No secret is put
    /// back here: the input may carry it anywhere.
    fn tool_run(&self, session: &str, params: &Json) -> Result {
        let kind: String = params.at("/toolCall/kind").unwrap_or_default();
        if !matches!(&*kind, "edit" | "execute") {
            return Ok(Action::Forward);
        }
        let given = self.state.given.borrow();
        let text = params.spelling();
        let mut strings = Strings::of(&text);
        while let Some(string) = strings.next().map_err(|error| error.to_string())? {
            if !body::begins(strings.path(), &["toolCall", "rawInput"]) {
                continue;
            }
            let decoded = string.decoded();
            let mut found = markers(&decoded).map(|range| &decoded[range]);
            if let Some(marker) = found.find(|marker| given.contains(name(marker))) {
                let why = format!(
                    "its input has {marker:?}, which stands for a secret, and writing it would destroy the secret; leave \
                     that part of the text as it is"
                );
                self.tell(session, &format!("a tool of the agent was not run: {why}"));
                let message = format!("not run: {why}");
                return Ok(Action::Reject(Error::new(INVALID_PARAMS, message)));
            }
        }
        Ok(Action::Forward)
    }

    /// Refuses a write, and notifies the user: agents often show only that there was an error.
    fn refuse(&self, session: &str, path: &str, why: &dyn fmt::Display) -> Action {
        let shown: String = path.chars().take(LONGEST_PATH).collect();
        self.tell(
            session,
            &format!("the agent's change of {shown:?} was not written: {why}"),
        );
        let message = format!("not written: {why}");
        Action::Reject(Error::new(INVALID_PARAMS, message))
    }

    /// Notifies the user.
    fn tell(&self, session: &str, text: &str) {
        if let Err(error) = self.state.version.get().tell(session, text) {
            debug!("the user was not notified: {error}");
        }
    }

    /// A permission request. No power covers its options.
    fn permission(&self, body: &Json) -> Result {
        let findings = look(self.hiding(), body, body::is_text)?;
        findings.check(PERMISSION, |place| place.starts_with("/options/"))?;
        Ok(findings.action(body)?)
    }

    /// An elicitation.
    fn question(&self, body: &Json) -> Result {
        Ok(look(self.hiding(), body, body::is_question_text)?.action(body)?)
    }

    /// At a pause of the agent, sends the beginning of the withheld text.
    fn wait_for_a_pause(&self) {
        if !self.state.streams.have_more() || self.waits.replace(true) {
            return;
        }
        let (detector, state) = (Rc::clone(&self.detector), Rc::clone(&self.state));
        let waits = Rc::clone(&self.waits);
        spawn(async move {
            let shown = show_at_pauses(&detector, &state).await;
            waits.set(false);
            if let Err(error) = shown {
                warn!("text is withheld until the agent continues: {error}");
            }
        });
    }

    /// Records that these markers are sent to the agent.
    fn give(&self, findings: &Findings) -> Result<()> {
        let mut given = self.state.given.borrow_mut();
        let known = given.len();
        given.extend(findings.names.iter().map(|name| (*name).to_owned()));
        let is_new = given.len() > known;
        drop(given);
        if is_new {
            save(&*self.state)?;
        }
        Ok(())
    }

    /// Sends the withheld part of a session's running text.
    fn flush(&self, session: &str) -> Result<()> {
        if self.state.streams.flush(self.hiding(), session)? {
            save(&*self.state)?;
        }
        Ok(())
    }

    /// Before an update that is not a chunk of text, the rest of the running text is sent.
    fn before(&self, update: &Update, session: &str) -> Result<()> {
        if Change::of(&update.kind) == Change::Aside {
            return Ok(());
        }
        self.flush(session)?;
        // An update about a subagent, whose session has no response that would end its text.
        match &update.child {
            Some(child) => self.flush(child),
            None => Ok(()),
        }
    }

    /// An error of this sender may quote the text that caused it.
    fn error(&self, sender: Peer, mut error: Error) -> Result {
        let marking = match sender {
            Peer::Client => self.keeping(),
            Peer::Agent => self.hiding(),
        };
        let mut effort = Effort::default();
        let mut findings = Findings::default();
        let message = marking.redact(&error.message, &mut effort)?;
        if let Some(data) = &mut error.data {
            findings = body::look(marking, &data.spelling(), |_| true, &mut effort)?;
            if !findings.is_empty() {
                *data = Json::try_from(findings.applied(&data.spelling()))?;
            }
        }
        if message.is_none() && findings.is_empty() {
            return Ok(Action::Forward);
        }
        if let Some(message) = message {
            error.message = message.text;
            findings.names.extend(message.names);
        }
        if sender == Peer::Client {
            self.give(&findings)?;
        }
        Ok(Action::Reject(error))
    }

    /// Replaces a marker that the agent has read with its secret, if that is clear. Otherwise writing would destroy the
    /// secret, or carry it somewhere else.
    fn write(&self, request: &Request) -> Result {
        let path: String = request.params.at("/path").unwrap_or_default();
        let session = session(&request.head);
        let Some(content) = request.params.at::<String>("/content") else {
            return Ok(if has_marker(&request.params)? {
                self.refuse(session, &path, &HALF)
            } else {
                Action::Forward
            });
        };
        let given = self.state.given.borrow();
        let is_given = |name: &str| given.contains(name);
        Ok(
            match self.files.on_write(session, &path, &content, is_given) {
                Ok(None) => Action::Forward,
                Ok(Some(restored)) => Action::Edit(vec![Edit::set("/content", &*restored)]),
                Err(unclear) => self.refuse(session, &path, &unclear),
            },
        )
    }
}

async fn show_at_pauses(detector: &Detector, state: &State) -> Result<()> {
    while state.streams.have_more() {
        sleep(PAUSE).await.map_err(|error| error.message)?;
        state.streams.grow_older(detector)?;
        save(state)?;
    }
    Ok(())
}

fn look(marking: Marking, body: &Json, is_text: impl Fn(&[Step]) -> bool) -> Result<Findings> {
    let spelling = body.spelling();
    Ok(body::look(
        marking,
        &spelling,
        is_text,
        &mut Effort::default(),
    )?)
}

/// Whether the content of a write that is not a valid text has a marker.
fn has_marker(params: &Json) -> Result<bool> {
    let text = params.spelling();
    let mut strings = Strings::of(&text);
    while let Some(string) = strings.next().map_err(|error| error.to_string())? {
        if let [Step::Member(name)] = strings.path()
            && name.is("content")
            && string.decoded().contains(Marker::Redacted.begin())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The error for a write whose content is not a valid text, but has a marker.
const HALF: &str = "its content has half of a surrogate pair, so no secret can be put back in place of its \
                    markers, and writing it would destroy them; leave out the half, or the markers";

/// The maximum number of characters of a path in a notice.
const LONGEST_PATH: usize = 200;

/// The code of JSON-RPC's invalid params.
const INVALID_PARAMS: i32 = -32602;

export!(Redact);

#[cfg(test)]
mod tests;
