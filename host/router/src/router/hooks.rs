//! Tool runs that the agent's hooks report: each is a request of the host's own, from the agent's end to the client's,
//! which no end sends or receives. Its parameters at the client's end are what all proxies have agreed to.
//!
//! Native proxies, which do not know these requests, are passed over, except chains of this program.

use std::collections::HashMap;

use crate::exchange::ExchangeId;
use crate::routed::Routed;
use acp_chain_rpc::{Kind, Message, member};

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

/// The open reports, and the outcomes of others.
#[derive(Default)]
pub(super) struct Hooks {
    open: HashMap<ReportNumber, ExchangeId>,
    /// The requests about which a chain of this program decides, as it was sent them.
    shown: HashMap<ExchangeId, Routed>,
    outcomes: Vec<(ReportNumber, HookOutcome)>,
}

impl Hooks {
    pub fn take_outcomes(&mut self) -> Vec<(ReportNumber, HookOutcome)> {
        std::mem::take(&mut self.outcomes)
    }

    /// Notes that a report has become this request.
    pub fn opened(&mut self, report: ReportNumber, number: ExchangeId) {
        self.open.insert(report, number);
    }

    /// The request of an open report.
    pub fn request(&self, report: ReportNumber) -> Option<ExchangeId> {
        self.open.get(&report).copied()
    }

    /// Keeps a request until a chain of this program has decided about it.
    pub fn show(&mut self, number: ExchangeId, routed: Routed) {
        self.shown.insert(number, routed);
    }

    /// Takes a request about which a chain of this program has decided, or no longer can.
    pub fn take_shown(&mut self, number: ExchangeId) -> Option<Routed> {
        self.shown.remove(&number)
    }

    /// Notes the outcome of a report.
    pub fn decide(&mut self, report: ReportNumber, outcome: HookOutcome) {
        self.open.remove(&report);
        self.outcomes.push((report, outcome));
    }
}

/// Why a report is refused that a proxy, or the host in its place, has answered.
pub(super) fn reason(answer: &Message) -> String {
    match answer.kind() {
        Kind::Error => member(answer.body(), "message")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| "acp-chain: refused".to_owned()),
        _ => "acp-chain: a proxy answered in place of letting it pass".to_owned(),
    }
}
