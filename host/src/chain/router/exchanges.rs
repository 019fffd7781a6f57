//! The requests that are open, by number. Numbers are given in the order in which requests are opened, and
//! never twice: they are the ids of what leaves.

use foldhash::{HashMap, HashMapExt};

use crate::chain::exchange::{Boundary, Exchange, ExchangeId, Origin, Stage};
use crate::chain::route::Route;
use crate::channel::Peer;
use crate::limits::Charge;
use crate::rpc::Message;

pub(super) struct Exchanges {
    open: HashMap<ExchangeId, Exchange>,
    next: ExchangeId,
}

impl Exchanges {
    pub fn new() -> Self {
        Self {
            open: HashMap::new(),
            next: 1,
        }
    }

    /// Opens a request, which is kept on somebody's account, or on the host's own.
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
            boundary: Boundary::of(message.method()),
            session: message.session().cloned(),
            renamed: Vec::new(),
            stage: Stage::Moving,
            seen: Vec::new(),
            cancel: None,
            stopped: false,
            charge,
            charges: Vec::new(),
            stands_alone: false,
        };
        self.open.insert(number, exchange);
        number
    }

    /// The number of the next one.
    pub fn next(&self) -> ExchangeId {
        self.next
    }

    pub fn get(&self, number: ExchangeId) -> Option<&Exchange> {
        self.open.get(&number)
    }

    pub fn get_mut(&mut self, number: ExchangeId) -> Option<&mut Exchange> {
        self.open.get_mut(&number)
    }

    pub fn remove(&mut self, number: ExchangeId) -> Option<Exchange> {
        self.open.remove(&number)
    }

    /// Where a request is now.
    pub fn stage(&mut self, number: ExchangeId, stage: Stage) {
        if let Some(exchange) = self.open.get_mut(&number) {
            exchange.stage = stage;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (ExchangeId, &Exchange)> {
        self.open
            .iter()
            .map(|(number, exchange)| (*number, exchange))
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }
}
