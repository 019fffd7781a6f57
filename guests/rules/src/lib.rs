//! Appends the project's rule files (`AGENTS.md` and its like) to the user's words in the first prompt of a session,
//! and removes them again if an agent shows the user those words.
//!
//! The files are read through the client, so a component without file access can do this. See the README for the
//! configuration and the limits.

mod files;
mod mark;
mod prompt;
mod replay;
mod state;
mod titles;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use acp_chain_proxy::{
    Action, Configure, Json, Notification, Peer, Proxy, Request, Response, Result, Sessions,
    Subscription, Version, debug, export, save, warn,
};
use serde::Deserialize;
use tokio::sync::Mutex;

use files::Files;
use replay::Replay;
use state::State;

/// What the user may set. Every key has a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// The names after `AGENTS.md`, in order.
    files: Vec<String>,
    /// Whether all existing files are added, or only the first.
    all: bool,
    /// The maximum size of the rules, in bytes.
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
    seen: State,
    replay: Replay,
    /// Whether the user was notified that no rules are added.
    notified: Cell<bool>,
    /// By session, locked while its files are read: a prompt that arrives meanwhile waits.
    reading: RefCell<HashMap<String, Rc<Mutex<()>>>>,
}

impl Configure for Rules {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            files: Files::new(config.files, config.all, config.limit)?,
            seen: State::default(),
            replay: Replay::default(),
            notified: Cell::default(),
            reading: RefCell::default(),
        })
    }
}

impl Proxy for Rules {
    const SUBSCRIPTIONS: &[Subscription] = &[
        heads(Subscription::requests("initialize"), Peer::Client),
        // Most prompts pass unchanged, without being examined.
        heads(Subscription::requests("session/prompt"), Peer::Client),
        heads(Subscription::responses("session/prompt"), Peer::Agent),
        heads(Subscription::notifications("session/update"), Peer::Agent),
        heads(Subscription::responses("session/list"), Peer::Agent),
        Version::SUBSCRIPTION,
    ];

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.seen = saved.parse()?;
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        if request.head.method == "session/prompt" {
            return self.prompt(request).await;
        }
        if self.seen.on_request(&request) {
            self.save();
        }
        Ok(Action::Forward)
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let session = update.head.session.as_deref().unwrap_or_default();
        Ok(self.replay.on_update(session, &update.head))
    }

    async fn on_response(&self, response: Response) -> Result {
        if response.head.method == "session/list" {
            return Ok(titles::of_list(&response.head));
        }
        if let Some(session) = &response.head.session {
            self.replay.release(session);
        }
        if self.seen.on_response(&response) {
            self.save();
        }
        Ok(Action::Forward)
    }
}

impl Rules {
    async fn prompt(&self, request: Request) -> Result {
        let session = request.head.session.clone().unwrap_or_default();
        if self.seen.without_rules(&session).is_none() || !self.client_reads(&session) {
            return Ok(Action::Forward);
        }
        let Some(words) = prompt::words(&request.head) else {
            return Ok(Action::Forward);
        };
        let reading = self.reading(&session);
        let _turn = reading.lock().await;
        let Some(cwd) = self.seen.without_rules(&session) else {
            return Ok(Action::Forward);
        };
        let rules = self.files.read(&session, &cwd).await;
        if rules.is_empty() && self.files.lack_content() {
            self.notify(
                &session,
                "this editor answers without the content when an agent reads a file",
            );
        }
        let action = prompt::with_rules(&words, &rules, self.seen.takes_resources());
        self.seen.give(session, request.head.id);
        self.save();
        Ok(action)
    }

    fn reading(&self, session: &str) -> Rc<Mutex<()>> {
        let mut reading = self.reading.borrow_mut();
        Rc::clone(reading.entry(session.to_owned()).or_default())
    }

    /// Whether the client reads files. If it does not, notifies the user once.
    fn client_reads(&self, session: &str) -> bool {
        let reads = self.seen.client_reads();
        if !reads {
            self.notify(session, "this editor reads no files for agents");
        }
        reads
    }

    /// Notifies the user once that no rules are added, and why.
    fn notify(&self, session: &str, why: &str) {
        if self.notified.replace(true) {
            return;
        }
        let text = format!(
            "this project's rules are not added to prompts, since {why}; if the agent does not \
             read the rules itself, put them into a prompt"
        );
        warn!("{text} (`clientCapabilities.fs.readTextFile` in `initialize`)");
        if let Err(error) = self.seen.version().tell(session, &text) {
            debug!("the user was not notified: {error}");
        }
    }

    /// Saves the state. A prompt passes even if this fails, as the rules only add to it.
    fn save(&self) {
        if let Err(error) = save(&self.seen) {
            warn!("state not saved, sessions may miss their rules after a restart: {error}");
        }
    }
}

/// Messages from an end, without their bodies.
const fn heads(messages: Subscription, sender: Peer) -> Subscription {
    messages.from(sender).without_body()
}

export!(Rules);

#[cfg(test)]
mod tests;
