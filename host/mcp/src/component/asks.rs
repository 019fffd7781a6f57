//! Requests of a component to the client during a call.
//!
//! On a legacy connection, they are sent to the client. In 2026-07-28 the server sends no requests: it ends the
//! client's request with an `InputRequiredResult`, and the client retries the request with the answers (multi
//! round-trip requests). The component's call stays open meanwhile, and continues with the new request. The component
//! sees no difference.
//!
//! Invariants:
//!
//! - A retry continues the call with the same `requestState`, which is unguessable and new each time. The retry must
//!   come from where the call was made, the same connection or a request that stands alone, and be for the same tool,
//!   prompt or resource.
//! - Each request of the component is answered once: by the client, or with -32800 when the call ends.
//! - A call that is never retried ends after the component's hold time, or with its connection.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::calls::Call;
use super::channel::Ask;
use super::{Component, Request};
use crate::protocol::{self, Version, invalid, is_object, key, object, quoted};
use crate::seat::{Caller, Outputs};
use crate::secret::Secret;
use crate::wire::McpMessage;
use crate::{IncomingId, OutgoingId};
use acp_chain_channel::limits::Charge;
use acp_chain_rpc::{Error, Message, code, member};

/// An unanswered request of the component.
#[derive(Debug)]
pub(super) struct Open {
    call: OutgoingId,
    with: With,
    _charge: Option<Charge>,
}

/// How the request reaches the client.
#[derive(Debug)]
enum With {
    /// On its connection, under this number.
    Connection(OutgoingId),
    /// In an `InputRequiredResult`; the client answers in a retry.
    Retry(Message),
}

impl Component {
    /// Passes on the component's requests to the client of a call.
    pub(super) fn ask_client(&mut self, of: OutgoingId, asks: Vec<Ask>, out: &mut Outputs) {
        let call = self.calls.get(&of).filter(|call| !call.withdrawn);
        let Some(request) = call.map(|call| call.request.clone()) else {
            for Ask { ask, .. } in asks {
                out.fail(ask, &Error::cancelled());
            }
            return;
        };
        for Ask { ask, message } in asks {
            if self.asks.len() >= protocol::OPEN {
                out.fail(ask, &protocol::full(&self.name));
                continue;
            }
            let (with, charge) = match &request.caller {
                Caller::Connection(connection) if request.version < Version::Stateless => {
                    let question = out.number();
                    out.ask_caller(question, *connection, McpMessage::of(message));
                    (With::Connection(question), None)
                }
                _ => match protocol::keep(&self.waits, message.len(), &self.name) {
                    Ok(charge) => (With::Retry(message), Some(charge)),
                    Err(heavy) => {
                        out.fail(ask, &heavy);
                        continue;
                    }
                },
            };
            let open = Open {
                call: of,
                with,
                _charge: charge,
            };
            self.asks.insert(ask, open);
        }
        self.require(of, out);
    }

