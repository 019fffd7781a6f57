//! A client that sends arbitrary bytes.

use acp_chain_tests::wire::in_time;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::served::ServerProcess;

pub struct Raw {
    stream: TcpStream,
    /// The server's host and port.
    pub host: String,
}

impl Raw {
    pub async fn open(served: &ServerProcess) -> Self {
        let host = served.url.split('/').nth(2).unwrap().to_owned();
        let stream = TcpStream::connect(&host).await.unwrap();
        Self { stream, host }
    }

    /// Opens a connection of HTTP/2 with prior knowledge (RFC 9113, 3.3).
    pub async fn http2(served: &ServerProcess) -> Self {
        let mut raw = Self::open(served).await;
        let mut start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        start.extend(h2(SETTINGS, 0, 0, &[]));
        raw.says(&start).await;
        raw
    }

    /// The payload of the next HTTP/2 frame of this kind.
    pub async fn frame(&mut self, wanted: u8) -> Vec<u8> {
        loop {
            let head = self.takes(9).await;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let payload = self.takes(length as usize).await;
            if head[3] == wanted {
                return payload;
            }
        }
    }

    /// Sends bytes. Returns false if the connection was closed before the last.
    pub async fn says(&mut self, bytes: &[u8]) -> bool {
        in_time("room", self.stream.write_all(bytes)).await.is_ok()
    }

    /// Closes the sending side.
    pub async fn is_done(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// All bytes that the server sends until it closes.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        // A reset ends the connection, too.
        let _ = in_time("the end", self.stream.read_to_end(&mut all)).await;
        all
    }

    /// The status codes of all answers until the server closes.
    pub async fn codes(&mut self) -> Vec<u16> {
        let said = self.rest().await;
        let said = String::from_utf8_lossy(&said);
        let codes = said.split("HTTP/1.1 ").skip(1);
        codes.map(|rest| rest[..3].parse().unwrap()).collect()
    }

    /// Reads exactly this many bytes.
    pub async fn takes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        in_time("bytes", self.stream.read_exact(&mut bytes))
            .await
            .unwrap();
        bytes
    }

    /// The head of an answer.
    pub async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(self.takes(1).await);
        }
        String::from_utf8(head).unwrap()
    }
}

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const SETTINGS: u8 = 4;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// A frame of HTTP/2 (RFC 9113, 4.1).
pub fn h2(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A field without indexing, with an indexed name (RFC 7541, 6.2.2).
pub fn field(name: u8, value: &str) -> Vec<u8> {
    [vec![name], text(value)].concat()
}

/// The same with a literal name.
pub fn named(name: &str, value: &str) -> Vec<u8> {
    [vec![0], text(name), text(value)].concat()
}

fn text(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    [&[length], text.as_bytes()].concat()
}

/// The head of a frame with a mask of zeros (RFC 6455, 5.2).
pub fn frame(first: u8, length: u64) -> Vec<u8> {
    const MASKED: u8 = 0x80;
    let mut head = vec![first];
    match u16::try_from(length) {
        Ok(length @ 0..126) => head.push(MASKED + u8::try_from(length).unwrap()),
        Ok(length) => {
            head.push(MASKED + 126);
            head.extend(length.to_be_bytes());
        }
        Err(_) => {
            head.push(MASKED + 127);
            head.extend(length.to_be_bytes());
        }
    }
    head.extend([0; 4]);
    head
}
