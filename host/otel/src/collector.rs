//! The destination of spans and metrics: a collector, which may be unreachable, slow, or untrusted.
//!
//! Invariants: an outage is logged once, and its end once, however many attempts there are. Losses are counted. In an
//! outage nothing is encoded between two attempts, so that it does not cost more than a reachable collector.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use acp_chain_rpc::untrusted::innermost;
use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use reqwest::blocking::Client;
use reqwest::redirect::Policy;

/// Sends HTTP requests to a collector, and logs outages.
#[derive(Clone, Debug)]
pub struct Collector {
    client: Client,
    is_lost: Arc<AtomicBool>,
    /// The exported signal, for the log.
    what: &'static str,
}

impl Collector {
    /// Trusts the system's certificates. The environment sets the timeout.
    pub fn new(what: &'static str, patience: Duration) -> Result<Self, reqwest::Error> {
        // Fails if a provider is installed already, which is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("acp-chain/", env!("CARGO_PKG_VERSION")))
            .timeout(patience)
            // Headers may contain a password, which must not be sent to other servers.
            .redirect(Policy::none())
            .referer(false)
            .build()?;
        Ok(Self {
            client,
            is_lost: Arc::default(),
            what,
        })
    }

    fn lose(&self, to: &str, why: &dyn fmt::Display) {
        if !self.is_lost.swap(true, Ordering::Relaxed) {
            let what = self.what;
            tracing::warn!(
                "{what} cannot be exported to {to}: {why}; further failures are not logged until it succeeds"
            );
        }
    }

    fn find(&self, to: &str) {
        if self.is_lost.swap(false, Ordering::Relaxed) {
            tracing::info!("{} are exported to {to} again", self.what);
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // The rest of the URL may contain a password.
        let to = request.uri().host().unwrap_or_default().to_owned();
        let answer = self.client.send_bytes(request).await;
        match &answer {
            Ok(answer) if answer.status().is_success() => self.find(&to),
            Ok(answer) => self.lose(&to, &answer.status()),
            Err(error) => self.lose(&to, &innermost(&**error)),
        }
        answer
    }
}

/// The number of received spans, and of exported ones.
#[derive(Debug, Default)]
pub struct Counts {
    received: AtomicU64,
    out: AtomicU64,
}

impl Counts {
    pub fn received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of spans that were not exported.
    pub fn lost(&self) -> u64 {
        let out = self.out.load(Ordering::Relaxed);
        self.received.load(Ordering::Relaxed).saturating_sub(out)
    }
}

/// How long spans are dropped after the first failed attempt, and after many.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The time between two attempts.
#[derive(Clone, Copy, Debug)]
struct Pause {
    until: Instant,
    length: Duration,
}

impl Pause {
    /// The pause after an attempt that failed now, twice as long as the one before it.
    fn after(before: Option<Self>, now: Instant) -> Self {
        let length = before.map_or(PAUSE, |before| (before.length * 2).min(LONGEST_PAUSE));
        Self {
            until: now + length,
            length,
        }
    }
}

/// Exports spans, counts them, and drops them between two attempts in an outage.
#[derive(Debug)]
pub struct CountingExporter<E> {
    exporter: E,
    counts: Arc<Counts>,
    /// The current pause, in an outage.
    pause: Mutex<Option<Pause>>,
}

impl<E> CountingExporter<E> {
    pub fn new(exporter: E, counts: Arc<Counts>) -> Self {
        Self {
            exporter,
            counts,
            pause: Mutex::default(),
        }
    }
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let pause = || self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *pause();
        if before.is_some_and(|pause| Instant::now() < pause.until) {
            let why = "the collector was unreachable a moment ago";
            return Err(OTelSdkError::InternalFailure(why.into()));
        }
        let count = batch.len() as u64;
        let done = self.exporter.export(batch).await;
        *pause() = match &done {
            Ok(()) => {
                self.counts.out.fetch_add(count, Ordering::Relaxed);
                None
            }
            Err(_) => Some(Pause::after(before, Instant::now())),
        };
        done
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// An unreachable collector.
    #[derive(Debug, Default)]
    struct UnreachableCollector(Arc<AtomicU64>);

    impl SpanExporter for UnreachableCollector {
        async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(OTelSdkError::InternalFailure("unreachable".into()))
        }
    }

    #[test]
    fn after_a_failed_attempt_spans_are_dropped_until_the_next() {
        let dead = UnreachableCollector::default();
        let attempts = dead.0.clone();
        let counts = Arc::new(Counts::default());
        let counting = CountingExporter::new(dead, counts.clone());
        for _ in 0..3 {
            counts.received();
            let mut export = pin!(counting.export(Vec::new()));
            let done = export
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(done, Poll::Ready(Err(_))));
        }
        assert_eq!(attempts.load(Ordering::Relaxed), 1);
        assert_eq!(counts.lost(), 3);
    }

    #[test]
    fn pauses_double_up_to_a_bound() {
        let now = Instant::now();
        let mut pause = Pause::after(None, now);
        assert_eq!(pause.until, now + PAUSE);
        let lengths = (0..5).map(|_| {
            pause = Pause::after(Some(pause), now);
            pause.length.as_secs()
        });
        assert_eq!(lengths.collect::<Vec<_>>(), [2, 4, 8, 8, 8]);
    }
}
