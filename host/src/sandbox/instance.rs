//! A running component: one store, called for one message at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::bindings::Proxy;
use super::bindings::acp_chain::proxy::{channel as wit_channel, types as wit};
use super::limits::Usage;
use super::output::Output;
use super::{Component, Engine, Limits, convert};
use crate::channel::{
    Call, Delivery, Event, Ledger, MessageId, Outcome, Part, Reply, Subscription,
};
use crate::rpc::{self, Kind, code};

/// What a store holds beside the guest's memory.
pub struct State {
    name: Arc<str>,
    ledger: Ledger,
    usage: Usage,
    output: Output,
    /// When the current call is to be over.
    deadline: Instant,
    wasi: WasiCtx,
    table: ResourceTable,
}

impl State {
    /// A held request whose withdrawal the proxy could not handle.
    fn refuse_held(&mut self, id: MessageId, reason: &str) {
        let name = &self.name;
        let text = format!("acp-chain: the proxy `{name}` failed on a cancellation: {reason}");
        tracing::warn!("{text}");
        self.ledger
            .refuse(id, rpc::Error::new(code::REQUEST_CANCELLED, text));
    }
}

/// One proxy at work. After a failure it is of no more use.
pub struct Instance {
    engine: Engine,
    store: Store<State>,
    proxy: Proxy,
    limits: Limits,
}

impl Instance {
    /// Makes an instance and calls its `init`; also says what it wants to see. The error is its
    /// own reason or that of its end.
    pub async fn start(
        engine: &Engine,
        component: &Component,
        name: &str,
        config: &str,
        limits: Limits,
    ) -> Result<(Self, Vec<Subscription>), String> {
        let name: Arc<str> = name.into();
        let output = Output::new(name.clone());
        let wasi = WasiCtxBuilder::new()
            .stdout(output.clone())
            .stderr(output.clone())
            .build();
        let state = State {
            name,
            ledger: Ledger::new(limits.bounds()),
            usage: Usage::new(&limits),
            output,
            deadline: Instant::now(),
            wasi,
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&engine.wasmtime, state);
        store.limiter(|state| &mut state.usage);
        store.epoch_deadline_callback(|store| match Instant::now() < store.data().deadline {
            true => Ok(UpdateDeadline::Yield(1)),
            false => Ok(UpdateDeadline::Interrupt),
        });
        let started = {
            let _running = engine.epoch.run();
            let init = async |store: &mut Store<State>| init(store, component, config).await;
            in_time(&mut store, limits.init_time, init).await
        };
        match started {
            Ok(Ok((proxy, subscriptions))) => {
                store.data_mut().ledger.start();
                let instance = Self {
                    engine: engine.clone(),
                    store,
                    proxy,
                    limits,
                };
                Ok((instance, subscriptions))
            }
            Ok(Err(reason)) => Err(reason),
            Err(error) => Err(last_words(store.data(), &error)),
        }
    }

    /// Calls the guest. It yields to other futures while the guest is busy.
    async fn handle(&mut self, event: &Event) -> Reply {
        let _running = self.engine.epoch.run();
        let outcome = match event {
            Event::Message(delivery) => {
                self.store.data_mut().ledger.hand_in(delivery);
                let decided = self.deliver(delivery).await;
                self.judge(delivery.id, decided)
            }
            Event::Answer(delivery) => {
                let ledger = &mut self.store.data_mut().ledger;
                ledger.answered(delivery.id);
                ledger.hand_in(delivery);
                let told = self.deliver(delivery).await;
                self.store.data_mut().ledger.close(delivery.id);
                self.told(told.map(|told| told.map(drop)), |state, reason| {
                    tracing::warn!(proxy = &*state.name, "failed on an answer: {reason}");
                })
            }
            Event::Cancel(id) => {
                let proxy = &self.proxy;
                let cancel = async |store: &mut Store<State>| {
                    let handler = proxy.acp_chain_proxy_handler();
                    handler.call_on_cancel(store, *id).await
                };
                let told = in_time(&mut self.store, self.limits.time, cancel).await;
                self.told(told, |state, reason| state.refuse_held(*id, &reason))
            }
        };
        let effects = self.store.data_mut().ledger.take_effects();
        Reply { effects, outcome }
    }

    async fn deliver(
        &mut self,
        delivery: &Delivery,
    ) -> wasmtime::Result<Result<wit::Action, String>> {
        let proxy = &self.proxy;
        let deliver = async |store: &mut Store<State>| {
            let handler = proxy.acp_chain_proxy_handler();
            let (head, body) = (convert::head(delivery), convert::body(delivery));
            match delivery.message.kind() {
                Kind::Request => {
                    let request = wit::Request { head, params: body };
                    handler.call_on_request(store, request).await
                }
                Kind::Notification => {
                    let notification = wit::Notification { head, params: body };
                    handler.call_on_notification(store, notification).await
                }
                Kind::Result => {
                    let outcome = Ok(body);
                    let response = wit::Response { head, outcome };
                    handler.call_on_response(store, response).await
                }
                Kind::Error => {
                    let error = convert::error(&delivery.message);
                    let outcome = Err(convert::borrowed(&error));
                    let response = wit::Response { head, outcome };
                    handler.call_on_response(store, response).await
                }
            }
        };
        in_time(&mut self.store, self.limits.time, deliver).await
    }

