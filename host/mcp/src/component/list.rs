//! One list of a component's, and whether it is known.
//!
//! It is asked for when a client first needs it, and kept until the component says that it has
//! changed. Clients are then told, though not twice before one of them looks, and not twice in a row
//! because of what the component says while it lists: in every list, that would have everybody list
//! for ever.

use std::sync::Arc;

use super::catalog::Catalog;
use crate::seat::Question;

/// A list.
#[derive(Debug, Default)]
pub struct List {
    known: Known,
    /// Counts the catalogs, so that a cursor into another one is told.
    pub generation: u64,
    /// Whether clients know that it has changed, and none has looked since.
    told: bool,
    /// Whether they were told while the component was listing, and it has said so only then since. It
    /// is not believed again until it says so otherwise.
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
    /// What is in it, if that is known.
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        match &self.known {
            Known::All(catalog) => Some(catalog),
            _ => None,
        }
    }

    /// Whether the component is to be asked for it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.known, Known::Nothing)
    }

    /// The component is asked for it.
    pub fn ask(&mut self, question: Question) {
        let stale = false;
        self.known = Known::Asked { question, stale };
        self.told = false;
    }

    /// Whether this is the question by which it is asked for.
    pub fn is_asked(&self, of: Question) -> bool {
        matches!(self.known, Known::Asked { question, .. } if question == of)
    }

    /// The component has answered. One that has changed meanwhile serves those who asked before, and
    /// nobody after.
    pub fn answered(&mut self, catalog: Option<&Arc<Catalog>>) {
        self.generation += 1;
        let known = std::mem::take(&mut self.known);
        if let (Known::Asked { stale: false, .. }, Some(catalog)) = (known, catalog) {
            self.known = Known::All(Arc::clone(catalog));
        }
    }

    /// The component says that it has changed. Says whether clients are to be told.
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
