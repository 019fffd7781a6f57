//! Authentication: who may connect, and as which user.
//!
//! | file | what it is |
//! |---|---|
//! | `settings` | the operator's settings, and which are unsafe |
//! | `web` | the valid host names of the server, and the web pages that may call it |
//! | `tokens` | bearer tokens of a file |
//! | `jwt` | bearer tokens signed by an identity provider |
//! | `ring` | verifies their signatures |
//! | `certificates` | certificates of clients |
//! | `tickets` | let a browser open a WebSocket, once |
//! | `keys` | the keys that verify clients, which change at run time |
//! | `admissions` | the admitted users, and when their credentials end |
//!
//! Invariants: rejected clients learn nothing of what is behind the gate, and all get the same answer; everything
//! open for a user ends once they would no longer be admitted; no log contains a secret, and the time to reject one
//! reveals nothing of the valid ones.

mod admissions;
mod certificates;
mod jwt;
mod keys;
mod ring;
mod settings;
mod tickets;
pub mod tokens;
mod web;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use acp_chain_http::gate::bearer;
use acp_chain_rpc::Mutex;
use hyper::StatusCode;
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, watch};

pub use self::jwt::{Algorithm, Issuer, JwksSource};
pub use self::keys::{Jwks, JwksError, Keys, PemPair};
pub use self::settings::{GateSettings, TlsFiles, UnsafeSettings};
pub use self::tickets::Ticket;
pub(crate) use self::tickets::{
    LIFE as TICKET_LIFE, SealedTicket, has_word, name as ticket_name, opens_websocket,
};
pub use self::web::{Host, Origin};

use self::admissions::{Admissions, Proof};
use self::jwt::JwtError;
use self::keys::KeyIndex;
use self::tickets::Tickets;
use self::web::Web;

/// The user at the other end, as the host has authenticated it. No message of a client changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct User {
    /// Unique among all users; empty without authentication.
    pub name: String,
    /// The user's groups, from the token.
    pub groups: Vec<String>,
}

/// The sender of a request.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The address of the other end of the TCP connection, which may be a balancer's.
    pub address: SocketAddr,
    /// The client's verified certificate; DER.
    pub certificate: Option<Arc<[u8]>>,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
}

/// An admitted user.
#[derive(Clone, Debug)]
pub struct AdmittedUser {
    /// The user.
    pub user: Arc<User>,
    /// Becomes true when the user is no longer admitted: everything open for them then ends.
    pub is_over: watch::Receiver<bool>,
}

/// Why a client is rejected.
#[derive(Debug, PartialEq, Eq)]
pub struct Rejection {
    /// 401, 403 or 421.
    pub status: StatusCode,
    /// The reason, without the rejected credentials.
    pub why: &'static str,
}

impl Rejection {
    /// All failed authentication gets this text: it reveals nothing about valid credentials.
    const UNKNOWN: Self = Self {
        status: StatusCode::UNAUTHORIZED,
        why: "this needs a valid token, certificate or ticket",
    };

    /// The header `WWW-Authenticate` of the answer, if it has one.
    pub fn challenge(&self) -> Option<HeaderValue> {
        (self.status == StatusCode::UNAUTHORIZED).then(|| HeaderValue::from_static("Bearer"))
    }
}

/// Identifies a token or certificate.
type Digest = [u8; 32];

fn digest(secret: &[u8]) -> Digest {
    Sha256::digest(secret).into()
}

/// Decides who is admitted.
#[derive(Debug)]
pub struct Gate {
    settings: GateSettings,
    web: Web,
    index: Mutex<Arc<KeyIndex>>,
    admissions: Arc<Admissions>,
    lacks_keys: Notify,
    tickets: Tickets,
    never_over: watch::Sender<bool>,
}

impl Gate {
    /// A gate for a server bound to this address. Without configured authentication, it admits all clients except
    /// foreign web pages. It accepts no tokens before the first [`update`](Self::update).
    pub fn new(settings: GateSettings, bound: SocketAddr) -> Self {
        Self {
            web: Web::new(&settings, bound),
            settings,
            index: Mutex::default(),
            admissions: Arc::default(),
            lacks_keys: Notify::new(),
            tickets: Tickets::default(),
            never_over: watch::Sender::new(false),
        }
    }

