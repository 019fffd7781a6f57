//! The engines: each carries out statements, and says how it differs from the other.

pub mod embedded;
pub mod postgres;
mod tls;

use crate::call::{Answer, Call};
use crate::values::{ValueAnswer, ValueCall};

/// The store of replicas, in one of the engines.
pub trait Store {
    /// Carries out a call as one step. After an error it may have been carried out.
    fn carry_out(&mut self, call: &Call) -> impl Future<Output = Result<Answer, Unusable>>;
}

/// The values that proxies store, in the store of replicas.
pub trait ValueStore {
    /// Carries out a call about stored values as one step. After an error it may have been carried out.
    fn values(&mut self, call: &ValueCall) -> impl Future<Output = Result<ValueAnswer, Unusable>>;
}

/// Why a store cannot be used now. The text is for operators: it names the file or the address, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);

impl Unusable {
    /// About the content of a store: not as it was written.
    pub(crate) fn odd(what: &str) -> Self {
        Self(format!(
            "the store has {what}, which acp-chain does not write; restore it from a backup"
        ))
    }
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'v> {
    Text(&'v str),
    Number(i64),
}

/// A column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Text(String),
    Number(i64),
    /// Nothing, or a type that our statements do not read.
    Nothing,
}

/// What a statement returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row(pub Vec<Cell>);

impl Row {
    /// The text in this column.
    pub(crate) fn text(&self, at: usize) -> Result<String, Unusable> {
        match self.0.get(at) {
            Some(Cell::Text(text)) => Ok(text.clone()),
            _ => Err(Unusable::odd("no text in a column of texts")),
        }
    }

    /// The number in this column.
    pub(crate) fn number(&self, at: usize) -> Result<u64, Unusable> {
        match self.0.get(at) {
            Some(Cell::Number(number)) => {
                u64::try_from(*number).map_err(|_| Unusable::odd("a number below 0"))
            }
            _ => Err(Unusable::odd("no number in a column of numbers")),
        }
    }
}

/// How an engine differs from the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The time, in milliseconds since 1970.
    pub now: &'static str,
    /// A statement that returns the next number.
    pub next: &'static str,
    /// A statement that returns the last number that was given, the history of the database, which is another one after
    /// a standby has taken over or a backup was restored, or an empty text if that is not known; and the history as it
    /// was noted.
    pub last: &'static str,
    /// A statement after which the next numbers are larger than its parameter.
    pub raise: &'static str,
    /// A statement that waits until no other transaction has this lock: its class, as a number, and its name. `None`
    /// where there is one transaction at a time.
    pub lock: Option<&'static str>,
    /// What is appended to a query of one table, or of the leases as `l`, to keep its row from changing until the
    /// transaction ends.
    pub keeps_row: &'static str,
    pub keeps_lease: &'static str,
}

/// A connection to a database, perhaps within a transaction.
pub(crate) trait Engine {
    const DIALECT: Dialect;

    /// Runs a statement with its parameters, `$1` and so on, and returns its rows.
    async fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Unusable>;
}

impl Dialect {
    /// A statement of both engines, as this one reads it.
    pub(crate) fn read(&self, statement: &str) -> String {
        statement
            .replace("{now}", self.now)
            .replace("{keeps_row}", self.keeps_row)
            .replace("{keeps_lease}", self.keeps_lease)
    }
}
