//! The lines of the log and the access log about each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use acp_chain_rpc::Message;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};

use super::access_log::{Entry, LogContext};
use super::metrics::TransportKind;
use super::registry::Registry;
use crate::User;
use crate::gate::Peer;

/// A line of the log, without content.
pub struct Log {
    method: Method,
    pub peer: SocketAddr,
    pub way: TransportKind,
    /// The user, if admitted.
    pub user: Option<Arc<User>>,
    pub connection: Option<String>,
    pub session: Option<String>,
    rpc_method: Option<Arc<str>>,
    bytes: Option<usize>,
    begun: Instant,
    /// Whether it is a health check, which needs no credentials.
    is_probe: bool,
}

impl Log {
    pub fn new(request: &Request<Incoming>, peer: &Peer) -> Self {
        Self {
            method: request.method().clone(),
            peer: peer.address,
            way: TransportKind::Http,
            user: None,
            connection: None,
            session: None,
            rpc_method: None,
            bytes: None,
            begun: Instant::now(),
            is_probe: ["/healthz", "/readyz"].contains(&request.uri().path()),
        }
    }

    /// Adds the request's message.
    pub fn record(&mut self, message: &Message) {
        self.rpc_method = Some(message.method().clone());
        self.bytes = Some(message.len());
        if let Some(session) = message.session() {
            self.session = Some(session.to_string());
        }
    }

    /// Writes the lines, with the status of the answer.
    pub fn write(self, status: StatusCode, registry: &Registry) {
        if let Some(user) = &self.user {
            tracing::info!(
                target: "acp_chain::access",
                user = user.name,
                connection = self.connection.as_deref().unwrap_or_default(),
                // A field named `message` would not be quoted.
                method = self.rpc_method.as_deref().unwrap_or_default(),
                status = status.as_u16(),
                "{}",
                self.method,
            );
        }
        if self.is_probe {
            return;
        }
        let log = LogContext {
            access: registry.access.clone(),
            figures: registry.figures.clone(),
            connection: self.connection,
            user: self.user.unwrap_or_default(),
            way: self.way,
            peer: self.peer,
        };
        log.write(Entry {
            event: "request",
            http: Some(self.method.as_str()),
            status: Some(status.as_u16()),
            method: self
                .rpc_method
                .as_deref()
                .filter(|method| !method.is_empty()),
            session: self.session.as_deref(),
            bytes: self.bytes,
            ms: self.begun.elapsed().as_millis(),
            ..Entry::default()
        });
    }
}
