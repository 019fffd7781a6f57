//! The body of a request, read within a budget.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

/// How long a body may pause.
const PAUSE: Duration = Duration::from_secs(30);

/// A body of fewer bytes is copied: it must not keep the whole buffer alive that it was read into.
const SHORT: usize = 16 * 1024;

/// The mark with which some software begins a text, though JSON has none (RFC 8259 §8.1).
const BOM: &[u8] = "\u{feff}".as_bytes();

/// The room that an incomplete body may take.
pub trait Budget: Send {
    /// Takes this many bytes more, and waits until others may follow. False if there is no room for them.
    fn take(&mut self, more: usize) -> impl Future<Output = bool> + Send;
}

/// No limit but the longest body.
pub struct UnlimitedBudget;

impl Budget for UnlimitedBudget {
    async fn take(&mut self, _: usize) -> bool {
        true
    }
}

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is longer than this many bytes.
    #[error("a message may have at most {0} bytes")]
    TooLong(usize),
    /// The client has disconnected.
    #[error("the body ends early")]
    Broken,
    /// The body pauses for too long.
    #[error("the rest of the body did not arrive in time")]
    Slow,
    /// The budget has no room for it.
    #[error("too much is being sent at once")]
    NoRoom,
}

impl BodyError {
    /// The status of the answer.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Reads a body of at most this many bytes. A byte order mark is left out.
///
/// # Errors
/// If it is longer, ends early, pauses for too long, or exceeds the budget.
pub async fn read(
    mut body: Incoming,
    longest: usize,
    budget: &mut impl Budget,
) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > longest as u64 {
        return Err(BodyError::TooLong(longest));
    }
    // Most arrive in one piece, which need not be copied.
    let mut first: Option<Bytes> = None;
    let mut text = BytesMut::new();
    loop {
        let frame = match timeout(PAUSE, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Err(BodyError::Broken),
            Err(_) => return Err(BodyError::Slow),
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let len = data.len();
        if text.len() + first.as_ref().map_or(0, Bytes::len) + len > longest {
            return Err(BodyError::TooLong(longest));
        }
        match first.take() {
            None if text.is_empty() => first = Some(data),
            None => text.extend_from_slice(&data),
            Some(begin) => {
                text.extend_from_slice(&begin);
                text.extend_from_slice(&data);
            }
        }
        if !budget.take(len).await {
            return Err(BodyError::NoRoom);
        }
    }
    let whole = match first {
        Some(whole) if whole.len() < SHORT => Bytes::copy_from_slice(&whole),
        Some(whole) => whole,
        None => text.freeze(),
    };
    Ok(if whole.starts_with(BOM) {
        whole.slice(BOM.len()..)
    } else {
        whole
    })
}
