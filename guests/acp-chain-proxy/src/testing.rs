//! A fake host, for the tests of a proxy.
//!
//! [`Host`] makes the same calls as the real one: it matches the proxy's subscriptions, leaves out bodies of
//! subscriptions without body, applies edits, lets a response wait for earlier held notifications, enforces powers,
//! passes saved state to a new instance, keeps stored values in memory, and fails the test if an action is invalid for
//! the message. It also calls the tools, resources and prompts that a proxy offers the agent. One host per thread at a
//! time.
//!
//! ```
//! use acp_chain_proxy::testing::Host;
//! use acp_chain_proxy::{Peer, Proxy, Request, Result, Subscription};
//! use serde_json::json;
//!
//! #[derive(Default)]
//! struct Upper;
//!
//! impl Proxy for Upper {
//!     const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("session/prompt")];
//!
//!     async fn on_request(&self, request: Request) -> Result {
//!         Ok(request.rewrite("/prompt/0/text", |text: String| text.to_uppercase()))
//!     }
//! }
//!
//! let mut host = Host::start::<Upper>(json!({})).unwrap();
//! let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hi" }] });
//! host.request(Peer::Client, "session/prompt", prompt);
//! let sent = host.sent();
//! assert_eq!(sent[0].to, Peer::Agent);
//! assert_eq!(sent[0].at("/prompt/0/text"), "HI");
//! ```

mod calls;
pub(crate) mod channel;
mod line;
mod message;
mod offers;
mod powers;
#[cfg(feature = "tools")]
pub(crate) mod tools;
pub(crate) mod values;

use std::time::{Duration, SystemTime};

use acp_chain_powers::Actions;
use serde::Serialize;
use serde_json::Value;

pub use calls::Progress;
pub use line::{SentKind, SentMessage};
pub use offers::ResourceList;
#[cfg(feature = "tools")]
pub use tools::Catalog;

use crate::instance::{self, Registration};
use crate::subscription::Kind;
use crate::{
    Action, ChannelError, Error, Head, Json, Level, MessageId, Notification, Peer, Proxy, Request,
    Response, Subscription, completion, pending, prompts, resources, tasks,
};
use line::LINE;
use message::{Message, head};

type Init = fn(&Json, Option<String>) -> Result<Registration, String>;

/// The host of one proxy.
#[derive(Debug)]
pub struct Host {
    init: Init,
    config: Json,
    subscriptions: Vec<Subscription>,
}

impl Host {
    /// Creates the proxy with its configuration.
    pub fn start<P: Proxy>(config: Value) -> Result<Self, String> {
        Self::start_after(init::<P>, config, None)
    }

    /// Creates the proxy as the replacement of an earlier instance that saved this state.
    pub fn start_from<P: Proxy>(config: Value, saved: &str) -> Result<Self, String> {
        Self::start_after(init::<P>, config, Some(saved.to_owned()))
    }

    fn start_after(init: Init, config: Value, saved: Option<String>) -> Result<Self, String> {
        clear();
        LINE.with_borrow_mut(|line| line.saved = saved);
        let mut host = Self {
            init,
            config: config.into(),
            subscriptions: Vec::new(),
        };
        host.init()?;
        Ok(host)
    }

    fn init(&mut self) -> Result<(), String> {
        let saved = LINE.with_borrow_mut(|line| {
            line.open = false;
            line.saved.clone()
        });
        let registration = (self.init)(&self.config, saved)?;
        self.subscriptions = registration.subscriptions;
        LINE.with_borrow_mut(|line| {
            line.open = true;
            line.on_failure = registration.on_failure;
        });
        Ok(())
    }

    /// Grants the proxy exactly these powers from now on, named as in the manifest. Initially, everything is allowed.
    ///
    /// # Panics
    /// If there is no such power.
    pub fn powers(&mut self, powers: &[&str]) {
        self.grant(powers, &[]);
    }

    /// Grants the proxy these powers from now on, and these actions on methods that no power covers, like `powers`
    /// and `methods` of the manifest.
    ///
    /// # Panics
    /// If there is no such power or action, or a power covers such a method.
    pub fn grant(&mut self, powers: &[&str], methods: &[(&str, &[&str])]) {
        let grant = powers::grant(powers, methods);
        LINE.with_borrow_mut(|line| line.grant = Some(grant));
    }

    /// Breaks the proxy and replaces it by a new instance with the last saved state. Held messages are refused, and
    /// open requests cancelled.
    pub fn restart(&mut self) -> Result<(), String> {
        line::abandon();
        forget_instance();
        self.init()
    }

    /// Ends the connection, and begins another one of the same user: stored values stay, saved state does not.
    pub fn reconnect(&mut self) -> Result<(), String> {
        forget_instance();
        let ended = LINE.take();
        LINE.with_borrow_mut(|line| {
            line.grant = ended.grant;
            line.meta = ended.meta;
            line.values = ended.values;
            line.time = ended.time;
        });
        self.init()
    }

    /// The last saved state; `None` if nothing was saved since the last call.
    pub fn saved(&mut self) -> Option<Value> {
        LINE.with_borrow_mut(|line| {
            let unseen = std::mem::take(&mut line.unseen);
            let state = line.saved.as_ref().filter(|_| unseen)?;
            Some(serde_json::from_str(state).expect("what is saved is JSON"))
        })
    }

    /// Delivers a request from a neighbour. Returns the request's number.
    pub fn request(&mut self, sender: Peer, method: &str, params: impl Serialize) -> MessageId {
        self.arrive(Kind::Request, sender, method, Ok(json(params)), None)
    }

    /// Delivers a notification from a neighbour. Returns its number.
    pub fn notify(&mut self, sender: Peer, method: &str, params: impl Serialize) -> MessageId {
        self.arrive(Kind::Notification, sender, method, Ok(json(params)), None)
    }

