//! The protocol of both ends of a trial: JSON-RPC, one message per line.

use std::io;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split,
};

pub struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    requests: u64,
}

impl Wire {
    pub fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            requests: 0,
        }
    }

    /// The next message; `None` when the host has gone.
    pub async fn receive(&mut self) -> io::Result<Option<Value>> {
        let line = self.lines.next_line().await?;
        Ok(line.map(|line| serde_json::from_str(&line)).transpose()?)
    }

    /// Sends a request. Returns its id.
    pub async fn request(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        Ok(id)
    }

    pub async fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await
    }

    pub async fn respond(&mut self, request: &Value, result: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
            .await
    }

    pub async fn refuse(&mut self, request: &Value, code: i64, why: &str) -> io::Result<()> {
        let error = json!({ "code": code, "message": why });
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
            .await
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
    }
}

/// Whether a message is a request.
pub fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

/// The result or the error in a message, if it answers the request with this id.
pub fn answer(message: &Value, id: u64) -> Option<Result<Value, Value>> {
    if message.get("method").is_some() || message["id"] != id {
        return None;
    }
    Some(match message.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(message["result"].clone()),
    })
}