    /// Ends the client's request with an `InputRequiredResult`, if there are requests that it must answer in a retry.
    fn require(&mut self, of: OutgoingId, out: &mut Outputs) {
        let Some(call) = self.calls.get_mut(&of).filter(|call| call.state.is_none()) else {
            return;
        };
        let wanted = self.asks.iter().filter(|(_, open)| open.call == of);
        let wanted: Vec<_> = wanted
            .filter_map(|(ask, open)| match &open.with {
                With::Retry(message) => Some((*ask, message)),
                With::Connection(_) => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        let state = match Secret::new() {
            Ok(state) => state,
            Err(error) => {
                let error = Error::new(code::INTERNAL_ERROR, error.to_string());
                let wanted: Vec<_> = wanted.iter().map(|(ask, _)| *ask).collect();
                for ask in wanted {
                    self.asks.remove(&ask);
                    out.fail(ask, &error);
                }
                return;
            }
        };
        let inputs = wanted.iter().map(|(ask, message)| {
            let method = quoted(message.method());
            let params = Some(message.body()).filter(|params| *params != "null");
            let input = object(&[("method", Some(&method)), ("params", params)]);
            (ask.to_string(), input)
        });
        let inputs: Vec<_> = inputs.collect();
        let inputs = inputs.iter().map(|(ask, input)| (&**ask, Some(&**input)));
        let required = object(&[
            ("resultType", Some(r#""input_required""#)),
            ("inputRequests", Some(&object(&inputs.collect::<Vec<_>>()))),
            ("requestState", Some(&quoted(state.reveal()))),
        ]);
        out.result(call.request.ask, &required);
        // Until the retry, progress has no recipient.
        call.token = None;
        call.state = Some(state);
    }

    /// A client retries its request with the answers: the call continues.
    pub(super) fn resume(
        &mut self,
        request: Request,
        method: &str,
        params: &str,
        state: &str,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let is_it = |call: &Call| {
            let is_meant = call.state.as_ref().is_some_and(|own| own.is(state));
            is_meant && call.is_by(&request.caller) && call.of.is(method, params)
        };
        let mut calls = self.calls.iter_mut();
        let Some((of, call)) = calls.find(|(_, call)| is_it(call)) else {
            return Err(invalid(
                "No call with this requestState waits for input; retry the call without it",
            ));
        };
        let of = *of;
        call.state = None;
        call.token = protocol::token(protocol::meta(params, key::PROGRESS));
        call.request = request;
        let given = member(params, "inputResponses");
        let given = given.and_then(|given| serde_json::from_str(given).ok());
        let given: BTreeMap<String, &RawValue> = given.unwrap_or_default();
        for (name, answer) in given {
            let ask: Option<IncomingId> = name.parse().ok();
            let ask = ask.filter(|ask| self.asks.get(ask).is_some_and(|open| open.call == of));
            if let Some(ask) = ask.filter(|_| is_object(answer.get())) {
                self.asks.remove(&ask);
                out.result(ask, answer.get());
            }
        }
        // Missing answers are requested again.
        self.require(of, out);
        Ok(())
    }

    /// The client answered a request on its connection. Returns whether the component had sent that request.
    pub(super) fn client_answered(
        &mut self,
        question: OutgoingId,
        outcome: &Message,
        out: &mut Outputs,
    ) -> bool {
        let mut asks = self.asks.iter();
        let is_it = |open: &Open| matches!(open.with, With::Connection(of) if of == question);
        let Some(ask) = asks.find(|(_, open)| is_it(open)).map(|(ask, _)| *ask) else {
            return false;
        };
        self.asks.remove(&ask);
        out.answer(ask, outcome.clone());
        true
    }

    /// The component cancels a request. Returns whether that request was open.
    pub(super) fn withdraw_ask(&mut self, ask: IncomingId, out: &mut Outputs) -> bool {
        match self.asks.get(&ask).map(|open| &open.with) {
            Some(With::Connection(question)) => out.withdraw(*question),
            Some(With::Retry(_)) => {
                self.asks.remove(&ask);
                out.fail(ask, &Error::cancelled());
            }
            None => return false,
        }
        true
    }

    /// Cancels the requests to the client of a call that has ended.
    pub(super) fn end_asks(&mut self, of: OutgoingId, out: &mut Outputs) {
        let asks = self.asks.iter().filter(|(_, open)| open.call == of);
        for ask in asks.map(|(ask, _)| *ask).collect::<Vec<_>>() {
            self.withdraw_ask(ask, out);
        }
    }
}

impl Call {
    /// Whether a caller may continue the call.
    fn is_by(&self, caller: &Caller) -> bool {
        match (&self.request.caller, caller) {
            (Caller::Connection(own), Caller::Connection(other)) => own == other,
            (Caller::Request(_), Caller::Request(_)) => true,
            _ => false,
        }
    }
}