    /// What came of an event about which there was nothing to decide.
    fn told(
        &mut self,
        told: wasmtime::Result<Result<(), String>>,
        on_error: impl FnOnce(&mut State, String),
    ) -> Outcome {
        match told {
            Ok(Ok(())) => Outcome::Told,
            Ok(Err(reason)) => {
                on_error(self.store.data_mut(), reason);
                Outcome::Told
            }
            Err(error) => Outcome::Died(last_words(self.store.data(), &error)),
        }
    }

    fn judge(
        &mut self,
        id: MessageId,
        decided: wasmtime::Result<Result<wit::Action, String>>,
    ) -> Outcome {
        let decision = match decided {
            Ok(Ok(action)) => convert::decision(action),
            Ok(Err(reason)) => {
                self.store.data_mut().ledger.close(id);
                return Outcome::Refused(reason);
            }
            Err(error) => return Outcome::Died(last_words(self.store.data(), &error)),
        };
        let ledger = &mut self.store.data_mut().ledger;
        match decision.and_then(|decision| ledger.take_back(id, decision)) {
            Ok(action) => Outcome::Decided(action),
            Err(error) => {
                ledger.close(id);
                Outcome::Refused(format!("its decision cannot be carried out: {error}"))
            }
        }
    }
}

impl Part for Instance {
    fn allot(&mut self) -> MessageId {
        self.store.data_mut().ledger.allot()
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        Box::pin(async move {
            let reply = self.handle(&event).await;
            (self as Box<dyn Part>, reply)
        })
    }
}

async fn init(
    store: &mut Store<State>,
    component: &Component,
    config: &str,
) -> wasmtime::Result<Result<(Proxy, Vec<Subscription>), String>> {
    let proxy = component.pre.instantiate_async(&mut *store).await?;
    let wanted = proxy
        .acp_chain_proxy_handler()
        .call_init(store, config)
        .await?;
    Ok(wanted.map(|list| (proxy, list.into_iter().map(Subscription::from).collect())))
}

/// Runs a call into the guest for so long at most, be it that the guest computes, which the epoch
/// interrupts, or that it waits for something of the host's.
async fn in_time<T>(
    store: &mut Store<State>,
    time: Duration,
    call: impl AsyncFnOnce(&mut Store<State>) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    store.set_epoch_deadline(1);
    store.data_mut().deadline = Instant::now() + time;
    match tokio::time::timeout(time, call(store)).await {
        Ok(Err(error)) if error.downcast_ref() != Some(&Trap::Interrupt) => Err(error),
        Ok(Ok(done)) => Ok(done),
        _ => wasmtime::bail!("it took longer than {} ms", time.as_millis()),
    }
}

/// Why a guest broke: the trap, and what it printed last.
fn last_words(state: &State, error: &wasmtime::Error) -> String {
    tracing::warn!(proxy = %state.name, "broke: {error:?}");
    let cause = error.root_cause();
    match state.output.tail() {
        printed if printed.is_empty() => cause.to_string(),
        printed => format!("{cause}; it printed: {printed}"),
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
        Ok(self.ledger.request(to.into(), &method, &params)?)
    }

    fn notify(
        &mut self,
        to: wit::Peer,
        method: String,
        params: String,
    ) -> Result<(), wit_channel::ChannelError> {
        Ok(self.ledger.notify(to.into(), &method, &params)?)
    }

    fn settle(
        &mut self,
        id: MessageId,
        action: wit::Action,
    ) -> Result<(), wit_channel::ChannelError> {
        Ok(self.ledger.settle(id, convert::decision(action)?)?)
    }

    fn cancel(&mut self, id: MessageId) -> Result<(), wit_channel::ChannelError> {
        Ok(self.ledger.cancel(id)?)
    }

    fn read(
        &mut self,
        id: MessageId,
        pointer: String,
    ) -> Result<Option<String>, wit_channel::ChannelError> {
        Ok(self.ledger.read(id, &pointer)?.map(str::to_owned))
    }

    fn log(&mut self, level: wit_channel::Level, text: String) {
        let proxy = &*self.name;
        match level {
            wit_channel::Level::Trace => tracing::trace!(proxy, "{text}"),
            wit_channel::Level::Debug => tracing::debug!(proxy, "{text}"),
            wit_channel::Level::Info => tracing::info!(proxy, "{text}"),
            wit_channel::Level::Warn => tracing::warn!(proxy, "{text}"),
            wit_channel::Level::Error => tracing::error!(proxy, "{text}"),
        }
    }
}
