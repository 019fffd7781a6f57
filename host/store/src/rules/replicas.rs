//! Replicas, their generations, and what all of them are told: revocations, and losses of the store.

use super::{REVOCATIONS, REWINDS, Rules, listed, number, of_holder};
use crate::call::{Answer, Holder, Replica, Revocation};
use crate::engine::{Engine, Unusable, Value};

use self::Value::Text;

const REGISTER: &str = "
INSERT INTO acp_chain_replicas AS r (name, generation, started, beaten, until)
VALUES ($1, $2, {now}, {now}, {now} + $3)
ON CONFLICT (name) DO UPDATE SET generation = excluded.generation, started = excluded.started,
    beaten = excluded.beaten, until = excluded.until
WHERE r.until <= {now}
RETURNING generation
";

const LEFT: &str = "
SELECT CASE WHEN until > {now} THEN until - {now} ELSE 0 END FROM acp_chain_replicas WHERE name = $1
";

const BEAT: &str = "
UPDATE acp_chain_replicas SET beaten = {now}, until = {now} + $3
WHERE name = $1 AND generation = $2 AND until > {now}
RETURNING generation
";

const LAST_REVOCATION: &str = "SELECT COALESCE(MAX(number), 0) FROM acp_chain_revocations";

/// An end is before the beginning of any statement: a heartbeat that has waited for the row compares it with the time
/// of its own beginning, and must not go on with a generation that has ended since.
pub(super) const LEAVE: &str =
    "UPDATE acp_chain_replicas SET until = 0 WHERE name = $1 AND generation = $2 AND until > {now}";

const REPLICAS: &str = "
SELECT r.name, r.generation, r.started, r.beaten, CASE WHEN r.until > {now} THEN r.until - {now} ELSE 0 END,
    (SELECT COUNT(*) FROM acp_chain_leases l WHERE l.replica = r.name AND l.generation = r.generation)
FROM acp_chain_replicas r ORDER BY r.name LIMIT $1
";

/// Whether a generation is alive, and for how long nothing is leased.
const ALIVE: &str = "
SELECT
    (SELECT COUNT(*) FROM acp_chain_replicas WHERE name = $1 AND generation = $2 AND until > {now}),
    COALESCE((SELECT MAX(rests_until) - {now} FROM acp_chain_rewinds WHERE rests_until > {now}), 0)
";

/// Nothing is leased until the leases are over that may have been given before: `$2`, or those of the replicas.
const REWIND: &str = "
INSERT INTO acp_chain_rewinds (number, noticed, rests_until)
SELECT $1, {now}, {now} + COALESCE(MAX(until - beaten), $2) FROM acp_chain_replicas WHERE until > beaten + $2
";

/// As in [`LEAVE`].
const END_ALL: &str = "UPDATE acp_chain_replicas SET until = 0 WHERE until > {now}";

const ORIGIN: &str = "UPDATE acp_chain_origin SET history = $1";

const REVOKE: &str = "
INSERT INTO acp_chain_revocations (number, kind, name, made) VALUES ($1, $2, $3, {now})
";

const REVOKED: &str = "
SELECT number, kind, name FROM acp_chain_revocations WHERE number > $1 ORDER BY number LIMIT $2
";

