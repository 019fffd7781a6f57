//! The open requests, by number. Numbers are given in order of opening, and never reused: they are the ids of outgoing
//! requests.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::HashMapExt;

use crate::losses::Loss;
use acp_chain_acp::Life;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::{Account, Charge, KEPT, LONGEST_ID, OPEN, OPEN_KEPT, Quantity};
use acp_chain_hops::exchange::{Exchange, ExchangeId, Origin, PromptState, Stage};
use acp_chain_hops::route::Route;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Error, Id, Message, code};

pub(super) struct Exchanges {
    open: foldhash::HashMap<ExchangeId, Exchange>,
    next: ExchangeId,
    /// How many of them open a session that has a history.
    with_history: usize,
}

impl Exchanges {
    pub fn new() -> Self {
        Self {
            open: foldhash::HashMap::new(),
            next: 1,
            with_history: 0,
        }
    }

    /// Opens a request. The host's own requests have no charge.
    pub fn open(
        &mut self,
        origin: Origin,
        toward: Peer,
        route: Route,
        message: &Message,
        charge: Option<Charge>,
    ) -> ExchangeId {
        let number = self.next;
        self.next += 1;
        let exchange = Exchange {
            origin,
            toward,
            route,
            method: message.method().clone(),
            life: Life::of(message.method()),
            session: message.session().cloned(),
            renamed: Vec::new(),
            stage: Stage::Moving,
            seen: Vec::new(),
            cancel: None,
            stopped: false,
            turn: PromptState::Open,
            charge,
            charges: Vec::new(),
            stands_alone: false,
        };
        self.with_history += usize::from(exchange.life.has_history());
        self.open.insert(number, exchange);
        number
    }

    /// Opens a request that is about to be sent.
    pub fn open_routed(
        &mut self,
        origin: Origin,
        charge: Option<Charge>,
        routed: &mut Routed,
    ) -> ExchangeId {
        let (toward, route) = (routed.toward, routed.route.clone());
        let number = self.open(origin, toward, route, &routed.message, charge);
        routed.exchange = Some(number);
        number
    }

    pub fn get(&self, number: ExchangeId) -> Option<&Exchange> {
        self.open.get(&number)
    }

    /// The open request that a message is or answers.
    pub fn of(&self, routed: &Routed) -> Option<&Exchange> {
        self.get(routed.exchange?)
    }

    /// The open request that a message is or answers.
    pub fn of_mut(&mut self, routed: &Routed) -> Option<&mut Exchange> {
        self.get_mut(routed.exchange?)
    }

    /// The open request about a report of a hook.
    pub fn of_report(&self, report: u64) -> Option<ExchangeId> {
        let is_meant = |origin: &Origin| matches!(origin, Origin::Hook(of) if *of == report);
        let mut open = self.open.iter();
        let meant = open.find(|(_, exchange)| is_meant(&exchange.origin));
        meant.map(|(number, _)| *number)
    }

    /// Notes that a request goes on. Answers change nothing.
    pub fn goes_on(&mut self, routed: &Routed) {
        if !routed.is_response()
            && let Some(exchange) = self.of_mut(routed)
        {
            exchange.stage = Stage::Moving;
        }
    }

    /// The kind of loss that an answer is, if no request is open under its id.
    pub fn loss_of_answer(&self, answer: &Message) -> Loss {
        let id = answer.id().unwrap_or_else(Id::null);
        // With such an error, the sender states that it could not read a message (JSON-RPC 2.0 §5.1).
        let mut unread = [code::PARSE_ERROR, code::INVALID_REQUEST].into_iter();
        if id == Id::null() && !unread.any(|stated| answer.is_error(stated)) {
            return Loss::Nameless;
        }
        match id.answered() {
            Some(number) if self.is_over(number) => Loss::Late,
            _ => Loss::Unasked,
        }
    }

    /// Whether a request had this number, and is no longer open.
    pub fn is_over(&self, number: ExchangeId) -> bool {
        (1..self.next).contains(&number) && !self.open.contains_key(&number)
    }

