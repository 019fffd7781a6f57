//! What becomes of each call, in statements that both engines have. Each is carried out within one transaction.
//!
//! | file | what it is about |
//! |---|---|
//! | `replicas` | replicas, and what all of them are told |
//! | `sessions` | owners, leases and prompts |
//! | `shares` | budgets, slots and turns of users and groups |
//! | `tickets` | tickets of browsers |
//! | `values` | values that proxies store |

mod replicas;
mod sessions;
mod shares;
mod tickets;
mod values;

use crate::call::{Answer, Call, Holder, LeaseName};
use crate::engine::{Engine, Row, Unusable, Value};
use crate::values::{ValueAnswer, ValueCall};

use self::Value::{Number, Text};
use self::shares::Budget;

/// How many rows a list has.
const LISTED: usize = 256;

/// For how long a replica that is over stays in the list, and for how long it is known that a user had a turn.
const FORGOTTEN: u64 = 24 * 60 * 60 * 1000;

/// For how long revocations are listed: longer than a replica goes on without the store.
const REVOCATIONS_LISTED: u64 = 30 * FORGOTTEN;

/// What is over, each with one parameter: how long ago. A loss of the store matters for as long as prompts are known.
const TIDY: [(&str, Option<u64>); 7] = [
    (
        "DELETE FROM acp_chain_prompts WHERE begun < {now} - $1",
        None,
    ),
    (
        "DELETE FROM acp_chain_rewinds WHERE rests_until < {now} - $1",
        None,
    ),
    (
        "DELETE FROM acp_chain_budgets WHERE length > 0 AND (period + 1) * length < {now} - $1",
        Some(FORGOTTEN),
    ),
    (
        "DELETE FROM acp_chain_revocations WHERE made < {now} - $1",
        Some(REVOCATIONS_LISTED),
    ),
    (
        "DELETE FROM acp_chain_replicas WHERE until < {now} - $1 AND beaten < {now} - $1",
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
const VALUES: u64 = 6;

/// What is carried out as one step.
pub(crate) trait Step {
    type Answer;

    /// Whether it consists of several statements.
    fn needs_transaction(&self) -> bool;

    async fn carry_out<E: Engine>(
        &self,
        rules: &mut Rules<'_, E>,
    ) -> Result<Self::Answer, Unusable>;
}

impl Step for Call {
    type Answer = Answer;

    fn needs_transaction(&self) -> bool {
        !self.is_single()
    }

    async fn carry_out<E: Engine>(&self, rules: &mut Rules<'_, E>) -> Result<Answer, Unusable> {
        rules.carry_out(self).await
    }
}

impl Step for ValueCall {
    type Answer = ValueAnswer;

    fn needs_transaction(&self) -> bool {
        !self.is_single()
    }

    async fn carry_out<E: Engine>(
        &self,
        rules: &mut Rules<'_, E>,
    ) -> Result<ValueAnswer, Unusable> {
        rules.carry_out_values(self).await
    }
}

/// A connection, within the transaction of one step.
pub(crate) struct Rules<'e, E>(pub &'e mut E);

impl<E: Engine> Rules<'_, E> {
    /// Carries out a call.
    async fn carry_out(&mut self, call: &Call) -> Result<Answer, Unusable> {
        if let Call::Take { seen, .. } | Call::Begin { seen, .. } | Call::Redeem { seen, .. } = call
            && self.is_rewound(*seen, 0).await?
        {
            return Ok(Answer::Rewound);
        }
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
            Call::Leave { holder } => self.run(replicas::LEAVE, &of_holder(holder)).await,
            Call::Replicas => self.replicas().await,
            Call::Whose { name, spelling } => self.whose(name, spelling).await,
            Call::Take {
                name,
                spelling,
                holder,
                rule,
                most,
                ..
            } => self.take(name, spelling, holder, *rule, *most).await,
            Call::Release { fence } => {
                let [agents, session, owner] = of_name(&fence.name);
                let values = [agents, session, owner, number(fence.number)];
                self.run(sessions::RELEASE, &values).await
            }
            Call::LeaseOf { name, holder } => self.lease_of(name, holder).await,
            Call::Begin {
                fence,
                holder,
                prompt,
                ..
            } => self.begin(fence, holder, prompt).await,
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
                self.run(shares::VACATE, &values).await
            }
            Call::NextTurn { user, waited } => self.next_turn(user, *waited).await,
            Call::Issue {
                ticket,
                user,
                sealed,
                life,
            } => self.issue(ticket, user, sealed, *life).await,
            Call::Redeem { ticket, .. } => self.redeem(ticket).await,
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

    /// Runs a statement of which it matters only whether it returns a row.
    async fn has_row(&mut self, statement: &str, values: &[Value<'_>]) -> Result<bool, Unusable> {
        Ok(!self.rows(statement, values).await?.is_empty())
    }

    /// Runs a statement that returns a list.
    async fn list<T>(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
        read: impl Fn(&Row) -> Result<T, Unusable>,
    ) -> Result<Vec<T>, Unusable> {
        let rows = self.rows(statement, values).await?;
        rows.iter().map(read).collect()
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

/// A number as a parameter. Those of calls and rows fit.
fn number(number: u64) -> Value<'static> {
    Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn listed() -> Value<'static> {
    number(LISTED as u64)
}

/// The parameters of a list: of one user or account, or of all.
fn listed_of(name: Option<&str>) -> [Value<'_>; 3] {
    let is_of_one = number(u64::from(name.is_some()));
    [is_of_one, Text(name.unwrap_or_default()), listed()]
}

fn of_name(name: &LeaseName) -> [Value<'_>; 3] {
    [Text(&name.agents), Text(&name.session), Text(&name.user)]
}

fn of_holder(holder: &Holder) -> [Value<'_>; 2] {
    [Text(&holder.replica), number(holder.generation)]
}
