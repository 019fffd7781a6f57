//! Who may come in, and as whom.
//!
//! | file | what it is |
//! |---|---|
//! | `settings` | what the operator decided, and which of that is not safe |
//! | `web` | by which names the server is called, and which web pages may call it |
//! | `tokens` | bearer tokens of a file |
//! | `jwt` | bearer tokens that an identity provider signs |
//! | `ring` | how their signatures are verified |
//! | `certificates` | certificates of clients |
//! | `tickets` | what lets a browser open a WebSocket, once |
//! | `keys` | what all of this is verified by, which changes while we run |
//! | `admissions` | who is in, and when that is over |
//!
//! What always holds: whoever is not let in learns nothing of what is behind, and all of them get the same answer; what
//! is open for somebody ends when he would no longer be let in; a secret stands in no log, and how long it takes to
//! refuse one tells nothing of those that there are.

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
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::{StatusCode, header};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, watch};

pub use self::jwt::{Algorithm, Issuer, JwksSource};
pub use self::keys::{Jwks, JwksError, Keys, PemPair};
pub use self::settings::{GateSettings, NotSafe, TlsFiles};
pub use self::tickets::Ticket;
pub use self::web::{Host, Origin};

use self::admissions::{Admissions, Proof};
use self::keys::Known;
use self::tickets::Tickets;
use self::web::Web;

/// Who is at the other end, as the host knows it. Nothing that a client says in a message changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct User {
    /// Unique among all users; empty where nobody has to say who he is.
    pub name: String,
    /// What he belongs to, as the tokens say.
    pub groups: Vec<String>,
}

/// Where a request comes from.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The address of the other end of the TCP connection, which may be a balancer's.
    pub address: SocketAddr,
    /// The certificate that it has shown, verified; DER.
    pub certificate: Option<Arc<[u8]>>,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// Who it is.
    pub user: Arc<User>,
    /// Becomes true when he is no longer let in: what is open for him then ends.
    pub is_over: watch::Receiver<bool>,
}

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// 401, 403 or 421.
    pub status: StatusCode,
    /// In words, without what was tried.
    pub why: &'static str,
}

impl Refused {
    /// The same words for everybody who cannot say who he is: they tell nothing of who could.
    const UNKNOWN: Self = Self {
        status: StatusCode::UNAUTHORIZED,
        why: "this needs a valid token, certificate or ticket",
    };

    /// The header `WWW-Authenticate` of the answer, if it has one.
    #[must_use]
    pub fn challenge(&self) -> Option<HeaderValue> {
        (self.status == StatusCode::UNAUTHORIZED).then(|| HeaderValue::from_static("Bearer"))
    }
}

/// What tells one token or certificate from all others.
type Digest = [u8; 32];

fn digest(secret: &[u8]) -> Digest {
    Sha256::digest(secret).into()
}

/// Decides who comes in.
#[derive(Debug)]
pub struct Gate {
    /// None if it is open.
    closed: Option<Closed>,
    tickets: Tickets,
    never_over: watch::Sender<bool>,
}

#[derive(Debug)]
struct Closed {
    settings: GateSettings,
    web: Web,
    known: RwLock<Arc<Known>>,
    admissions: Arc<Admissions>,
    lacks_keys: Notify,
}

impl Gate {
    /// One that lets in whoever reaches us, whatever he calls us. For tests, at addresses of this machine.
    #[must_use]
    pub fn open() -> Self {
        Self::over(None)
    }

    /// One for a server at this address, as it is bound. Without a way to say who one is, it lets in whoever reaches
    /// us and is no foreign web page. Until it is given keys it knows no tokens.
    #[must_use]
    pub fn new(settings: GateSettings, bound: SocketAddr) -> Self {
        Self::over(Some(Closed {
            web: Web::new(&settings, bound),
            settings,
            known: RwLock::default(),
            admissions: Arc::default(),
            lacks_keys: Notify::new(),
        }))
    }

    fn over(closed: Option<Closed>) -> Self {
        Self {
            closed,
            tickets: Tickets::default(),
            never_over: watch::Sender::new(false),
        }
    }

