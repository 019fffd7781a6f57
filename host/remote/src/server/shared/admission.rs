//! Whether a message of a client may pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use acp_chain_acp::Life;
use acp_chain_rpc::{Id, Message, aside};
use acp_chain_store::{Answer, Call, PromptState};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::super::connection::{Connection, Ending};
use super::{Denial, Lease, Shared, milliseconds};
use crate::User;

/// How many sessions a message may name: each may have to be looked up.
const NAMED: usize = 16;

/// The shortest key of a prompt that counts for its session, at all replicas, in bytes. Clients may count shorter ones
/// anew for each connection.
const KEY: usize = 16;

/// A message that may pass. If this is dropped before, the key of a prompt is free again, and what was drawn or taken
/// for the prompt is given back, as far as the store has answered.
#[derive(Debug)]
pub struct Passage<'c> {
    connection: &'c Arc<Connection>,
    prompt: Option<Id>,
    /// Whether the turn's slot waits at the connection.
    has_slot: bool,
    /// The calls that give it back.
    drawn: Vec<Call>,
    unsent: UnboundedSender<Call>,
}

impl Passage<'_> {
    /// Notes that the message has passed.
    pub fn pass(mut self) {
        self.drawn.clear();
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
        if self.has_slot {
            // A turn that has begun has taken it.
            self.connection.keep_slot(None);
        }
        for call in self.drawn.drain(..) {
            let _ = self.unsent.send(call);
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
        connection: &'c Arc<Connection>,
    ) -> Result<Passage<'c>, Denial> {
        let passage = Passage {
            connection,
            prompt: None,
            has_slot: false,
            drawn: Vec::new(),
            unsent: self.unsent.clone(),
        };
        if message.kind().is_response() {
            return Ok(passage);
        }
        // An agent may read its parameters elsewhere, and other sessions in them.
        if message.is_ambiguous() {
            return Err(Denial::Unknown);
        }
        let life = Life::of(message.method());
        // An agent would begin a session in vain that cannot be recorded.
        let begins = message.id().is_some() && life.names_session();
        if !self.is_alive() || begins && self.is_away() {
            return Err(Denial::Unavailable(self.again()));
        }
        self.draw_bytes(&connection.user, message.len()).await?;
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
        match life {
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
            self.figures.remembered.add(1);
            return Ok(());
        }
        self.figures.asked.add(1);
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
        connection: &Arc<Connection>,
    ) -> Result<Arc<Lease>, Denial> {
        if let Some(lease) = connection.lease(session) {
            return Ok(lease);
        }
        let lease = self.lease(session, self.rule(), connection).await?;
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
        if message.id().is_some() {
            let slot = self.slot_of_turn(connection).await?;
            passage.has_slot = slot.is_some();
            connection.keep_slot(slot);
            self.await_turn(connection).await?;
        }
        let key = key.filter(|key| key.len() >= KEY);
        if let Some((key, id)) = key.zip(message.id()) {
            let known = Denial::Prompted(PromptState::UnderWay);
            let prompt = lease.prompt(key).ok_or(known)?;
            self.begin_prompt(&lease, key, connection).await?;
            connection.note_prompt(id.clone(), prompt);
            passage.prompt = Some(id);
        }
        let user = &connection.user;
        self.draw_prompt(user, &mut passage.drawn).await?;
        Ok(passage)
    }

    /// Whether it is the turn of the connection's user. Who stood in line for it is asked about in the store: a user
    /// who had a turn from the line of another replica meanwhile lets the others pass. Without the store, the line of
    /// this replica goes on as it is.
    async fn await_turn(&self, connection: &Connection) -> Result<(), Denial> {
        let (turns, user) = (&connection.account.turns, &connection.user.name);
        let waited = turns.front(user, Instant::now()).map_err(Denial::Busy)?;
        let Some(waited) = waited.filter(|_| !self.is_away()) else {
            return Ok(());
        };
        let asked = self.ask(Call::NextTurn {
            user: user.clone(),
            waited: milliseconds(waited),
        });
        match asked.await {
            Ok(Answer::HadTurn) => turns.step_back(user, Instant::now()).map_err(Denial::Busy),
            Ok(_) => {
                turns.confirm(user);
                Ok(())
            }
            Err(_) => Ok(()),
        }
    }

    /// Notes in the store that a prompt is about to be sent.
    async fn begin_prompt(
        &self,
        lease: &Lease,
        key: &str,
        connection: &Connection,
    ) -> Result<(), Denial> {
        let seen = self.state.lock().seen;
        let begun = self.ask(Call::Begin {
            fence: lease.fence.clone(),
            holder: lease.holder.clone(),
            prompt: key.to_owned(),
            seen,
        });
        match begun.await? {
            Answer::Begun { number } => {
                let mut state = self.state.lock();
                state.seen = state.seen.max(number);
                Ok(())
            }
            // It was begun by this lease, and not sent: its key was free here.
            Answer::Prompt(PromptState::UnderWay) => Ok(()),
            Answer::Prompt(state) => Err(Denial::Prompted(state)),
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
}
