//! Values that proxies store. Whoever changes those of an owner has its row first, so that none is left of an owner that
//! is wiped at the same time.

use super::{Rules, VALUES, listed, number};
use crate::engine::{Engine, Row, Unusable, Value};
use crate::values::{
    NewValue, OwnerSummary, StoredValue, ValueAnswer, ValueCall, ValueLimit, ValueOwner,
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
VALUES ($1, $2, $3, $4, $5, {now}, {now}, 0, 0)
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
WHERE digest > $1 ORDER BY digest LIMIT $2
";

/// In the order of digests, so that two that wipe at once never wait for each other.
const CHOSEN: &str = "
SELECT digest, entries FROM acp_chain_value_owners
WHERE ($1 = 0 OR extension = $2) AND ($3 = 0 OR project = $4) AND digest > $5 ORDER BY digest LIMIT $6 {keeps_row}
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
            ValueCall::Owners { after } => self.value_owners(after).await,
            ValueCall::Wipe {
                extension,
                project,
                after,
            } => {
                self.wipe_values(extension.as_deref(), project.as_deref(), after)
                    .await
            }
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
            self.rows(ADD, &columns.map(|column| Text(column))).await?;
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

    async fn value_owners(&mut self, after: &str) -> Result<ValueAnswer, Unusable> {
        let rows = self.rows(OWNERS, &[Text(after), listed()]).await?;
        let owners: Result<_, Unusable> = rows.iter().map(summary).collect();
        Ok(ValueAnswer::Owners(owners?))
    }

    async fn wipe_values(
        &mut self,
        extension: Option<&str>,
        project: Option<&str>,
        after: &str,
    ) -> Result<ValueAnswer, Unusable> {
        let is_given = |text: Option<&str>| number(u64::from(text.is_some()));
        let values = [
            is_given(extension),
            Text(extension.unwrap_or_default()),
            is_given(project),
            Text(project.unwrap_or_default()),
            Text(after),
            number(WIPED_AT_ONCE as u64),
        ];
        let chosen = self.rows(CHOSEN, &values).await?;
        let (mut wiped, mut last) = (0, None);
        for owner in &chosen {
            let digest = owner.text(0)?;
            self.rows(WIPE_VALUES, &[Text(&digest)]).await?;
            self.rows(WIPE, &[Text(&digest)]).await?;
            wiped += owner.number(1)?;
            last = Some(digest);
        }
        Ok(ValueAnswer::Wiped {
            owners: chosen.len() as u64,
            values: wiped,
            last,
        })
    }
}

fn holding(row: &Row) -> Result<Holding, Unusable> {
    Ok(Holding {
        values: row.number(0)?,
        bytes: row.number(1)?,
    })
}

fn summary(row: &Row) -> Result<OwnerSummary, Unusable> {
    Ok(OwnerSummary {
        owner: ValueOwner {
            digest: row.text(0)?,
            extension: row.text(1)?,
            source: row.text(2)?,
            user: row.text(3)?,
            project: row.text(4)?,
        },
        values: row.number(5)?,
        bytes: row.number(6)?,
        since: row.number(7)?,
        changed: row.number(8)?,
    })
}
