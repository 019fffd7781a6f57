//! The state of a store beside the guest's memory, and the host's side of the channel.

use std::fmt::Display;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tracing::Level;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use super::bindings::acp_chain::proxy::{channel as wit_channel, types as wit};
use super::convert;
use super::journal::Journal;
use super::lines::Lines;
use super::meter::Meter;
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
    pub(super) meter: Arc<Meter>,
    pub(super) wasi: WasiCtx,
    /// The semaphore for opening files, shared by all instances of the proxy.
    pub(super) opens: Arc<Semaphore>,
    pub(super) table: ResourceTable,
}

impl State {
    /// Answers a held request with an error, as the proxy failed on its cancellation.
    pub(super) fn refuse_held(&mut self, id: MessageId, reason: &str) {
        let name = &self.name;
        let text = format!("acp-chain: the proxy `{name}` failed on a cancellation: {reason}");
        self.journal.note(Level::WARN, &text);
        self.ledger
            .refuse(id, rpc::Error::new(code::REQUEST_CANCELLED, text));
    }

    /// Counts a rejected call. The log gets those whose count is a power of two.
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
            tracing::warn!(proxy, count, "{what} was rejected: {text}");
        }
    }

    /// Makes a call of the channel. The call is counted, and so is its failure.
    fn called<T>(
        &mut self,
        call: &str,
        make: impl FnOnce(&mut Ledger) -> Result<T, ChannelError>,
    ) -> CallResult<T> {
        self.meter.count_call()?;
        let done = make(&mut self.ledger);
        Ok(done.map_err(|error| {
            self.count(format_args!("its `{call}`"), &error);
            error.into()
        }))
    }
}

/// The outcome of a call for the component; a trap if the call exceeds the limit `calls`.
type CallResult<T> = wasmtime::Result<Result<T, wit_channel::ChannelError>>;

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
    fn request(&mut self, to: wit::Peer, method: String, params: String) -> CallResult<MessageId> {
        self.called("request", |ledger| {
            ledger.request(to.into(), &method, &params)
        })
    }

    fn notify(&mut self, to: wit::Peer, method: String, params: String) -> CallResult<()> {
        self.called("notify", |ledger| {
            ledger.notify(to.into(), &method, &params)
        })
    }

    fn settle(&mut self, id: MessageId, action: wit::Action) -> CallResult<()> {
        self.called("settle", |ledger| {
            ledger.settle(id, convert::decision(action)?)
        })
    }

    fn fail(&mut self, id: MessageId, reason: String) -> CallResult<()> {
        self.called("fail", |ledger| ledger.fail(id, &reason))
    }

    fn cancel(&mut self, id: MessageId) -> CallResult<()> {
        self.called("cancel", |ledger| ledger.cancel(id))
    }

    fn wake_after(&mut self, milliseconds: u32) -> CallResult<MessageId> {
        self.called("wake-after", |ledger| ledger.wake_after(milliseconds))
    }

    fn read(&mut self, id: MessageId, pointer: String) -> CallResult<Option<String>> {
        self.called("read", |ledger| {
            let part = ledger.read(id, &pointer)?;
            Ok(part.map(str::to_owned))
        })
    }

    fn save(&mut self, state: String) -> CallResult<()> {
        self.called("save", |ledger| ledger.save(state))
    }

    fn load_value(&mut self, of: wit_channel::Keeper, key: String) -> CallResult<MessageId> {
        self.called("load-value", |ledger| ledger.load_value(of.into(), &key))
    }

    fn store_value(
        &mut self,
        of: wit_channel::Keeper,
        key: String,
        version: u64,
        value: Option<String>,
    ) -> CallResult<MessageId> {
        self.called("store-value", |ledger| {
            ledger.store_value(of.into(), &key, version, value)
        })
    }

    fn report_progress(
        &mut self,
        call: MessageId,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> CallResult<()> {
        let progress = Progress {
            progress,
            total,
            message,
        };
        self.called("report-progress", |ledger| ledger.progress(call, progress))
    }

    fn call_meta(&mut self, call: MessageId) -> CallResult<String> {
        self.called("call-meta", |ledger| ledger.meta(call).map(str::to_owned))
    }

    fn ask_caller(
        &mut self,
        call: MessageId,
        method: String,
        params: String,
    ) -> CallResult<MessageId> {
        self.called("ask-caller", |ledger| ledger.ask(call, &method, &params))
    }

    fn tools_changed(&mut self) -> CallResult<()> {
        let change = Change::List(Offer::Tools);
        self.called("tools-changed", |ledger| ledger.changed(change))
    }

    fn resources_changed(&mut self) -> CallResult<()> {
        let change = Change::List(Offer::Resources);
        self.called("resources-changed", |ledger| ledger.changed(change))
    }

    fn prompts_changed(&mut self) -> CallResult<()> {
        let change = Change::List(Offer::Prompts);
        self.called("prompts-changed", |ledger| ledger.changed(change))
    }

    fn resource_changed(&mut self, uri: String) -> CallResult<()> {
        let change = Change::Resource(uri);
        self.called("resource-changed", |ledger| ledger.changed(change))
    }

    fn proxy_id(&mut self) -> wasmtime::Result<String> {
        self.meter.count_call()?;
        Ok(self.name.to_string())
    }

    fn log(&mut self, level: wit_channel::Level, text: String) -> wasmtime::Result<()> {
        self.meter.count_call()?;
        let level = match level {
            wit_channel::Level::Trace => Level::TRACE,
            wit_channel::Level::Debug => Level::DEBUG,
            wit_channel::Level::Info => Level::INFO,
            wit_channel::Level::Warn => Level::WARN,
            wit_channel::Level::Error => Level::ERROR,
        };
        self.journal.note(level, &text);
        Ok(())
    }
}
