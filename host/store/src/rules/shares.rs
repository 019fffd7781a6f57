//! What users and groups may have: budgets of a period, slots at once, and turns from the lines of replicas.

use super::{ACCOUNTS, Rules, listed_of, number, of_holder};
use crate::call::{Answer, Holder, SlotLimit, UsedBudget, UsedSlots};
use crate::engine::{Engine, Unusable, Value};

use self::Value::Text;

/// If the budget is there, its row is locked and stays as it is: it may be about to be tidied.
const OPEN_BUDGET: &str = "
INSERT INTO acp_chain_budgets AS b (account, kind, length, period, used) VALUES ($1, $2, $3, 0, 0)
ON CONFLICT (account, kind, length) DO UPDATE SET used = b.used WHERE b.used < 0
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

pub(super) const VACATE: &str = "
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

/// A budget, by what it is found.
pub(super) struct Budget<'b> {
    name: [Value<'b>; 3],
    length: u64,
}

impl<'b> Budget<'b> {
    pub(super) fn new(account: &'b str, kind: &'b str, length: u64) -> Self {
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

impl<E: Engine> Rules<'_, E> {
    pub(super) async fn draw(
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

    pub(super) async fn give_back(
        &mut self,
        budget: &Budget<'_>,
        amount: u64,
    ) -> Result<Answer, Unusable> {
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

    pub(super) async fn budgets(&mut self, account: Option<&str>) -> Result<Answer, Unusable> {
        let values = listed_of(account);
        let budgets = self.list(BUDGETS, &values, |row| {
            Ok(UsedBudget {
                account: row.text(0)?,
                kind: row.text(1)?,
                used: row.number(2)?,
                left: row.number(3)?,
            })
        });
        Ok(Answer::Budgets(budgets.await?))
    }

    pub(super) async fn occupy(
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

    pub(super) async fn slots(&mut self, account: Option<&str>) -> Result<Answer, Unusable> {
        let values = listed_of(account);
        let slots = self.list(SLOTS, &values, |row| {
            Ok(UsedSlots {
                account: row.text(0)?,
                kind: row.text(1)?,
                used: row.number(2)?,
            })
        });
        Ok(Answer::Slots(slots.await?))
    }

    pub(super) async fn next_turn(&mut self, user: &str, waited: u64) -> Result<Answer, Unusable> {
        let values = [Text(user), number(waited)];
        Ok(if self.has_row(NEXT_TURN, &values).await? {
            Answer::Done
        } else {
            Answer::HadTurn
        })
    }
}
