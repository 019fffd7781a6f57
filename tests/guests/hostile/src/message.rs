//! A message of any kind, reduced to the parts that attacks need.

use crate::bindings::acp_chain::proxy::types::{Head, Notification, Request, Response};
use crate::config::Kind;

pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) head: Head,
}

impl Message {
    pub(crate) fn request(request: Request) -> Self {
        Self {
            kind: Kind::Request,
            head: request.head,
        }
    }

    pub(crate) fn notification(notification: Notification) -> Self {
        Self {
            kind: Kind::Notification,
            head: notification.head,
        }
    }

    pub(crate) fn response(response: Response) -> Self {
        Self {
            kind: Kind::Response,
            head: response.head,
        }
    }

    /// Whether this is a prompt, and no answer to one.
    pub(crate) fn is_prompt(&self) -> bool {
        self.kind == Kind::Request && self.head.method == "session/prompt"
    }

    pub(crate) fn is_permission(&self, kind: Kind) -> bool {
        self.kind == kind && self.head.method == "session/request_permission"
    }

    /// Whether this is a notification of the attack's own.
    pub(crate) fn is_ours(&self) -> bool {
        self.kind == Kind::Notification && self.head.method.starts_with("_hostile/")
    }
}
