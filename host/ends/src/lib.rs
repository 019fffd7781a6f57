//! ACP clients and agents of acp-chain itself: the messages that they send, and how they handle received messages. The
//! user of this crate transports the messages, and adds the specific behaviour.
//!
//! Invariants: only [`editor`], a client that launches a program, transports messages. The ids of an end's requests are
//! unique, and each request is answered at most once.

#![forbid(unsafe_code)]

pub mod agent;
pub mod client;
pub mod editor;

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A JSON-RPC result or error object.
pub type Outcome = Result<Value, Value>;

/// One end of a connection, with a value of type `T` for each open request.
#[derive(Debug)]
pub struct End<T = ()> {
    last: u64,
    open: BTreeMap<u64, T>,
}

/// A received request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request(Value);

/// A received message.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival<T = ()> {
    /// The answer to an open request, with the value kept for the request.
    Answer(T, Outcome),
    /// A request that must be answered.
    Request(Request),
    /// The method and the parameters of a notification.
    Notification(String, Value),
    /// An answer to no open request, or not a message.
    Stray(Value),
}

impl<T> End<T> {
    /// Opens a request. Returns the message to send. `kept` is returned with the answer.
    pub fn request(&mut self, method: &str, params: Value, kept: T) -> Value {
        self.last += 1;
        self.open.insert(self.last, kept);
        request(self.last, method, params)
    }

    /// Classifies a received message. An answer closes its request. Some software writes all members, with null for
    /// those that do not apply.
    pub fn take(&mut self, mut message: Value) -> Arrival<T> {
        let id = message.get("id");
        let method = message.get("method").filter(|method| !method.is_null());
        match (method, id) {
            (Some(_), Some(_)) => return Arrival::Request(Request(message)),
            (Some(method), None) => {
                let method = method.as_str().unwrap_or_default().to_owned();
                return Arrival::Notification(method, message["params"].take());
            }
            (None, _) => {}
        }
        let Some(kept) = id.and_then(|id| self.open.remove(&number(id)?)) else {
            return Arrival::Stray(message);
        };
        let error = message.get_mut("error").filter(|error| !error.is_null());
        let outcome = match error {
            Some(error) => Err(error.take()),
            None => Ok(message["result"].take()),
        };
        Arrival::Answer(kept, outcome)
    }

    /// The ids and values of the open requests, the oldest first.
    pub fn open(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.open.iter_mut().map(|(id, kept)| (*id, kept))
    }

    /// Closes all open requests. Returns their values, the oldest first.
    pub fn give_up(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.open).into_values()
    }
}

impl<T> Default for End<T> {
    fn default() -> Self {
        let open = BTreeMap::new();
        Self { last: 0, open }
    }
}

impl Request {
    pub fn id(&self) -> &Value {
        &self.0["id"]
    }

    /// Empty if the method is not a string.
    pub fn method(&self) -> &str {
        self.0["method"].as_str().unwrap_or_default()
    }

    /// Null if missing.
    pub fn params(&self) -> &Value {
        &self.0["params"]
    }

    /// The response with a result.
    pub fn respond(&self, result: Value) -> Value {
        answer(self.id(), Ok(result))
    }

    /// The response with an error.
    pub fn refuse(&self, code: i64, why: &str) -> Value {
        answer(self.id(), Err(json!({ "code": code, "message": why })))
    }
}

/// The whole number that an id is, which some software spells `1.0`.
fn number(id: &Value) -> Option<u64> {
    let text = id.as_number()?.to_string();
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}

/// Makes a request. Parameters that are null are left out.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    let mut message = notification(method, params);
    message["id"] = id.into();
    message
}

/// Makes a notification. Parameters that are null are left out.
pub fn notification(method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// Makes the response to the request with this id.
pub fn answer(id: &Value, outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }
}

#[cfg(test)]
mod tests;
