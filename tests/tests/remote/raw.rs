//! A client that writes what it likes.

use acp_chain_tests::wire::in_time;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::served::Served;

pub struct Raw {
    stream: TcpStream,
    /// How the server is called.
    pub host: String,
}

impl Raw {
    pub async fn open(served: &Served) -> Self {
        let host = served.url.split('/').nth(2).unwrap().to_owned();
        let stream = TcpStream::connect(&host).await.unwrap();
        Self { stream, host }
    }

    /// Says something, which the server may not hear to its end.
    pub async fn says(&mut self, bytes: &[u8]) -> bool {
        in_time("room", self.stream.write_all(bytes)).await.is_ok()
    }

    /// Says no more.
    pub async fn is_done(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// All that the server says until it closes.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        // One that is reset has said what it had.
        let _ = in_time("the end", self.stream.read_to_end(&mut all)).await;
        all
    }

    /// The codes of all answers until the server closes.
    pub async fn codes(&mut self) -> Vec<u16> {
        let said = self.rest().await;
        let said = String::from_utf8_lossy(&said);
        let codes = said.split("HTTP/1.1 ").skip(1);
        codes.map(|rest| rest[..3].parse().unwrap()).collect()
    }

    /// Exactly so many bytes.
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
