//! Keeps secrets out of what the agent gets to read, and out of what it shows.
//!
//! See the README for what is covered and what is not.

mod body;
mod config;
mod detector;
#[cfg(test)]
mod oracle;
mod patterns;
mod streams;

use std::cell::RefCell;
use std::collections::BTreeSet;

use acp_chain_proxy::{
    Action, Configure, Error, FailurePolicy, Head, Json, Notification, Peer, Proxy, Request,
    Response, Result, Subscription, export, save,
};
use serde::{Deserialize, Serialize};

use config::Config;
use detector::Detector;
use streams::{Chunk, Streams};

struct Redact {
    detector: Detector,
    reads: bool,
    state: State,
}

/// What has to outlive an instance, so that a new one lets nothing through. What cannot be saved is
/// refused.
#[derive(Default, Deserialize, Serialize)]
struct State {
    streams: Streams,
    /// The markers that stand in what the agent has read.
    given: RefCell<BTreeSet<String>>,
}

impl Configure for Redact {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            detector: config.detector()?,
            reads: config.reads,
            state: State::default(),
        })
    }
}

const PROMPT: &str = "session/prompt";
const UPDATE: &str = "session/update";
const PERMISSION: &str = "session/request_permission";
const READ: &str = "fs/read_text_file";
const WRITE: &str = "fs/write_text_file";
const OUTPUT: &str = "terminal/output";

/// Updates that add nothing to the conversation, and so may come between two chunks of a text.
const ASIDE: &[&str] = &[
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "usage_update",
];

impl Proxy for Redact {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests(PROMPT).from(Peer::Client),
        Subscription::notifications(UPDATE).from(Peer::Agent),
        Subscription::requests(PERMISSION).from(Peer::Agent),
        Subscription::requests(WRITE).from(Peer::Agent),
        // The rest of a text goes out before these.
        Subscription::requests("elicitation/create")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses(PROMPT)
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/load")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/resume")
            .from(Peer::Agent)
            .without_body(),
    ];

    /// To pass it over would let secrets through.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Refuse;

    fn subscriptions(&self) -> Vec<Subscription> {
        let reads = [
            Subscription::responses(READ).from(Peer::Client),
            Subscription::responses(OUTPUT).from(Peer::Client),
        ];
        let reads = reads.into_iter().filter(|_| self.reads);
        Self::SUBSCRIPTIONS.iter().cloned().chain(reads).collect()
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.state = saved.parse()?;
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        match request.head.method.as_str() {
            PROMPT => self.read(request.params),
            WRITE => Ok(self.write(&request.params)),
            method => {
                self.flush(session(&request.head))?;
                if method == PERMISSION {
                    self.body(request.params)
                } else {
                    Ok(Action::Forward)
                }
            }
        }
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let Notification {
            head,
            params: mut body,
        } = update;
        let session = session(&head);
        let Some(chunk) = Chunk::of(&body) else {
            self.before(&body, session)?;
            return self.body(body);
        };
        let (pointer, text) = (chunk.pointer, chunk.text.clone());
        // The text is judged as a part of the running text, and not by itself.
        body.put(pointer, "")?;
        let found = body::redact(&self.detector, &mut body)?;
        let streams = &self.state.streams;
        let decided = streams.next(&self.detector, session, &body, chunk)?;
        save(&self.state)?;
        if !found && decided == text {
            return Ok(Action::Forward);
        }
        body.put(pointer, decided)?;
        Ok(Action::Replace(body))
    }

    async fn on_response(&self, response: Response) -> Result {
        if response.head.sender == Peer::Agent {
            self.flush(session(&response.head))?;
            return Ok(Action::Forward);
        }
        let Ok(result) = response.outcome else {
            return Ok(Action::Forward);
        };
        self.read(result)
    }
}

/// Updates that belong to no session, if there are any, make one text.
fn session(head: &Head) -> &str {
    head.session.as_deref().unwrap_or_default()
}

impl State {
    /// The agent has read these markers. True if one is new.
    fn give(&self, markers: impl Iterator<Item = String>) -> bool {
        let mut given = self.given.borrow_mut();
        let known = given.len();
        given.extend(markers);
        given.len() > known
    }
}

impl Redact {
    /// What the agent gets to read.
    fn read(&self, body: Json) -> Result {
        let action = self.body(body)?;
        if let Action::Replace(body) = &action {
            let text = body.to_string();
            let given = self
                .detector
                .markers()
                .filter(|marker| text.contains(marker));
            if self.state.give(given) {
                save(&self.state)?;
            }
        }
        Ok(action)
    }

    /// What is kept back of the running text of a session goes out.
    fn flush(&self, session: &str) -> Result<()> {
        if self.state.streams.flush(&self.detector, session)? {
            save(&self.state)?;
        }
        Ok(())
    }

    /// Before an update that is no chunk of text, the rest of the running text goes out.
    fn before(&self, update: &Json, session: &str) -> Result<()> {
        let kind: Option<String> = update.at("/update/sessionUpdate");
        if kind.is_some_and(|kind| ASIDE.contains(&&*kind)) {
            return Ok(());
        }
        self.flush(session)?;
        // News of a subagent, whose own session has no response that would end its text.
        if let Some(child) = update.at::<String>("/update/sessionId") {
            self.flush(&child)?;
        }
        Ok(())
    }

    fn body(&self, mut body: Json) -> Result {
        let found = body::redact(&self.detector, &mut body)?;
        Ok(if found {
            Action::Replace(body)
        } else {
            Action::Forward
        })
    }

    /// A marker that the agent has read would take the place of the secret if it were written.
    fn write(&self, params: &Json) -> Action {
        let Some(content) = params.at::<String>("/content") else {
            return Action::Forward;
        };
        let given = self.state.given.borrow();
        match given.iter().find(|marker| content.contains(*marker)) {
            None => Action::Forward,
            Some(marker) => Action::Reject(Error::new(
                INVALID_PARAMS,
                format!(
                    "not written: `{marker}` stands for a secret that was kept from you, and \
                     writing it would destroy the secret; edit the file without that line, or \
                     ask the user to make this change"
                ),
            )),
        }
    }
}

/// The code of JSON-RPC's invalid params.
const INVALID_PARAMS: i32 = -32602;

export!(Redact);

#[cfg(test)]
mod tests;
