//! Puts the project's rule files (`AGENTS.md` and its like) before the first prompt of a session.
//!
//! The files are read through the client, so a component that sees no files can do it. See the
//! README for the configuration and the limits.

mod files;
mod prompt;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use acp_chain_proxy::{
    Action, Configure, Level, MessageId, Origin, Peer, Proxy, Request, Response, Result, Sessions,
    Subscription, export, log,
};
use serde::Deserialize;
use tokio::sync::Mutex;

use files::Files;

/// What the user may set. Every key has a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// The names after `AGENTS.md`, in order.
    files: Vec<String>,
    /// Whether all that exist are taken, or the first.
    all: bool,
    /// How much of the rules is taken at most, in bytes.
    limit: usize,
}

impl Default for Config {
    fn default() -> Self {
        let files = [
            "CLAUDE.md",
            "GEMINI.md",
            ".github/copilot-instructions.md",
            ".cursorrules",
        ];
        Self {
            files: files.map(String::from).to_vec(),
            all: false,
            limit: 32 * 1024,
        }
    }
}

struct Rules {
    files: Files,
    sessions: Sessions,
    /// Whether the client reads files; unknown until `initialize` has passed.
    reads: Cell<Option<bool>>,
    /// Whether the log has told that it does not.
    told: Cell<bool>,
    given: RefCell<HashMap<String, Given>>,
}

/// The prompt with which a session got its rules. Locked while they are read, so that a prompt
/// which comes meanwhile waits for its turn.
type Given = Rc<Mutex<Option<MessageId>>>;

impl Configure for Rules {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            files: Files::new(config.files, config.all, config.limit)?,
            sessions: Sessions::default(),
            reads: Cell::default(),
            told: Cell::default(),
            given: RefCell::default(),
        })
    }
}

impl Proxy for Rules {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("initialize")
            .from(Peer::Client)
            .without_body(),
        Subscription::requests("session/prompt").from(Peer::Client),
        Subscription::responses("session/prompt")
            .from(Peer::Agent)
            .without_body(),
    ];

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    async fn on_request(&self, request: Request) -> Result {
        match request.head.method.as_str() {
            "session/prompt" => self.prompt(request).await,
            "initialize" => {
                // Version 2 has no such capability: there the client reads no files for an agent.
                let reads = request.head.read("/clientCapabilities/fs/readTextFile");
                self.reads.set(Some(reads.unwrap_or_default()));
                Ok(Action::Forward)
            }
            _ => {
                self.sessions.on_request(&request);
                Ok(Action::Forward)
            }
        }
    }

    async fn on_response(&self, response: Response) -> Result {
        let head = &response.head;
        if head.method != "session/prompt" {
            self.sessions.on_response(&response);
        } else if response.outcome.is_err()
            && let Some(given) = head.session.as_ref().and_then(|id| self.given(id))
        {
            // The agent did not take the prompt, so it has not got the rules either.
            let mut given = given.lock().await;
            if *given == Some(head.id) {
                *given = None;
            }
        }
        Ok(Action::Forward)
    }
}

impl Rules {
    async fn prompt(&self, request: Request) -> Result {
        let session = request.head.session.clone().unwrap_or_default();
        let Some(cwd) = self.waiting_for_rules(&session) else {
            return Ok(Action::Forward);
        };
        if !self.client_reads() || prompt::is_command(&request.params) {
            return Ok(Action::Forward);
        }
        let given = Rc::clone(self.given.borrow_mut().entry(session.clone()).or_default());
        let mut given = given.lock().await;
        if given.is_some() {
            return Ok(Action::Forward);
        }
        let rules = self.files.read(&session, &cwd).await;
        *given = Some(request.head.id);
        Ok(prompt::with_rules(request.params, &rules))
    }

    /// The directory of a session that is new and known.
    fn waiting_for_rules(&self, session: &str) -> Option<String> {
        let session = self.sessions.get(session)?;
        (session.origin == Origin::New).then_some(session.cwd)
    }

    fn client_reads(&self) -> bool {
        let reads = self.reads.get().unwrap_or_default();
        if !reads && !self.told.replace(true) {
            log(
                Level::Warn,
                "no rules are added to prompts: this client reads no files for others \
                 (`clientCapabilities.fs.readTextFile` in `initialize`)",
            );
        }
        reads
    }

    fn given(&self, session: &str) -> Option<Given> {
        self.given.borrow().get(session).map(Rc::clone)
    }
}

export!(Rules);

#[cfg(test)]
mod tests;
