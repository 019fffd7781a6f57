//! Tool runs that the agent's hooks report: each is a request of the host's own, from the agent's end to the client's,
//! which no end sends or receives. Its parameters at the client's end are what all proxies have agreed to.
//!
//! Native proxies, which do not know these requests, are passed over, except chains of this program.

use std::collections::HashMap;

use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::routed::Routed;
use acp_chain_rpc::{Kind, Message, text_member};

/// The number of a report, given by the socket of the agent's hooks.
pub type ReportNumber = u64;

/// What became of a report.
#[derive(Clone, Debug)]
pub enum HookOutcome {
    /// It has passed all proxies, in this form.
    Passed(Message),
    /// It was refused, for this reason.
    Refused(String),
}

/// The reports at chains of this program, and the outcomes of others.
#[derive(Default)]
pub(super) struct Hooks {
    /// The requests about which a chain of this program decides, as it was sent them.
    pub shown: HashMap<ExchangeId, Routed>,
    /// The outcomes that the hooks do not have yet.
    pub outcomes: Vec<(ReportNumber, HookOutcome)>,
}

impl Hooks {
    /// Notes that a report is refused.
    pub fn refuse(&mut self, report: ReportNumber, reason: String) {
        self.outcomes.push((report, HookOutcome::Refused(reason)));
    }
}

/// Why a report is refused that a proxy, or the host in its place, has answered.
pub(super) fn reason(answer: &Message) -> String {
    match answer.kind() {
        Kind::Error => {
            text_member(answer.body(), "message").unwrap_or_else(|| "acp-chain: refused".to_owned())
        }
        _ => "acp-chain: a proxy answered in place of letting it pass".to_owned(),
    }
}
