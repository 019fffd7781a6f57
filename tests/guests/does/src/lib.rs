//! A test proxy that handles messages as configured: for each method of each kind, the configuration
//! has a list of deeds, of which the last may decide on the message. The proxy subscribes only to
//! configured methods.
//!
//! Its failure policy is to be bypassed. It saves its count.

mod breaks;
mod deed;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use acp_chain_proxy::{
    Action, Configure, Error, FailurePolicy, Head, Json, Level, MessageId, Notification, Proxy,
    Request, Response, Result, Subscription, export, log, save,
};
use serde::Deserialize;
use serde_json::{Value, json};

use deed::Deed;

type Deeds = BTreeMap<String, Vec<Deed>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Config {
    /// By the method.
    requests: Deeds,
    notifications: Deeds,
    /// By the method of the request.
    responses: Deeds,
    /// The reason not to start.
    declines: Option<String>,
    /// Whether to break on a restart.
    breaks_again: bool,
    /// Whether to keep holding cancelled messages.
    holds_on: bool,
    /// The user, which the host adds.
    #[serde(rename = "acp-chain/user")]
    user: Value,
}

struct Does {
    config: Config,
    counted: Cell<u32>,
    /// The bodies kept for ever.
    kept: RefCell<Vec<String>>,
}

impl Configure for Does {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        match config.declines {
            Some(reason) => Err(reason),
            None => Ok(Self {
                config,
                counted: Cell::default(),
                kept: RefCell::default(),
            }),
        }
    }
}

impl Does {
    /// Applies the deeds for a message in order, until one decides.
    async fn handle(&self, deeds: &Deeds, head: &Head, body: &Json) -> Result {
        for deed in deeds.get(&head.method).into_iter().flatten() {
            match deed {
                Deed::Count => {
                    self.counted.set(self.counted.get() + 1);
                    save(&self.counted.get())?;
                }
                Deed::RespondCount => {
                    return Ok(Action::Respond(json!(self.counted.get()).into()));
                }
                Deed::RespondUser => return Ok(Action::Respond(self.config.user.clone().into())),
                Deed::Log(text) => log(Level::Info, text),
                Deed::Tell(sent) => {
                    if let Err(error) = sent.peer().notify(&sent.method, &sent.params) {
                        log(Level::Info, format_args!("told nobody: {error}"));
                    }
                }
                Deed::Ask(sent) => match sent.peer().request(&sent.method, &sent.params).await {
                    Ok(answer) => log(Level::Info, format_args!("the answer is {answer}")),
                    Err(error) => log(Level::Info, format_args!("the answer is: {error}")),
                },
                Deed::Unless { pointer, is } if body.at(pointer).as_ref() == Some(is) => {}
                Deed::Unless { .. } => return Ok(Action::Forward),
                Deed::Keep => self.kept.borrow_mut().push(body.to_string()),
                Deed::Rewrite => {
                    let read = body.parse::<Value>();
                    return Ok(read.map_or(Action::Forward, |body| Action::Replace(body.into())));
                }
                Deed::Break(how) => how.now(),
                Deed::Decide(decision) => return decision.clone().action(),
            }
        }
        Ok(Action::Forward)
    }
}

impl Proxy for Does {
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    fn subscriptions(&self) -> Vec<Subscription> {
        let of = |deeds: &Deeds, any: Subscription| {
            let methods = deeds.keys().cloned();
            methods
                .map(|method| any.clone().of_method(method))
                .collect::<Vec<_>>()
        };
        [
            of(&self.config.requests, Subscription::requests("")),
            of(&self.config.notifications, Subscription::notifications("")),
            of(&self.config.responses, Subscription::responses("")),
        ]
        .concat()
    }

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.counted.set(saved.parse()?);
        if self.config.breaks_again {
            breaks::Break::Panic.now();
        }
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        let Request { head, params } = request;
        self.handle(&self.config.requests, &head, &params).await
    }

    fn on_cancel(&self, _id: MessageId) -> Option<Action> {
        let cancelled = Action::Reject(Error::cancelled());
        (!self.config.holds_on).then_some(cancelled)
    }

    async fn on_notification(&self, notification: Notification) -> Result {
        let Notification { head, params } = notification;
        self.handle(&self.config.notifications, &head, &params)
            .await
    }

    async fn on_response(&self, response: Response) -> Result {
        let Response { head, outcome } = response;
        let body = outcome.unwrap_or_else(|_| Json::null());
        self.handle(&self.config.responses, &head, &body).await
    }
}

export!(Does);
