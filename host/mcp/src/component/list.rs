//! One list of a component, and whether it is known.
//!
//! It is requested when a client first needs it, and kept until the component says that it has changed. Clients are
//! then told, but not twice before one of them looks, and not twice in a row because of a report made while the
//! component lists: a component that reported a change with each list would make everybody list for ever.

use std::sync::Arc;

use super::catalog::Catalog;
use crate::Question;

/// A list.
#[derive(Debug, Default)]
pub struct List {
    known: Known,
    /// Counts the catalogs, so that a cursor into another one is recognized.
    pub generation: u64,
    /// Whether clients know that it has changed, and none has looked since.
    told: bool,
    /// Whether they were last told while the component was listing, and it has reported changes only then since. Such
    /// reports are ignored until there is one at another time.
    told_while_listing: bool,
}

#[derive(Debug, Default)]
enum Known {
    #[default]
    Nothing,
    Asked {
        question: Question,
        /// Whether the list has changed since.
        stale: bool,
    },
    All(Arc<Catalog>),
}

impl List {
    /// Its items, if known.
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        match &self.known {
            Known::All(catalog) => Some(catalog),
            _ => None,
        }
    }

    /// Whether the component must be asked for it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.known, Known::Nothing)
    }

    /// The component is asked for it.
    pub fn ask(&mut self, question: Question) {
        let stale = false;
        self.known = Known::Asked { question, stale };
        self.told = false;
    }

    /// Whether this is the open question for it.
    pub fn is_asked(&self, of: Question) -> bool {
        matches!(self.known, Known::Asked { question, .. } if question == of)
    }

    /// The component has answered. A list that has changed meanwhile serves only the requests that came before.
    pub fn answered(&mut self, catalog: Option<&Arc<Catalog>>) {
        self.generation += 1;
        let known = std::mem::take(&mut self.known);
        if let (Known::Asked { stale: false, .. }, Some(catalog)) = (known, catalog) {
            self.known = Known::All(Arc::clone(catalog));
        }
    }

    /// The component says that it has changed. Returns whether to tell clients.
    pub fn changed(&mut self) -> bool {
        let while_listing = match &mut self.known {
            Known::Asked { stale, .. } => {
                *stale = true;
                true
            }
            known => {
                *known = Known::Nothing;
                false
            }
        };
        if while_listing && self.told_while_listing {
            return false;
        }
        self.told_while_listing = while_listing;
        !std::mem::replace(&mut self.told, true)
    }
}
