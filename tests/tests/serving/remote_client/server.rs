//! An HTTP/1.1 server whose test answers each request, cuts it off or leaves it open.

use std::collections::HashMap;

use acp_chain_tests::wire::in_time;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

pub struct Server {
    address: String,
    requests: mpsc::UnboundedReceiver<Request>,
    /// Requests that arrived while the test waited for another.
    passed: Vec<Request>,
}

/// A received request. It is cut off on drop.
pub struct Request {
    pub method: String,
    pub headers: HashMap<String, String>,
    pub body: String,
    stream: TcpStream,
}

/// An open event stream. It breaks on drop.
pub struct Events(TcpStream);

impl Server {
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (tell, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let tell = tell.clone();
                tokio::spawn(async move {
                    if let Some(request) = read(stream).await {
                        let _ = tell.send(request);
                    }
                });
            }
        });
        Self {
            address,
            requests,
            passed: Vec::new(),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/acp", self.address)
    }

    /// The next matching request: requests of different streams overtake each other.
    async fn next(&mut self, what: &str, is_it: impl Fn(&Request) -> bool) -> Request {
        if let Some(at) = self.passed.iter().position(&is_it) {
            return self.passed.remove(at);
        }
        loop {
            let request = in_time(what, self.requests.recv()).await.unwrap();
            if is_it(&request) {
                return request;
            }
            self.passed.push(request);
        }
    }

    /// The next POST.
    pub async fn post(&mut self) -> Request {
        self.next("a POST", |request| request.method == "POST")
            .await
    }

    /// The next request for the stream of this session, or of the connection.
    pub async fn get(&mut self, session: Option<&str>) -> Request {
        let is_it = |request: &Request| {
            request.method == "GET" && request.header("acp-session-id") == session
        };
        self.next("a GET", is_it).await
    }

    /// The request that ends the connection.
    pub async fn delete(&mut self) -> Request {
        self.next("a DELETE", |request| request.method == "DELETE")
            .await
    }

    /// Accepts a connection. Returns its stream. These headers are in the answer to `initialize`.
    pub async fn begin(&mut self, headers: &str) -> Events {
        let post = self.post().await;
        assert!(post.body.contains(r#""initialize""#), "{}", post.body);
        let headers = format!("Acp-Connection-Id: c\r\n{headers}");
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
        post.answer("200 OK", &headers, result).await;
        self.get(None).await.open().await
    }

    /// Whether no unexpected request came.
    pub fn is_quiet(&mut self) -> bool {
        self.passed.is_empty() && self.requests.try_recv().is_err()
    }
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Answers the request. Each header ends with a line break.
    pub async fn answer(mut self, status: &str, headers: &str, body: &str) {
        let len = body.len();
        let text = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {len}\r\nConnection: close\r\n\r\n{body}"
        );
        // The client may have disconnected.
        let _ = self.stream.write_all(text.as_bytes()).await;
        let _ = self.stream.shutdown().await;
    }

    pub async fn accept(self) {
        self.answer("202 Accepted", "", "").await;
    }

    /// Answers with an open event stream.
    pub async fn open(mut self) -> Events {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await.unwrap();
        Events(self.stream)
    }
}

impl Events {
    /// Sends a part of the stream, which may end anywhere.
    pub async fn say(&mut self, text: &str) {
        // An empty chunk would end the stream.
        if text.is_empty() {
            return;
        }
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.0.write_all(chunk.as_bytes()).await.unwrap();
    }

    /// Ends the stream properly.
    pub async fn end(mut self) {
        self.0.write_all(b"0\r\n\r\n").await.unwrap();
    }
}

async fn read(stream: TcpStream) -> Option<Request> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let method = line.split(' ').next()?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let len = headers
        .get("content-length")
        .and_then(|len| len.parse().ok());
    let mut body = vec![0; len.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request {
        method,
        headers,
        body: String::from_utf8(body).ok()?,
        stream: stream.into_inner(),
    })
}
