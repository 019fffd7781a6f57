//! The component's interface: the exported `handler`, in terms of the types of this crate.

use std::marker::PhantomData;
use std::rc::Rc;

use crate::bindings::acp_chain::proxy::types as wit;
use crate::bindings::exports::acp_chain::proxy::handler::Guest;
use crate::instance::{self, Registration};
use crate::subscription;
use crate::{
    Action, Edit, Error, FailurePolicy, Head, Json, MessageId, Notification, Peer, Proxy, Request,
    Response, Subscription,
};

/// Exports a proxy; made by [`export!`](crate::export).
#[doc(hidden)]
pub struct Component<P>(PhantomData<P>);

/// A proxy exported by [`export!`](crate::export).
#[doc(hidden)]
pub trait ExportedProxy: Proxy {
    /// Registers the new instance for the exports beside its handler.
    fn started(proxy: &Rc<Self>);
}

impl<P: ExportedProxy> Guest for Component<P> {
    fn init(config: String, saved: Option<String>) -> Result<wit::Registration, String> {
        std::panic::set_hook(Box::new(|panic| crate::log(crate::Level::Error, panic)));
        instance::init::<P>(&body(config), saved, P::started).map(Into::into)
    }

    fn on_request(request: wit::Request) -> Result<wit::Action, String> {
        let (head, params) = (request.head.into(), body(request.params));
        instance::on_request(Request { head, params }).map(Into::into)
    }

    fn on_notification(notification: wit::Notification) -> Result<wit::Action, String> {
        let (head, params) = (notification.head.into(), body(notification.params));
        instance::on_notification(Notification { head, params }).map(Into::into)
    }

    fn on_response(response: wit::Response) -> Result<wit::Action, String> {
        let head = response.head.into();
        let outcome = response.outcome.map(body).map_err(Into::into);
        instance::on_response(Response { head, outcome }).map(Into::into)
    }

    fn on_cancel(id: MessageId) -> Result<(), String> {
        instance::on_cancel(id)
    }
}

/// The text of a body. It is empty if the subscription is without body.
pub(crate) fn body(text: String) -> Json {
    if text.is_empty() {
        Json::null()
    } else {
        Json::from_host(text)
    }
}

impl From<Peer> for wit::Peer {
    fn from(peer: Peer) -> Self {
        match peer {
            Peer::Client => Self::Client,
            Peer::Agent => Self::Agent,
        }
    }
}

impl From<wit::Peer> for Peer {
    fn from(peer: wit::Peer) -> Self {
        match peer {
            wit::Peer::Client => Self::Client,
            wit::Peer::Agent => Self::Agent,
        }
    }
}

impl From<wit::Head> for Head {
    fn from(head: wit::Head) -> Self {
        Self {
            id: head.id,
            sender: head.sender.into(),
            method: head.method,
            session: head.session,
            size: head.size,
        }
    }
}

impl From<Error> for wit::RpcError {
    fn from(error: Error) -> Self {
        Self {
            code: error.code,
            message: error.message,
            data: error.data.map(String::from),
        }
    }
}

impl From<wit::RpcError> for Error {
    fn from(error: wit::RpcError) -> Self {
        Self {
            code: error.code,
            message: error.message,
            data: error.data.map(body),
        }
    }
}

impl From<Registration> for wit::Registration {
    fn from(registration: Registration) -> Self {
        let subscriptions = registration.subscriptions.into_iter();
        Self {
            subscriptions: subscriptions.map(Into::into).collect(),
            on_failure: match registration.on_failure {
                FailurePolicy::Restart => wit::FailurePolicy::Restart,
                FailurePolicy::Bypass => wit::FailurePolicy::Bypass,
                FailurePolicy::Refuse => wit::FailurePolicy::Refuse,
            },
            guard: registration.guard,
        }
    }
}

impl From<Subscription> for wit::Subscription {
    fn from(subscription: Subscription) -> Self {
        Self {
            method: subscription.method.into_owned(),
            sender: match subscription.sender {
                None => wit::Sender::Any,
                Some(Peer::Client) => wit::Sender::Client,
                Some(Peer::Agent) => wit::Sender::Agent,
            },
            kinds: match subscription.kind {
                subscription::Kind::Request => wit::Kinds::REQUEST,
                subscription::Kind::Notification => wit::Kinds::NOTIFICATION,
                subscription::Kind::Response => wit::Kinds::RESPONSE,
            },
            with_body: subscription.with_body,
        }
    }
}

impl From<Edit> for wit::Edit {
    fn from(edit: Edit) -> Self {
        Self {
            pointer: edit.pointer,
            change: match edit.value {
                Some(value) => wit::Change::Set(value.into()),
                None => wit::Change::Remove,
            },
        }
    }
}

impl From<Action> for wit::Action {
    fn from(action: Action) -> Self {
        match action {
            Action::Forward => Self::Forward,
            Action::Edit(edits) => Self::Edit(edits.into_iter().map(Into::into).collect()),
            Action::Replace(body) => Self::Replace(body.into()),
            Action::Respond(result) => Self::Respond(result.into()),
            Action::Reject(error) => Self::Reject(error.into()),
            Action::Discard => Self::Discard,
            Action::Hold => Self::Hold,
        }
    }
}
