//! What the log and the access log say of each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use acp_chain_rpc::Message;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};

use super::access::{Entry, Whose};
use super::metrics::Way;
use super::registry::Registry;
use crate::User;
use crate::gate::Peer;

/// Whether a request is a health check, which anybody may make.
pub fn is_probe<B>(request: &Request<B>) -> bool {
    ["/healthz", "/readyz"].contains(&request.uri().path())
}

/// A line of the log, without content.
pub struct Log {
    method: Method,
    pub peer: SocketAddr,
    pub way: Way,
    /// The user, if admitted.
    pub user: Option<Arc<User>>,
    pub connection: Option<String>,
    pub session: Option<String>,
    said: Option<Arc<str>>,
    bytes: Option<usize>,
    begun: Instant,
    /// Whether it is a health check.
    is_probe: bool,
}

impl Log {
    /// Of this request.
    pub fn new(request: &Request<Incoming>, peer: &Peer) -> Self {
        Self {
            method: request.method().clone(),
            peer: peer.address,
            way: Way::Http,
            user: None,
            connection: None,
            session: None,
            said: None,
            bytes: None,
            begun: Instant::now(),
            is_probe: is_probe(request),
        }
    }

    /// It has this message.
    pub fn say(&mut self, message: &Message) {
        self.said = Some(message.method().clone());
        self.bytes = Some(message.len());
        if let Some(session) = message.session() {
            self.session = Some(session.to_string());
        }
    }

    /// It was answered so.
    pub fn write(self, status: StatusCode, registry: &Registry) {
        if let Some(user) = &self.user {
            tracing::info!(
                target: "acp_chain::access",
                user = user.name,
                connection = self.connection.as_deref().unwrap_or_default(),
                // A field named `message` would not be quoted.
                method = self.said.as_deref().unwrap_or_default(),
                status = status.as_u16(),
                "{}",
                self.method,
            );
        }
        if self.is_probe {
            return;
        }
        let whose = Whose {
            access: registry.access.clone(),
            connection: self.connection,
            user: self.user.unwrap_or_default(),
            way: self.way,
            peer: self.peer,
        };
        whose.tell(Entry {
            event: "request",
            http: Some(self.method.as_str()),
            status: Some(status.as_u16()),
            method: self.said.as_deref().filter(|said| !said.is_empty()),
            session: self.session.as_deref(),
            bytes: self.bytes,
            ms: self.begun.elapsed().as_millis(),
            ..Entry::default()
        });
    }
}
