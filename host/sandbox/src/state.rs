//! The state of a store beside the guest's memory, and the host's side of the channel.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Instant;

use tracing::Level;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use super::bindings::acp_chain::proxy::{channel as wit_channel, types as wit};
use super::convert;
use super::journal::Journal;
use super::lines::Lines;
use super::usage::Usage;
use acp_chain_channel::{Change, ChannelError, Ledger, MessageId, Offer, Progress, Tally};
use acp_chain_rpc::untrusted::quote;
use acp_chain_rpc::{self as rpc, code};

/// The state of a store beside the guest's memory.
pub struct State {
    pub(super) name: Arc<str>,
    pub(super) ledger: Ledger,
    pub(super) usage: Usage,
    pub(super) journal: Journal,
    pub(super) lines: Lines,
    pub(super) tally: Tally,
    /// The counts already reported.
    pub(super) told: Tally,
    /// The deadline of the current call.
    pub(super) deadline: Instant,
    pub(super) wasi: WasiCtx,
    pub(super) table: ResourceTable,
}

impl State {
    /// A held request whose withdrawal the proxy could not handle.
    pub(super) fn refuse_held(&mut self, id: MessageId, reason: &str) {
        let name = &self.name;
        let text = format!("acp-chain: the proxy `{name}` failed on a cancellation: {reason}");
        self.journal.note(Level::WARN, &text);
        self.ledger
            .refuse(id, rpc::Error::new(code::REQUEST_CANCELLED, text));
    }

    /// Counts calls without a right; the log gets the first, and then ever fewer.
    pub(super) fn count(&mut self, what: impl Display, error: &ChannelError) {
        let tally = &mut self.tally;
        let count = match error {
            ChannelError::Denied(_) => &mut tally.denied,
            ChannelError::Full => &mut tally.full,
            ChannelError::UnknownMessage | ChannelError::Invalid(_) => &mut tally.invalid,
        };
        *count += 1;
        if count.is_power_of_two() {
            let (proxy, text) = (&*self.name, quote(&error.to_string(), 500));
            tracing::warn!(proxy, count, "{what} came to nothing: {text}");
        }
    }

    fn changed(&mut self, call: &str, change: Change) -> Result<(), wit_channel::ChannelError> {
        let done = self.ledger.changed(change);
        self.counted(call, done)
    }

    /// The outcome of a call for the component; a failure is counted.
    fn counted<T>(
        &mut self,
        call: &str,
        done: Result<T, ChannelError>,
    ) -> Result<T, wit_channel::ChannelError> {
        done.map_err(|error| {
            self.count(format_args!("its `{call}`"), &error);
            error.into()
        })
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl wit::Host for State {}

impl wit_channel::Host for State {
    fn request(
        &mut self,
        to: wit::Peer,
        method: String,
        params: String,
    ) -> Result<MessageId, wit_channel::ChannelError> {
        let done = self.ledger.request(to.into(), &method, &params);
        self.counted("request", done)
    }

    fn notify(
        &mut self,
        to: wit::Peer,
        method: String,
        params: String,
    ) -> Result<(), wit_channel::ChannelError> {
        let done = self.ledger.notify(to.into(), &method, &params);
        self.counted("notify", done)
    }

    fn settle(
        &mut self,
        id: MessageId,
        action: wit::Action,
    ) -> Result<(), wit_channel::ChannelError> {
        let done = convert::decision(action).and_then(|wanted| self.ledger.settle(id, wanted));
        self.counted("settle", done)
    }

    fn fail(&mut self, id: MessageId, reason: String) -> Result<(), wit_channel::ChannelError> {
        let done = self.ledger.fail(id, &reason);
        self.counted("fail", done)
    }

    fn cancel(&mut self, id: MessageId) -> Result<(), wit_channel::ChannelError> {
        let done = self.ledger.cancel(id);
        self.counted("cancel", done)
    }

    fn read(
        &mut self,
        id: MessageId,
        pointer: String,
    ) -> Result<Option<String>, wit_channel::ChannelError> {
        let done = self.ledger.read(id, &pointer);
        let done = done.map(|part| part.map(str::to_owned));
        self.counted("read", done)
    }

    fn save(&mut self, state: String) -> Result<(), wit_channel::ChannelError> {
        let done = self.ledger.save(state);
        self.counted("save", done)
    }

    fn report_progress(
        &mut self,
        call: MessageId,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> Result<(), wit_channel::ChannelError> {
        let progress = Progress {
            progress,
            total,
            message,
        };
        let done = self.ledger.progress(call, progress);
        self.counted("report-progress", done)
    }

    fn call_meta(&mut self, call: MessageId) -> Result<String, wit_channel::ChannelError> {
        let done = self.ledger.meta(call).map(str::to_owned);
        self.counted("call-meta", done)
    }

    fn ask_caller(
        &mut self,
        call: MessageId,
        method: String,
        params: String,
    ) -> Result<MessageId, wit_channel::ChannelError> {
        let done = self.ledger.ask(call, &method, &params);
        self.counted("ask-caller", done)
    }

    fn tools_changed(&mut self) -> Result<(), wit_channel::ChannelError> {
        self.changed("tools-changed", Change::List(Offer::Tools))
    }

    fn resources_changed(&mut self) -> Result<(), wit_channel::ChannelError> {
        self.changed("resources-changed", Change::List(Offer::Resources))
    }

    fn prompts_changed(&mut self) -> Result<(), wit_channel::ChannelError> {
        self.changed("prompts-changed", Change::List(Offer::Prompts))
    }

    fn resource_changed(&mut self, uri: String) -> Result<(), wit_channel::ChannelError> {
        self.changed("resource-changed", Change::Resource(uri))
    }

    fn proxy_id(&mut self) -> String {
        self.name.to_string()
    }

    fn log(&mut self, level: wit_channel::Level, text: String) {
        let level = match level {
            wit_channel::Level::Trace => Level::TRACE,
            wit_channel::Level::Debug => Level::DEBUG,
            wit_channel::Level::Info => Level::INFO,
            wit_channel::Level::Warn => Level::WARN,
            wit_channel::Level::Error => Level::ERROR,
        };
        self.journal.note(level, &text);
    }
}