    /// Lets in whoever asks, or says why not. It looks at the head of the request alone, and waits for nothing. To be
    /// called on a runtime, which is to tell when what somebody has shown expires.
    pub fn pass(&self, head: &Parts, peer: &Peer) -> Result<Admitted, Refused> {
        self.check_site(head, peer)?;
        let asked = self.closed.as_ref();
        let Some(closed) = asked.filter(|closed| closed.settings.asks_who()) else {
            return Ok(Admitted {
                user: Arc::default(),
                is_over: self.never_over.subscribe(),
            });
        };
        match tickets::offered(head) {
            Some(ticket) => self.tickets.burn(ticket).ok_or(Refused::UNKNOWN),
            None => closed.pass(head, peer),
        }
    }

    /// Only what concerns the names of the server and web pages: for what needs no user, as what browsers ask before they
    /// ask (CORS).
    pub fn check_site(&self, head: &Parts, peer: &Peer) -> Result<(), Refused> {
        match &self.closed {
            Some(closed) => closed.web.check(head, peer),
            None => Ok(()),
        }
    }

    /// Something that lets this user open one WebSocket, in the next 30 seconds, as `?ticket=`. An error if the system
    /// has no randomness to give.
    pub fn ticket(&self, admitted: &Admitted) -> Result<Ticket, getrandom::Error> {
        self.tickets.issue(admitted)
    }

    /// From now on these are the keys. What is open for users that are no longer let in is over.
    pub fn update(&self, keys: Keys) {
        if let Some(closed) = &self.closed {
            closed.update(keys);
        }
    }

    /// Waits until somebody shows a token that is signed by a key which is not known: there may be new ones.
    pub async fn lacks_keys(&self) {
        match &self.closed {
            Some(closed) => closed.lacks_keys.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Closed {
    fn pass(&self, head: &Parts, peer: &Peer) -> Result<Admitted, Refused> {
        let proof = match single(head, &header::AUTHORIZATION)? {
            Some(shown) => self.verify(bearer(shown).ok_or(Refused::UNKNOWN)?),
            None => self.certified(peer),
        };
        let admitted = proof.and_then(|proof| {
            self.admissions
                .admit(proof, |proof| self.known().has(proof))
        });
        admitted.ok_or(Refused::UNKNOWN)
    }

    fn verify(&self, token: &str) -> Option<Proof> {
        let known = self.known();
        if tokens::is_ours(token) {
            return known.token(digest(token.as_bytes()));
        }
        match jwt::verify(
            token,
            &self.settings.issuers,
            &known.keys,
            SystemTime::now(),
        ) {
            Ok(proof) => Some(proof),
            Err(why) => {
                // For who wonders why nobody comes in. It is of no use to whoever was refused, and may come often.
                tracing::debug!("a JWT is refused: {why}");
                if why.may_be_new() {
                    self.lacks_keys.notify_one();
                }
                None
            }
        }
    }

    fn certified(&self, peer: &Peer) -> Option<Proof> {
        let certificate = peer.certificate.as_ref();
        let asks = self.settings.client_ca().is_some();
        certificates::read(certificate.filter(|_| asks)?)
    }

    fn known(&self) -> Arc<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    fn update(&self, keys: Keys) {
        let known = Arc::new(Known::new(keys, &self.settings.issuers));
        let mut place = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::clone(&known);
        drop(place);
        self.admissions.keep(|proof| known.has(proof));
    }
}

/// A header that may be there once.
fn single<'h>(
    head: &'h Parts,
    name: &header::HeaderName,
) -> Result<Option<&'h HeaderValue>, Refused> {
    let mut values = head.headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(Refused::UNKNOWN),
    }
}

/// What stands behind `Bearer` (RFC 6750, 2.1).
fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    let is_bearer = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty();
    is_bearer.then_some(token)
}

/// Whether something from outside can be a user's name, or that of a group: it is shown, compared and logged.
fn can_be_name(name: &str) -> bool {
    (1..=256).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
