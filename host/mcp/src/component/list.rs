//! One list of a component, which the host requests and caches.
//!
//! The list is requested when a client first needs it, and kept until the component reports a change. Clients are then
//! notified, but not again until one of them has requested the list. They are not notified twice in a row because of
//! reports made while the component lists: otherwise a component that reports a change with each list would make all
//! clients list forever.

use std::sync::Arc;

use super::catalog::Catalog;
use crate::OutgoingId;
use acp_chain_channel::limits::{Account, Charge};

#[derive(Debug, Default)]
pub struct List {
    state: State,
    /// The number of catalogs so far, so that a cursor into an earlier one is recognized.
    pub generation: u64,
    /// Whether clients were notified of a change, and none has requested the list since.
    notified: bool,
    /// Whether the last notification was caused by a report made while the component was listing, and all reports since
    /// were made while it was listing. Such reports are ignored until one is made at another time.
    notified_while_listing: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unknown,
    Requested {
        question: OutgoingId,
        /// Whether the list has changed since the request.
        stale: bool,
    },
    Known {
        catalog: Arc<Catalog>,
        _charge: Charge,
    },
}

impl List {
    /// The items, if known.
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        match &self.state {
            State::Known { catalog, .. } => Some(catalog),
            _ => None,
        }
    }

    /// Whether the list must be requested from the component.
    pub fn is_unknown(&self) -> bool {
        matches!(self.state, State::Unknown)
    }

    /// Notes that the list was requested from the component.
    pub fn ask(&mut self, question: OutgoingId) {
        let stale = false;
        self.state = State::Requested { question, stale };
        self.notified = false;
    }

    /// Whether this is the open request for the list.
    pub fn is_asked(&self, of: OutgoingId) -> bool {
        matches!(self.state, State::Requested { question, .. } if question == of)
    }

    /// The component answered; `None` for an error. A list that has changed since it was requested is not kept.
    pub fn answered(&mut self, catalog: Option<&Arc<Catalog>>, kept: &Account) {
        self.generation += 1;
        let state = std::mem::take(&mut self.state);
        if let (State::Requested { stale: false, .. }, Some(catalog)) = (state, catalog) {
            self.state = State::Known {
                catalog: Arc::clone(catalog),
                _charge: kept.charge_anyway(catalog.weight()),
            };
        }
    }

    /// The component reported a change. Returns whether to notify clients.
    pub fn changed(&mut self) -> bool {
        let while_listing = match &mut self.state {
            State::Requested { stale, .. } => {
                *stale = true;
                true
            }
            state => {
                *state = State::Unknown;
                false
            }
        };
        if while_listing && self.notified_while_listing {
            return false;
        }
        self.notified_while_listing = while_listing;
        !std::mem::replace(&mut self.notified, true)
    }
}
