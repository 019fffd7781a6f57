//! A running component: one store, called for one message at a time.

use std::sync::Arc;

use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::ResourceTable;

use super::bindings::Proxy;
use super::bindings::acp_chain::proxy::types as wit;
use super::journal::Journal;
use super::meter::{Meter, Work};
use super::metered::within;
use super::offers::{self, Interfaces};
use super::state::State;
use super::usage::Usage;
use super::{Component, Engine, Guest, convert, post_mortem};
use acp_chain_channel::limits::HANDLES;
use acp_chain_channel::{
    Action, Call, ChannelError, Decision, Delivery, Event, Failure, Ledger, MessageId, Offer,
    Outcome, Part, PatternError, Registration, Reply, Started, Tally,
};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Kind, Message, member};

/// The reason of the failure of a guest that declines to start.
pub const DECLINES: &str = "it declines to start";

/// A running proxy. After a failure it is unusable.
pub struct Instance {
    engine: Engine,
    store: Store<State>,
    proxy: Proxy,
    interfaces: Interfaces,
    meter: Arc<Meter>,
}

impl Instance {
    /// Instantiates a guest, and calls its `init`.
    pub async fn start(
        guest: Guest,
        first: MessageId,
        saved: Option<String>,
    ) -> Result<Started, Failure> {
        let limits = guest.limits.clone();
        let journal = Journal::new(guest.name.clone(), limits.log, guest.gauge.logged());
        let meter = Arc::new(Meter::new(limits.clone()));
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        let state = State {
            name: guest.name.clone(),
            ledger: Ledger::new(first, limits.clone(), guest.grant.clone()),
            usage: Usage::new(
                limits.clone(),
                guest.gauge.clone(),
                guest.engine.total.clone(),
            ),
            wasi: guest.wasi(&journal, &meter),
            opens: guest.directories.opens(),
            journal,
            lines: guest.component.lines.clone(),
            tally: Tally::default(),
            told: Tally::default(),
            meter: meter.clone(),
            table,
        };
        let mut store = Store::new(&guest.engine.wasmtime, state);
        store.limiter(|state| &mut state.usage);
        store.set_hostcall_fuel(limits.call_bytes);
        store.epoch_deadline_callback(|store| {
            store.data().meter.tick()?;
            Ok(UpdateDeadline::Yield(1))
        });
        let started = {
            let _running = guest.engine.epoch.run();
            let (component, config) = (&guest.component, &*guest.settings());
            let init = async |store: &mut Store<State>| init(store, component, config, saved).await;
            within(&mut store, &meter, Work::Start, init).await
        };
        let (proxy, interfaces, registration) = match started {
            Ok(Ok(started)) => started,
            Ok(Err(words)) => return Err(declined(quote(&words, MAX_QUOTE))),
            Err(error) => return Err(post_mortem::of(store.data(), &error)),
        };
        if registration.subscriptions.len() > limits.subscriptions {
            let limit = limits.subscriptions;
            let reason = format!("it has more than {limit} subscriptions");
            return Err(Failure::new(reason));
        }
        let mut registration =
            Registration::try_from(registration).map_err(|error: PatternError| {
                declined(quote(
                    &format!("a subscription is wrong: {error}"),
                    MAX_QUOTE,
                ))
            })?;
        registration.offers = interfaces.offers;
        store.data_mut().ledger.start();
        let instance = Self {
            engine: guest.engine,
            store,
            proxy,
            interfaces,
            meter,
        };
        Ok(Started {
            part: Box::new(instance),
            registration,
        })
    }

    /// Calls the guest. It yields to other futures while the guest is busy.
    async fn handle(&mut self, event: &Event) -> Reply {
        let _running = self.engine.epoch.run();
        let outcome = match event {
            Event::Message(delivery) => {
                let shown = self.store.data_mut().ledger.hand_in(delivery);
                let decided = self.deliver(delivery, shown.as_ref()).await;
                let decided = decided.map(|decided| decided.map(convert::decision));
                self.judge(delivery.id, decided)
            }
            Event::Answer(delivery) => {
                self.store.data_mut().ledger.hand_in_answer(delivery);
                let told = self.deliver(delivery, Some(&delivery.message)).await;
                self.store.data_mut().ledger.close(delivery.id);
                self.acknowledged(told.map(|told| told.map(drop)), |state, reason| {
                    let text = format!("failed on an answer: {reason}");
                    state.journal.note(tracing::Level::WARN, &text);
                })
            }
            Event::Cancel(id) => {
                let proxy = &self.proxy;
                let cancel = async |store: &mut Store<State>| {
                    let handler = proxy.acp_chain_proxy_handler();
                    handler.call_on_cancel(store, *id).await
                };
                let told = within(&mut self.store, &self.meter, Work::Message, cancel).await;
                self.acknowledged(told, |state, reason| state.refuse_held(*id, &reason))
            }
            Event::List(offer, session) => self.list(*offer, session.as_deref()).await,
            Event::Call(call) => self.call_for_agent(call).await,
        };
        let (effects, saved) = match outcome {
            // The guest may have done only a part of its work.
            Outcome::Broke(_) => (Vec::new(), None),
            _ => self.store.data_mut().ledger.take_effects(),
        };
        Reply {
            effects,
            saved,
            outcome,
        }
    }

