//! Plays a transcript against a chain in this process.
//!
//! Time is simulated: the runtime's clock advances only when all tasks wait. So a sleep of a millisecond ends exactly
//! when everything is idle. Each step is played when everything is idle, so the outcome is always the same.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use acp_chain_acp::Life;
use tokio::time::sleep;

use super::act::{Act, Kind, ValuesOf};
use super::deadline::{Deadline, LONGEST};
use super::ends::{Arrival, End};
use super::format::Script;
use super::json::{Json, plain};
use super::log::Log;
use super::outcome::{Block, Outcome, Played};
use super::pattern::Captures;
use super::wire::{self, Blocked, REST};
use crate::observed::Observations;
use acp_chain_channel::{FailurePolicy, Peer};
use acp_chain_conductor::{Member, StoredValues};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_sandbox::Guest;
use acp_chain_state::{Keeper, StateError};

/// The error if the chain does not become idle.
const NO_REST: &str = "the chain does not become idle: its proxies keep sending messages";

/// The session of transcripts that do not set one up.
const SESSION: &str = "s";

/// The client's default `initialize` parameters.
pub(crate) const CLIENT: &str = r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}"#;

/// The agent's default answer to `initialize`.
pub(crate) const AGENT: &str = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"acp":true}},"authMethods":[]}"#;

/// The default parameters of a session.
const SETUP: &str = r#"{"cwd":"/project","mcpServers":[]}"#;

/// A proxy of the chain that is played. Clones share the component.
#[derive(Clone)]
pub struct Tested {
    /// The source of the proxy. Its name is the one in the transcript.
    pub guest: Guest,
    /// The failure policy; by default, the component's own.
    pub on_failure: Option<FailurePolicy>,
}

/// The settings of a play.
#[derive(Default)]
pub struct Setup {
    /// The chain, the client's neighbour first.
    pub proxies: Vec<Tested>,
    /// Whether guards stay where they are written, even in front of other proxies.
    pub is_as_written: bool,
    /// The maximum duration in real time, which matters only if the chain does not become idle; five minutes by
    /// default.
    pub longest: Option<Duration>,
    /// Whether values that differ become `[..]` in the updated transcript.
    pub loosens: bool,
}

/// Why a transcript cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// A step names an unknown proxy.
    #[error("{line}: the chain has no proxy `{proxy}`; it has {known}")]
    NoProxy {
        /// The line, counted from 1.
        line: usize,
        /// The name.
        proxy: String,
        /// The names of the proxies in the chain, as a list in text.
        known: String,
    },
    /// A proxy does not start.
    #[error("1: the proxy `{proxy}` does not start: {failure}")]
    DoesNotStart {
        /// The name of the proxy.
        proxy: String,
        /// The cause.
        failure: String,
    },
    /// The runtime does not start.
    #[error("1: the runtime does not start: {0}")]
    Runtime(std::io::Error),
    /// Values cannot be kept in memory.
    #[error("1: values cannot be stored: {0}")]
    Values(StateError),
}

/// Plays a transcript against a chain.
///
/// # Errors
/// If the transcript names an unknown proxy, or the chain does not start.
pub fn play(script: &Script, setup: Setup) -> Result<Played, PlayError> {
    let runtime = wire::runtime().map_err(PlayError::Runtime)?;
    let (log, _guard) = Log::start();
    let played = runtime.block_on(async {
        let player = Player::start(script, setup, log).await?;
        Ok(player.play().await)
    });
    runtime.shutdown_background();
    played
}

pub(super) struct Player<'a> {
    pub(super) script: &'a Script,
    pub(super) client: End,
    pub(super) agent: End,
    pub(super) watches: BTreeMap<String, Observations>,
    /// The values that proxies have stored.
    pub(super) values: StoredValues,
    pub(super) captures: Captures,
    /// The MCP servers announced to the agent: their ids by name.
    pub(super) servers: BTreeMap<String, String>,
    /// The names of the agent's calls of MCP servers.
    pub(super) calls: HashSet<String>,
    /// The session of messages without a `sessionId`.
    pub(super) session: Option<String>,
    /// The methods of the requests that the ends sent, by end and name.
    pub(super) asked: HashMap<(Peer, String), String>,
    /// The names of requests in use at an end.
    pub(super) taken: HashSet<(Peer, String)>,
    pub(super) log: Log,
    /// The position in the log after the last expected line of each proxy.
    pub(super) expected_log: HashMap<String, usize>,
    /// The step of the last action.
    pub(super) done: Option<usize>,
    /// The outcomes of the last action that are not as written.
    pub(super) pending: Vec<Outcome>,
    pub(super) loosens: bool,
    longest: Duration,
}

