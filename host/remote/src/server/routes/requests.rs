//! The open requests of the client, and the sessions and turns that they begin and end.

use std::collections::HashMap;
use std::sync::Arc;

use acp_chain_acp::{Life, TurnState, Turns, protocol_version};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};
use bytes::Bytes;
use tokio::time::Instant;

use super::{REQUESTS, SESSIONS};
use crate::server::access_log::LogContext;
use crate::server::account::{Account, SessionPermit};
use crate::server::metrics::Refusal;
use crate::server::shared::{Denial, Slot};
use crate::server::shares::{AGAIN, TurnPermits};
use crate::server::turn::Turn;

/// What an answer of the agent has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EndedParts {
    pub sessions: Vec<Arc<str>>,
    /// Prompts, by the ids of their requests.
    pub prompts: Vec<Id>,
}

impl EndedParts {
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.prompts.is_empty()
    }
}

/// Why a request is not passed to the chain.
#[derive(Debug)]
pub enum NotBegun {
    /// It has this id, and is answered with this error.
    Refused(Id, Error),
    /// Too many requests are open already.
    TooMany,
    /// No turn of the user may begin now.
    Denied(Denial),
}

#[derive(Debug)]
struct OpenRequest {
    session: Option<Arc<str>>,
    /// What the request does, which decides what its answer means for sessions.
    life: Life,
    /// The permit of the session that the request opens.
    permit: Option<SessionPermit>,
    /// The turn, if the request is a prompt.
    turn: Option<Turn>,
}

/// The requests of a connection.
#[derive(Debug)]
pub struct Requests {
    open: HashMap<Id, OpenRequest>,
    /// The turns that go on after their prompts are answered.
    turns: Turns<Arc<str>, Turn>,
    /// The open sessions.
    pub(super) sessions: HashMap<Arc<str>, SessionPermit>,
    pub(super) account: Arc<Account>,
    /// The slot of the turn that the next message begins, if turns count at all replicas.
    pub slot: Option<Slot>,
    log: Arc<LogContext>,
    /// What was ended since that was last taken.
    ended: EndedParts,
}

impl Requests {
    pub fn new(account: Arc<Account>, log: Arc<LogContext>) -> Self {
        Self {
            open: HashMap::new(),
            turns: Turns::new(),
            sessions: HashMap::new(),
            account,
            slot: None,
            log,
            ended: EndedParts::default(),
        }
    }

    /// Opens a request of the client, if the message is one.
    pub fn begin(&mut self, message: &Message, life: Life) -> Result<(), NotBegun> {
        let Some(id) = message.id() else {
            return Ok(());
        };
        if self.open.contains_key(&id) {
            // An error from the chain would be taken for the answer to the open request.
            let why = format!(
                "acp-chain: the id {} belongs to a request that is still open",
                id.as_str()
            );
            return Err(refused(id, why));
        }
        if self.open.len() >= REQUESTS {
            return Err(NotBegun::TooMany);
        }
        let session = message.session().cloned();
        let is_open = |name: &Arc<str>| self.sessions.contains_key(name);
        let opens = match life {
            Life::Loads => !session.as_ref().is_some_and(is_open),
            _ => life.names_session(),
        };
        let permit = opens.then(|| self.account.permit());
        if let Some(None) = permit {
            self.log.figures.refused(Refusal::Sessions);
            let why =
                "acp-chain: your limit of open sessions is reached; close one, or end a connection";
            return Err(refused(id, why));
        }
        let turn = (life == Life::Prompts).then(|| self.begin_turn(session.clone()));
        let request = OpenRequest {
            session,
            life,
            permit: permit.flatten(),
            turn: turn.transpose()?,
        };
        self.open.insert(id, request);
        Ok(())
    }

    /// A turn that begins now, unless it is that of others.
    fn begin_turn(&mut self, session: Option<Arc<str>>) -> Result<Turn, NotBegun> {
        let permits = self.permit_turn().map_err(NotBegun::Denied)?;
        Ok(Turn::new(session, Some(permits), self.log.clone()))
    }

    fn permit_turn(&mut self) -> Result<TurnPermits, Denial> {
        let slot = self.slot.take();
        let (turns, user) = (&self.account.turns, &self.log.user);
        let Some(share) = self.account.shares.begin(user) else {
            // Others need not wait for a turn that may not begin.
            turns.leave(&user.name);
            return Err(Denial::Turns(AGAIN));
        };
        let begun = turns.begin(&user.name, Instant::now());
        Ok((begun.map_err(Denial::Busy)?, share, slot))
    }

