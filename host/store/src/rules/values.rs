//! Values that proxies store. Whoever changes those of an owner has its row first, so that none is left of an owner that
//! is wiped at the same time.

use super::{Rules, VALUES, listed, number};
use crate::engine::{Engine, Row, Unusable, Value};
use crate::values::{
    ChosenOwners, NewValue, OwnerSummary, SelectedValue, StoredValue, ValueAnswer, ValueCall,
    ValueCount, ValueLimit, ValueOwner,
};

use self::Value::Text;

const LOAD: &str = "
SELECT COALESCE(v.content, ''), COALESCE(v.version, 0), o.since
FROM acp_chain_value_owners o
LEFT JOIN acp_chain_values v ON v.digest = o.digest AND v.name = $2
WHERE o.digest = $1
";

const HOLDING: &str =
    "SELECT entries, bytes FROM acp_chain_value_owners WHERE digest = $1 {keeps_row}";

const ENTRY: &str = "SELECT version, bytes FROM acp_chain_values WHERE digest = $1 AND name = $2";

/// How many owners a user has, and the bytes of all.
const OF_USER: &str = "
SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM acp_chain_value_owners WHERE owner = $1
";

const ADD: &str = "
INSERT INTO acp_chain_value_owners (digest, extension, source, owner, project, since, changed, entries, bytes)
VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 > 0 AND $6 < {now} THEN $6 ELSE {now} END, {now}, 0, 0)
";

const COUNT: &str = "
UPDATE acp_chain_value_owners SET changed = {now}, entries = $2, bytes = $3 WHERE digest = $1
";

const PUT: &str = "
INSERT INTO acp_chain_values (digest, name, content, version, bytes) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (digest, name) DO UPDATE SET content = excluded.content, version = excluded.version,
    bytes = excluded.bytes
";

const REMOVE: &str = "DELETE FROM acp_chain_values WHERE digest = $1 AND name = $2";

const OWNERS: &str = "
SELECT digest, extension, source, owner, project, entries, bytes, since, changed FROM acp_chain_value_owners
WHERE ($1 = 0 OR extension = $2) AND ($3 = 0 OR project = $4) AND ($5 = 0 OR owner = $6) AND digest > $7
ORDER BY digest LIMIT $8
";

/// An owner without a user has an empty text.
const TOTALS: &str = "
SELECT COUNT(*), COUNT(DISTINCT NULLIF(owner, '')), CAST(COALESCE(SUM(entries), 0) AS BIGINT),
    CAST(COALESCE(SUM(bytes), 0) AS BIGINT)
FROM acp_chain_value_owners WHERE ($1 = 0 OR owner = $2)
";

const SELECT: &str = "
SELECT o.digest, o.extension, o.source, o.owner, o.project, v.content, o.changed
FROM acp_chain_value_owners o JOIN acp_chain_values v ON v.digest = o.digest AND v.name = $5
WHERE ($1 = 0 OR o.owner = $2) AND o.digest > $3 AND o.extension = $6 AND v.bytes <= $7
ORDER BY o.digest LIMIT $4
";

/// In the order of digests, so that two that wipe at once never wait for each other.
const CHOSEN: &str = "
SELECT digest, entries FROM acp_chain_value_owners
WHERE ($1 = 0 OR extension = $2) AND ($3 = 0 OR project = $4) AND ($5 = 0 OR owner = $6) AND digest > $7
ORDER BY digest LIMIT $8 {keeps_row}
";

const WIPE: &str = "DELETE FROM acp_chain_value_owners WHERE digest = $1";

const WIPE_VALUES: &str = "DELETE FROM acp_chain_values WHERE digest = $1";

/// How many owners are wiped by a call. Each may have some megabytes, and the database gives up after a few seconds.
const WIPED_AT_ONCE: usize = 16;

/// What an owner has.
#[derive(Clone, Copy, Default)]
struct Holding {
    values: u64,
    bytes: u64,
}