/// Why the play stopped.
pub(super) struct Stop(pub String);

impl From<Blocked> for Stop {
    fn from(_: Blocked) -> Self {
        Self("the chain accepts no more messages".to_owned())
    }
}

impl<'a> Player<'a> {
    /// Starts the chain of a transcript.
    async fn start(script: &'a Script, setup: Setup, log: Log) -> Result<Self, PlayError> {
        let mut watches = BTreeMap::new();
        let proxies = setup.proxies.iter();
        let names = proxies.map(|proxy| proxy.guest.name.to_string());
        watches.extend(names.map(|name| (name, Observations::without_record())));
        check_names(script, &watches)?;
        let watch = |name: &str| watches.get(name).cloned().unwrap_or_default();
        let started = wire::members(setup.proxies, setup.is_as_written, watch).await;
        let members = started.map_err(|(proxy, failure)| PlayError::DoesNotStart {
            proxy,
            failure: format!("{failure}{}", failure.details()),
        })?;
        let names = members.iter().map(Member::name);
        let keeper = Keeper::in_memory().map_err(PlayError::Values)?;
        let values = StoredValues::apart(keeper, names);
        let [client, agent] = wire::serve(members, values.clone()).map(End::new);
        let steps = script.steps.iter();
        let taken = steps.filter_map(|step| match &step.act {
            Act::Gets(end, said) => Some((*end, said.name.clone()?)),
            _ => None,
        });
        Ok(Self {
            script,
            client,
            agent,
            watches,
            values,
            captures: Captures::new(),
            servers: BTreeMap::new(),
            calls: HashSet::new(),
            session: None,
            asked: HashMap::new(),
            taken: taken.collect(),
            log,
            expected_log: HashMap::new(),
            done: None,
            pending: Vec::new(),
            loosens: setup.loosens,
            longest: setup.longest.unwrap_or(LONGEST),
        })
    }

    /// Plays the transcript, up to the first step that cannot be played.
    async fn play(mut self) -> Played {
        let steps = &self.script.steps;
        let mut blocks = Vec::new();
        let (mut at, mut logged) = (0, 0);
        let mut deadline = Deadline::after(self.longest);
        let no_rest = || Err(Stop(NO_REST.to_owned()));
        let mut acted = deadline.within(self.set_up()).await;
        loop {
            if let Err(Stop(why)) = acted.unwrap_or_else(no_rest) {
                self.pending
                    .push(Outcome::Stopped(self.done.unwrap_or(0), why));
                at = steps.len();
            }
            let start = at;
            while steps.get(at).is_some_and(|step| step.act.is_expected()) {
                at += 1;
            }
            self.compare_stored(start..at).await;
            let outcomes = self.compare(start..at);
            let log = self.log.since(logged);
            logged += log.len();
            blocks.push(Block {
                done: self.done,
                outcomes,
                log,
            });
            let Some(step) = steps.get(at) else {
                return Played { blocks };
            };
            self.done = Some(at);
            acted = deadline.within(self.act(at, &step.act)).await;
            at += 1;
        }
    }

    /// Plays `initialize` and the setup of a session, unless the transcript has them.
    async fn set_up(&mut self) -> Result<(), Stop> {
        self.put_first().await?;
        let mut acts = self.script.steps.iter().map(|step| &step.act);
        let first =
            acts.find(|act| matches!(act, Act::Says(..) | Act::Session(..) | Act::Calls(_)));
        let method = match first {
            Some(Act::Says(Peer::Client, said)) => match &said.kind {
                Kind::Request(method) => method,
                _ => "",
            },
            _ => "",
        };
        if method == "initialize" {
            return Ok(());
        }
        let is = |text: &str| Json::read(text).unwrap_or(Json::Null);
        self.play_request("initialize", "initialize", is(CLIENT), is(AGENT))
            .await?;
        let needs_none =
            matches!(Life::of(method), Life::Begins | Life::Loads) || method == "session/list";
        if needs_none || matches!(first, Some(Act::Session(..))) {
            return Ok(());
        }
        let empty = Json::Object(indexmap::IndexMap::new());
        self.begin_session(SESSION, &empty).await
    }

