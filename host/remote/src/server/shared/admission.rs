//! Whether a message of a client may pass.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use acp_chain_acp::Life;
use acp_chain_rpc::{Id, Message, aside};
use acp_chain_store::{Answer, Call, LeaseName, PromptState};

use super::super::connection::{Connection, Ending};
use super::{Denial, Lease, Shared};
use crate::User;

/// How many sessions a message may name: each may have to be looked up.
const NAMED: usize = 16;

/// The shortest key of a prompt that counts for its session, at all replicas, in bytes. Clients may count shorter ones
/// anew for each connection.
const KEY: usize = 16;

/// The period of a budget of prompts.
const HOUR: Duration = Duration::from_hours(1);

/// A message that may pass. If it is a prompt with a key, that is free again when this is dropped before.
#[derive(Debug)]
pub struct Passage<'c> {
    connection: &'c Connection,
    prompt: Option<Id>,
}

impl Passage<'_> {
    /// Notes that the message has passed.
    pub fn pass(mut self) {
        if let Some(id) = self.prompt.take() {
            self.connection.mark_sent(&id);
        }
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.prompt.take() {
            self.connection.forget_prompt(&id);
        }
    }
}

impl Shared {
    /// Lets a message of a client pass, or says why not. `named` is a session that the request names beside the
    /// message, and `key` the key of the message.
    ///
    /// The session of a message that sets one up, or prompts, is leased to the connection.
    pub async fn admit<'c>(
        self: &Arc<Self>,
        message: &Message,
        named: Option<&str>,
        key: Option<&str>,
        connection: &'c Connection,
    ) -> Result<Passage<'c>, Denial> {
        let passage = Passage {
            connection,
            prompt: None,
        };
        if message.kind().is_response() {
            return Ok(passage);
        }
        if !self.is_alive() {
            return Err(Denial::Unavailable(self.again()));
        }
        let inside = aside(message.len(), || message.sessions());
        let mut spellings: BTreeSet<Arc<str>> = inside.into_iter().collect();
        spellings.extend(named.map(Arc::<str>::from));
        if spellings.len() > NAMED {
            return Err(Denial::Many);
        }
        for spelling in &spellings {
            self.check(spelling, &connection.user).await?;
        }
        let Some(session) = message.session() else {
            return Ok(passage);
        };
        match Life::of(message.method()) {
            Life::Loads => {
                self.attach(session, connection).await?;
                Ok(passage)
            }
            Life::Prompts => self.prompt(message, session, key, passage).await,
            _ => Ok(passage),
        }
    }

    /// Whether a user may name this session: others do not own it, however an agent may read it.
    pub async fn check(&self, spelling: &str, user: &User) -> Result<(), Denial> {
        let name = aside(spelling.len(), || self.name(spelling, user)).ok_or(Denial::Unknown)?;
        if self.is_remembered(&name, spelling) {
            return Ok(());
        }
        let asked = self.ask(Call::Whose {
            name: name.clone(),
            spelling: spelling.to_owned(),
        });
        match asked.await? {
            Answer::Owned { exactly: true, .. } => {
                self.remember(&name, spelling);
                Ok(())
            }
            Answer::Owned {
                by_others: false, ..
            } => Ok(()),
            _ => Err(Denial::Unknown),
        }
    }

    /// The lease of a session for a connection.
    async fn attach(
        self: &Arc<Self>,
        session: &Arc<str>,
        connection: &Connection,
    ) -> Result<Arc<Lease>, Denial> {
        if let Some(lease) = connection.lease(session) {
            return Ok(lease);
        }
        let user = &connection.user;
        let name = self.name(session, user).ok_or(Denial::Unknown)?;
        let lease = self.lease(&name, session, self.rule()).await?;
        connection.hold(session, Arc::clone(&lease));
        Ok(lease)
    }

    async fn prompt<'c>(
        self: &Arc<Self>,
        message: &Message,
        session: &Arc<str>,
        key: Option<&str>,
        mut passage: Passage<'c>,
    ) -> Result<Passage<'c>, Denial> {
        let connection = passage.connection;
        let lease = self.attach(session, connection).await?;
        let key = key.filter(|key| key.len() >= KEY);
        if let Some((key, id)) = key.zip(message.id()) {
            let known = Denial::Prompted(PromptState::UnderWay);
            let prompt = lease.prompt(key).ok_or(known)?;
            self.begin_prompt(&lease, key, connection).await?;
            connection.note_prompt(id.clone(), prompt);
            passage.prompt = Some(id);
        }
        self.draw(&lease.fence.name).await?;
        Ok(passage)
    }

    /// Notes in the store that a prompt is about to be sent.
    async fn begin_prompt(
        &self,
        lease: &Lease,
        key: &str,
        connection: &Connection,
    ) -> Result<(), Denial> {
        let begun = self.ask(Call::Begin {
            fence: lease.fence.clone(),
            holder: lease.holder.clone(),
            prompt: key.to_owned(),
        });
        match begun.await? {
            // If it is under way, it was begun by this lease, and not sent: its key was free here.
            Answer::Prompt(None | Some(PromptState::UnderWay)) => Ok(()),
            Answer::Prompt(Some(state)) => Err(Denial::Prompted(state)),
            _ => {
                tracing::warn!(
                    connection = connection.id,
                    "the lease of a session is over; its connection ends"
                );
                connection.end(Ending::AtOnce);
                Err(Denial::Unavailable(self.again()))
            }
        }
    }

    /// Draws a prompt from the budget of a user.
    async fn draw(&self, name: &LeaseName) -> Result<(), Denial> {
        let Some(limit) = self.settings.prompts_per_hour else {
            return Ok(());
        };
        let period = u64::try_from(HOUR.as_millis()).unwrap_or(u64::MAX);
        let drawn = self.ask(Call::Draw {
            account: name.user.clone(),
            kind: "prompts".to_owned(),
            period,
            limit,
            amount: 1,
        });
        match drawn.await {
            Ok(Answer::Drawn { granted: 0, again }) => {
                Err(Denial::Spent(Duration::from_millis(again)))
            }
            Ok(_) => Ok(()),
            Err(_) if self.settings.opens_budgets => Ok(()),
            Err(denial) => Err(denial),
        }
    }
}
