//! The protocol of both ends of a trial: JSON-RPC, one message per line.

use std::io;

use acp_chain_trace::{read_in_part, read_whole};
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

    /// The next message; `None` when the host has gone. Of a message that no `Value` can hold, although it is JSON, the
    /// members that one can hold are received.
    pub async fn receive(&mut self) -> io::Result<Option<Value>> {
        while let Some(line) = self.lines.next_line().await? {
            match read_whole(line.as_bytes()) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => tell!("acp-chain: a message cannot be read whole: {error}"),
            }
            if let Some(message) = read_in_part(line.as_bytes()) {
                return Ok(Some(message));
            }
        }
        Ok(None)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::typed::streams;

    #[tokio::test]
    async fn a_message_that_cannot_be_read_whole_is_not_the_end() {
        let (ours, mut theirs) = streams();
        let mut wire = Wire::new(ours);
        let deep = "[".repeat(200) + &"]".repeat(200);
        let lines = [
            r#"{"method":"a","params":"\ud800 \ud83d\ude00 \\ud800"}"#.to_owned(),
            format!(r#"{{"id":1,"result":{deep}}}"#),
            r#"{"id":2,"result":1e999}"#.to_owned(),
            "none".to_owned(),
            r#"{"id":3,"result":1}"#.to_owned(),
        ];
        theirs
            .write_all((lines.join("\n") + "\n").as_bytes())
            .await
            .unwrap();
        drop(theirs);
        let mut received = Vec::new();
        while let Some(message) = wire.receive().await.unwrap() {
            received.push(message);
        }
        let expected = [
            json!({ "method": "a", "params": "\u{fffd} \u{1f600} \\ud800" }),
            json!({ "id": 1, "result": null }),
            json!({ "id": 2, "result": null }),
            json!({ "id": 3, "result": 1 }),
        ];
        assert_eq!(received, expected);
    }
}
