//! What becomes of each call, in statements that both engines have. Each is carried out within one transaction.

use crate::call::{
    Answer, Call, Fence, Holder, LeaseName, PROMPTS_KNOWN, PromptState, Replica, Revocation,
    ServedSession, SlotLimit, TakeRule, UsedBudget, UsedSlots,
};
use crate::engine::{Engine, Row, Unusable, Value};

use self::Value::{Number, Text};

/// How many rows a list has.
const LISTED: usize = 256;

/// How many tickets a user has at once.
const TICKETS: u64 = 16;

/// For how long a replica that is over stays in the list, and for how long it is known that a user had a turn.
const FORGOTTEN: u64 = 24 * 60 * 60 * 1000;

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

const LEAVE: &str = "UPDATE acp_chain_replicas SET until = {now} WHERE name = $1 AND generation = $2 AND until > {now}";

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

const END_ALL: &str = "UPDATE acp_chain_replicas SET until = {now} WHERE until > {now}";

const ORIGIN: &str = "UPDATE acp_chain_origin SET history = $1";

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

/// If the session was there before, nobody knows since when.
const OWN: &str = "
INSERT INTO acp_chain_owners (agents, session, owner, spelling, opened)
VALUES ($1, $2, $3, $4, CASE WHEN $5 = 1 THEN {now} ELSE 0 END)
ON CONFLICT DO NOTHING
";

const RELEASE: &str = "
DELETE FROM acp_chain_leases WHERE agents = $1 AND session = $2 AND owner = $3 AND number = $4
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

const OPEN_BUDGET: &str = "
INSERT INTO acp_chain_budgets (account, kind, length, period, used) VALUES ($1, $2, $3, 0, 0)
ON CONFLICT DO NOTHING
";

const BUDGET: &str = "
SELECT period, used, {now} FROM acp_chain_budgets WHERE account = $1 AND kind = $2 AND length = $3 {keeps_row}
";

const SPEND: &str = "
UPDATE acp_chain_budgets SET period = $4, used = $5 WHERE account = $1 AND kind = $2 AND length = $3
";

const BUDGETS: &str = "
SELECT account, kind, used, COALESCE(length - {now} % NULLIF(length, 0), 0) FROM acp_chain_budgets
WHERE used > 0 AND (length = 0 OR period >= {now} / NULLIF(length, 0)) AND ($1 = 0 OR account = $2)
ORDER BY account, kind, length LIMIT $3
";

/// How many slots an account has. Those of a generation that is over have ended with it.
const OCCUPIED: &str = "
SELECT COUNT(*) FROM acp_chain_slots s
JOIN acp_chain_replicas r ON r.name = s.replica AND r.generation = s.generation
WHERE s.account = $1 AND s.kind = $2 AND r.until > {now}
";

const OCCUPY: &str = "
INSERT INTO acp_chain_slots (replica, generation, slot, kind, account) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
";

const VACATE: &str = "
DELETE FROM acp_chain_slots WHERE replica = $1 AND generation = $2 AND slot = $3
";

const SLOTS: &str = "
SELECT s.account, s.kind, COUNT(*) FROM acp_chain_slots s
JOIN acp_chain_replicas r ON r.name = s.replica AND r.generation = s.generation
WHERE r.until > {now} AND ($1 = 0 OR s.account = $2)
GROUP BY s.account, s.kind ORDER BY s.account, s.kind LIMIT $3
";

const NEXT_TURN: &str = "
INSERT INTO acp_chain_turns AS t (owner, served) VALUES ($1, {now})
ON CONFLICT (owner) DO UPDATE SET served = excluded.served
WHERE t.served <= {now} - $2
RETURNING served
";

/// Tickets of a user that are over, and all but the newest `$2`. Both engines want a limit with an offset.
const EVICT: &str = "
DELETE FROM acp_chain_tickets WHERE owner = $1 AND (until <= {now} OR ticket IN (
    SELECT ticket FROM acp_chain_tickets WHERE owner = $1 ORDER BY issued DESC, ticket LIMIT $3 OFFSET $2))
";

const ISSUE: &str = "
INSERT INTO acp_chain_tickets (ticket, owner, sealed, issued, until) VALUES ($1, $2, $3, {now}, {now} + $4)
ON CONFLICT DO NOTHING
";

/// One that is older than a loss of the store may have been used before that.
const REDEEM: &str = "
DELETE FROM acp_chain_tickets WHERE ticket = $1
RETURNING CASE WHEN until > {now} AND NOT EXISTS (
    SELECT 1 FROM acp_chain_rewinds w WHERE w.noticed >= acp_chain_tickets.issued) THEN sealed ELSE '' END
