//! Moves what proxies have stored for the users of a server from the database of the user who runs it into the store that
//! replicas share.
//!
//! A value is removed where it was only once it is in the store, and only as it was read. Nothing in the store is
//! replaced. So a move that was interrupted is repeated, also by several processes at once, and no value is lost.

use acp_chain_store::ValueStore;

use crate::database::Database;
use crate::error::StateError;
use crate::inventory::{PAGE, Stored, Summary};
use crate::limits::LimitError;
use crate::namespace::Namespace;
use crate::protocol::StoreOutcome;
use crate::shared::Shared;

/// What became of the values of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// How many are in the store now, and were not before.
    pub added: u64,
    /// How many were in the store already, as after a move that was interrupted. They were removed here.
    pub known: u64,
    /// How many are here still, since the store does not take them, and the first of these.
    pub refused: u64,
    pub refusals: Vec<Refusal>,
    /// How many are here still, since no user of a server has them.
    pub own: u64,
}

/// A value that is where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub namespace: Namespace,
    pub key: String,
    pub why: RefusalReason,
}

/// Why a value is where it was. The text is for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusalReason {
    /// The store has another one.
    #[error("the store has another value, which stays")]
    Differs,
    /// It is in the store as it was read, and here it is another one by now.
    #[error("a program has changed it here meanwhile; end that first")]
    Changed,
    /// A limit of the store.
    #[error("{0}")]
    Limit(LimitError),
}

/// Moves all values of users of a server. If an error is returned, `moved` has what was moved before.
///
/// # Errors
/// If the database or the store cannot be used.
pub async fn move_values<S: ValueStore>(
    from: &mut Database,
    to: &mut Shared<S>,
    moved: &mut Moved,
) -> Result<(), StateError> {
    for summary in from.namespaces()? {
        if summary.namespace.user.is_none() {
            moved.own += summary.count;
            continue;
        }
        for stored in from.values(&summary.namespace)? {
            move_value(from, to, &summary, stored, moved).await?;
        }
        from.forget(&summary.namespace)?;
    }
    Ok(())
}

async fn move_value<S: ValueStore>(
    from: &mut Database,
    to: &mut Shared<S>,
    summary: &Summary,
    stored: Stored,
    moved: &mut Moved,
) -> Result<(), StateError> {
    let Stored {
        key,
        value,
        version,
    } = stored;
    let namespace = &summary.namespace;
    let adopted = to.adopt(namespace, &key, &value, summary.since).await;
    let is_new = match adopted {
        Ok(StoreOutcome::Stored { .. }) => true,
        Ok(StoreOutcome::Conflict(found)) if found.value.as_deref() == Some(&*value) => false,
        Ok(StoreOutcome::Conflict(_)) => {
            moved.refuse(namespace, key, RefusalReason::Differs);
            return Ok(());
        }
        Err(StateError::Limit(limit)) => {
            moved.refuse(namespace, key, RefusalReason::Limit(limit));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    match from.store(namespace, &key, version, None)? {
        StoreOutcome::Conflict(found) if found.value.is_some() => {
            moved.refuse(namespace, key, RefusalReason::Changed);
        }
        // If there is none any longer, another process moves the same.
        StoreOutcome::Stored { .. } | StoreOutcome::Conflict(_) => {
            moved.added += u64::from(is_new);
            moved.known += u64::from(!is_new);
        }
    }
    Ok(())
}

impl Moved {
    fn refuse(&mut self, namespace: &Namespace, key: String, why: RefusalReason) {
        self.refused += 1;
        if self.refusals.len() < PAGE {
            self.refusals.push(Refusal {
                namespace: namespace.clone(),
                key,
                why,
            });
        }
    }
}