    pub fn get_mut(&mut self, number: ExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&number)
    }

    pub fn remove(&mut self, number: ExchangeId) -> Option<Exchange> {
        let removed = self.open.remove(&number)?;
        self.with_history -= usize::from(removed.life.has_history());
        Some(removed)
    }

    /// Whether a message for the client may be a part of a history that the agent replays: a request that opens its
    /// session, or forks it, is not answered yet.
    #[inline]
    pub fn may_replay(&self, routed: &Routed) -> bool {
        self.with_history > 0 && routed.toward == Peer::Client && self.opens(routed.session())
    }

    /// Whether an open request opens or forks a session that has a history, which is named as the agent does.
    #[cold]
    fn opens(&self, session: Option<&Arc<str>>) -> bool {
        let mut open = self.open.values();
        open.any(|exchange| exchange.life.has_history() && exchange.far_session() == session)
    }

    /// Sets where a request is.
    pub fn stage(&mut self, number: ExchangeId, stage: Stage) {
        if let Some(exchange) = self.open.get_mut(&number) {
            exchange.stage = stage;
        }
    }

    /// Notes that the client stops the turns of a session.
    pub fn give_up_turns(&mut self, session: &Arc<str>) {
        let turns = self.open.values_mut().filter(|exchange| {
            exchange.toward == Peer::Agent
                && exchange.life == Life::Prompts
                && exchange.session.as_ref() == Some(session)
        });
        turns.for_each(|prompt| prompt.turn = PromptState::GivenUp);
    }

    /// Notes that the agent is told to stop the turns of a session, which is named as the agent does.
    pub fn note_stop(&mut self, session: &Arc<str>) {
        let prompts = self.open.values_mut().filter(|exchange| {
            exchange.toward == Peer::Agent
                && exchange.stage == Stage::Out
                && exchange.is_prompt_in(session)
        });
        prompts.for_each(|prompt| prompt.stopped = true);
    }

    /// Notes that the agent has ended a session, which is named as the agent does.
    pub fn end_turns(&mut self, session: &Arc<str>) {
        let open = self.open.values_mut();
        let prompts = open.filter(|exchange| exchange.is_prompt_in(session));
        prompts.for_each(|prompt| prompt.turn = PromptState::Over);
    }

    /// Changes the route of a request.
    pub fn lead(&mut self, number: ExchangeId, route: &Route) {
        if let Some(exchange) = self.open.get_mut(&number) {
            exchange.route = route.clone();
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (ExchangeId, &Exchange)> {
        self.open
            .iter()
            .map(|(number, exchange)| (*number, exchange))
    }

    /// The open requests at a stage, in the order in which they were opened.
    pub fn at(&self, stage: Stage) -> Vec<ExchangeId> {
        let at = self.iter().filter(|(_, exchange)| exchange.stage == stage);
        let mut at: Vec<_> = at.map(|(number, _)| number).collect();
        at.sort_unstable();
        at
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }
}

/// Charges a new request to its sender's account. `open` are the sender's open requests. An error if the request cannot
/// be accepted.
pub(super) fn admit(
    id: &Id,
    request: &Message,
    open: &HashMap<Id, ExchangeId>,
    kept: &Account,
) -> Result<Charge, Error> {
    let refused = |reason| Error::new(code::INVALID_REQUEST, reason);
    if id.as_str().len() > LONGEST_ID {
        return Err(refused(format!(
            "an id may have at most {LONGEST_ID} bytes"
        )));
    }
    if open.len() >= OPEN {
        return Err(refused(format!("{OPEN} requests are open already")));
    }
    if open.contains_key(id) {
        let id = id.as_str();
        let reason = format!("the id {id} belongs to a request that is still open");
        return Err(refused(reason));
    }
    let cost = Exchange::cost(Some(id), request);
    kept.charge(cost).ok_or_else(|| {
        let show = |limit| Quantity::Size.show(limit as u64);
        refused(if kept.kept() + cost > OPEN_KEPT {
            let limit = show(OPEN_KEPT);
            format!("the ids, methods and sessions of the open requests take {limit} already")
        } else {
            format!("{} are kept for the connection already", show(KEPT))
        })
    })
}
