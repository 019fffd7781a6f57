//! JSON-RPC over lines, for the clients and agents of our own.

use std::io::Write;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Sends a request.
pub fn request(to: &mut impl Write, id: u64, method: &str, params: &Value) -> Result<()> {
    send(
        to,
        &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
    )
}

/// Sends a notification.
pub fn notify(to: &mut impl Write, method: &str, params: &Value) -> Result<()> {
    send(
        to,
        &json!({"jsonrpc": "2.0", "method": method, "params": params}),
    )
}

/// Answers a request.
pub fn respond(to: &mut impl Write, id: &Value, result: &Value) -> Result<()> {
    send(to, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// Answers a request with an error.
pub fn refuse(to: &mut impl Write, id: &Value, why: &str) -> Result<()> {
    let error = json!({"code": -32603, "message": why});
    send(to, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn send(to: &mut impl Write, message: &Value) -> Result<()> {
    writeln!(to, "{message}")?;
    to.flush().context("the other end has closed")
}

/// The result in a response to the request with this number, if the message is one.
pub fn result_of(message: &Value, id: u64) -> Result<Option<Value>> {
    if message["id"] != id || message.get("method").is_some() {
        return Ok(None);
    }
    if let Some(error) = message.get("error") {
        bail!("request {id} was answered with the error {error}");
    }
    Ok(message.get("result").cloned())
}
