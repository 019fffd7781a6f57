//! The budgets of days and projects, which outlast the connection, and are the same for all editors of the user.
//!
//! Invariant: an account is changed only as it was read. A day never goes back: while the clock is behind the last
//! day that was counted, that day goes on.

use std::time::{Duration, UNIX_EPOCH};

use acp_chain_proxy::values::{self, Keeper, Value};
use acp_chain_proxy::{Result, now, warn};
use humantime::format_rfc3339_seconds;
use serde::{Deserialize, Serialize};

use crate::account::{Account, Period};

/// An account as it is stored. Operators of servers see it, too (`host/app/src/serve/kept.rs`).
#[derive(Default, Deserialize, Serialize)]
struct Record {
    /// The day; empty for a project.
    day: String,
    account: Account,
}

impl Record {
    fn read(stored: Option<&str>, today: &str) -> serde_json::Result<Self> {
        let parsed = stored.map(serde_json::from_str::<Self>).transpose()?;
        let mut record = parsed.unwrap_or_default();
        if *record.day < *today {
            (record.day, record.account) = (today.to_owned(), Account::default());
        } else if *record.day > *today {
            let last = &record.day;
            warn!("the clock is behind {last}, the last day that was counted, which goes on");
        }
        Ok(record)
    }
}

/// Changes the account of a day or a project. `today` is empty for a project. Returns whether none was stored, too. An
/// error says why nothing is counted.
pub(crate) async fn change<T>(
    period: Period,
    session: &str,
    today: &str,
    mut change: impl FnMut(&mut Account) -> T,
) -> Result<(T, bool)> {
    let (keeper, key) = place(period, session);
    let mut outcome: Result<(T, bool)> = Err("nothing was read".into());
    let store = |stored: Option<&str>| match Record::read(stored, today) {
        Ok(mut record) => {
            outcome = Ok((change(&mut record.account), stored.is_none()));
            serde_json::to_string(&record).ok()
        }
        // What cannot be read stays as it is.
        Err(error) => {
            outcome = Err(error.into());
            stored.map(str::to_owned)
        }
    };
    values::update(keeper, key, store).await?;
    outcome
}

/// The account of a day or a project as it is stored.
pub(crate) async fn load(period: Period, session: &str) -> Result<Value> {
    let (keeper, key) = place(period, session);
    Ok(values::load(keeper, key).await?)
}

fn place(period: Period, session: &str) -> (Keeper<'_>, &'static str) {
    match period {
        Period::Project => (Keeper::Project(session), "project"),
        Period::Turn | Period::Session | Period::Day => (Keeper::User, "day"),
    }
}

/// Today, like `2026-11-28`, where clocks are so many seconds ahead of UTC.
pub(crate) fn today(ahead: i64) -> String {
    let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let shifted = since.as_secs().saturating_add_signed(ahead);
    let time = UNIX_EPOCH + Duration::from_secs(shifted);
    let mut date = format_rfc3339_seconds(time).to_string();
    date.truncate("2026-11-28".len());
    date
}
