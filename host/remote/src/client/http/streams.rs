//! Incoming messages: streams of events, each read by its own task.
//!
//! Invariants: a message is passed on before the next event is read, and counts as received from then on.

use std::sync::Arc;
use std::time::Duration;

use acp_chain_rpc::transport::Frame;
use acp_chain_rpc::{Kind, read};
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Connection;
use super::open::{AGENT_REQUESTS, Effect, Refusal, StreamState};
use crate::client::ends::AgentEvent;
use crate::client::error::{Cause, RemoteError};
use crate::client::patience::{LONGEST, Patience};
use crate::client::sse::Parser;
use crate::client::web::{is_of_gateway, requested_pause};
use crate::wire::LAST_EVENT;
use acp_chain_http::HEARTBEAT;

/// A server whose streams can be resumed is considered disconnected after this long without data.
const SILENCE: Duration = HEARTBEAT.saturating_mul(3);

/// The position before the first event of a stream, if the server keeps events that streams lose.
const BEFORE_ALL: HeaderValue = HeaderValue::from_static("0");

/// How a stream ends.
enum End {
    /// Our side no longer reads.
    Closed,
    /// The server has finished.
    Done,
    /// The server refuses to open or reopen it.
    Refused(Refusal),
    /// Something may be lost.
    Lost(RemoteError),
}

/// The progress of a stream.
#[derive(Default)]
struct Progress {
    /// The last event, if the server named it.
    last: Option<HeaderValue>,
    /// Whether the last message had no event id.
    is_unnamed: bool,
    patience: Patience,
    /// Whether it has been open at all.
    was_open: bool,
    /// Whether the last response ended regularly.
    was_clean: bool,
}

impl Connection {
    /// Starts to read the stream of a session, or of the connection.
    pub fn follow(self: &Arc<Self>, session: Option<(Arc<str>, watch::Sender<StreamState>)>) {
        let connection = self.clone();
        let mut streams = self.streams.lock();
        // Removes tasks that have ended.
        while streams.try_join_next().is_some() {}
        let Some((name, sender)) = session else {
            streams.spawn(async move { connection.follow_connection().await });
            return;
        };
        let followed = name.clone();
        let task =
            streams.spawn(async move { connection.follow_session(&followed, &sender).await });
        drop(streams);
        self.open.lock().reads(&name, task);
    }

    /// Waits until the stream of a session is open, or returns why it is not.
    pub async fn opened(
        self: &Arc<Self>,
        session: &Arc<str>,
    ) -> Result<Result<(), Refusal>, RemoteError> {
        let (mut standing, sender) = self.open.lock().stream(session);
        if let Some(sender) = sender {
            self.follow(Some((session.clone(), sender)));
        }
        let opened = standing
            .wait_for(|standing| !matches!(standing, StreamState::Opening))
            .await;
        match opened.as_deref() {
            Ok(StreamState::Refused(refusal)) => Ok(Err(refusal.clone())),
            Ok(_) => Ok(Ok(())),
            // The reader of the transport gets the same error.
            Err(_) => Err(self.failed.get().cloned().unwrap_or_else(|| {
                self.web
                    .error(Cause::Ended("it accepts no more messages".to_owned()))
            })),
        }
    }

    async fn follow_connection(self: &Arc<Self>) {
        match self.read_stream(None, &|| {}).await {
            End::Closed => {}
            End::Done => {
                let _ = self.inbox.send(AgentEvent::End(Ok(()))).await;
            }
            End::Refused(Refusal { error, .. }) | End::Lost(error) => self.fail(error).await,
        }
    }

    async fn follow_session(
        self: &Arc<Self>,
        name: &Arc<str>,
        sender: &watch::Sender<StreamState>,
    ) {
        let open = || {
            sender.send_replace(StreamState::Open);
        };
        let end = self.read_stream(Some(name), &open).await;
        self.open.lock().streams.remove(name);
        match end {
            End::Closed => {}
            End::Done => {
                let why = Cause::Ended("it has closed the session's stream".to_owned());
                self.fail_session(name, &self.web.error(why)).await;
            }
            End::Refused(refusal) => {
                self.fail_session(name, &refusal.error).await;
                sender.send_replace(StreamState::Refused(refusal));
            }
            End::Lost(error) => self.fail(error).await,
        }
    }

    /// Reads a stream, and reopens it when it breaks.
    async fn read_stream(
        self: &Arc<Self>,
        session: Option<&Arc<str>>,
        open: &(dyn Fn() + Sync),
    ) -> End {
        let name = session.map(|name| HeaderValue::from_bytes(name.as_bytes()));
        let Ok(header) = name.transpose() else {
            let why = Cause::NotAcp("the id of a session is not valid in a header");
            let error = self.web.error(why);
            let status = StatusCode::BAD_REQUEST;
            return End::Refused(Refusal { status, error });
        };
        let mut progress = Progress::default();
        loop {
            let got = self.web.send(Method::GET, |request| {
                let request = request.header(ACCEPT, "text/event-stream");
                let request = match &progress.last {
                    Some(last) => request.header(LAST_EVENT, last),
                    None => request,
                };
                self.of(request, header.as_ref())
            });
            let broken = match timeout(SILENCE, got).await {
                Err(_) => {
                    let why = Cause::Broken("it does not answer".to_owned());
                    Ok(Some(self.web.error(why)))
                }
                Ok(Err(error)) => Ok(Some(self.web.broken(&error))),
                Ok(Ok(answer)) if answer.status() == StatusCode::OK => {
                    let read = self.read_answer(answer, session, &mut progress, open);
                    read.await.map(Some)
                }
                Ok(Ok(answer)) => self.not_open(answer, session, &mut progress).await,
            };
            let error = match broken {
                Ok(Some(error)) => error,
                // The pause that the server requested is over.
                Ok(None) => continue,
                Err(end) => return end,
            };
            if progress.last.is_none() {
                // Events without an id cannot be requested again.
                if progress.is_unnamed || !self.resumes() {
                    return End::Lost(error);
                }
                // The server may have opened the stream, and sent events that were lost with its answer.
                progress.last = Some(BEFORE_ALL);
            }
            if !progress.patience.pause().await {
                return End::Lost(error.after_retries());
            }
        }
    }