    async fn deliver(
        &mut self,
        delivery: &Delivery,
        shown: Option<&Message>,
    ) -> wasmtime::Result<Result<wit::Action, String>> {
        let proxy = &self.proxy;
        let deliver = async |store: &mut Store<State>| {
            let handler = proxy.acp_chain_proxy_handler();
            let (head, body) = (convert::head(delivery), convert::body(delivery, shown));
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
                    let error = convert::error(shown);
                    let outcome = Err(convert::borrowed(&error));
                    let response = wit::Response { head, outcome };
                    handler.call_on_response(store, response).await
                }
            }
        };
        within(&mut self.store, &self.meter, Work::Message, deliver).await
    }

    async fn list(&mut self, offer: Offer, session: Option<&str>) -> Outcome {
        let interfaces = &self.interfaces;
        let list = async |store: &mut Store<State>| interfaces.list(store, offer, session).await;
        let listed = within(&mut self.store, &self.meter, Work::Message, list).await;
        let state = self.store.data_mut();
        let catalog = match listed {
            Ok(Ok(catalog)) => catalog,
            Ok(Err(reason)) => return Outcome::Refused(quote(&reason, MAX_QUOTE)),
            Err(error) => return Outcome::Broke(post_mortem::of(state, &error)),
        };
        match state.ledger.check_list(&catalog) {
            Ok(()) => Outcome::Decided(Action::Answer(Message::result(&catalog))),
            Err(error) => {
                let reason = format!("its list of {}: {error}", offer.as_str());
                Outcome::Refused(quote(&reason, MAX_QUOTE))
            }
        }
    }

    async fn call_for_agent(&mut self, call: &Delivery) -> Outcome {
        let ledger = &mut self.store.data_mut().ledger;
        let meta = member(call.message.body(), "_meta").unwrap_or("{}");
        ledger.hand_in_call(call.id, &call.method, offers::shown(call), meta);
        let interfaces = &self.interfaces;
        let make = async |store: &mut Store<State>| interfaces.call(store, call).await;
        let called = within(&mut self.store, &self.meter, Work::Message, make).await;
        self.judge(call.id, called)
    }

    /// The outcome of an event that needs no decision.
    fn acknowledged(
        &mut self,
        done: wasmtime::Result<Result<(), String>>,
        on_error: impl FnOnce(&mut State, String),
    ) -> Outcome {
        match done {
            Ok(Ok(())) => Outcome::Told,
            Ok(Err(reason)) => {
                on_error(self.store.data_mut(), quote(&reason, MAX_QUOTE));
                Outcome::Told
            }
            Err(error) => Outcome::Broke(post_mortem::of(self.store.data(), &error)),
        }
    }

    fn judge(
        &mut self,
        id: MessageId,
        decided: wasmtime::Result<Result<Result<Decision, ChannelError>, String>>,
    ) -> Outcome {
        let state = self.store.data_mut();
        let decision = match decided {
            Ok(Ok(decision)) => decision,
            Ok(Err(reason)) => {
                state.ledger.close(id);
                return Outcome::Refused(quote(&reason, MAX_QUOTE));
            }
            Err(error) => return Outcome::Broke(post_mortem::of(state, &error)),
        };
        match decision.and_then(|decision| state.ledger.take_back(id, decision)) {
            Ok(action) => Outcome::Decided(action),
            Err(error) => {
                state.ledger.close(id);
                state.count("what it decided", &error);
                let reason = format!("its decision cannot be carried out: {error}");
                Outcome::Refused(quote(&reason, MAX_QUOTE))
            }
        }
    }
}

impl Part for Instance {
    fn allot(&mut self) -> MessageId {
        self.store.data_mut().ledger.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        self.store.data_mut().ledger.let_go(id);
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        Box::pin(async move {
            let reply = self.handle(&event).await;
            (self as Box<dyn Part>, reply)
        })
    }

    fn tally(&self) -> Tally {
        self.store.data().tally
    }

    fn untold(&mut self) -> Tally {
        let state = self.store.data_mut();
        state.tally.untold(&mut state.told)
    }
}

async fn init(
    store: &mut Store<State>,
    component: &Component,
    config: &str,
    saved: Option<String>,
) -> wasmtime::Result<Result<(Proxy, Interfaces, wit::Registration), String>> {
    let pre = component.pre.instance_pre();
    let instance = pre.instantiate_async(&mut *store).await?;
    let proxy = Proxy::new(&mut *store, &instance)?;
    let interfaces = Interfaces::new(&mut *store, &instance, component.offers())?;
    let handler = proxy.acp_chain_proxy_handler();
    let registration = handler.call_init(store, config, saved.as_deref()).await?;
    Ok(registration.map(|registration| (proxy, interfaces, registration)))
}

/// The failure of a guest that declines to start.
fn declined(words: String) -> Failure {
    Failure::new(DECLINES).with_words(Some(words))
}