";

const REVOKE: &str = "
INSERT INTO acp_chain_revocations (number, kind, name, made) VALUES ($1, $2, $3, {now})
";

const REVOKED: &str = "
SELECT number, kind, name FROM acp_chain_revocations WHERE number > $1 ORDER BY number LIMIT $2
";

const SESSIONS: &str = "
SELECT l.agents, l.spelling, l.owner, l.replica, l.number FROM acp_chain_leases l
JOIN acp_chain_replicas r ON r.name = l.replica AND r.generation = l.generation
WHERE r.until > {now} AND ($1 = 0 OR l.owner = $2) ORDER BY l.owner, l.agents, l.spelling LIMIT $3
";

/// What is over, each with one parameter: how long ago.
const TIDY: [(&str, Option<u64>); 4] = [
    (
        "DELETE FROM acp_chain_prompts WHERE begun < {now} - $1",
        None,
    ),
    (
        "DELETE FROM acp_chain_replicas WHERE until < {now} - $1",
        Some(FORGOTTEN),
    ),
    (
        "DELETE FROM acp_chain_turns WHERE served < {now} - $1",
        Some(FORGOTTEN),
    ),
    (
        "DELETE FROM acp_chain_tickets WHERE until < {now} - $1",
        Some(0),
    ),
];

/// Leases and slots whose replica's generation is no longer in the table.
const TIDY_HELD: [&str; 2] = [
    "DELETE FROM acp_chain_leases WHERE NOT EXISTS (SELECT 1 FROM acp_chain_replicas r
    WHERE r.name = acp_chain_leases.replica AND r.generation = acp_chain_leases.generation)",
    "DELETE FROM acp_chain_slots WHERE NOT EXISTS (SELECT 1 FROM acp_chain_replicas r
    WHERE r.name = acp_chain_slots.replica AND r.generation = acp_chain_slots.generation)",
];

/// The classes of locks.
const USERS: u64 = 1;
const SESSION_NAMES: u64 = 2;
const REVOCATIONS: u64 = 3;
const REWINDS: u64 = 4;
const ACCOUNTS: u64 = 5;

/// A connection, within the transaction of one call.
pub(crate) struct Rules<'e, E>(pub &'e mut E);

