//! A provider whose declaration has a `serverId`, and whose dialect is therefore unknown: usually requests stand alone,
//! but in schema 1.4 to 1.9 callers connect with the `serverId`.
//!
//! The seat sends messages in the stateless dialect until the provider's first answer decides. If it is an error about
//! a missing connection, the provider is [connected](super::connected), and all messages so far are sent again. If it
//! is a result, or if there are too many messages to keep, the provider is [stateless](super::stateless).

use std::collections::HashSet;

use super::connected::ConnectedProvider;
use super::protocol;
use super::seat::{Caller, CallerRequest, Input, Output, Seat};
use super::stateless::StatelessProvider;
use super::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Kind, Message, code, member};

/// The seat of one provider.
#[derive(Debug)]
pub struct Undecided {
    id: String,
    stateless: StatelessProvider,
    /// Present once the provider has required a connection.
    connected: Option<Switched>,
    /// Present until the dialect is known.
    trial: Option<Trial>,
    /// The `mcp/connect` requests that were answered before the switch to connections.
    answered: HashSet<Asked>,
}

/// The seat for the dialect with connections, and the state to ignore late answers of the stateless dialect.
#[derive(Debug)]
struct Switched {
    seat: ConnectedProvider,
    /// The requests that `seat` answers.
    again: HashSet<Asked>,
    /// The number of the last request sent in the stateless dialect.
    last: Question,
}

/// The messages to send again. Cancelled messages, and those on closed connections, are removed.
#[derive(Debug, Default)]
struct Trial {
    /// The open connections, with their `_meta`.
    connects: Vec<(Asked, ConnectionId, Option<String>)>,
    requests: Vec<CallerRequest<'static>>,
    weight: usize,
    answered: HashSet<Asked>,
    last: Question,
}

impl Undecided {
    /// The seat of the provider that declared its server with this `serverId`. For `prefix`, see
    /// [`StatelessProvider::new`].
    #[must_use]
    pub fn new(id: &str, prefix: &str) -> Self {
        Self {
            id: id.to_owned(),
            stateless: StatelessProvider::new(id, prefix),
            connected: None,
            trial: Some(Trial::default()),
            answered: HashSet::new(),
        }
    }

    /// Switches to connections: connects to the provider, and sends the messages so far again.
    fn connect(&mut self, trial: Trial) -> Vec<Output> {
        let last = trial.last;
        let mut seat = ConnectedProvider::by_server_id(&self.id, last);
        let (mut out, mut again) = (Vec::new(), HashSet::new());
        for (ask, connection, meta) in &trial.connects {
            again.insert(*ask);
            out.extend(seat.take(Input::Connect {
                ask: *ask,
                connection: *connection,
                meta: meta.as_deref(),
            }));
        }
        for request in trial.requests {
            again.insert(request.ask);
            out.extend(seat.take(Input::Request(request)));
        }
        self.connected = Some(Switched { seat, again, last });
        // In the stateless dialect, `mcp/connect` was answered at once.
        self.answered = trial.answered;
        self.without(out)
    }

    /// Removes answers to requests that were answered already.
    fn without(&self, mut out: Vec<Output>) -> Vec<Output> {
        let has_one = |output: &Output| matches!(output, Output::Answer { ask, .. } if self.answered.contains(ask));
        out.retain(|output| !has_one(output));
        out
    }

    /// Handles an input of the stateless dialect after the switch. Only answers to requests that were not sent again
    /// remain.
    fn rest(&mut self, input: Input) -> Vec<Output> {
        let mut out = self.stateless.take(input);
        let again = self.connected.as_ref().map(|switched| &switched.again);
        let remains = |output: &Output| match output {
            Output::Answer { ask, .. } => again.is_none_or(|again| !again.contains(ask)),
            _ => false,
        };
        out.retain(remains);
        out
    }
}

impl Seat for Undecided {
    fn take(&mut self, input: Input) -> Vec<Output> {
        if let Some(switched) = &mut self.connected {
            return match input {
                Input::Answered { question, .. } if question <= switched.last => self.rest(input),
                Input::ProviderLost { .. } | Input::Over => {
                    let out = switched.seat.take(input.clone());
                    let rest = self.rest(input);
                    self.without(out).into_iter().chain(rest).collect()
                }
                input => {
                    let out = switched.seat.take(input);
                    self.without(out)
                }
            };
        }
        if let Input::Answered { outcome, .. } = &input {
            let wants = wants_connection(outcome);
            let is_result = outcome.kind() == Kind::Result;
            if let Some(trial) = self.trial.take_if(|_| wants || is_result)
                && wants
            {
                let out = self.connect(trial);
                return out.into_iter().chain(self.rest(input)).collect();
            }
        }
        if let Some(trial) = &mut self.trial
            && !trial.keep(&input)
        {
            self.trial = None;
        }
        let out = self.stateless.take(input);
        if let Some(trial) = &mut self.trial {
            trial.note(&out);
        }
        out
    }

    fn weight(&self) -> usize {
        let trial = self.trial.as_ref().map_or(0, |trial| trial.weight);
        let connected = self.connected.as_ref();
        let connected = connected.map_or(0, |switched| switched.seat.weight());
        self.stateless.weight() + trial + connected
    }

    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        match &self.connected {
            Some(switched) => switched.seat.has(connection, request),
            None => self.stateless.has(connection, request),
        }
    }

    fn has_caller(&self, connection: ConnectionId) -> bool {
        match &self.connected {
            Some(switched) => switched.seat.has_caller(connection),
            None => self.stateless.has_caller(connection),
        }
    }
}

impl Trial {
    /// Keeps a message. Returns `false` if there is no room for it.
    fn keep(&mut self, input: &Input) -> bool {
        let weight = match input {
            Input::Connect {
                ask,
                connection,
                meta,
            } => {
                let connect = (*ask, *connection, meta.map(str::to_owned));
                self.connects.push(connect);
                meta.map_or(0, str::len)
            }
            Input::Request(request) => {
                self.requests.push(request.clone().into_owned());
                let id = request.id.as_ref().map_or(0, |id| id.as_str().len());
                id + request.said.weight()
            }
            Input::Withdrawn { ask } => {
                self.requests.retain(|request| request.ask != *ask);
                return true;
            }
            Input::Disconnect { connection, .. } => {
                let over = Caller::Connection(*connection);
                let answered = &mut self.answered;
                self.connects.retain(|(ask, of, _)| {
                    let is_over = of == connection;
                    if is_over {
                        answered.remove(ask);
                    }
                    !is_over
                });
                self.requests.retain(|request| request.caller != over);
                return true;
            }
            _ => return true,
        };
        let keeps = protocol::keeps(self.weight, weight);
        self.weight += weight;
        keeps && self.connects.len() + self.requests.len() <= protocol::OPEN
    }

    fn note(&mut self, out: &[Output]) {
        for output in out {
            match output {
                Output::Answer { ask, .. } => {
                    if self.connects.iter().any(|(connects, ..)| connects == ask) {
                        self.answered.insert(*ask);
                    }
                    self.requests.retain(|request| request.ask != *ask);
                }
                Output::AskProvider { question, .. } | Output::AskCaller { question, .. } => {
                    self.last = self.last.max(*question);
                }
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
    use crate::transcript::Table;

    const WANTS: &str =
        r#"{"code":-32602,"message":"Invalid params","data":"missing field `connectionId`"}"#;

    fn seat() -> Table<Undecided> {
        Table::new(Undecided::new("srv", "p"))
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
}
