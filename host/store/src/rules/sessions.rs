//! Sessions: their owners, their leases, and their prompts.

use super::{Rules, SESSION_NAMES, USERS, listed_of, number, of_holder, of_name};
use crate::call::{
    Answer, Fence, Holder, LeaseName, PROMPTS_KNOWN, PromptState, ServedSession, TakeRule,
};
use crate::engine::{Engine, Row, Unusable, Value};

use self::Value::Text;

const WHOSE: &str = "
SELECT COUNT(CASE WHEN owner = $3 AND spelling = $4 THEN 1 END), COUNT(CASE WHEN owner = $3 THEN 1 END),
    COUNT(CASE WHEN owner <> $3 THEN 1 END)
FROM acp_chain_owners WHERE agents = $1 AND session = $2
";

const LEASE: &str = "
SELECT l.replica, l.generation, CASE WHEN r.until > {now} THEN r.until - {now} ELSE 0 END
FROM acp_chain_leases l
LEFT JOIN acp_chain_replicas r ON r.name = l.replica AND r.generation = l.generation
WHERE l.agents = $1 AND l.session = $2 AND l.owner = $3
";

const SERVED: &str = "
SELECT COUNT(*) FROM acp_chain_leases l
JOIN acp_chain_replicas r ON r.name = l.replica AND r.generation = l.generation
WHERE l.owner = $3 AND r.until > {now} AND NOT (l.agents = $1 AND l.session = $2)
";

const TAKE: &str = "
INSERT INTO acp_chain_leases (agents, session, owner, spelling, replica, generation, number)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (agents, session, owner) DO UPDATE SET spelling = excluded.spelling, replica = excluded.replica,
    generation = excluded.generation, number = excluded.number
";

const LOSE: &str = "
UPDATE acp_chain_prompts SET state = 'lost'
WHERE agents = $1 AND session = $2 AND owner = $3 AND state = 'under-way'
RETURNING number
";

/// If the session was there before, its age is unknown.
const OWN: &str = "
INSERT INTO acp_chain_owners (agents, session, owner, spelling, opened)
VALUES ($1, $2, $3, $4, CASE WHEN $5 = 1 THEN {now} ELSE 0 END)
ON CONFLICT DO NOTHING
";

pub(super) const RELEASE: &str = "
DELETE FROM acp_chain_leases WHERE agents = $1 AND session = $2 AND owner = $3 AND number = $4
";

const LEASE_OF: &str = "
SELECT COALESCE(MAX(number), 0) FROM acp_chain_leases
WHERE agents = $1 AND session = $2 AND owner = $3 AND replica = $4 AND generation = $5
";

const FENCE: &str = "
SELECT l.number FROM acp_chain_leases l
JOIN acp_chain_replicas r ON r.name = l.replica AND r.generation = l.generation
WHERE l.agents = $1 AND l.session = $2 AND l.owner = $3 AND l.number = $4
    AND l.replica = $5 AND l.generation = $6 AND r.until > {now}
{keeps_lease}
";

/// Of a session that is older than a loss of the store, a prompt that is not known may have been sent before that.
const BEGIN: &str = "
INSERT INTO acp_chain_prompts (agents, session, owner, prompt, number, state, begun)
VALUES ($1, $2, $3, $4, $5, CASE WHEN EXISTS (
    SELECT 1 FROM acp_chain_rewinds w WHERE w.noticed > {now} - $6 AND w.noticed >= (
        SELECT COALESCE(MIN(o.opened), 0) FROM acp_chain_owners o
        WHERE o.agents = $1 AND o.session = $2 AND o.owner = $3)
    ) THEN 'doubtful' ELSE 'under-way' END, {now})
ON CONFLICT DO NOTHING
RETURNING state
";

const PROMPT: &str = "
SELECT state FROM acp_chain_prompts WHERE agents = $1 AND session = $2 AND owner = $3 AND prompt = $4
";

const END: &str = "
UPDATE acp_chain_prompts SET state = 'done'
WHERE agents = $1 AND session = $2 AND owner = $3 AND prompt = $4 AND number = $5 AND state = 'under-way'
    AND EXISTS (SELECT 1 FROM acp_chain_leases l
        WHERE l.agents = $1 AND l.session = $2 AND l.owner = $3 AND l.number = $5)
RETURNING number
";

const SESSIONS: &str = "
SELECT l.agents, l.spelling, l.owner, l.replica, l.number FROM acp_chain_leases l
JOIN acp_chain_replicas r ON r.name = l.replica AND r.generation = l.generation
WHERE r.until > {now} AND ($1 = 0 OR l.owner = $2) ORDER BY l.owner, l.agents, l.spelling LIMIT $3
";

