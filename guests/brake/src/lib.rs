//! A guard against agents that run away: limits what they spend in a turn, a session, a day and a project, and how
//! often they repeat themselves.
//!
//! See the README for the limits, and what they depend on.

mod account;
mod brake;
mod calls;
mod config;
mod ledger;
mod reports;
mod session;
mod usage;
mod words;

use std::rc::Rc;

use acp_chain_proxy::acp::{BEFORE_TOOL, PERMISSION, PROMPT, UPDATE};
use acp_chain_proxy::{
    Action, Configure, FailurePolicy, Json, Notification, Peer, Proxy, Request, Response, Result,
    Subscription, Version, export,
};

use self::{brake::Brake, calls::Call, config::Config};

/// The proxy. Tasks go on after the call that began them, and have the brake, too.
struct Guard(Rc<Brake>);

impl Configure for Guard {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        let brake = Brake {
            config,
            ..Brake::default()
        };
        Ok(Self(Rc::new(brake)))
    }
}

impl Proxy for Guard {
    /// What was spent is saved, so a restarted instance goes on counting.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Restart;

    /// No other proxy may hide from it what the agent does.
    const GUARD: bool = true;

    fn subscriptions(&self) -> Vec<Subscription> {
        let of_agent = [
            Subscription::responses(PROMPT),
            Subscription::notifications(UPDATE),
            Subscription::requests(PERMISSION),
            Subscription::requests(BEFORE_TOOL),
        ];
        let prompts = Subscription::requests(PROMPT).from(Peer::Client);
        of_agent
            .map(|messages| messages.from(Peer::Agent))
            .into_iter()
            .chain([prompts, Version::SUBSCRIPTION])
            .map(Subscription::without_body)
            .collect()
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        let brake = Rc::get_mut(&mut self.0).ok_or("it has begun to work already")?;
        brake.state = saved.parse()?;
        self.0.keep_time();
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        let head = &request.head;
        let session = head.session.as_deref().unwrap_or_default();
        Ok(match &*head.method {
            PROMPT => self.0.prompt(session).await,
            BEFORE_TOOL => self.0.run(session, &Call::read(head, "/toolCall")).await,
            _ => {
                self.0.mentioned(session, &Call::of_question(head));
                Action::Forward
            }
        })
    }

    async fn on_notification(&self, update: Notification) -> Result {
        let session = update.head.session.as_deref().unwrap_or_default();
        self.0.updated(session, &update.head);
        Ok(Action::Forward)
    }

    async fn on_response(&self, response: Response) -> Result {
        let session = response.head.session.as_deref().unwrap_or_default();
        if let Some(version) = Version::agreed(&response) {
            self.0.state.version.set(version);
            self.0.keep();
        } else if response.head.method == PROMPT {
            self.0.answered(session, &response);
        }
        Ok(Action::Forward)
    }
}

export!(Guard);

#[cfg(test)]
mod tests;