    /// Delivers a neighbour's result for a request that the proxy forwarded or sent.
    pub fn answer(&mut self, request: MessageId, result: impl Serialize) {
        self.outcome(request, Ok(json(result)));
    }

    /// Delivers a neighbour's error for a request that the proxy forwarded or sent.
    pub fn fail(&mut self, request: MessageId, error: Error) {
        self.outcome(request, Err(error));
    }

    /// Cancels a request on behalf of its sender, or a call on behalf of its caller.
    pub fn cancel(&mut self, request: MessageId) {
        let held = LINE.with_borrow(|line| line.holds(request));
        if held && let Err(failure) = instance::on_cancel(request) {
            line::refuse(request, &failure);
        }
        values::respond();
    }

    /// Advances the clock, which ends the proxy's pauses (see [`sleep`](crate::sleep)). The clock does not advance
    /// otherwise.
    pub fn elapse(&mut self, time: Duration) {
        let until = LINE.with_borrow(|line| line.now) + time;
        while let Some(id) = LINE.with_borrow_mut(|line| line.next_pause(until)) {
            let outcome = Ok(Json::null());
            let head = head(id, Peer::Client, "wake-after", None, &outcome);
            let _ = instance::on_response(Response { head, outcome });
            values::respond();
        }
        LINE.with_borrow_mut(|line| line.now = until);
    }

    /// Sets the time of day (see [`now`](crate::now)), which remains, also over connections. Unless it is set, it is
    /// that of the machine.
    pub fn set_time(&mut self, time: SystemTime) {
        LINE.with_borrow_mut(|line| line.time = Some(time));
    }

    /// The messages that left the proxy since the last call, in order.
    pub fn sent(&mut self) -> Vec<SentMessage> {
        LINE.with_borrow_mut(|line| std::mem::take(&mut line.sent))
    }

    /// The messages that are held, and the calls that are pending, oldest first.
    #[must_use]
    pub fn held(&self) -> Vec<MessageId> {
        LINE.with_borrow(line::Line::all_held)
    }

    /// The lines that the proxy logged since the last call.
    pub fn log(&mut self) -> Vec<(Level, String)> {
        LINE.with_borrow_mut(|line| std::mem::take(&mut line.log))
    }

    fn outcome(&mut self, request: MessageId, outcome: Result<Json, Error>) {
        let asked = LINE.with_borrow_mut(|line| line.asked.remove(&request));
        let asked = asked.unwrap_or_else(|| panic!("no request {request} waits for an answer"));
        if asked.own {
            let head = head(request, asked.to, &asked.method, asked.session, &outcome);
            let _ = instance::on_response(Response { head, outcome });
            values::respond();
            return;
        }
        let session = asked.session;
        self.arrive(
            Kind::Response,
            asked.to,
            &asked.method,
            outcome,
            Some((request, session)),
        );
    }

    fn arrive(
        &mut self,
        kind: Kind,
        sender: Peer,
        method: &str,
        body: Result<Json, Error>,
        request: Option<(MessageId, Option<String>)>,
    ) -> MessageId {
        let session = request.as_ref().and_then(|(_, session)| session.clone());
        let id = request.map_or_else(line::next_id, |(id, _)| id);
        let head = head(id, sender, method, session, &body);
        let wanted = self
            .subscriptions
            .iter()
            .find(|wanted| wanted.matches(kind, &head));
        let message = Message {
            kind,
            head: head.clone(),
            body: body.clone(),
            is_replayed: LINE.with_borrow(|line| line.may_replay(&head)),
        };
        let grant = LINE.with_borrow(line::Line::grant);
        let subject = powers::subject(&message);
        let seen = wanted.is_some() && grant.covers(Actions::TOUCH, &subject);
        let readable = grant.covers(Actions::READ, &subject);
        let shown = wanted.filter(|wanted| wanted.with_body);
        let shown = shown.and_then(|_| powers::shown(&grant, &message));
        let params = shown.unwrap_or_else(Json::null);
        line::hold(message);
        let action = match kind {
            _ if !seen => Ok(Action::Forward),
            Kind::Request => instance::on_request(Request { head, params }),
            Kind::Notification => instance::on_notification(Notification { head, params }),
            Kind::Response => {
                let hide = |error: Error| {
                    if readable {
                        error
                    } else {
                        Error::new(error.code, "")
                    }
                };
                let outcome = body.map(|_| params).map_err(hide);
                instance::on_response(Response { head, outcome })
            }
        };
        let settled = action.map(|action| line::settle(id, action));
        match settled {
            Ok(Err(ChannelError::Denied(failure) | ChannelError::Invalid(failure)))
            | Err(failure) => line::refuse(id, &failure),
            Ok(settled) => settled.expect("the message is being handled"),
        }
        values::respond();
        id
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        clear();
    }
}

impl Subscription {
    fn matches(&self, kind: Kind, head: &Head) -> bool {
        let is_method = match self.method.strip_suffix('*') {
            Some(prefix) => head.method.starts_with(prefix),
            None => head.method == self.method,
        };
        is_method && kind == self.kind && self.sender.is_none_or(|sender| sender == head.sender)
    }
}

fn init<P: Proxy>(config: &Json, saved: Option<String>) -> Result<Registration, String> {
    instance::init::<P>(config, saved, |_| {})
}

fn json(value: impl Serialize) -> Json {
    Json::of(&value).expect("a value that can be written as JSON")
}

fn clear() {
    forget_instance();
    LINE.take();
}

fn forget_instance() {
    tasks::clear();
    instance::clear();
    pending::clear();
    resources::clear();
    prompts::clear();
    completion::clear();
    #[cfg(feature = "tools")]
    crate::tools::calls::clear();
}
