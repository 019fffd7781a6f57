//! A collector, good or bad.

use std::io;

use acp_chain_tests::wire::in_time;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A collector's answer.
#[derive(Clone, Copy)]
pub enum Answer {
    /// A valid answer.
    Good,
    /// An answer that is not OTLP.
    Nonsense,
    /// No answer.
    Nothing,
}

/// A request with an export.
pub struct Export {
    path: String,
    headers: String,
    pub body: Vec<u8>,
}

/// A listening collector.
pub struct Receiver {
    pub endpoint: String,
    exports: UnboundedReceiver<Export>,
}

impl Receiver {
    pub async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (sender, exports) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer, sender.clone()));
            }
        });
        Self { endpoint, exports }
    }

    /// Receives exports until all of them together satisfy this condition.
    pub async fn until(&mut self, enough: impl Fn(&ReceivedExports) -> bool) -> ReceivedExports {
        let mut exported = ReceivedExports::default();
        while !enough(&exported) {
            let export = in_time("an export", self.exports.recv()).await.unwrap();
            exported.take(export);
        }
        exported
    }

    /// The next export.
    pub async fn next(&mut self) -> Export {
        in_time("an export", self.exports.recv()).await.unwrap()
    }
}

/// The received exports, decoded and raw.
#[derive(Default)]
pub struct ReceivedExports {
    pub spans: Vec<Span>,
    pub metrics: Vec<Metric>,
    pub resource: String,
    pub headers: String,
    pub bytes: Vec<u8>,
}

impl ReceivedExports {
    pub fn take(&mut self, export: Export) {
        let body = &*export.body;
        match &*export.path {
            "/v1/traces" => {
                for of in ExportTraceServiceRequest::decode(body)
                    .unwrap()
                    .resource_spans
                {
                    self.resource = format!("{:?}", of.resource);
                    self.spans
                        .extend(of.scope_spans.into_iter().flat_map(|of| of.spans));
                }
            }
            "/v1/metrics" => {
                for of in ExportMetricsServiceRequest::decode(body)
                    .unwrap()
                    .resource_metrics
                {
                    let metrics = of.scope_metrics.into_iter().flat_map(|of| of.metrics);
                    self.metrics.extend(metrics);
                }
            }
            other => panic!("{other}"),
        }
        self.headers += &export.headers;
        self.bytes.extend(export.body);
    }

    /// The span of this name.
    pub fn span(&self, name: &str) -> &Span {
        let mut spans = self.spans.iter().filter(|span| span.name == name);
        let span = spans.next();
        let span = span.unwrap_or_else(|| panic!("no {name} among {:?}", self.names()));
        assert!(spans.next().is_none(), "more than one {name}");
        span
    }

    pub fn names(&self) -> Vec<&str> {
        self.spans.iter().map(|span| &*span.name).collect()
    }

    /// Whether a span is about this session.
    pub fn has_session(&self, id: &str) -> bool {
        let mut attributes = self.spans.iter().flat_map(|span| &span.attributes);
        attributes.any(|attribute| format!("{attribute:?}").contains(id))
    }

    pub fn has_metric(&self, name: &str) -> bool {
        self.metrics.iter().any(|metric| metric.name == name)
    }
}

/// Answers requests on a connection until the client disconnects.
async fn serve(
    stream: TcpStream,
    answer: Answer,
    exports: UnboundedSender<Export>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut headers, mut length) = (String::new(), 0);
        loop {
            let begun = headers.len();
            if stream.read_line(&mut headers).await? == 0 {
                return Ok(());
            }
            let line = headers[begun..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let path = headers.split(' ').nth(1).unwrap_or_default().to_owned();
        // The test may have dropped the receiver.
        let _ = exports.send(Export {
            path,
            headers,
            body,
        });
        let answer: &[u8] = match answer {
            Answer::Good => b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            Answer::Nonsense => b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>\xff\xff\xff",
            Answer::Nothing => std::future::pending().await,
        };
        stream.write_all(answer).await?;
    }
}