    /// Waits until everything is idle.
    pub(super) async fn rest(&mut self) {
        loop {
            sleep(REST).await;
            let more = [self.client.receive(), self.agent.receive()];
            self.learn_servers();
            let is_busy = self.watches.values().any(Observations::is_busy);
            if more == [false, false] && !is_busy {
                return;
            }
        }
    }

    pub(super) fn end(&mut self, peer: Peer) -> &mut End {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    pub(super) fn watch(&self, proxy: &str) -> Result<&Observations, Stop> {
        let missing = || Stop(format!("the chain has no proxy `{proxy}`"));
        self.watches.get(proxy).ok_or_else(missing)
    }

    /// Sets up a session. Messages without a `sessionId` belong to the first session.
    pub(super) async fn begin_session(&mut self, name: &str, params: &Json) -> Result<(), Stop> {
        let mut setup = Json::read(SETUP).unwrap_or(Json::Null);
        if let (Json::Object(setup), Json::Object(params)) = (&mut setup, params) {
            setup.extend(params.clone());
        }
        let result = Json::Object([("sessionId".to_owned(), Json::Text(name.to_owned()))].into());
        self.play_request(&super::setup_of(name), "session/new", setup, result)
            .await?;
        self.session.get_or_insert_with(|| name.to_owned());
        Ok(())
    }

    /// Plays a request of the client and the agent's answer. Other received messages stay in the inboxes.
    async fn play_request(
        &mut self,
        name: &str,
        method: &str,
        params: Json,
        result: Json,
    ) -> Result<(), Stop> {
        let id = plain(name);
        self.client.wire.ask(&id, method, &params).await?;
        self.rest().await;
        let asks = |came: &Arrival| came.said.kind == Kind::Request(method.to_owned());
        if let Some(id) = take(&mut self.agent.inbox, asks).and_then(|came| came.id) {
            self.agent.wire.answer(&id, "result", &result).await?;
            self.rest().await;
        }
        let answers = |came: &Arrival| came.said.name.as_deref() == Some(name);
        match take(&mut self.client.inbox, answers) {
            Some(Arrival { said, .. }) if said.kind == Kind::Result => Ok(()),
            Some(Arrival { body, .. }) => {
                let body = quote(&body.to_string(), MAX_QUOTE);
                Err(Stop(format!(
                    "`{method}` was answered with an error: {body}"
                )))
            }
            None => Err(Stop(format!(
                "`{method}` was not answered: a proxy holds it, or waits for an answer; write the setup step by step, \
                 beginning with `client: i initialize {{…}}`"
            ))),
        }
    }

    /// Records the servers announced to the agent.
    fn learn_servers(&mut self) {
        for came in &self.agent.inbox {
            let Some(Json::List(servers)) = came.body.get("mcpServers") else {
                continue;
            };
            for server in servers {
                let text = |name| server.get(name).and_then(Json::as_text).map(str::to_owned);
                if let (Some(name), Some(id)) = (text("name"), text("serverId")) {
                    self.servers.insert(name, id);
                }
            }
        }
    }
}

/// An error if a step names an unknown proxy.
fn check_names(script: &Script, watches: &BTreeMap<String, Observations>) -> Result<(), PlayError> {
    let unknown = script.steps.iter().find_map(|step| match &step.act {
        Act::Fails(proxy)
        | Act::Restarts(proxy, _)
        | Act::Logs(proxy, _)
        | Act::HasStored(ValuesOf { proxy, .. }, _)
        | Act::Stores(ValuesOf { proxy, .. }, _) => {
            (!watches.contains_key(proxy)).then(|| (step.line, quote(proxy, MAX_QUOTE)))
        }
        _ => None,
    });
    let Some((line, proxy)) = unknown else {
        return Ok(());
    };
    let known = list(watches.keys());
    Err(PlayError::NoProxy { line, proxy, known })
}

/// Names as a list in text.
pub(super) fn list<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names = names.map(|name| format!("`{}`", quote(name, MAX_QUOTE)));
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// Takes the first match out of a list.
fn take(list: &mut Vec<Arrival>, is_it: impl FnMut(&Arrival) -> bool) -> Option<Arrival> {
    let at = list.iter().position(is_it)?;
    Some(list.remove(at))
}