impl<E: Engine> Rules<'_, E> {
    /// Whether the store has lost what was last written: a caller has seen a larger number than was given, or the
    /// database has another history. The first who finds that ends all generations: what one of them holds, another
    /// may hold, too. Then the next numbers are larger.
    pub(super) async fn is_rewound(&mut self, seen: u64, lease: u64) -> Result<bool, Unusable> {
        if self.compare(seen).await?.is_as_before {
            return Ok(false);
        }
        self.lock(REWINDS, "").await?;
        // Another caller may have been the first.
        let found = self.compare(seen).await?;
        if found.is_as_before {
            return Ok(false);
        }
        self.rows(ORIGIN, &[Text(&found.history)]).await?;
        if found.is_first {
            return Ok(false);
        }
        self.rows(E::DIALECT.raise, &[number(seen)]).await?;
        let next = self.number(E::DIALECT.next, &[]).await?;
        self.rows(REWIND, &[number(next), number(lease)]).await?;
        self.rows(END_ALL, &[]).await?;
        Ok(true)
    }

    async fn compare(&mut self, seen: u64) -> Result<Comparison, Unusable> {
        let row = self.row(E::DIALECT.last, &[]).await?;
        let (last, history, noted) = (row.number(0)?, row.text(1)?, row.text(2)?);
        let has_all = last >= seen;
        Ok(Comparison {
            is_as_before: has_all && (history.is_empty() || history == noted),
            is_first: has_all && noted.is_empty(),
            history,
        })
    }

    /// Whether a generation is alive, and for how long nothing is leased.
    pub(super) async fn is_alive(&mut self, holder: &Holder) -> Result<(bool, u64), Unusable> {
        let row = self.row(ALIVE, &of_holder(holder)).await?;
        Ok((row.number(0)? > 0, row.number(1)?))
    }

    pub(super) async fn register(
        &mut self,
        name: &str,
        lease: u64,
        seen: u64,
    ) -> Result<Answer, Unusable> {
        self.is_rewound(seen, lease).await?;
        let generation = self.number(E::DIALECT.next, &[]).await?;
        let values = [Text(name), number(generation), number(lease)];
        if !self.has_row(REGISTER, &values).await? {
            let again = self.number(LEFT, &[Text(name)]).await?;
            return Ok(Answer::NameTaken { again });
        }
        Ok(Answer::Registered { generation })
    }

    pub(super) async fn beat(
        &mut self,
        holder: &Holder,
        lease: u64,
        seen: u64,
    ) -> Result<Answer, Unusable> {
        if self.is_rewound(seen, lease).await? {
            return Ok(Answer::Rewound);
        }
        let [name, generation] = of_holder(holder);
        let values = [name, generation, number(lease)];
        if !self.has_row(BEAT, &values).await? {
            return Ok(Answer::Gone);
        }
        Ok(Answer::Beaten {
            last: self.row(E::DIALECT.last, &[]).await?.number(0)?,
            revocation: self.number(LAST_REVOCATION, &[]).await?,
        })
    }

    pub(super) async fn replicas(&mut self) -> Result<Answer, Unusable> {
        let values = [listed()];
        let replicas = self.list(REPLICAS, &values, |row| {
            Ok(Replica {
                name: row.text(0)?,
                generation: row.number(1)?,
                started: row.number(2)?,
                beaten: row.number(3)?,
                left: row.number(4)?,
                sessions: row.number(5)?,
            })
        });
        Ok(Answer::Replicas(replicas.await?))
    }

    pub(super) async fn revoke(&mut self, kind: &str, name: &str) -> Result<Answer, Unusable> {
        // Numbers become visible in their order: no replica passes over a smaller one that comes later.
        self.lock(REVOCATIONS, "").await?;
        let next = self.number(E::DIALECT.next, &[]).await?;
        let values = [number(next), Text(kind), Text(name)];
        self.rows(REVOKE, &values).await?;
        Ok(Answer::Number(next))
    }

    pub(super) async fn revoked(&mut self, since: u64) -> Result<Answer, Unusable> {
        let values = [number(since), listed()];
        let revocations = self.list(REVOKED, &values, |row| {
            Ok(Revocation {
                number: row.number(0)?,
                kind: row.text(1)?,
                name: row.text(2)?,
            })
        });
        Ok(Answer::Revocations(revocations.await?))
    }
}

/// What a store is, beside what was seen of it.
struct Comparison {
    /// Whether it has all that the caller and those before have seen.
    is_as_before: bool,
    /// Whether it is only that the history of the database was not noted yet.
    is_first: bool,
    history: String,
}
