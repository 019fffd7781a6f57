//! What proxies keep for the users of a server, for operators: how much it is, and what `brake` has counted.
//!
//! It is counted where it is, and read in pages: what is in memory does not grow with the number of users.

use std::time::SystemTime;

use acp_chain_state::{Database, Namespace, Selection, Shelf, StateError, Summary, Totals};
use serde::{Deserialize, Serialize};

use super::ServeSettings;
use super::store::place_of_values;
use crate::{ChainError, home};

/// The extension that counts what is spent, by its name.
const BRAKE: &str = "brake";

/// The longest account that it stores, in bytes. Longer values are not its.
const LONGEST: u64 = 1024;

/// What proxies keep, of a user or of all.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub totals: Totals,
    /// The first of the namespaces.
    pub namespaces: Vec<Summary>,
    /// What was spent on the last day that was counted.
    pub days: Accounts,
    /// What was spent in projects.
    pub projects: Accounts,
}

/// Some accounts.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    /// Those of the latest days, and of these the ones with the highest cost; then by tokens, calls and time.
    pub top: Vec<Account>,
    /// How many others there are.
    pub others: u64,
    /// How many cannot be read.
    pub unread: u64,
}

/// An account of a day or a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub namespace: Namespace,
    /// As in `2026-11-28`; empty for a project.
    pub day: String,
    pub spent: Amounts,
    pub changed: SystemTime,
}

/// What was spent, in the order by which accounts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Amounts {
    /// Of the currency that the configuration of `brake` names.
    pub cost_millionths: u64,
    pub tokens: u64,
    pub tool_calls: u64,
    pub seconds: u64,
}

/// An account as `brake` stores it (`guests/brake/src/ledger.rs`).
#[derive(Deserialize)]
struct Record {
    day: String,
    account: Spent,
}

/// Tokens, millionths of the currency, calls, and seconds.
#[derive(Deserialize)]
struct Spent {
    spent: [u64; 4],
}

/// Reads what proxies keep for a user of a server, or for all: `most` accounts of days, and as many of projects. It is
/// in the store of the replicas, or else in the data folder.
///
/// # Errors
/// If it cannot be read.
pub fn read(set: &ServeSettings, user: Option<&str>, most: usize) -> Result<Kept, ChainError> {
    let runtime = crate::runtime()?;
    if let Some(place) = place_of_values(set) {
        let mut shared = acp_chain_state::open_shared(&place).map_err(ChainError::new)?;
        let kept = runtime.block_on(read_shelf(&mut shared, user, most));
        return kept.map_err(ChainError::new);
    }
    let found = Database::find(&home::database()?).map_err(ChainError::new)?;
    let Some(mut database) = found else {
        return Ok(Kept::default());
    };
    let kept = runtime.block_on(read_shelf(&mut database, user, most));
    kept.map_err(ChainError::new)
}

async fn read_shelf(
    shelf: &mut impl Shelf,
    user: Option<&str>,
    most: usize,
) -> Result<Kept, StateError> {
    Ok(Kept {
        totals: shelf.totals(user).await?,
        namespaces: shelf.list_some(user).await?,
        days: accounts(shelf, "day", user, most).await?,
        projects: accounts(shelf, "project", user, most).await?,
    })
}

/// The accounts under a key.
async fn accounts(
    shelf: &mut impl Shelf,
    key: &str,
    user: Option<&str>,
    most: usize,
) -> Result<Accounts, StateError> {
    let selection = Selection {
        extension: BRAKE,
        key,
        user,
        longest: LONGEST,
    };
    let (mut found, mut after) = (Accounts::default(), String::new());
    loop {
        let page = shelf.select(&selection, &after).await?;
        for selected in page.values {
            match account(&selected.value) {
                Some((day, spent)) => found.top.push(Account {
                    namespace: selected.namespace,
                    day,
                    spent,
                    changed: selected.changed,
                }),
                None => found.unread += 1,
            }
        }
        found.top.sort_by(|one, other| {
            let rank = (&other.day, other.spent).cmp(&(&one.day, one.spent));
            rank.then_with(|| one.namespace.cmp(&other.namespace))
        });
        found.others += found.top.len().saturating_sub(most) as u64;
        found.top.truncate(most);
        match page.next {
            Some(next) => after = next,
            None => return Ok(found),
        }
    }
}

