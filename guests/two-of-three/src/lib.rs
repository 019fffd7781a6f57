//! A guard by the "Agents Rule of Two": without the user's yes, no session holds text from where anybody can write (A),
//! secrets or private places (B), and acts outside (C), all three.
//!
//! | file | what it is |
//! |---|---|
//! | `handlers` | the messages that can wait |
//! | `reports` | those that cannot |
//! | `guard`, `questions` | the decisions; the questions to the user, and what the user clears |
//! | `judge`, `places` | what a call brings; the places that it names |
//! | `prompt`, `secret` | what a prompt brings; secrets in a body |
//! | `session`, `setups` | the sessions of the connection, and how they began |
//! | `ledger` | what is stored |
//! | `label`, `words`, `config` | the labels; questions and orders; what the user may set |
//!
//! `docs/extensions/two-of-three.md` says what is labelled, and what is not seen.

mod config;
mod guard;
mod handlers;
mod judge;
mod label;
mod ledger;
mod places;
mod prompt;
mod questions;
mod reports;
mod secret;
mod session;
mod setups;
mod words;

use std::rc::Rc;

use acp_chain_calls::turns::Turns;
use acp_chain_proxy::acp::{AFTER_TOOL, BEFORE_TOOL, PERMISSION, PROMPT, READ, UPDATE, WRITE};
use acp_chain_proxy::{
    Action, Configure, FailurePolicy, Json, Notification, Peer, Proxy, Request, Response, Result,
    Sessions, Subscription, Version, export,
};

use self::config::Config;
use self::guard::{Guard, State};
use self::handlers::CREATE;
use self::secret::Secrets;

const OUTPUT: &str = "terminal/output";

/// The proxy. Tasks go on after the call that began them, and have the guard, too.
struct TwoOfThree(Rc<Guard>);

impl Configure for TwoOfThree {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        let guard = Guard {
            find_secrets: config.find_secrets,
            resumed: config.resumed,
            least_time: config.least_time(),
            judge: config.judge()?,
            secrets: Secrets::new()?,
            state: State::default(),
            turns: Turns::default(),
        };
        Ok(Self(Rc::new(guard)))
    }
}

impl Proxy for TwoOfThree {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Version::SUBSCRIPTION,
        heads(Subscription::requests(PROMPT), Peer::Client),
        heads(Subscription::responses(PROMPT), Peer::Agent),
        heads(Subscription::notifications(UPDATE), Peer::Agent),
        Subscription::requests(PERMISSION).from(Peer::Agent),
        Subscription::requests(BEFORE_TOOL).from(Peer::Agent),
        Subscription::requests(AFTER_TOOL).from(Peer::Agent),
        heads(Subscription::requests(READ), Peer::Agent),
        heads(Subscription::responses(READ), Peer::Client),
        heads(Subscription::requests(WRITE), Peer::Agent),
        Subscription::requests(CREATE).from(Peer::Agent),
        heads(Subscription::responses(OUTPUT), Peer::Client),
    ];

    /// Labels are saved and stored, so a restarted instance goes on with them.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Restart;

    /// No other proxy may hide from it what the agent does.
    const GUARD: bool = true;

    fn subscriptions(&self) -> Vec<Subscription> {
        Sessions::beside(Self::SUBSCRIPTIONS)
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        let guard = Rc::get_mut(&mut self.0).ok_or("it has begun to work already")?;
        guard.state = saved.parse()?;
        guard.turns = Turns::after_restart();
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        let guard = &self.0;
        Ok(match &*request.head.method {
            PROMPT => guard.prompt(&request.head).await,
            BEFORE_TOOL => guard.before_tool(&request).await,
            AFTER_TOOL => guard.after_tool(&request).await,
            PERMISSION => guard.asked(&request).await,
            READ | WRITE | CREATE => guard.by_editor(&request).await,
            _ => {
                if guard.state.setups.on_request(&request) {
                    guard.keep();
                }
                Action::Forward
            }
        })
    }

    async fn on_notification(&self, update: Notification) -> Result {
        self.0.updated(&update.head);
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        let guard = &self.0;
        match &*response.head.method {
            PROMPT => guard.answered(&response),
            READ | OUTPUT => guard.read_by_editor(&response.head),
            _ => {
                if let Some(version) = Version::agreed(&response) {
                    guard.state.version.set(version);
                } else if let Some(session) = guard.state.setups.on_response(&response) {
                    guard.turns.on_open(&session);
                    // It may have gone on elsewhere.
                    guard.with(&session, |own| own.is_loaded = false);
                }
                guard.keep();
            }
        }
        Ok(Action::Forward)
    }
}

/// Messages from an end, without their bodies.
const fn heads(messages: Subscription, sender: Peer) -> Subscription {
    messages.from(sender).without_body()
}

export!(TwoOfThree);

#[cfg(test)]
mod tests;
