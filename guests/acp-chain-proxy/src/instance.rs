//! The one proxy of this component, and the host's calls to it. Kept apart from the WIT bindings,
//! so that a test can make the same calls.

use std::cell::RefCell;
use std::rc::Rc;

use crate::{
    Action, ChannelError, Configure, FailurePolicy, Json, MessageId, Notification, Proxy, Request,
    Response, Subscription, channel, pending, tasks,
};

type Outcome = Result<Action, String>;

/// A type-erased [`Proxy`].
trait Handler {
    fn on_request(self: Rc<Self>, request: Request) -> Outcome;
    fn on_notification(self: Rc<Self>, notification: Notification) -> Outcome;
    fn on_response(self: Rc<Self>, response: Response) -> Outcome;
    fn on_cancel(&self, id: MessageId) -> Option<Action>;
}

impl<P: Proxy> Handler for P {
    fn on_request(self: Rc<Self>, request: Request) -> Outcome {
        tasks::handle(request.head.id, async move {
            Proxy::on_request(&*self, request).await
        })
    }

    fn on_notification(self: Rc<Self>, notification: Notification) -> Outcome {
        tasks::handle(notification.head.id, async move {
            Proxy::on_notification(&*self, notification).await
        })
    }

    fn on_response(self: Rc<Self>, response: Response) -> Outcome {
        tasks::handle(response.head.id, async move {
            Proxy::on_response(&*self, response).await
        })
    }

    fn on_cancel(&self, id: MessageId) -> Option<Action> {
        Proxy::on_cancel(self, id)
    }
}

thread_local! {
    static INSTANCE: RefCell<Option<Rc<dyn Handler>>> = const { RefCell::new(None) };
}

fn instance() -> Result<Rc<dyn Handler>, String> {
    INSTANCE
        .with_borrow(Clone::clone)
        .ok_or_else(|| "the proxy was called before `init`".into())
}

/// What a proxy declares when it starts.
pub(crate) struct Registration {
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) on_failure: FailurePolicy,
    pub(crate) guard: bool,
}

/// Creates the only instance, and passes it to `started`.
pub(crate) fn init<P: Proxy>(
    config: &Json,
    saved: Option<String>,
    started: impl FnOnce(&Rc<P>),
) -> Result<Registration, String> {
    // Via a `Value`: its errors do not name lines and columns of a text that the user never saw.
    let config = config
        .parse::<serde_json::Value>()
        .and_then(serde_json::from_value)
        .map_err(|error| format!("in its configuration: {error}"))?;
    let mut proxy = <P as Configure>::new(config)?;
    if let Some(saved) = saved {
        restore(&mut proxy, saved).map_err(|error| {
            format!("this version cannot restore the state that an earlier instance saved: {error}")
        })?;
    }
    let registration = Registration {
        subscriptions: proxy.subscriptions(),
        on_failure: P::ON_FAILURE,
        guard: P::GUARD,
    };
    let proxy = Rc::new(proxy);
    started(&proxy);
    INSTANCE.set(Some(proxy));
    Ok(registration)
}

fn restore(proxy: &mut impl Proxy, saved: String) -> crate::Result<()> {
    proxy.restore(saved.try_into()?)
}

pub(crate) fn on_request(request: Request) -> Outcome {
    instance()?.on_request(request)
}

pub(crate) fn on_notification(notification: Notification) -> Outcome {
    instance()?.on_notification(notification)
}

pub(crate) fn on_response(response: Response) -> Outcome {
    let Response { head, outcome } = response;
    match pending::answer(head.id, outcome) {
        Ok(()) => {
            tasks::run(None);
            Ok(Action::Forward)
        }
        Err(outcome) => instance()?.on_response(Response { head, outcome }),
    }
}

pub(crate) fn on_cancel(id: MessageId) -> Result<(), String> {
    let settled = match instance()?.on_cancel(id) {
        Some(action) => {
            tasks::cancel(id);
            match channel::settle(id, action) {
                // Its hold time is over: the host has settled the message.
                Err(ChannelError::UnknownMessage) => Ok(()),
                settled => settled.map_err(|error| error.to_string()),
            }
        }
        None => Ok(()),
    };
    tasks::run(None);
    settled
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    INSTANCE.set(None);
}
