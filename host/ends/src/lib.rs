//! The ends of a connection of ACP that we play ourselves: what a client and an agent say, and what they do with the
//! messages that come. Whoever plays one carries its messages, and adds only what is special to it.
//!
//! Invariants: nothing here reads from a connection or writes to it. The requests of an end have ids of their own, and
//! each is answered at most once.

#![forbid(unsafe_code)]

pub mod agent;
pub mod client;

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A result, or an error.
pub type Outcome = Result<Value, Value>;

/// One end, with what it keeps of each request until the answer comes.
#[derive(Debug)]
pub struct End<T = ()> {
    last: u64,
    open: BTreeMap<u64, T>,
}

/// A request that came, and waits for its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request(Value);

/// What a message is to the end that gets it.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival<T = ()> {
    /// The answer to a request, and what was kept of that.
    Answer(T, Outcome),
    /// A request, to be answered.
    Request(Request),
    /// A notification: its method and its parameters.
    Notification(String, Value),
    /// An answer to no open request, or no message at all.
    Stray(Value),
}

impl<T> End<T> {
    /// Opens a request: the message to be sent.
    pub fn request(&mut self, method: &str, params: Value, kept: T) -> Value {
        self.last += 1;
        self.open.insert(self.last, kept);
        request(self.last, method, params)
    }

    /// Takes a message. A request that it answers is open no more.
    pub fn take(&mut self, mut message: Value) -> Arrival<T> {
        let id = message.get("id");
        match (message.get("method"), id) {
            (Some(_), Some(_)) => return Arrival::Request(Request(message)),
            (Some(method), None) => {
                let method = method.as_str().unwrap_or_default().to_owned();
                return Arrival::Notification(method, message["params"].take());
            }
            (None, _) => {}
        }
        let Some(kept) = id.and_then(|id| self.open.remove(&id.as_u64()?)) else {
            return Arrival::Stray(message);
        };
        let outcome = match message.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(message["result"].take()),
        };
        Arrival::Answer(kept, outcome)
    }

    /// The open requests by their ids, the oldest first.
    pub fn open(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.open.iter_mut().map(|(id, kept)| (*id, kept))
    }

    /// Waits for no answer any more: what was kept of the open requests, the oldest first.
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
    /// The id that its sender gave it.
    pub fn id(&self) -> &Value {
        &self.0["id"]
    }

    /// The name of its method; empty if that is no text.
    pub fn method(&self) -> &str {
        self.0["method"].as_str().unwrap_or_default()
    }

    /// Its parameters; null without any.
    pub fn params(&self) -> &Value {
        &self.0["params"]
    }

    /// The message that answers it with a result.
    pub fn respond(&self, result: Value) -> Value {
        answer(self.id(), Ok(result))
    }

    /// The message that answers it with an error.
    pub fn refuse(&self, code: i64, why: &str) -> Value {
        answer(self.id(), Err(json!({ "code": code, "message": why })))
    }
}

/// A request. Parameters that are null are left out.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    let mut message = notification(method, params);
    message["id"] = id.into();
    message
}

/// A notification. Parameters that are null are left out.
pub fn notification(method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// The answer to the request with this id.
pub fn answer(id: &Value, outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }
}

#[cfg(test)]
mod tests;