impl<E: Engine> Rules<'_, E> {
    /// Carries out a call about stored values.
    pub(super) async fn carry_out_values(
        &mut self,
        call: &ValueCall,
    ) -> Result<ValueAnswer, Unusable> {
        match call {
            ValueCall::Load { digest, key } => {
                Ok(ValueAnswer::Loaded(self.load_value(digest, key).await?))
            }
            ValueCall::Store(new) => {
                if self.is_rewound(new.seen, 0).await? {
                    return Ok(ValueAnswer::Rewound);
                }
                self.store_value(new).await
            }
            ValueCall::Owners { chosen, after } => self.value_owners(chosen, after).await,
            ValueCall::Count { user } => self.value_totals(user.as_deref()).await,
            ValueCall::Select {
                extension,
                key,
                user,
                longest,
                after,
            } => {
                let [is_of_one, of_user] = if_given(user.as_deref());
                let values = [
                    is_of_one,
                    of_user,
                    Text(after),
                    listed(),
                    Text(key),
                    Text(extension),
                    number(*longest),
                ];
                let found = self.list(SELECT, &values, selected).await?;
                Ok(ValueAnswer::Selected(found))
            }
            ValueCall::Wipe { chosen, after } => self.wipe_values(chosen, after).await,
        }
    }

    async fn load_value(&mut self, digest: &str, key: &str) -> Result<StoredValue, Unusable> {
        let rows = self.rows(LOAD, &[Text(digest), Text(key)]).await?;
        let Some(row) = rows.first() else {
            return Ok(StoredValue::default());
        };
        let (value, version) = (row.text(0)?, row.number(1)?);
        Ok(StoredValue {
            value: Some(value).filter(|_| version > 0),
            version,
            since: Some(row.number(2)?),
        })
    }

    async fn store_value(&mut self, new: &NewValue) -> Result<ValueAnswer, Unusable> {
        let owner = &new.owner;
        // Two that look at what a user has would both find room.
        self.lock(VALUES, &owner.user).await?;
        let found = self.rows(HOLDING, &[Text(&owner.digest)]).await?;
        let held = found.first().map(holding).transpose()?;
        let entry = [Text(&owner.digest), Text(&new.key)];
        let old = self.rows(ENTRY, &entry).await?;
        let (current, freed) = match old.first() {
            Some(old) => (old.number(0)?, old.number(1)?),
            None => (0, 0),
        };
        if current != new.version {
            let found = self.load_value(&owner.digest, &new.key).await?;
            return Ok(ValueAnswer::Conflict(found));
        }
        let before = held.unwrap_or_default();
        let Some(value) = &new.value else {
            if current > 0 {
                self.rows(REMOVE, &entry).await?;
                let after = Holding {
                    values: before.values.saturating_sub(1),
                    bytes: before.bytes.saturating_sub(freed),
                };
                self.count_values(&owner.digest, after).await?;
            }
            return Ok(ValueAnswer::Stored { version: 0 });
        };
        let after = Holding {
            values: before.values + u64::from(current == 0),
            bytes: before.bytes.saturating_sub(freed) + new.bytes,
        };
        let is_new = held.is_none();
        if let Some(limit) = self.exceeded(new, after, is_new, freed).await? {
            return Ok(ValueAnswer::Exceeded(limit));
        }
        if is_new {
            let columns = [
                &owner.digest,
                &owner.extension,
                &owner.source,
                &owner.user,
                &owner.project,
            ];
            let [digest, extension, source, user, project] = columns.map(|column| Text(column));
            let row = [digest, extension, source, user, project, number(new.since)];
            self.rows(ADD, &row).await?;
        }
        let version = self.number(E::DIALECT.next, &[]).await?;
        let [digest, key] = entry;
        let (content, bytes) = (Text(value), number(new.bytes));
        let row = [digest, key, content, number(version), bytes];
        self.rows(PUT, &row).await?;
        self.count_values(&owner.digest, after).await?;
        Ok(ValueAnswer::Stored { version })
    }

    /// The limit that a new value would exceed. `after` is what its owner would have, and `freed` what the value counts
    /// that it replaces.
    async fn exceeded(
        &mut self,
        new: &NewValue,
        after: Holding,
        is_new_owner: bool,
        freed: u64,
    ) -> Result<Option<ValueLimit>, Unusable> {
        let limits = &new.limits;
        if new.version == 0 && after.values > limits.values {
            return Ok(Some(ValueLimit::Values));
        }
        // A value may become shorter in any case.
        let more = new.bytes.saturating_sub(freed);
        if more > 0 && after.bytes > limits.bytes {
            return Ok(Some(ValueLimit::Bytes));
        }
        if more == 0 && !is_new_owner {
            return Ok(None);
        }
        let row = self.row(OF_USER, &[Text(&new.owner.user)]).await?;
        if is_new_owner && row.number(0)? >= limits.owners {
            return Ok(Some(ValueLimit::Owners));
        }
        let is_too_much = row.number(1)? + more > limits.bytes_of_user;
        Ok(Some(ValueLimit::BytesOfUser).filter(|_| is_too_much))
    }

    async fn count_values(&mut self, digest: &str, after: Holding) -> Result<(), Unusable> {
        let values = [Text(digest), number(after.values), number(after.bytes)];
        self.rows(COUNT, &values).await?;
        Ok(())
    }

    async fn value_owners(
        &mut self,
        chosen: &ChosenOwners,
        after: &str,
    ) -> Result<ValueAnswer, Unusable> {
        let mut values = which(chosen);
        values.extend([Text(after), listed()]);
        let owners = self.list(OWNERS, &values, summary).await?;
        Ok(ValueAnswer::Owners(owners))
    }

    async fn value_totals(&mut self, user: Option<&str>) -> Result<ValueAnswer, Unusable> {
        let row = self.row(TOTALS, &if_given(user)).await?;
        Ok(ValueAnswer::Counted(ValueCount {
            owners: row.number(0)?,
            users: row.number(1)?,
            values: row.number(2)?,
            bytes: row.number(3)?,
        }))
    }

    /// Wipes some of these owners.
    async fn wipe_values(
        &mut self,
        chosen: &ChosenOwners,
        after: &str,
    ) -> Result<ValueAnswer, Unusable> {
        let mut values = which(chosen);
        values.extend([Text(after), number(WIPED_AT_ONCE as u64)]);
        let owners = self.rows(CHOSEN, &values).await?;
        let (mut wiped, mut last) = (0, None);
        for owner in &owners {
            let digest = owner.text(0)?;
            self.rows(WIPE_VALUES, &[Text(&digest)]).await?;
            self.rows(WIPE, &[Text(&digest)]).await?;
            wiped += owner.number(1)?;
            last = Some(digest);
        }
        Ok(ValueAnswer::Wiped {
            owners: owners.len() as u64,
            values: wiped,
            last,
        })
    }
}

