//! Tickets of browsers.

use super::{Rules, USERS, number};
use crate::call::Answer;
use crate::engine::{Engine, Unusable, Value};

use self::Value::Text;

/// How many tickets a user has at once.
const TICKETS: u64 = 16;

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

impl<E: Engine> Rules<'_, E> {
    pub(super) async fn issue(
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

    pub(super) async fn redeem(&mut self, ticket: &str) -> Result<Answer, Unusable> {
        let found = self.rows(REDEEM, &[Text(ticket)]).await?;
        let sealed = found.first().map(|row| row.text(0)).transpose()?;
        Ok(Answer::Sealed(sealed.filter(|sealed| !sealed.is_empty())))
    }
}