/// What `brake` has counted for this user, or in this project: the day, which is empty for a project, and what was spent.
/// `None` if it has counted nothing there, or that cannot be read.
pub fn spent(database: &Database, namespace: &Namespace) -> Option<(String, Amounts)> {
    if namespace.extension != BRAKE {
        return None;
    }
    let key = if namespace.project.is_some() {
        "project"
    } else {
        "day"
    };
    let stored = database.load(namespace, key).ok()?.value?;
    account(&stored).filter(|_| stored.len() as u64 <= LONGEST)
}

/// The day and the amounts of a stored account.
fn account(stored: &str) -> Option<(String, Amounts)> {
    let Record { day, account } = serde_json::from_str(stored).ok()?;
    let is_day = day.len() == 10
        && day
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    if !is_day && !day.is_empty() {
        return None;
    }
    let [tokens, cost_millionths, tool_calls, seconds] = account.spent;
    let spent = Amounts {
        cost_millionths,
        tokens,
        tool_calls,
        seconds,
    };
    Some((day, spent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extension: &str, user: &str, project: Option<&str>) -> Namespace {
        Namespace {
            extension: extension.to_owned(),
            source: "built-in".to_owned(),
            user: Some(user.to_owned()),
            project: project.map(Into::into),
        }
    }

    /// An account as `brake` stores it.
    fn record(day: &str, spent: [u64; 4]) -> String {
        let account = serde_json::json!({ "spent": spent, "raises": [0, 0, 0, 0] });
        serde_json::json!({ "day": day, "account": account }).to_string()
    }

    #[tokio::test]
    async fn users_who_have_spent_most_come_first_and_the_rest_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::open(&folder.path().join("state/state.db")).unwrap();
        let mut put = |namespace: &Namespace, key: &str, value: &str| {
            database.store(namespace, key, 0, Some(value)).unwrap();
        };
        for (user, day, cost) in [
            ("ann", "2026-11-28", 5_000_000),
            ("bob", "2026-11-28", 7_250_000),
            ("eve", "2026-11-01", 99_000_000),
        ] {
            put(
                &of(BRAKE, user, None),
                "day",
                &record(day, [1, cost, 2, 60]),
            );
        }
        let project = of(BRAKE, "ann", Some("/work"));
        put(&project, "project", &record("", [10, 0, 3, 0]));
        put(&of(BRAKE, "zed", None), "day", "[]");
        put(&of(BRAKE, "yan", None), "day", &record("a day", [0; 4]));
        put(&of(BRAKE, "ann", None), "reports", "{}");
        let other = record("2026-11-28", [9; 4]);
        put(&of("other", "ann", None), "day", &other);
        let kept = read_shelf(&mut database, None, 2).await.unwrap();
        let users = kept
            .days
            .top
            .iter()
            .map(|one| one.namespace.user.as_deref());
        assert_eq!(users.collect::<Vec<_>>(), [Some("bob"), Some("ann")]);
        let spent = Amounts {
            cost_millionths: 7_250_000,
            tokens: 1,
            tool_calls: 2,
            seconds: 60,
        };
        assert_eq!(kept.days.top[0].spent, spent);
        assert_eq!((kept.days.others, kept.days.unread), (1, 2));
        assert_eq!(kept.projects.top.len(), 1);
        assert_eq!(kept.projects.top[0].namespace, project);
        assert_eq!(kept.projects.top[0].spent.tool_calls, 3);
        assert_eq!((kept.totals.users, kept.totals.values), (5, 8));
        let of_ann = read_shelf(&mut database, Some("ann"), 2).await.unwrap();
        assert_eq!(of_ann.days.top.len(), 1);
        assert_eq!((of_ann.days.others, of_ann.days.unread), (0, 0));
        assert_eq!((of_ann.totals.namespaces, of_ann.totals.values), (3, 4));
        assert_eq!(of_ann.namespaces.len(), 3);
    }
}
