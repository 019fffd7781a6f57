//! A provider's requests to a client that begins with `initialize`, during a call.
//!
//! In 2026-07-28 the server ends the call with an `InputRequiredResult`, and the client retries the call with the
//! answers (multi round-trip requests). These clients do not support this, so the edge sends them the requests, and
//! retries the call with the answers.
//!
//! - Only `sampling/createMessage`, `elicitation/create` and `roots/list` are passed on, and only to a client that
//!   supports them; anything else becomes the error -32603.
//! - An error from the client becomes the outcome of its call, as a retry cannot contain an error; the other requests
//!   are cancelled.
//! - There are at most [`ROUNDS`] per call, and [`INPUTS`] requests per round.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Call, CallerEdge, Provider, Purpose};
use crate::protocol::{self, object, with};
use crate::wire::McpMessage;
use crate::{IncomingId, OutgoingId};
use acp_chain_channel::capability;
use acp_chain_rpc::{Error, Kind, Message, code, member, text_member};

/// The maximum number of retries of a call.
const ROUNDS: usize = 10;

/// The maximum number of requests in one `InputRequiredResult`.
const INPUTS: usize = 16;

/// A call that the edge retries when the client has answered.
#[derive(Debug)]
pub(super) struct Round {
    pub call: Call,
    /// The unanswered requests, and the provider's names for them.
    missing: BTreeMap<OutgoingId, String>,
    /// The answers, by the provider's names.
    answers: Vec<(String, String)>,
    /// The provider's `requestState`, as JSON text.
    state: Option<String>,
}

impl<P: Provider> CallerEdge<P> {
    /// Sends the provider's requests to the client. `required` is the `InputRequiredResult`.
    pub(super) fn begin_round(&mut self, mut call: Call, required: &str) -> Result<(), Error> {
        let name = self.provider.name();
        let fault = |reason: &str| {
            let text = format!("The MCP server {name:?} is at fault: {reason}");
            Error::new(code::INTERNAL_ERROR, text)
        };
        let inputs = member(required, "inputRequests").filter(|text| *text != "null");
        let state = member(required, "requestState").filter(|text| *text != "null");
        let inputs: BTreeMap<String, &RawValue> = match inputs {
            Some(inputs) => serde_json::from_str(inputs)
                .map_err(|_| fault("its inputRequests are not an object"))?,
            None if state.is_some() => BTreeMap::new(),
            None => {
                return Err(fault("it requires input, but does not say which"));
            }
        };
        call.rounds += 1;
        if call.rounds > ROUNDS {
            let reason = format!("it asked for input more than {ROUNDS} times");
            return Err(fault(&reason));
        }
        if inputs.len() > INPUTS {
            let reason = format!("it asked for more than {INPUTS} inputs at once");
            return Err(fault(&reason));
        }
        if state.is_some_and(|state| !state.starts_with('"')) {
            return Err(fault("its requestState is not a string"));
        }
        let Some(client) = self.clients.get(&call.connection) else {
            return Err(Error::cancelled());
        };
        let mut requests = Vec::new();
        for (name, input) in inputs {
            let method = text_member(input.get(), "method").unwrap_or_default();
            if !capability(&method).is_some_and(|needed| client.can(needed)) {
                let method = protocol::clipped(&method);
                let reason =
                    format!("it asks the client for {method:?}, which the client does not support");
                return Err(fault(&reason));
            }
            let params = member(input.get(), "params").unwrap_or("null");
            requests.push((name, McpMessage::new(&method, params)));
        }
        self.check_room(requests.len())?;
        let names = requests.iter().map(|(name, _)| name.len());
        let kept = state.map_or(0, str::len) + names.sum::<usize>();
        self.keep_more(&mut call, kept)?;
        let mut round = Round {
            state: state.map(str::to_owned),
            missing: BTreeMap::new(),
            answers: Vec::new(),
            call,
        };
        for (name, said) in requests {
            let question = self.made.number();
            round.missing.insert(question, name);
            self.inputs.insert(question, round.call.request.ask);
            self.out.ask_caller(question, round.call.connection, said);
        }
        if round.missing.is_empty() {
            self.again(round);
        } else {
            self.rounds.insert(round.call.request.ask, round);
        }
        Ok(())
    }

    /// Ends a round and its call with this error. Later answers to the round's requests are ignored.
    pub(super) fn end_round(&mut self, round: Round, outcome: Message) {
        for question in round.missing.into_keys() {
            self.out.withdraw(question);
        }
        self.out.answer(round.call.request.ask, outcome);
    }

    /// The client answered a request in this call.
    pub(super) fn input_answered(
        &mut self,
        question: OutgoingId,
        ask: IncomingId,
        outcome: Message,
    ) {
        let Some(mut round) = self.rounds.remove(&ask) else {
            return;
        };
        let name = round.missing.remove(&question);
        if outcome.kind() != Kind::Result {
            return self.end_round(round, outcome);
        }
        if let Err(heavy) = self.keep_more(&mut round.call, outcome.body().len()) {
            return self.end_round(round, Message::error(&heavy));
        }
        let answer = outcome.body().to_owned();
        round.answers.extend(name.map(|name| (name, answer)));
        if round.missing.is_empty() {
            self.again(round);
        } else {
            self.rounds.insert(ask, round);
        }
    }

    /// Charges a call for more bytes. After an error the call must end.
    fn keep_more(&self, call: &mut Call, bytes: usize) -> Result<(), Error> {
        let kept = call.charge.bytes() + bytes;
        call.charge.resize(0);
        call.charge = protocol::keep(&self.calls, kept, self.provider.name())?;
        Ok(())
    }

    /// Retries the call with the answers.
    fn again(&mut self, round: Round) {
        let mut call = round.call;
        let mut params = call.params.clone();
        if !round.answers.is_empty() {
            let answers = round.answers.iter();
            let answers = answers.map(|(name, answer)| (&**name, Some(&**answer)));
            let answers = object(&answers.collect::<Vec<_>>());
            params = with(&params, "/inputResponses", Some(&answers));
        }
        if let Some(state) = &round.state {
            params = with(&params, "/requestState", Some(state));
        }
        call.charge.resize(call.method.len() + call.params.len());
        let (request, said) = (call.request.clone(), McpMessage::new(&call.method, &params));
        self.send(Purpose::Call(call), request, &said);
    }
}
