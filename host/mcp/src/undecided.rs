//! A provider whose declaration has a `serverId`, and whose dialect is therefore unknown: usually requests stand alone,
//! but in schema 1.4 to 1.9 callers connect with the `serverId`.
//!
//! Messages are sent in the stateless dialect until the provider's first answer decides. If it is an error about a
//! missing connection, the provider is [connected](super::connected), and all messages so far are sent again. If it is
//! a result, or if there are too many messages to keep, the provider is [stateless](super::stateless).

use super::connected::ConnectedProvider;
use super::protocol::{self, KEPT};
use super::seat::{Caller, CallerRequest, Input, Output, Seat};
use super::stateless::StatelessProvider;
use super::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_rpc::{Kind, Message, code, member};

/// The seat of one provider.
pub struct Undecided {
    id: String,
    /// The account of the seat.
    kept: Account,
    /// The seat for the stateless dialect, or for connections once the provider has required one.
    seat: Box<dyn Seat>,
    /// Present until the dialect is known.
    trial: Option<Trial>,
}

/// The messages to send again.
#[derive(Debug)]
struct Trial {
    /// The open connections, with their `_meta`. Their `mcp/connect` is answered.
    connects: Vec<(ConnectionId, Option<String>)>,
    /// The unanswered requests.
    requests: Vec<CallerRequest>,
    /// The unanswered requests that are cancelled, or whose connection is closed. They are not sent again.
    cancelled: Vec<IncomingId>,
    /// The charge for all these messages.
    charge: Charge,
    last: OutgoingId,
}

impl Undecided {
    /// The seat of the provider that declared its server with this `serverId`. The seat's own `requestId`s begin with
    /// `prefix`, which must differ between seats of one provider. What it keeps is charged to parts of `kept`.
    pub fn new(id: &str, prefix: &str, kept: &Account) -> Self {
        Self {
            id: id.to_owned(),
            kept: kept.clone(),
            seat: Box::new(StatelessProvider::new(id, prefix, kept)),
            trial: Some(Trial {
                connects: Vec::new(),
                requests: Vec::new(),
                cancelled: Vec::new(),
                charge: kept.part(KEPT).charge_anyway(0),
                last: 0,
            }),
        }
    }

    /// Switches to connections, after this error: connects to the provider, and sends the messages so far again. The
    /// provider's other answers to them are ignored.
    fn connect(&mut self, trial: Trial, refusal: &Message) -> Vec<Output> {
        let mut seat = ConnectedProvider::by_server_id(&self.id, trial.last, &self.kept);
        let mut out = Vec::new();
        for (connection, meta) in &trial.connects {
            out.extend(seat.connect_again(*connection, meta.as_deref()));
        }
        for request in trial.requests {
            out.extend(seat.take(Input::Request(request)));
        }
        out.extend(trial.cancelled.into_iter().map(|ask| Output::Answer {
            ask,
            outcome: refusal.clone(),
            meta: None,
            outer: true,
        }));
        self.seat = Box::new(seat);
        out
    }
}

impl Seat for Undecided {
    fn take(&mut self, input: Input) -> Vec<Output> {
        if let Input::Answered { outcome, .. } = &input {
            let wants = wants_connection(outcome);
            let is_result = outcome.kind() == Kind::Result;
            if let Some(trial) = self.trial.take_if(|_| wants || is_result)
                && wants
            {
                return self.connect(trial, outcome);
            }
        }
        self.trial.take_if(|trial| !trial.keep(&input));
        let out = self.seat.take(input);
        if let Some(trial) = &mut self.trial {
            trial.note(&out);
        }
        out
    }

    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        self.seat.has(connection, request)
    }

    fn has_caller(&self, connection: ConnectionId) -> bool {
        self.seat.has_caller(connection)
    }
}

impl Trial {
    /// Keeps a message. Returns `false` if there is no room for it.
    fn keep(&mut self, input: &Input) -> bool {
        let weight = match input {
            Input::Connect {
                connection, meta, ..
            } => {
                self.connects.push((*connection, meta.map(str::to_owned)));
                meta.map_or(0, str::len)
            }
            Input::Request(request) => {
                self.requests.push(request.clone());
                let id = request.id.as_ref().map_or(0, |id| id.as_str().len());
                id + request.said.weight()
            }
            Input::Withdrawn { ask } => {
                self.cancel(|request| request.ask == *ask);
                0
            }
            Input::Disconnect { connection, .. } => {
                self.connects.retain(|(of, _)| of != connection);
                let over = Caller::Connection(*connection);
                self.cancel(|request| request.caller == over);
                0
            }
            _ => 0,
        };
        let keeps = weight == 0 || self.charge.grow(weight);
        keeps && self.connects.len() + self.requests.len() <= protocol::OPEN
    }