impl<E: Engine> Rules<'_, E> {
    pub(super) async fn whose(
        &mut self,
        name: &LeaseName,
        spelling: &str,
    ) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(name);
        let values = [agents, session, owner, Text(spelling)];
        let row = self.row(WHOSE, &values).await?;
        Ok(Answer::Owned {
            exactly: row.number(0)? > 0,
            alike: row.number(1)? > 0,
            by_others: row.number(2)? > 0,
        })
    }

    pub(super) async fn take(
        &mut self,
        name: &LeaseName,
        spelling: &str,
        holder: &Holder,
        rule: TakeRule,
        most: Option<u64>,
    ) -> Result<Answer, Unusable> {
        // In this order, so that no two wait for each other.
        self.lock(USERS, &name.user).await?;
        let lock = format!("{}/{}", name.agents, name.session);
        self.lock(SESSION_NAMES, &lock).await?;
        let (is_alive, rest) = self.is_alive(holder).await?;
        if !is_alive {
            return Ok(Answer::Gone);
        }
        if rest > 0 {
            return Ok(Answer::Resting { again: rest });
        }
        if let Answer::Owned {
            exactly,
            alike,
            by_others,
        } = self.whose(name, spelling).await?
        {
            if by_others && !exactly && rule != TakeRule::New {
                return Ok(Answer::Foreign);
            }
            if !alike && rule == TakeRule::OwnedOnly {
                return Ok(Answer::Unknown);
            }
        }
        let [agents, session, owner] = of_name(name);
        let values = [agents, session, owner];
        let mut is_ours = false;
        if let Some(lease) = self.rows(LEASE, &values).await?.first() {
            let again = lease.number(2)?;
            let by = (lease.text(0)?, lease.number(1)?);
            is_ours = by == (holder.replica.clone(), holder.generation);
            if again > 0 && !is_ours {
                return Ok(Answer::Held { again });
            }
        }
        if let Some(most) = most.filter(|_| !is_ours)
            && self.number(SERVED, &values).await? >= most
        {
            return Ok(Answer::Full);
        }
        let next = self.number(E::DIALECT.next, &[]).await?;
        let (replica, generation) = (Text(&holder.replica), number(holder.generation));
        let (spelling, lease) = (Text(spelling), number(next));
        let taken = [agents, session, owner, spelling, replica, generation, lease];
        self.rows(TAKE, &taken).await?;
        // After the lease: a prompt with the earlier one has begun, or no longer can.
        let lost = self.rows(LOSE, &values).await?.len() as u64;
        let is_new = number(u64::from(rule == TakeRule::New));
        let ownership = [agents, session, owner, spelling, is_new];
        self.rows(OWN, &ownership).await?;
        Ok(Answer::Leased { number: next, lost })
    }

    pub(super) async fn lease_of(
        &mut self,
        name: &LeaseName,
        holder: &Holder,
    ) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(name);
        let [replica, generation] = of_holder(holder);
        let values = [agents, session, owner, replica, generation];
        Ok(Answer::Number(self.number(LEASE_OF, &values).await?))
    }

    pub(super) async fn begin(
        &mut self,
        fence: &Fence,
        holder: &Holder,
        prompt: &str,
    ) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(&fence.name);
        let lease = number(fence.number);
        let [replica, generation] = of_holder(holder);
        let fenced = [agents, session, owner, lease, replica, generation];
        if !self.has_row(FENCE, &fenced).await? {
            return Ok(Answer::Fenced);
        }
        let known_for = u64::try_from(PROMPTS_KNOWN.as_millis()).unwrap_or(u64::MAX);
        let values = [
            agents,
            session,
            owner,
            Text(prompt),
            lease,
            number(known_for),
        ];
        let begun = self.rows(BEGIN, &values).await?;
        if let Some(begun) = begun.first() {
            return match prompt_state(begun)? {
                // A loss of prompts is noticed, too, as each has a number.
                PromptState::UnderWay => Ok(Answer::Begun {
                    number: self.number(E::DIALECT.next, &[]).await?,
                }),
                state => Ok(Answer::Prompt(state)),
            };
        }
        let known = self.row(PROMPT, &values[..4]).await?;
        Ok(Answer::Prompt(prompt_state(&known)?))
    }

    pub(super) async fn end(&mut self, fence: &Fence, prompt: &str) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(&fence.name);
        let values = [agents, session, owner, Text(prompt), number(fence.number)];
        Ok(if self.has_row(END, &values).await? {
            Answer::Done
        } else {
            Answer::Fenced
        })
    }

    pub(super) async fn sessions(&mut self, user: Option<&str>) -> Result<Answer, Unusable> {
        let values = listed_of(user);
        let sessions = self.list(SESSIONS, &values, |row| {
            Ok(ServedSession {
                agents: row.text(0)?,
                spelling: row.text(1)?,
                user: row.text(2)?,
                replica: row.text(3)?,
                number: row.number(4)?,
            })
        });
        Ok(Answer::Sessions(sessions.await?))
    }
}

/// What a row says of a prompt.
fn prompt_state(row: &Row) -> Result<PromptState, Unusable> {
    match &*row.text(0)? {
        "under-way" => Ok(PromptState::UnderWay),
        "done" => Ok(PromptState::Done),
        "lost" => Ok(PromptState::Lost),
        "doubtful" => Ok(PromptState::Doubtful),
        _ => Err(Unusable::odd("a prompt in another state")),
    }
}
