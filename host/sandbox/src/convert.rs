//! Conversion between the channel's types and those generated from the WIT package.

use super::bindings::acp_chain::proxy::{channel as wit_channel, types as wit};
use acp_chain_channel::{
    ChannelError, Decision, Delivery, Edit, FailurePolicy, Kinds, Offers, Owner, Pattern,
    PatternError, Peer, Registration, Subscription,
};
use acp_chain_rpc as rpc;

impl From<wit::Peer> for Peer {
    fn from(peer: wit::Peer) -> Self {
        match peer {
            wit::Peer::Client => Self::Client,
            wit::Peer::Agent => Self::Agent,
        }
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

impl From<wit_channel::Keeper> for Owner {
    fn from(keeper: wit_channel::Keeper) -> Self {
        match keeper {
            wit_channel::Keeper::User => Self::User,
            wit_channel::Keeper::Project(session) => Self::Project(session.into()),
        }
    }
}

impl From<wit::FailurePolicy> for FailurePolicy {
    fn from(policy: wit::FailurePolicy) -> Self {
        match policy {
            wit::FailurePolicy::Restart => Self::Restart,
            wit::FailurePolicy::Bypass => Self::Bypass,
            wit::FailurePolicy::Refuse => Self::Refuse,
        }
    }
}

impl TryFrom<wit::Registration> for Registration {
    type Error = PatternError;

    fn try_from(registration: wit::Registration) -> Result<Self, PatternError> {
        let subscriptions = registration.subscriptions.into_iter();
        Ok(Self {
            subscriptions: subscriptions
                .map(Subscription::try_from)
                .collect::<Result<_, _>>()?,
            on_failure: registration.on_failure.into(),
            offers: Offers::default(),
            guard: registration.guard,
        })
    }
}

impl TryFrom<wit::Subscription> for Subscription {
    type Error = PatternError;

    fn try_from(subscription: wit::Subscription) -> Result<Self, PatternError> {
        let kinds = subscription.kinds;
        Ok(Self {
            method: Pattern::new(&subscription.method)?,
            sender: match subscription.sender {
                wit::Sender::Any => None,
                wit::Sender::Client => Some(Peer::Client),
                wit::Sender::Agent => Some(Peer::Agent),
            },
            kinds: [
                (wit::Kinds::REQUEST, Kinds::REQUEST),
                (wit::Kinds::NOTIFICATION, Kinds::NOTIFICATION),
                (wit::Kinds::RESPONSE, Kinds::RESPONSE),
            ]
            .into_iter()
            .filter(|(wanted, _)| kinds.contains(*wanted))
            .map(|(_, kinds)| kinds)
            .collect(),
            with_body: subscription.with_body,
        })
    }
}

impl From<ChannelError> for wit_channel::ChannelError {
    fn from(error: ChannelError) -> Self {
        Self {
            code: match error {
                ChannelError::Denied(_) => wit_channel::ErrorCode::Denied,
                ChannelError::UnknownMessage => wit_channel::ErrorCode::UnknownMessage,
                ChannelError::Invalid(_) => wit_channel::ErrorCode::Invalid,
                ChannelError::Full => wit_channel::ErrorCode::Full,
            },
            message: error.to_string(),
        }
    }
}

/// A guest's decision. An error if the data of a rejection is not JSON.
pub fn decision(action: wit::Action) -> Result<Decision, ChannelError> {
    Ok(match action {
        wit::Action::Forward => Decision::Forward,
        wit::Action::Edit(edits) => {
            let edits = edits.into_iter();
            let edits = edits.map(|wit::Edit { pointer, change }| Edit {
                pointer,
                value: match change {
                    wit::Change::Set(value) => Some(value),
                    wit::Change::Remove => None,
                },
            });
            Decision::Edit(edits.collect())
        }
        wit::Action::Replace(body) => Decision::Replace(body),
        wit::Action::Respond(result) => Decision::Respond(result),
        wit::Action::Discard => Decision::Discard,
        wit::Action::Hold => Decision::Hold,
        wit::Action::Reject(error) => reject(error.code, error.message, error.data)?,
    })
}

/// The decision to reject with a guest's error.
pub fn reject(code: i32, message: String, data: Option<String>) -> Result<Decision, ChannelError> {
    let mut reject = rpc::Error::new(code.into(), message);
    if let Some(data) = data {
        let data = serde_json::value::RawValue::from_string(data);
        reject.data = Some(data.map_err(|error| {
            ChannelError::Invalid(format!("the error's data is not JSON: {error}"))
        })?);
    }
    Ok(Decision::Reject(reject))
}

pub fn head(delivery: &Delivery) -> wit::Head<'_> {
    wit::Head {
        id: delivery.id,
        sender: delivery.sender.into(),
        method: &delivery.method,
        session: delivery.session.as_deref(),
        size: delivery.message.body().len() as u64,
    }
}

/// The visible part of a message's body.
pub fn body<'a>(delivery: &Delivery, shown: Option<&'a rpc::Message>) -> &'a str {
    let wanted = shown.filter(|_| delivery.with_body);
    wanted.map_or("", rpc::Message::body)
}

/// The visible fields of an error response; anything but an error object gets the code 0.
pub fn error(shown: Option<&rpc::Message>) -> rpc::Error {
    let Some(message) = shown else {
        return rpc::Error::new(0, "");
    };
    serde_json::from_str(message.body()).unwrap_or_else(|_| rpc::Error::new(0, message.body()))
}

pub fn borrowed(error: &rpc::Error) -> wit::RpcErrorParam<'_> {
    wit::RpcErrorParam {
        code: i32::try_from(error.code).unwrap_or(if error.code < 0 { i32::MIN } else { i32::MAX }),
        message: &error.message,
        data: error.data.as_ref().map(|data| data.get()),
    }
}