    /// Reads the response to a request. Returns why it must be requested again, or how the stream ends.
    async fn read_answer(
        self: &Arc<Self>,
        mut answer: Response,
        session: Option<&Arc<str>>,
        progress: &mut Progress,
        open: &(dyn Fn() + Sync),
    ) -> Result<RemoteError, End> {
        let kind = answer.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            let why = Cause::NotAcp("its answer is not a stream of events");
            return Err(End::Lost(self.web.error(why)));
        }
        progress.was_open = true;
        progress.was_clean = false;
        open();
        let begun = Instant::now();
        let mut parser = Parser::new(self.limit);
        let mut is_first = true;
        let error = loop {
            // A server whose stream cannot be resumed may be silent for any time.
            let last = progress.last.as_ref();
            let silence = last.map_or(Duration::MAX, |_| SILENCE);
            let chunk = tokio::select! {
                chunk = timeout(silence, answer.chunk()) => chunk,
                () = self.inbox.closed() => return Err(End::Closed),
            };
            let mut bytes = match chunk {
                Ok(Ok(Some(bytes))) => bytes,
                Ok(Ok(None)) if progress.last.is_none() => return Err(End::Done),
                Ok(Ok(None)) => {
                    progress.was_clean = true;
                    let why = Cause::Ended("it keeps ending its streams".to_owned());
                    break self.web.error(why);
                }
                Ok(Err(error)) => break self.web.broken(&error),
                Err(_) => {
                    let why = Cause::Broken("it no longer responds".to_owned());
                    break self.web.error(why);
                }
            };
            let too_long = |_| End::Lost(self.web.error(Cause::TooLong(self.limit)));
            while let Some(event) = parser.next(&mut bytes).map_err(too_long)? {
                let text = event.id.as_ref();
                let id = text.and_then(|id| HeaderValue::from_bytes(id).ok());
                // Some servers begin with the event named in the request.
                let is_known = std::mem::take(&mut is_first) && id.is_some() && id == progress.last;
                if !event.data.is_empty() && !is_known {
                    self.receive(event.data, session).await?;
                    progress.patience.renew();
                    // After a message without an event id, there is no position to resume at.
                    progress.is_unnamed = id.is_none();
                    progress.last = id;
                } else if id.is_some() {
                    progress.last = id;
                }
            }
        };
        if begun.elapsed() > LONGEST {
            progress.patience.renew();
        }
        Ok(error)
    }

    /// Decides about a stream that the server does not open. Returns why it must be requested again, `None` after the
    /// pause that the server requests; or how it ends.
    async fn not_open(
        &self,
        answer: Response,
        session: Option<&Arc<str>>,
        progress: &mut Progress,
    ) -> Result<Option<RemoteError>, End> {
        let status = answer.status();
        if let Some(pause) = requested_pause(&answer)
            && progress.patience.wait(pause).await
        {
            return Ok(None);
        }
        let error = self.web.refused(answer).await;
        let is_again = progress.was_open;
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::GONE => {
                Err(End::Lost(error))
            }
            // The stream had ended regularly.
            StatusCode::NOT_FOUND | StatusCode::NO_CONTENT if progress.was_clean => Err(End::Done),
            // The server may not have noticed yet that the stream broke.
            StatusCode::CONFLICT if is_again => Ok(Some(error)),
            _ if is_of_gateway(status) && (is_again || self.resumes()) => Ok(Some(error)),
            _ if session.is_some() => Err(End::Refused(Refusal { status, error })),
            _ => Err(End::Lost(error)),
        }
    }

    /// Passes on data of a stream.
    async fn receive(self: &Arc<Self>, data: Bytes, session: Option<&Arc<str>>) -> Result<(), End> {
        // With the repairs that it gets later: it may name a session.
        let message = read(Frame::Line(data.clone())).ok();
        let mut effect = None;
        if let Some(message) = &message {
            let id = message.id();
            let mut open = self.open.lock();
            match (message.kind(), id, session) {
                (Kind::Request, Some(id), Some(session))
                    if !open.note_agent_request(&id, session) =>
                {
                    let error = self.web.error(Cause::TooManyRequests(AGENT_REQUESTS));
                    return Err(End::Lost(error));
                }
                (Kind::Result | Kind::Error, ..) => effect = open.note_answer(message),
                _ => {}
            }
        }
        let handed = self.inbox.send(AgentEvent::Message(data)).await;
        handed.map_err(|_| End::Closed)?;
        match effect {
            // After the answer that names the session, so that none of its messages arrive first.
            Some(Effect::Begins(session)) => {
                let (_, sender) = self.open.lock().stream(&session);
                if let Some(sender) = sender {
                    self.follow(Some((session, sender)));
                }
            }
            Some(Effect::Ends(session)) => self.open.lock().ended(&session),
            None => {}
        }
        Ok(())
    }
}
