//! The destination of spans and metrics: a collector, which may be dead, slow, or a stranger.
//!
//! Invariants: an outage is logged once, and its end once, however many attempts there are. Losses are counted.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
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
    /// Trusts the servers that the system trusts. The environment sets the timeout.
    pub fn new(what: &'static str, patience: Duration) -> Result<Self, reqwest::Error> {
        // An installed one will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("acp-chain/", env!("CARGO_PKG_VERSION")))
            .timeout(patience)
            // Headers may contain a password, which nobody else must get.
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
                "{what} cannot be exported to {to}: {why}; nothing more is said until they can"
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
        // The rest of an address may contain a password.
        let to = request.uri().host().unwrap_or_default().to_owned();
        let answer = self.client.send_bytes(request).await;
        match &answer {
            Ok(answer) if answer.status().is_success() => self.find(&to),
            Ok(answer) => self.lose(&to, &answer.status()),
            Err(error) => self.lose(&to, &cause(&**error)),
        }
        answer
    }
}

/// The cause of an error.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> &'a dyn fmt::Display {
    let mut last: &'a (dyn Error + 'static) = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last
}

/// How many spans arrived, and how many were exported.
#[derive(Debug, Default)]
pub struct Counts {
    came: AtomicU64,
    out: AtomicU64,
}

impl Counts {
    pub fn came(&self) {
        self.came.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were not exported.
    pub fn lost(&self) -> u64 {
        let out = self.out.load(Ordering::Relaxed);
        self.came.load(Ordering::Relaxed).saturating_sub(out)
    }
}

/// Exports spans, and counts them.
#[derive(Debug)]
pub struct Counting<E> {
    pub exporter: E,
    pub counts: Arc<Counts>,
}

impl<E: SpanExporter> SpanExporter for Counting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len() as u64;
        let done = self.exporter.export(batch).await;
        if done.is_ok() {
            self.counts.out.fetch_add(count, Ordering::Relaxed);
        }
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
