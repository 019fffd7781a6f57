//! Values in the store that replicas of a server share. There, each user of the server has the bounds that a database
//! has.
//!
//! The store takes no U+0000, so texts are escaped: `\0` stands for it, and `\\` for a backslash. A column that may be
//! missing begins with `=` unless it is.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use acp_chain_channel::limits::{STORED_BYTES, STORED_FOR, STORED_IN_ALL, STORED_VALUES};
use acp_chain_store::{
    ChosenOwners, NewValue, OwnerSummary, Postgres, PostgresPlace, StoredValue, Unusable,
    ValueAnswer, ValueCall, ValueLimit, ValueLimits, ValueOwner, ValueStore,
};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::error::StateError;
use crate::inventory::{Filter, Page, Removed, Selected, Selection, Summary, Totals};
use crate::limits::{LimitError, check};
use crate::namespace::{Namespace, folder};
use crate::protocol::{Loaded, StoreOutcome};
use crate::shelf::Shelf;
use crate::values::size;

/// What a user of a server may store.
const LIMITS: ValueLimits = ValueLimits {
    values: STORED_VALUES,
    bytes: STORED_BYTES,
    owners: STORED_FOR,
    bytes_of_user: STORED_IN_ALL,
};

/// Values in the store of replicas, over one connection.
#[derive(Debug)]
pub struct Shared<S> {
    store: S,
    seen: Seen,
}

/// The largest version that was seen, over all connections of a process: a store that has lost something gives smaller
/// ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Rc<Cell<u64>>);

impl Seen {
    fn note(&self, version: u64) {
        self.0.set(self.0.get().max(version));
    }
}

impl Shared<Postgres> {
    /// Reads the settings of the database. Nothing is connected yet.
    pub(crate) fn open(place: &PostgresPlace, seen: Seen) -> Result<Self, StateError> {
        let store = Postgres::new(place)?;
        Ok(Self { store, seen })
    }
}

impl<S: ValueStore> Shared<S> {
    /// Uses a connection that has seen nothing.
    pub fn new(store: S) -> Self {
        let seen = Seen::default();
        Self { store, seen }
    }

    /// Stores a value over the version that it names. `since` is when the first value of the namespace was stored, if
    /// that was elsewhere.
    async fn put(
        &mut self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
        since: Option<SystemTime>,
    ) -> Result<StoreOutcome, StateError> {
        check(namespace, key, value)?;
        let call = ValueCall::Store(NewValue {
            owner: owner(namespace)?,
            key: escaped(key),
            version,
            value: value.map(escaped),
            bytes: value.map_or(0, |value| size(key, value)),
            limits: LIMITS,
            since: since.map_or(0, millis),
            seen: self.seen.0.get(),
        });
        match self.ask(&call).await? {
            ValueAnswer::Stored { version } => {
                self.seen.note(version);
                Ok(StoreOutcome::Stored { version })
            }
            ValueAnswer::Conflict(stored) => Ok(StoreOutcome::Conflict(self.found(stored))),
            ValueAnswer::Exceeded(limit) => Err(exceeded(limit).into()),
            ValueAnswer::Rewound => Err(StateError::Store(
                "the store has lost what was last written, as after a restored backup, so nothing was stored; retry"
                    .to_owned(),
            )),
            _ => Err(other_answer()),
        }
    }

    /// Stores a value that was elsewhere, where there is none.
    pub(crate) async fn adopt(
        &mut self,
        namespace: &Namespace,
        key: &str,
        value: &str,
        since: SystemTime,
    ) -> Result<StoreOutcome, StateError> {
        self.put(namespace, key, 0, Some(value), Some(since)).await
    }

    async fn ask(&mut self, call: &ValueCall) -> Result<ValueAnswer, StateError> {
        Ok(self.store.values(call).await?)
    }

    fn found(&self, stored: StoredValue) -> Loaded {
        self.seen.note(stored.version);
        Loaded {
            value: stored.value.as_deref().map(plain),
            version: stored.version,
            since: stored.since.map(time),
        }
    }
}

impl<S: ValueStore> Shelf for Shared<S> {
    async fn load_value(&mut self, namespace: &Namespace, key: &str) -> Result<Loaded, StateError> {
        check(namespace, key, None)?;
        let call = ValueCall::Load {
            digest: owner(namespace)?.digest,
            key: escaped(key),
        };
        match self.ask(&call).await? {
            ValueAnswer::Loaded(stored) => Ok(self.found(stored)),
            _ => Err(other_answer()),
        }
    }

    async fn store_value(
        &mut self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> Result<StoreOutcome, StateError> {
        self.put(namespace, key, version, value, None).await
    }

    async fn list(&mut self, filter: &Filter) -> Result<Vec<Summary>, StateError> {
        let chosen = chosen(filter)?;
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let call = ValueCall::Owners {
                chosen: chosen.clone(),
                after,
            };
            let ValueAnswer::Owners(owners) = self.ask(&call).await? else {
                return Err(other_answer());
            };
            let Some(last) = owners.last() else { break };
            after = last.owner.digest.clone();
            all.extend(owners.iter().map(summary));
        }
        all.sort_by(|one, other| one.namespace.cmp(&other.namespace));
        Ok(all)
    }

    async fn list_some(&mut self, user: Option<&str>) -> Result<Vec<Summary>, StateError> {
        let call = ValueCall::Owners {
            chosen: ChosenOwners {
                user: user.map(some),
                ..ChosenOwners::default()
            },
            after: String::new(),
        };
        let ValueAnswer::Owners(owners) = self.ask(&call).await? else {
            return Err(other_answer());
        };
        let mut found: Vec<_> = owners.iter().map(summary).collect();
        found.sort_by(|one, other| one.namespace.cmp(&other.namespace));
        Ok(found)
    }

