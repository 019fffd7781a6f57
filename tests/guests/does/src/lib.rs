//! A test proxy that handles messages as configured: for each method of each kind, the configuration
//! has a list of steps, of which the last may decide on the message. The proxy subscribes only to
//! configured methods.
//!
//! Its failure policy is to be bypassed. It saves its count.

mod breaks;
mod step;
mod stored;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use acp_chain_proxy::{
    Action, Configure, Error, FailurePolicy, Head, Json, Level, MessageId, Notification, Proxy,
    Request, Response, Result, Subscription, export, log, save,
};
use serde::Deserialize;
use serde_json::{Value, json};

use step::Step;

type Steps = BTreeMap<String, Vec<Step>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Config {
    /// By the method.
    requests: Steps,
    notifications: Steps,
    /// By the method of the request.
    responses: Steps,
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
    /// Applies the steps for a message in order, until one decides.
    async fn handle(&self, steps: &Steps, head: &Head, body: &Json) -> Result {
        for step in steps.get(&head.method).into_iter().flatten() {
            match step {
                Step::Count => {
                    self.counted.set(self.counted.get() + 1);
                    save(&self.counted.get())?;
                }
                Step::RespondCount => {
                    return Ok(Action::Respond(json!(self.counted.get()).into()));
                }
                Step::RespondUser => return Ok(Action::Respond(self.config.user.clone().into())),
                Step::LoadValue => return stored::load(body).await,
                Step::StoreValue => return stored::store(body).await,
                Step::CountValue => return stored::count(body).await,
                Step::Log(text) => log(Level::Info, text),
                Step::Tell(sent) => {
                    if let Err(error) = sent.peer().notify(&sent.method, &sent.params) {
                        log(Level::Info, format_args!("told nobody: {error}"));
                    }
                }
                Step::Ask(sent) => match sent.peer().request(&sent.method, &sent.params).await {
                    Ok(answer) => log(Level::Info, format_args!("the answer is {answer}")),
                    Err(error) => log(Level::Info, format_args!("the answer is: {error}")),
                },
                Step::Unless { pointer, is } if body.at(pointer).as_ref() == Some(is) => {}
                Step::Unless { .. } => return Ok(Action::Forward),
                Step::Keep => self.kept.borrow_mut().push(body.to_string()),
                Step::Rewrite => {
                    let read = body.parse::<Value>();
                    return Ok(read.map_or(Action::Forward, |body| Action::Replace(body.into())));
                }
                Step::Break(how) => how.now(),
                Step::Decide(decision) => return decision.clone().action(),
            }
        }
        Ok(Action::Forward)
    }
}

impl Proxy for Does {
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    fn subscriptions(&self) -> Vec<Subscription> {
        let of = |steps: &Steps, any: Subscription| {
            let methods = steps.keys().cloned();
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
