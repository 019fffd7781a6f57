//! Carries the messages of an end: JSON, one message per line.

use std::io;

use acp_chain_trace::{read_in_part, read_whole};
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split,
};

use crate::Screen;

pub struct Wire {
    screen: &'static dyn Screen,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Wire {
    /// The messages of this stream; errors go to the screen.
    pub fn new(stream: DuplexStream, screen: &'static dyn Screen) -> Self {
        let (reader, writer) = split(stream);
        Self {
            screen,
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    /// The next message; `None` when the host has closed the stream. In a message that is JSON, members that a `Value`
    /// cannot hold are null.
    pub async fn receive(&mut self) -> io::Result<Option<Value>> {
        while let Some(line) = self.lines.next_line().await? {
            match read_whole(line.as_bytes()) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => self.screen.tell(format_args!(
                    "acp-chain: a message cannot be read whole: {error}"
                )),
            }
            if let Some(message) = read_in_part(line.as_bytes()) {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    pub async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::screen::Blank;
    use crate::typed::streams;

    #[tokio::test]
    async fn a_message_that_cannot_be_read_whole_is_not_the_end() {
        let (ours, mut theirs) = streams();
        let mut wire = Wire::new(ours, &Blank);
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