/// Two parameters: whether a text is given, and the text.
fn if_given(text: Option<&str>) -> [Value<'_>; 2] {
    let is_given = number(u64::from(text.is_some()));
    [is_given, Text(text.unwrap_or_default())]
}

/// The parameters that say which owners are meant.
fn which(chosen: &ChosenOwners) -> Vec<Value<'_>> {
    let given = [&chosen.extension, &chosen.project, &chosen.user];
    let given = given.map(Option::as_deref).into_iter();
    given.flat_map(if_given).collect()
}

fn owner(row: &Row) -> Result<ValueOwner, Unusable> {
    Ok(ValueOwner {
        digest: row.text(0)?,
        extension: row.text(1)?,
        source: row.text(2)?,
        user: row.text(3)?,
        project: row.text(4)?,
    })
}

fn selected(row: &Row) -> Result<SelectedValue, Unusable> {
    Ok(SelectedValue {
        owner: owner(row)?,
        value: row.text(5)?,
        changed: row.number(6)?,
    })
}

fn holding(row: &Row) -> Result<Holding, Unusable> {
    Ok(Holding {
        values: row.number(0)?,
        bytes: row.number(1)?,
    })
}

fn summary(row: &Row) -> Result<OwnerSummary, Unusable> {
    Ok(OwnerSummary {
        owner: owner(row)?,
        values: row.number(5)?,
        bytes: row.number(6)?,
        since: row.number(7)?,
        changed: row.number(8)?,
    })
}
