//! Collects the log while a transcript is played.

use std::fmt;
use std::sync::Arc;

use acp_chain_rpc::Mutex;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry;

/// The maximum number of lines kept. Later ones are dropped.
const LINES: usize = 10_000;

/// A line of the log.
#[derive(Clone, Debug)]
pub struct LogLine {
    /// The id of the proxy; `None` for the host's own lines.
    pub proxy: Option<String>,
    pub text: String,
    /// Whether it is a warning or an error.
    pub is_warning: bool,
}

/// The log of one thread. Clones share it.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<LogLine>>>);

impl Log {
    /// Collects the log of this thread until the guard is dropped.
    pub fn start() -> (Self, DefaultGuard) {
        let log = Self::default();
        let subscriber = registry().with(log.clone());
        (log, tracing::subscriber::set_default(subscriber))
    }

    /// The lines from position `at` on.
    pub fn since(&self, at: usize) -> Vec<LogLine> {
        let lines = self.0.lock();
        lines.get(at..).unwrap_or_default().to_vec()
    }

    /// Takes all lines.
    pub fn take(&self) -> Vec<LogLine> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event, _: Context<S>) {
        if !event.metadata().target().starts_with("acp_chain") {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut lines = self.0.lock();
        if lines.len() < LINES {
            lines.push(LogLine {
                proxy: fields.proxy,
                text: fields.message,
                is_warning: *event.metadata().level() <= tracing::Level::WARN,
            });
        }
    }
}

#[derive(Default)]
struct Fields {
    proxy: Option<String>,
    message: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "proxy" {
            self.proxy = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}
