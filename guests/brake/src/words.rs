//! What the user and the agent are told about a limit, and what the user is asked.

use acp_chain_proxy::{Json, Version};
use serde_json::Value;

use crate::account::{Account, Measure, Period};
use crate::config::Config;

/// The option with which the user lets the agent go on.
const YES: &str = "go-on";

impl Config {
    /// The limit of a period is reached.
    pub(crate) fn reached(&self, period: Period, measure: Measure, account: &Account) -> String {
        let cap = account.cap(measure, self.limits(period));
        let limit = self.amount(measure, cap.unwrap_or(u64::MAX));
        let spent = Measure::ALL.into_iter().zip(account.spent);
        let some = spent.filter(|(_, amount)| *amount > 0);
        let parts = some.map(|(measure, amount)| self.amount(measure, amount));
        let (name, all) = (period.name(), parts.collect::<Vec<_>>().join(", "));
        format!("the limit of {limit} for a {name} is reached; this {name}: {all}")
    }

    fn amount(&self, measure: Measure, amount: u64) -> String {
        match measure {
            Measure::Tokens => plural(amount, "token"),
            Measure::Cost => {
                let (whole, rest) = (amount / 1_000_000, amount % 1_000_000);
                format!("{whole}.{:02} {}", rest / 10_000, self.currency)
            }
            Measure::Calls => plural(amount, "tool call"),
            Measure::Time => plural(amount.div_ceil(60), "minute"),
        }
    }
}

pub(crate) fn plural(number: u64, thing: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{end}")
}

/// The parameters of the permission request whether the agent may go on, in the form of this version.
pub(crate) fn question(version: Version, session: &str, number: u64, reached: &str) -> Value {
    let text = format!("{reached}. Go on, up to the same amount again?");
    let options = [
        [YES, "Go on", "allow_once"],
        ["stop", "Stop", "reject_once"],
    ];
    version.question(session, number, &text, &options)
}

pub(crate) fn is_yes(answer: &Json) -> bool {
    Version::selected(answer).as_deref() == Some(YES)
}