    fn cancel(&mut self, those: impl Fn(&CallerRequest) -> bool) {
        let cancelled = self.requests.extract_if(.., |request| those(request));
        self.cancelled.extend(cancelled.map(|request| request.ask));
    }

    fn note(&mut self, out: &[Output]) {
        for output in out {
            match output {
                Output::Answer { ask, .. } => {
                    self.requests.retain(|request| request.ask != *ask);
                    self.cancelled.retain(|of| of != ask);
                }
                Output::Provider(question, _) => self.last = self.last.max(question.unwrap_or(0)),
                _ => {}
            }
        }
    }
}

/// Whether an answer is an error about a missing connection: one whose text contains `connectionId`, which a request
/// that stands alone lacks, or `mcp/connect`.
fn wants_connection(answer: &Message) -> bool {
    let number = member(answer.body(), "code").and_then(|number| number.parse().ok());
    let fits = [code::INVALID_PARAMS, code::INVALID_REQUEST];
    let says = |name: &str| answer.body().contains(name);
    answer.kind() == Kind::Error
        && number.is_some_and(|number: i64| fits.contains(&number))
        && (says("connectionId") || says("mcp/connect"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::transcript::{Table, kept};

    const WANTS: &str =
        r#"{"code":-32602,"message":"Invalid params","data":"missing field `connectionId`"}"#;

    fn seat() -> Table<Undecided> {
        Table::new(Undecided::new("srv", "p", &kept()))
    }

    #[test]
    fn a_provider_that_requires_a_connection_gets_one_and_all_messages_again() {
        let mut table = seat();
        assert_eq!(
            table.connect(7),
            [r#"answer 1: result {"connectionId":"acp-chain-7"}"#]
        );
        assert_eq!(
            table
                .on(7, "initialize", r#"{"protocolVersion":"2025-06-18"}"#)
                .len(),
            1
        );
        table.alone("r", "tools/list", "");
        assert_eq!(
            table.error(1, WANTS),
            [
                r#"ask provider 3: mcp/connect {"serverId":"srv"}"#,
                r#"ask provider 4: mcp/connect {"serverId":"srv"}"#,
            ]
        );
        assert!(table.error(2, WANTS).is_empty(), "it is said again");
        assert_eq!(
            table.result(3, r#"{"connectionId":"c"}"#),
            [
                r#"ask provider 5: mcp/message {"connectionId":"c","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
            ]
        );
        assert_eq!(table.result(5, "{ }"), ["answer 2: result { }"]);
        assert!(table.seat.has(Some("c"), None));
    }

    #[test]
    fn any_other_provider_is_stateless_and_its_errors_pass() {
        let mut table = seat();
        table.alone("r", "tools/list", "");
        let refusal = r#"{"code":-32602,"message":"no such tool"}"#;
        assert_eq!(
            table.error(1, refusal),
            [format!("answer 1: error {refusal}")]
        );
        table.alone("r", "tools/list", "");
        assert_eq!(table.result(2, r#"{"result":{}}"#), ["answer 2: result {}"]);
        // Now the dialect is known.
        table.alone("r", "tools/list", "");
        assert_eq!(table.error(3, WANTS), [format!("answer 3: error {WANTS}")]);
    }

    #[test]
    fn cancelled_requests_are_answered_and_not_sent_again() {
        let mut table = seat();
        table.alone("r", "tools/list", "");
        table.withdraw(1);
        assert_eq!(table.error(1, WANTS), [format!("answer 1: error {WANTS}")]);
    }

    #[test]
    fn of_several_requests_only_those_that_are_not_cancelled_are_sent_again() {
        let mut table = seat();
        table.connect(7);
        table.on(7, "initialize", r#"{"protocolVersion":"2025-06-18"}"#);
        table.on(7, "ping", "null");
        table.on(7, "tools/call", &crate::tests::transcript::alone(""));
        table.withdraw(4);
        let out = table.error(1, WANTS);
        assert!(out[0].starts_with("ask provider 3: mcp/connect"), "{out:?}");
        assert_eq!(out[1..], [format!("answer 4: error {WANTS}")]);
        let sent = table.result(3, r#"{"connectionId":"c"}"#);
        assert!(
            sent.len() == 1 && sent[0].contains(r#""method":"initialize""#),
            "{sent:?}"
        );
    }
}
