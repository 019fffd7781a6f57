//! Streams of events (WHATWG HTML, server-sent events).

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{Instant, Interval, interval_at};

use crate::HEARTBEAT;

/// A comment, which a client skips.
const COMMENT: &[u8] = b":\n\n";

/// A stream of events that sends a comment after a while without an event.
pub struct KeepAlive<B> {
    events: B,
    heartbeat: Interval,
}

impl<B> KeepAlive<B> {
    /// Must be called on a runtime.
    pub fn new(events: B) -> Self {
        Self {
            events,
            heartbeat: interval_at(Instant::now() + HEARTBEAT, HEARTBEAT),
        }
    }
}

impl<B> Body for KeepAlive<B>
where
    B: Body<Data = Bytes, Error = Infallible> + Unpin,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.events).poll_frame(context) {
            self.heartbeat.reset();
            return Poll::Ready(frame);
        }
        ready!(self.heartbeat.poll_tick(context));
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(COMMENT)))))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::sync::mpsc;

    use super::*;

    /// The events of a channel.
    struct Events(mpsc::Receiver<&'static str>);

    impl Body for Events {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let event = ready!(self.0.poll_recv(context));
            Poll::Ready(event.map(|text| Ok(Frame::data(Bytes::from_static(text.as_bytes())))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_comment_is_sent_after_each_while_without_an_event() {
        let (send, events) = mpsc::channel(1);
        let mut alive = KeepAlive::new(Events(events));
        let begun = Instant::now();
        let mut next = async || {
            let frame = alive.frame().await?;
            let data = frame.unwrap().into_data().unwrap();
            Some((begun.elapsed().as_secs(), data))
        };
        assert_eq!(next().await, Some((15, Bytes::from_static(COMMENT))));
        tokio::time::sleep(HEARTBEAT / 3).await;
        send.send("data: 1\n\n").await.unwrap();
        assert_eq!(next().await, Some((20, Bytes::from_static(b"data: 1\n\n"))));
        assert_eq!(next().await, Some((35, Bytes::from_static(COMMENT))));
        drop(send);
        assert_eq!(next().await, None);
    }
}