    async fn totals(&mut self, user: Option<&str>) -> Result<Totals, StateError> {
        let call = ValueCall::Count {
            user: user.map(some),
        };
        let ValueAnswer::Counted(count) = self.ask(&call).await? else {
            return Err(other_answer());
        };
        Ok(Totals {
            namespaces: count.owners,
            users: count.users,
            values: count.values,
            bytes: count.bytes,
        })
    }

    async fn select(&mut self, selection: &Selection<'_>, after: &str) -> Result<Page, StateError> {
        let call = ValueCall::Select {
            extension: some(selection.extension),
            key: escaped(selection.key),
            user: selection.user.map(some),
            // What a value counts.
            longest: size(selection.key, "").saturating_add(selection.longest),
            after: after.to_owned(),
        };
        let ValueAnswer::Selected(found) = self.ask(&call).await? else {
            return Err(other_answer());
        };
        let next = found.last().map(|last| last.owner.digest.clone());
        let values = found.iter().map(|one| Selected {
            namespace: namespace(&one.owner),
            value: plain(&one.value),
            changed: time(one.changed),
        });
        Ok(Page {
            values: values.collect(),
            next,
        })
    }

    async fn remove(&mut self, filter: &Filter) -> Result<Removed, StateError> {
        let chosen = chosen(filter)?;
        let mut removed = Removed::default();
        let mut after = String::new();
        loop {
            let call = ValueCall::Wipe {
                chosen: chosen.clone(),
                after,
            };
            let ValueAnswer::Wiped {
                owners,
                values,
                last,
            } = self.ask(&call).await?
            else {
                return Err(other_answer());
            };
            removed.namespaces += owners;
            removed.values += values;
            let Some(last) = last else {
                return Ok(removed);
            };
            after = last;
        }
    }
}

impl From<Unusable> for StateError {
    fn from(unusable: Unusable) -> Self {
        Self::Store(unusable.0)
    }
}

fn other_answer() -> StateError {
    StateError::Store("the store has answered another call".to_owned())
}

fn exceeded(limit: ValueLimit) -> LimitError {
    match limit {
        ValueLimit::Values => LimitError::Values,
        ValueLimit::Bytes => LimitError::Bytes,
        ValueLimit::Owners => LimitError::Namespaces,
        ValueLimit::BytesOfUser => LimitError::All,
    }
}

/// The owners as which the namespaces of a filter are stored.
fn chosen(filter: &Filter) -> Result<ChosenOwners, LimitError> {
    let project = filter.project.as_deref().map(folder).transpose()?;
    Ok(ChosenOwners {
        extension: filter.extension.as_deref().map(some),
        user: filter.user.as_deref().map(some),
        project: project.map(some),
    })
}

/// The owner as which a namespace is stored. Different namespaces have different columns.
fn owner(namespace: &Namespace) -> Result<ValueOwner, LimitError> {
    let columns = namespace
        .columns()?
        .map(|column| column.map(some).unwrap_or_default());
    let mut hash = Sha256::new();
    for column in &columns {
        hash.update((column.len() as u64).to_be_bytes());
        hash.update(column.as_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let [extension, source, user, project] = columns;
    Ok(ValueOwner {
        digest: HEXLOWER.encode(&digest),
        extension,
        source,
        user,
        project,
    })
}

/// The namespace of an owner.
fn namespace(owner: &ValueOwner) -> Namespace {
    Namespace {
        extension: given(&owner.extension).unwrap_or_default(),
        source: given(&owner.source).unwrap_or_default(),
        user: given(&owner.user),
        project: given(&owner.project).map(PathBuf::from),
    }
}

fn summary(found: &OwnerSummary) -> Summary {
    Summary {
        namespace: namespace(&found.owner),
        count: found.values,
        bytes: found.bytes,
        since: time(found.since),
        changed: time(found.changed),
    }
}

/// A column that is not missing.
fn some(text: &str) -> String {
    format!("={}", escaped(text))
}

/// The text of a column; `None` if it is missing.
fn given(column: &str) -> Option<String> {
    column.strip_prefix('=').map(plain)
}

fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('\0', r"\0")
}

fn plain(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('0') => text.push('\0'),
            other => text.extend(other),
        }
    }
    text
}

/// A time for the store.
fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

/// A time of the store, in milliseconds since 1970.
fn time(millis: u64) -> SystemTime {
    UNIX_EPOCH
        .checked_add(Duration::from_millis(millis))
        .unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_missing_text_is_not_an_empty_one() {
        let of = |user: Option<&str>, project: Option<&str>| Namespace {
            extension: "one".to_owned(),
            source: "built-in".to_owned(),
            user: user.map(str::to_owned),
            project: project.map(PathBuf::from),
        };
        let all = [
            of(None, None),
            of(Some(""), None),
            of(None, Some("")),
            of(Some("a"), None),
            of(None, Some("a")),
        ];
        let mut digests: Vec<_> = all.iter().map(|one| owner(one).unwrap().digest).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
    }

    proptest! {
        #[test]
        fn any_text_is_stored_without_its_zeros_and_read_as_it_was(
            text in proptest::collection::vec(prop_oneof![Just('\0'), Just('\\'), Just('0'), any::<char>()], 0..20),
        ) {
            let text: String = text.into_iter().collect();
            let column = some(&text);
            prop_assert!(!column.contains('\0'));
            prop_assert!(column.len() <= 2 * text.len() + 1);
            prop_assert_eq!(given(&column), Some(text));
        }
    }
}
