//! A place where values are.

use crate::database::Database;
use crate::error::StateError;
use crate::inventory::{Filter, Page, Removed, Selection, Summary, Totals};
use crate::namespace::Namespace;
use crate::protocol::{Loaded, StoreOutcome};

/// A place where values are: the database of a user, or the store that replicas of a server share. The same holds in
/// both, by the same tests: `tests/tests/serving/store/values.rs`.
pub trait Shelf {
    /// Loads the value under a key.
    fn load_value(
        &mut self,
        namespace: &Namespace,
        key: &str,
    ) -> impl Future<Output = Result<Loaded, StateError>>;

    /// Stores a value, or removes it, if its version is still the given one: 0 if there is none.
    fn store_value(
        &mut self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> impl Future<Output = Result<StoreOutcome, StateError>>;

    /// The namespaces that have all of these properties, sorted.
    fn list(&mut self, filter: &Filter) -> impl Future<Output = Result<Vec<Summary>, StateError>>;

    /// Some namespaces, of a user of a server or of all: [`PAGE`](crate::PAGE) at most.
    fn list_some(
        &mut self,
        user: Option<&str>,
    ) -> impl Future<Output = Result<Vec<Summary>, StateError>>;

    /// Counts namespaces, those of a user of a server or all, and what they have.
    fn totals(&mut self, user: Option<&str>) -> impl Future<Output = Result<Totals, StateError>>;

    /// Some of the selected values, behind those of an earlier page: `after` is its `next`, or empty.
    fn select(
        &mut self,
        selection: &Selection<'_>,
        after: &str,
    ) -> impl Future<Output = Result<Page, StateError>>;

    /// Removes namespaces with their values.
    fn remove(&mut self, filter: &Filter) -> impl Future<Output = Result<Removed, StateError>>;
}

impl Shelf for Database {
    async fn load_value(&mut self, namespace: &Namespace, key: &str) -> Result<Loaded, StateError> {
        Self::load(self, namespace, key)
    }

    async fn store_value(
        &mut self,
        namespace: &Namespace,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> Result<StoreOutcome, StateError> {
        Self::store(self, namespace, key, version, value)
    }

    async fn list(&mut self, filter: &Filter) -> Result<Vec<Summary>, StateError> {
        Self::chosen(self, filter)
    }

    async fn list_some(&mut self, user: Option<&str>) -> Result<Vec<Summary>, StateError> {
        Self::first(self, user)
    }

    async fn totals(&mut self, user: Option<&str>) -> Result<Totals, StateError> {
        Self::count(self, user)
    }

    async fn select(&mut self, selection: &Selection<'_>, after: &str) -> Result<Page, StateError> {
        Self::page(self, selection, after)
    }

    async fn remove(&mut self, filter: &Filter) -> Result<Removed, StateError> {
        Self::wipe(self, filter)
    }
}
