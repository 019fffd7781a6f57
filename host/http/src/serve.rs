//! The requests of one connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header;
use hyper::service::service_fn;
use hyper::{Request, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::answer::{named, plain};
use crate::{Answer, HEARTBEAT, Visitor};

/// How many streams and requests one HTTP/2 connection may have at once.
const STREAMS: u32 = 1024;

/// How many streams a client may reset before they were handled.
const RESETS: usize = 64;

/// How long an evicted stranger may take for the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The terms of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How long the head of a request may take, and a client may pause between two.
    pub head: Duration,
    /// The longest head, in bytes.
    pub longest_head: u32,
    /// How long the connection of a stranger may last.
    pub stranger: Duration,
    /// Whether HTTP/2 is supported beside HTTP/1.
    pub http2: bool,
}

impl Terms {
    /// Those for programs and browsers of this computer. The time for a head exceeds the time for which they keep idle
    /// connections; otherwise one would send a request on a connection that is being closed.
    pub const LOCAL: Self = Self {
        head: Duration::from_mins(5),
        longest_head: 64 * 1024,
        stranger: Duration::from_secs(10),
        http2: false,
    };
}

/// Answers the requests of a connection until the client closes it, or the time of a stranger is over. Once `over`
/// resolves, it closes when its open requests are answered.
pub async fn serve<S, F>(
    stream: S,
    visitor: &Arc<Visitor>,
    terms: Terms,
    over: impl Future<Output = ()>,
    answer: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let service = service_fn(|request: Request<Incoming>| {
        let (is_last, version) = (visitor.count_request(), request.version());
        let is_too_long = length(&request) > terms.longest_head as usize;
        // On an idle connection, hyper keeps the memory of this future.
        let answer = (!is_too_long).then(|| Box::pin(answer(request)));
        let visitor = Arc::clone(visitor);
        async move {
            let mut ends = is_too_long;
            let answer = match answer {
                Some(answer) => answer.await,
                None => plain(
                    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                    "the head of the request is too long",
                ),
            };
            if is_last && !visitor.is_known() {
                visitor.leave();
                ends = true;
            }
            // The client must not send another request. Over HTTP/2, hyper signals that.
            Ok::<_, Infallible>(if ends && version <= Version::HTTP_11 {
                named(answer, header::CONNECTION, "close")
            } else {
                answer
            })
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(terms.head)
        .max_buf_size(terms.longest_head as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_header_list_size(terms.longest_head)
        .keep_alive_interval(Some(HEARTBEAT))
        .keep_alive_timeout(2 * HEARTBEAT)
        .enable_connect_protocol();
    if !terms.http2 {
        builder = builder.http1_only();
    }
    let mut served = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    let ended = tokio::select! {
        served = visitor.within(terms.stranger, served.as_mut()) => served,
        () = over => {
            served.as_mut().graceful_shutdown();
            Some(served.as_mut().await)
        }
    };
    match ended {
        // A client that disconnects midway is no loss.
        Some(ended) => {
            if let Err(error) = ended {
                tracing::debug!("a connection has ended: {error}");
            }
        }
        None => {
            // An open request may be the health check of a balancer.
            served.as_mut().graceful_shutdown();
            let _ = timeout(LAST_ANSWERS, served.as_mut()).await;
        }
    }
}

/// The length of a request's head, in bytes. The limit of `hyper` depends on how it arrived.
fn length<B>(request: &Request<B>) -> usize {
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + ": \r\n".len() + value.len());
    let target = request.uri().path_and_query();
    let target = target.map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + "  HTTP/1.1\r\n".len() + target;
    line + headers.sum::<usize>() + "\r\n".len()
}