    /// Whether none is open, and no turn runs.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty() && self.turns.is_empty()
    }

    /// Whether a session is being set up whose name is not known yet.
    pub fn is_opening(&self) -> bool {
        let mut requests = self.open.values();
        requests.any(|request| request.life.names_session())
    }

    /// The number of running turns.
    pub fn turns(&self) -> usize {
        let prompts = self.open.values().filter(|request| request.turn.is_some());
        prompts.count() + self.turns.len()
    }

    /// The request that a line answers, and the session that the answer opens, if it does.
    pub fn opened_by(&self, line: &Bytes) -> Option<(Id, Arc<str>)> {
        if !self.is_opening() {
            return None;
        }
        let answer = Message::parse(line.clone()).ok()?;
        let id = answer.id().filter(|_| answer.kind() == Kind::Result)?;
        let request = self.open.get(&id)?;
        let session = answer.session().cloned();
        let session = session.filter(|_| request.life.names_session())?;
        Some((id, session))
    }

    /// What was ended since the last call.
    pub fn take_ended(&mut self) -> EndedParts {
        std::mem::take(&mut self.ended)
    }

    /// A permission is requested in a session.
    pub fn count_permission(&mut self, session: Option<&Arc<str>>) {
        let of_it = |request: &&mut OpenRequest| request.session.as_ref() == session;
        let requests = self.open.values_mut().filter(of_it);
        let turns = requests.filter_map(|request| request.turn.as_mut());
        let running = session.and_then(|session| self.turns.get_mut(session));
        for turn in turns.chain(running) {
            turn.permissions += 1;
        }
    }

    /// Notes whether a turn runs in a session (RFD v2/prompt, `state_update`).
    pub fn note_state(&mut self, message: &Message) {
        if !self.turns.acknowledges() || message.update() != Some("state_update") {
            return;
        }
        let update = member(message.body(), "update");
        let (Some(update), Some(session)) = (update, message.session()) else {
            return;
        };
        if message.is_idle() {
            if let Some(turn) = self.turns.end(session) {
                turn.stop(update);
            }
        } else if self.turns.len() < SESSIONS {
            let log = &self.log;
            self.turns.work(session.clone(), || {
                Some(Turn::new(Some(session.clone()), None, log.clone()))
            });
        }
    }

    /// Ends the turn, or opens or closes the session, of a request that is answered. Returns its session, and what it
    /// did.
    pub fn answer(&mut self, id: &Id, answer: &Message) -> Option<(Option<Arc<str>>, Life)> {
        let mut request = self.open.remove(id)?;
        if request.life == Life::Prompts {
            self.ended.prompts.push(id.clone());
        }
        if let Some(turn) = request.turn.take() {
            self.end_turn(turn, request.session.as_ref(), answer);
        }
        self.settle(&mut request, answer);
        Some((request.session, request.life))
    }

    fn end_turn(&mut self, turn: Turn, session: Option<&Arc<str>>, answer: &Message) {
        let turns = &mut self.turns;
        let says_end = answer.says_end();
        let has_room = |session: &&Arc<str>| turns.has(*session) || turns.len() < SESSIONS;
        match session.filter(has_room) {
            Some(session) => match turns.answer(session.clone(), turn, says_end) {
                TurnState::Over(turn) => turn.end(answer),
                TurnState::Joins(turn) => turn.forget(),
                TurnState::Runs => {}
            },
            None if turns.acknowledges() && !says_end => turn.forget(),
            None => turn.end(answer),
        }
    }

    fn settle(&mut self, request: &mut OpenRequest, answer: &Message) {
        if request.life == Life::Connects {
            let version = member(answer.body(), "protocolVersion");
            let version = version.and_then(protocol_version);
            self.turns.agree(version.unwrap_or(1));
        }
        let name = match request.life {
            Life::Loads | Life::Ends => request.session.clone(),
            life if life.names_session() => answer.session().cloned(),
            _ => None,
        };
        let Some(name) = name else { return };
        // A session that is unknown to the agent has ended.
        let is_unknown = request.life == Life::Ends && answer.is_error(code::RESOURCE_NOT_FOUND);
        if answer.kind() == Kind::Error && !is_unknown {
            if request.life == Life::Loads && !self.sessions.contains_key(&name) {
                // It is served no more than before.
                self.ended.sessions.push(name);
            }
            return;
        }
        match request.permit.take() {
            Some(permit) if self.sessions.len() < SESSIONS => {
                self.sessions.insert(name, permit);
            }
            None if request.life == Life::Ends => {
                self.sessions.remove(&name);
                self.turns.end(&name);
                // A prompt that is answered after its session has ended begins no turn.
                let requests = self.open.values_mut();
                let of_it = requests.filter(|request| request.session.as_ref() == Some(&name));
                of_it.for_each(|request| drop(request.turn.take()));
                self.ended.sessions.push(name);
            }
            _ => {}
        }
    }

    /// Drops open requests, turns and sessions: the chain has ended.
    pub fn end(&mut self) {
        self.open.clear();
        self.turns.clear();
        self.sessions.clear();
    }
}

fn refused(id: Id, why: impl Into<String>) -> NotBegun {
    NotBegun::Refused(id, Error::new(code::INVALID_REQUEST, why))
}
