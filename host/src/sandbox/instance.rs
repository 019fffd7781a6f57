//! A running component: one store, called for one message at a time.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Store, StoreLimits, StoreLimitsBuilder, UpdateDeadline};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::bindings::Proxy;
use super::bindings::acp_chain::proxy::{channel as wit_channel, types as wit};
use super::epoch::TICK;
use super::output::Output;
use super::{Component, Engine, Limits, convert};
use crate::channel::{
    Action, Call, Delivery, Event, Ledger, MessageId, Outcome, Part, Reply, Subscription,
};
use crate::rpc::{self, Kind, code};

/// What a store holds beside the guest's memory.
pub struct State {
    name: Arc<str>,
    ledger: Ledger,
    limits: StoreLimits,
    output: Output,
    /// Ticks that are left of the current call, and how long all of them are.
    ticks: u64,
    time: Duration,
    wasi: WasiCtx,
    table: ResourceTable,
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
            limits: StoreLimitsBuilder::new()
                .memory_size(limits.memory)
                .table_elements(limits.table_elements)
                .trap_on_grow_failure(true)
                .build(),
            output,
            ticks: 0,
            time: limits.init_time,
            wasi,
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&engine.wasmtime, state);
        store.limiter(|state| &mut state.limits);
        store.epoch_deadline_callback(|mut store| {
            let state = store.data_mut();
            if state.ticks == 0 {
                wasmtime::bail!("it took longer than {} ms", state.time.as_millis());
            }
            state.ticks -= 1;
            Ok(UpdateDeadline::Yield(1))
        });
        let started = {
            let _running = engine.epoch.run();
            begin(&mut store, limits.init_time);
            init(&mut store, component, config).await
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
        begin(&mut self.store, self.limits.time);
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
                match told {
                    Ok(Ok(_)) => Outcome::Told,
                    Ok(Err(reason)) => {
                        let proxy = &*self.store.data().name;
                        tracing::warn!(proxy, "failed on an answer: {reason}");
                        Outcome::Told
                    }
                    Err(error) => Outcome::Died(last_words(self.store.data(), &error)),
                }
            }
            Event::Cancel(id) => {
                let handler = self.proxy.acp_chain_proxy_handler();
                match handler.call_on_cancel(&mut self.store, *id).await {
                    Ok(Ok(())) => Outcome::Told,
                    Ok(Err(reason)) => self.refuse_held(*id, &reason),
                    Err(error) => Outcome::Died(last_words(self.store.data(), &error)),
                }
            }
        };
        let effects = self.store.data_mut().ledger.take_effects();
        Reply { effects, outcome }
    }

    async fn deliver(
        &mut self,
        delivery: &Delivery,
    ) -> wasmtime::Result<Result<wit::Action, String>> {
        let handler = self.proxy.acp_chain_proxy_handler();
        let (head, body) = (convert::head(delivery), convert::body(delivery));
        match delivery.message.kind() {
            Kind::Request => {
                let request = wit::Request { head, params: body };
                handler.call_on_request(&mut self.store, request).await
            }
            Kind::Notification => {
                let notification = wit::Notification { head, params: body };
                handler
                    .call_on_notification(&mut self.store, notification)
                    .await
            }
            Kind::Result => {
                let response = wit::Response {
                    head,
                    outcome: Ok(body),
                };
                handler.call_on_response(&mut self.store, response).await
            }
            Kind::Error => {
                let error = convert::error(&delivery.message);
                let outcome = Err(convert::borrowed(&error));
                let response = wit::Response { head, outcome };
                handler.call_on_response(&mut self.store, response).await
            }
        }
    }

    /// A held request whose withdrawal the proxy could not handle.
    fn refuse_held(&mut self, id: MessageId, reason: &str) -> Outcome {
        let State { name, ledger, .. } = self.store.data_mut();
        let text = format!("acp-chain: the proxy `{name}` failed on a cancellation: {reason}");
        tracing::warn!("{text}");
        let error = rpc::Error::new(code::REQUEST_CANCELLED, text);
        // It may have been settled before that.
        let _ = ledger.settle(id, Action::Reject(error));
        Outcome::Told
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

fn begin(store: &mut Store<State>, time: Duration) {
    store.set_epoch_deadline(1);
    let state = store.data_mut();
    state.time = time;
    state.ticks = u64::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX);
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