    /// Admits a request, or returns why not. It reads only the head of the request, and does not wait; so it knows only
    /// tickets of this server alone. Must be called on a runtime, which keeps the time of expiring credentials.
    pub fn pass(&self, head: &Parts, peer: &Peer) -> Result<AdmittedUser, Rejection> {
        self.check_site(head, peer)?;
        if !self.settings.requires_auth() {
            return Ok(AdmittedUser {
                user: Arc::default(),
                is_over: self.never_over.subscribe(),
            });
        }
        if let Some(ticket) = tickets::offered(head) {
            return self.redeem(ticket).ok_or(Rejection::UNKNOWN);
        }
        let proof = match bearer(&head.headers).map_err(|_| Rejection::UNKNOWN)? {
            Some(token) => self.verify(token),
            None => self.certified(peer),
        };
        self.admit(proof)
    }

    fn admit(&self, proof: Option<Proof>) -> Result<AdmittedUser, Rejection> {
        let holds = |proof: &Proof| self.index().has(proof);
        let admitted = proof.and_then(|proof| self.admissions.admit(proof, holds));
        admitted.ok_or(Rejection::UNKNOWN)
    }

    /// The ticket that a request offers, where clients must authenticate.
    pub(crate) fn offered<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        tickets::offered(head).filter(|_| self.settings.requires_auth())
    }

    /// Uses up a ticket of this server alone, and returns its owner.
    pub(crate) fn redeem(&self, ticket: &str) -> Option<AdmittedUser> {
        self.tickets.redeem(ticket)
    }

    /// The token of a request, where clients must authenticate.
    pub(crate) fn token<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        let token = bearer(&head.headers).ok().flatten();
        token.filter(|_| self.settings.requires_auth())
    }

    /// Admits the owner of the token that is sealed with a ticket: what the replicas' store had of it, if anything. The
    /// ticket must be used up.
    pub(crate) fn unseal(
        &self,
        ticket: &str,
        sealed: Option<&str>,
    ) -> Result<AdmittedUser, Rejection> {
        let token = sealed.and_then(|sealed| tickets::unseal(ticket, sealed));
        self.admit(token.and_then(|token| self.verify(&token)))
    }

    /// Checks only host names and web pages: for requests without a user, such as a browser's preflight (CORS).
    pub fn check_site(&self, head: &Parts, peer: &Peer) -> Result<(), Rejection> {
        self.web.check(head, peer)
    }

    /// A ticket that lets this user open one WebSocket in the next 30 seconds, as `?ticket=`. An error if the system
    /// provides no randomness.
    pub fn ticket(&self, admitted: &AdmittedUser) -> Result<Ticket, getrandom::Error> {
        self.tickets.issue(admitted)
    }

    /// Replaces the keys. Everything open for users that are no longer admitted ends.
    pub fn update(&self, keys: Keys) {
        let index = Arc::new(KeyIndex::new(keys, &self.settings.issuers));
        *self.index.lock() = Arc::clone(&index);
        self.admissions.keep(|proof| index.has(proof));
    }

    /// Waits for a token that was signed with an unknown key: its issuer may have new keys.
    pub async fn lacks_keys(&self) {
        self.lacks_keys.notified().await;
    }

    fn verify(&self, token: &str) -> Option<Proof> {
        let index = self.index();
        if tokens::is_ours(token) {
            return index.token(digest(token.as_bytes()));
        }
        let (issuers, now) = (&self.settings.issuers, SystemTime::now());
        let proof = jwt::verify(token, issuers, &index.keys, now);
        if let Err(why) = &proof {
            // For operators. Debug level, as it may be frequent.
            tracing::debug!("a JWT is rejected: {why}");
            // Its issuer may have signed it with a new key.
            if matches!(why, JwtError::Key) {
                self.lacks_keys.notify_one();
            }
        }
        proof.ok()
    }

    fn certified(&self, peer: &Peer) -> Option<Proof> {
        let certificate = peer.certificate.as_ref();
        let is_enabled = self.settings.client_ca().is_some();
        certificates::read(certificate.filter(|_| is_enabled)?)
    }

    fn index(&self) -> Arc<KeyIndex> {
        Arc::clone(&self.index.lock())
    }
}

/// Whether untrusted text is valid as a user's or group's name: it is shown, compared and logged.
fn can_be_name(name: &str) -> bool {
    (1..=256).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