impl<E: Engine> Rules<'_, E> {
    /// Carries out a call.
    pub(crate) async fn carry_out(&mut self, call: &Call) -> Result<Answer, Unusable> {
        match call {
            Call::Register {
                replica,
                lease,
                seen,
            } => self.register(replica, *lease, *seen).await,
            Call::Beat {
                holder,
                lease,
                seen,
            } => self.beat(holder, *lease, *seen).await,
            Call::Leave { holder } => self.run(LEAVE, &of_holder(holder)).await,
            Call::Replicas => self.replicas().await,
            Call::Whose { name, spelling } => self.whose(name, spelling).await,
            Call::Take {
                name,
                spelling,
                holder,
                rule,
                most,
                seen,
            } => {
                if self.is_rewound(*seen, 0).await? {
                    return Ok(Answer::Rewound);
                }
                self.take(name, spelling, holder, *rule, *most).await
            }
            Call::Release { fence } => {
                let [agents, session, owner] = of_name(&fence.name);
                let values = [agents, session, owner, number(fence.number)];
                self.run(RELEASE, &values).await
            }
            Call::Begin {
                fence,
                holder,
                prompt,
                seen,
            } => {
                if self.is_rewound(*seen, 0).await? {
                    return Ok(Answer::Rewound);
                }
                self.begin(fence, holder, prompt).await
            }
            Call::End { fence, prompt } => self.end(fence, prompt).await,
            Call::Draw {
                account,
                kind,
                period,
                limit,
                amount,
            } => {
                let budget = Budget::new(account, kind, *period);
                self.draw(&budget, *limit, *amount).await
            }
            Call::GiveBack {
                account,
                kind,
                period,
                amount,
            } => {
                let budget = Budget::new(account, kind, *period);
                self.give_back(&budget, *amount).await
            }
            Call::Occupy {
                holder,
                slot,
                limits,
            } => self.occupy(holder, *slot, limits).await,
            Call::Vacate { holder, slot } => {
                let [replica, generation] = of_holder(holder);
                let values = [replica, generation, number(*slot)];
                self.run(VACATE, &values).await
            }
            Call::NextTurn { user, waited } => self.next_turn(user, *waited).await,
            Call::Issue {
                ticket,
                user,
                sealed,
                life,
            } => self.issue(ticket, user, sealed, *life).await,
            Call::Redeem { ticket, seen } => {
                if self.is_rewound(*seen, 0).await? {
                    return Ok(Answer::Rewound);
                }
                self.redeem(ticket).await
            }
            Call::Revoke { kind, name } => self.revoke(kind, name).await,
            Call::Revoked { since } => self.revoked(*since).await,
            Call::Sessions { user } => self.sessions(user.as_deref()).await,
            Call::Budgets { account } => self.budgets(account.as_deref()).await,
            Call::Slots { account } => self.slots(account.as_deref()).await,
            Call::Tidy { prompts } => self.tidy(*prompts).await,
        }
    }

    async fn rows(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Unusable> {
        let statement = E::DIALECT.read(statement);
        self.0.rows(&statement, values).await
    }

    /// Runs a statement that returns nothing.
    async fn run(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Answer, Unusable> {
        self.rows(statement, values).await?;
        Ok(Answer::Done)
    }

    /// Runs a statement that returns one row.
    async fn row(&mut self, statement: &str, values: &[Value<'_>]) -> Result<Row, Unusable> {
        let rows = self.rows(statement, values).await?;
        let first = rows.into_iter().next();
        first.ok_or_else(|| Unusable::odd("no row where there must be one"))
    }

    /// Runs a statement that returns one number.
    async fn number(&mut self, statement: &str, values: &[Value<'_>]) -> Result<u64, Unusable> {
        self.row(statement, values).await?.number(0)
    }

    /// Waits for a lock, until the transaction ends.
    async fn lock(&mut self, class: u64, name: &str) -> Result<(), Unusable> {
        if let Some(lock) = E::DIALECT.lock {
            self.rows(lock, &[number(class), Text(name)]).await?;
        }
        Ok(())
    }

    /// Whether the store has lost what was last written: a caller has seen a larger number than was given, or the
    /// database has another history. The first who finds that ends all generations: what one of them holds, another
    /// may hold, too. Then the next numbers are larger.
    async fn is_rewound(&mut self, seen: u64, lease: u64) -> Result<bool, Unusable> {
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
    async fn is_alive(&mut self, holder: &Holder) -> Result<(bool, u64), Unusable> {
        let row = self.row(ALIVE, &of_holder(holder)).await?;
        Ok((row.number(0)? > 0, row.number(1)?))
    }

    async fn register(&mut self, name: &str, lease: u64, seen: u64) -> Result<Answer, Unusable> {
        self.is_rewound(seen, lease).await?;
        let generation = self.number(E::DIALECT.next, &[]).await?;
        let values = [Text(name), number(generation), number(lease)];
        if self.rows(REGISTER, &values).await?.is_empty() {
            let again = self.number(LEFT, &[Text(name)]).await?;
            return Ok(Answer::NameTaken { again });
        }
        Ok(Answer::Registered { generation })
    }

    async fn beat(&mut self, holder: &Holder, lease: u64, seen: u64) -> Result<Answer, Unusable> {
        if self.is_rewound(seen, lease).await? {
            return Ok(Answer::Rewound);
        }
        let [name, generation] = of_holder(holder);
        let values = [name, generation, number(lease)];
        if self.rows(BEAT, &values).await?.is_empty() {
            return Ok(Answer::Gone);
        }
        Ok(Answer::Beaten {
            last: self.row(E::DIALECT.last, &[]).await?.number(0)?,
            revocation: self.number(LAST_REVOCATION, &[]).await?,
        })
    }

    async fn replicas(&mut self) -> Result<Answer, Unusable> {
        let rows = self.rows(REPLICAS, &[listed()]).await?;
        let replica = |row: &Row| {
            Ok(Replica {
                name: row.text(0)?,
                generation: row.number(1)?,
                started: row.number(2)?,
                beaten: row.number(3)?,
                left: row.number(4)?,
                sessions: row.number(5)?,
            })
        };
        let replicas: Result<_, Unusable> = rows.iter().map(replica).collect();
        Ok(Answer::Replicas(replicas?))
    }

    async fn whose(&mut self, name: &LeaseName, spelling: &str) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(name);
        let values = [agents, session, owner, Text(spelling)];
        let row = self.row(WHOSE, &values).await?;
        Ok(Answer::Owned {
            exactly: row.number(0)? > 0,
            alike: row.number(1)? > 0,
            by_others: row.number(2)? > 0,
        })
    }

    async fn take(
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
        // After the lease: whoever begins a prompt with the earlier one has done so, or no longer can.
        let lost = self.rows(LOSE, &values).await?.len() as u64;
        let is_new = number(u64::from(rule == TakeRule::New));
        let ownership = [agents, session, owner, spelling, is_new];
        self.rows(OWN, &ownership).await?;
        Ok(Answer::Leased { number: next, lost })
    }

    async fn begin(
        &mut self,
        fence: &Fence,
        holder: &Holder,
        prompt: &str,
    ) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(&fence.name);
        let lease = number(fence.number);
        let [replica, generation] = of_holder(holder);
        let fenced = [agents, session, owner, lease, replica, generation];
        if self.rows(FENCE, &fenced).await?.is_empty() {
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

    async fn end(&mut self, fence: &Fence, prompt: &str) -> Result<Answer, Unusable> {
        let [agents, session, owner] = of_name(&fence.name);
        let values = [agents, session, owner, Text(prompt), number(fence.number)];
        let is_ended = !self.rows(END, &values).await?.is_empty();
        Ok(if is_ended {
            Answer::Done
        } else {
            Answer::Fenced
        })
    }

    async fn draw(
        &mut self,
        budget: &Budget<'_>,
        limit: u64,
        amount: u64,
    ) -> Result<Answer, Unusable> {
        let (period, used, left) = self.budget(budget).await?;
        let granted = amount.min(limit.saturating_sub(used));
        let values = budget.with(period, used + granted);
        self.rows(SPEND, &values).await?;
        Ok(Answer::Drawn {
            granted,
            again: left,
        })
    }

    async fn give_back(&mut self, budget: &Budget<'_>, amount: u64) -> Result<Answer, Unusable> {
        let (period, used, _) = self.budget(budget).await?;
        let values = budget.with(period, used.saturating_sub(amount));
        self.run(SPEND, &values).await
    }

    /// The current period of a budget, what was used of it, and how long it goes on.
    async fn budget(&mut self, budget: &Budget<'_>) -> Result<(u64, u64, u64), Unusable> {
        self.rows(OPEN_BUDGET, &budget.name).await?;
        let row = self.row(BUDGET, &budget.name).await?;
        let (stored, used, now) = (row.number(0)?, row.number(1)?, row.number(2)?);
        let period = now.checked_div(budget.length).unwrap_or_default();
        let left = now.checked_rem(budget.length);
        let left = left.map_or(u64::MAX / 8, |gone| budget.length - gone);
        // If the clock was set back, the later period goes on.
        Ok(if period > stored {
            (period, 0, left)
        } else {
            (stored, used, left)
        })
    }

    async fn occupy(
        &mut self,
        holder: &Holder,
        slot: u64,
        limits: &[SlotLimit],
    ) -> Result<Answer, Unusable> {
        // In one order for all callers, so that no two wait for each other.
        let mut ordered: Vec<&SlotLimit> = limits.iter().collect();
        ordered.sort();
        for limit in &ordered {
            let lock = format!("{}/{}", limit.kind, limit.account);
            self.lock(ACCOUNTS, &lock).await?;
        }
        let (is_alive, _) = self.is_alive(holder).await?;
        if !is_alive {
            return Ok(Answer::Gone);
        }
        for limit in &ordered {
            let values = [Text(&limit.account), Text(&limit.kind)];
            if self.number(OCCUPIED, &values).await? >= limit.most {
                return Ok(Answer::Full);
            }
        }
        let [replica, generation] = of_holder(holder);
        for limit in &ordered {
            let (kind, account) = (Text(&limit.kind), Text(&limit.account));
            let values = [replica, generation, number(slot), kind, account];
            self.rows(OCCUPY, &values).await?;
        }
        Ok(Answer::Done)
    }

    async fn next_turn(&mut self, user: &str, waited: u64) -> Result<Answer, Unusable> {
        let values = [Text(user), number(waited)];
        let is_noted = !self.rows(NEXT_TURN, &values).await?.is_empty();
        Ok(if is_noted {
            Answer::Done
        } else {
            Answer::HadTurn
        })
    }

    async fn issue(
        &mut self,
        ticket: &str,
        user: &str,
        sealed: &str,
        life: u64,
    ) -> Result<Answer, Unusable> {
        // Two that evict would wait for each other.
        self.lock(USERS, user).await?;
        let others = [Text(user), number(TICKETS - 1), number(u64::MAX)];
        self.rows(EVICT, &others).await?;
        let values = [Text(ticket), Text(user), Text(sealed), number(life)];
        self.run(ISSUE, &values).await
    }

    async fn redeem(&mut self, ticket: &str) -> Result<Answer, Unusable> {
        let found = self.rows(REDEEM, &[Text(ticket)]).await?;
        let sealed = found.first().map(|row| row.text(0)).transpose()?;
        Ok(Answer::Sealed(sealed.filter(|sealed| !sealed.is_empty())))
    }

    async fn revoke(&mut self, kind: &str, name: &str) -> Result<Answer, Unusable> {
        // Numbers are seen in their order: nobody passes over a smaller one that comes later.
        self.lock(REVOCATIONS, "").await?;
        let next = self.number(E::DIALECT.next, &[]).await?;
        let values = [number(next), Text(kind), Text(name)];
        self.rows(REVOKE, &values).await?;
        Ok(Answer::Number(next))
    }

    async fn revoked(&mut self, since: u64) -> Result<Answer, Unusable> {
        let rows = self.rows(REVOKED, &[number(since), listed()]).await?;
        let revocation = |row: &Row| {
            Ok(Revocation {
                number: row.number(0)?,
                kind: row.text(1)?,
                name: row.text(2)?,
            })
        };
        let revocations: Result<_, Unusable> = rows.iter().map(revocation).collect();
        Ok(Answer::Revocations(revocations?))
    }

    async fn sessions(&mut self, user: Option<&str>) -> Result<Answer, Unusable> {
        let is_of_user = number(u64::from(user.is_some()));
        let values = [is_of_user, Text(user.unwrap_or_default()), listed()];
        let rows = self.rows(SESSIONS, &values).await?;
        let session = |row: &Row| {
            Ok(ServedSession {
                agents: row.text(0)?,
                spelling: row.text(1)?,
                user: row.text(2)?,
                replica: row.text(3)?,
                number: row.number(4)?,
            })
        };
        let sessions: Result<_, Unusable> = rows.iter().map(session).collect();
        Ok(Answer::Sessions(sessions?))
    }

    async fn budgets(&mut self, account: Option<&str>) -> Result<Answer, Unusable> {
        let is_of_one = number(u64::from(account.is_some()));
        let values = [is_of_one, Text(account.unwrap_or_default()), listed()];
        let rows = self.rows(BUDGETS, &values).await?;
        let budget = |row: &Row| {
            Ok(UsedBudget {
                account: row.text(0)?,
                kind: row.text(1)?,
                used: row.number(2)?,
                left: row.number(3)?,
            })
        };
        let budgets: Result<_, Unusable> = rows.iter().map(budget).collect();
        Ok(Answer::Budgets(budgets?))
    }

    async fn slots(&mut self, account: Option<&str>) -> Result<Answer, Unusable> {
        let is_of_one = number(u64::from(account.is_some()));
        let values = [is_of_one, Text(account.unwrap_or_default()), listed()];
        let rows = self.rows(SLOTS, &values).await?;
        let used = |row: &Row| {
            Ok(UsedSlots {
                account: row.text(0)?,
                kind: row.text(1)?,
                used: row.number(2)?,
            })
        };
        let slots: Result<_, Unusable> = rows.iter().map(used).collect();
        Ok(Answer::Slots(slots?))
    }

    async fn tidy(&mut self, prompts: u64) -> Result<Answer, Unusable> {
        for (statement, age) in TIDY {
            let age = number(age.unwrap_or(prompts));
            self.rows(statement, &[age]).await?;
        }
        for statement in TIDY_HELD {
            self.rows(statement, &[]).await?;
        }
        Ok(Answer::Done)
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

/// A budget, by what it is found.
struct Budget<'b> {
    name: [Value<'b>; 3],
    length: u64,
}

impl<'b> Budget<'b> {
    fn new(account: &'b str, kind: &'b str, length: u64) -> Self {
        Self {
            name: [Text(account), Text(kind), number(length)],
            length,
        }
    }

    fn with(&self, period: u64, used: u64) -> [Value<'b>; 5] {
        let [account, kind, length] = self.name;
        [account, kind, length, number(period), number(used)]
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

/// A number as a parameter. Those of calls and rows fit.
fn number(number: u64) -> Value<'static> {
    Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn listed() -> Value<'static> {
    number(LISTED as u64)
}

fn of_name(name: &LeaseName) -> [Value<'_>; 3] {
    [Text(&name.agents), Text(&name.session), Text(&name.user)]
}

fn of_holder(holder: &Holder) -> [Value<'_>; 2] {
    [Text(&holder.replica), number(holder.generation)]
}
