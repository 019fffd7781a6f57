//! A proxy for tests that does with each message what its configuration says: for each method of
//! each kind a list of deeds, of which the last may decide what becomes of the message. What
//! is not in its configuration it does not see.
//!
//! If it breaks, it wants to be bypassed. It saves what it has counted.

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
    /// By their methods.
    requests: Deeds,
    notifications: Deeds,
    /// By the methods of their requests.
    responses: Deeds,
    /// Why it does not start.
    declines: Option<String>,
    /// Whether it breaks as soon as it is started again.
    breaks_again: bool,
    /// Whether it goes on holding what was withdrawn or stopped.
    holds_on: bool,
    /// Who the user is.
    #[serde(rename = "acp-chain/user")]
    user: Value,
}

struct Does {
    config: Config,
    counted: Cell<u32>,
    /// What it never forgets.
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
    /// Does what is to be done with a message, in order, until something decides.
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
