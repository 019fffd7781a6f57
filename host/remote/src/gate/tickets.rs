//! Tickets: they let a browser, which cannot send a token, open a WebSocket: with `?ticket=`, once, and for a short
//! time.
//!
//! A ticket in a log has expired by the time the log is read, and a token has not: so tickets are accepted in an
//! address, and tokens are not.
//!
//! With a store, all replicas accept a ticket. The store has the token that it was issued for, sealed with a key that
//! is made of the ticket: who reads the store has no token, and who writes to it admits no client without one. So a
//! client with the ticket is admitted as by that token, for as long as that holds. A client that shows a certificate
//! shows it with a WebSocket, too: its tickets stay with the replica.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use acp_chain_rpc::Mutex;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::HEXLOWER;
use hyper::Method;
use hyper::ext::Protocol;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use tokio::time::Instant;

use super::{AdmittedUser, Digest, digest};

/// How long a ticket is valid.
pub const LIFE: Duration = Duration::from_secs(30);

/// The length of what a ticket is made of, in bytes.
const BYTES: usize = 32;

/// What the digest of a sealing key begins with: that of a ticket, which is its name in the store, has nothing before
/// it.
const KEY: &[u8] = b"acp-chain: the key of a ticket: ";

/// How many tickets a user has at once; the oldest is evicted for a new one.
const A_USER: usize = 16;

/// How many tickets there are at once; the oldest is evicted for a new one.
const ALL: usize = 10_000;

/// A random text that is valid once.
#[derive(PartialEq, Eq)]
pub struct Ticket(String);

/// A random text of 256 bits, in letters, digits, `-` and `_`.
pub fn draw() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

impl Ticket {
    /// The text itself, for its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Ticket")
    }
}

/// A ticket of all replicas.
#[derive(Debug)]
pub struct SealedTicket {
    /// The ticket itself, for its owner.
    pub ticket: Ticket,
    /// Its name in the store.
    pub name: String,
    /// The token that it was issued for, sealed.
    pub sealed: String,
}

impl SealedTicket {
    /// A new ticket for a token; `None` if the system provides no randomness.
    pub fn new(token: &str) -> Option<Self> {
        let ticket = Ticket(draw().ok()?);
        let mut text = token.as_bytes().to_vec();
        let key = sealing_key(&ticket.0)?;
        key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut text)
            .ok()?;
        Some(Self {
            name: name(&ticket.0)?,
            sealed: URL_SAFE_NO_PAD.encode(text),
            ticket,
        })
    }
}

/// The name of a ticket in the store; `None` if a text is no ticket.
pub fn name(offered: &str) -> Option<String> {
    let decoded = URL_SAFE_NO_PAD.decode(offered).ok()?;
    (decoded.len() == BYTES).then(|| HEXLOWER.encode(&digest(offered.as_bytes())))
}

/// The token that was sealed with a ticket.
pub fn unseal(offered: &str, sealed: &str) -> Option<String> {
    let mut text = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let key = sealing_key(offered)?;
    let token = key.open_in_place(nonce(), Aad::empty(), &mut text).ok()?;
    String::from_utf8(token.to_vec()).ok()
}

/// A ticket has 256 random bits, and its key seals one text.
fn sealing_key(ticket: &str) -> Option<LessSafeKey> {
    let key = digest(&[KEY, ticket.as_bytes()].concat());
    let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?;
    Some(LessSafeKey::new(key))
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// The unused tickets of this server alone.
#[derive(Debug, Default)]
pub struct Tickets(Mutex<HashMap<Digest, OpenTicket>>);

#[derive(Debug)]
struct OpenTicket {
    admitted: AdmittedUser,
    until: Instant,
}

impl Tickets {
    pub fn issue(&self, admitted: &AdmittedUser) -> Result<Ticket, getrandom::Error> {
        let ticket = Ticket(draw()?);
        let now = Instant::now();
        let mut open = self.0.lock();
        open.retain(|_, ticket| ticket.until > now);
        let user = &admitted.user;
        let is_own = |ticket: &&OpenTicket| ticket.admitted.user == *user;
        if open.values().filter(is_own).count() >= A_USER {
            remove_oldest(&mut open, |ticket| ticket.admitted.user == *user);
        } else if open.len() >= ALL {
            remove_oldest(&mut open, |_| true);
        }
        let entry = OpenTicket {
            admitted: admitted.clone(),
            until: now + LIFE,
        };
        open.insert(digest(ticket.0.as_bytes()), entry);
        Ok(ticket)
    }

    /// Uses up a ticket, and returns its owner.
    pub fn redeem(&self, offered: &str) -> Option<AdmittedUser> {
        let mut open = self.0.lock();
        let ticket = open.remove(&digest(offered.as_bytes()))?;
        let holds = ticket.until > Instant::now() && !*ticket.admitted.is_over.borrow();
        holds.then_some(ticket.admitted)
    }
}

fn remove_oldest(open: &mut HashMap<Digest, OpenTicket>, fits: impl Fn(&OpenTicket) -> bool) {
    let fitting = open.iter().filter(|(_, ticket)| fits(ticket));
    let oldest = fitting.min_by_key(|(_, ticket)| ticket.until);
    if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
        open.remove(&oldest);
    }
}

/// The ticket of a request that opens a WebSocket. It is valid for nothing else.
pub fn offered(head: &Parts) -> Option<&str> {
    let query = head.uri.query().filter(|_| opens_websocket(head))?;
    // Two tickets count as none.
    let pairs = query.split('&');
    let mut offered = pairs.filter_map(|pair| pair.strip_prefix("ticket="));
    match (offered.next(), offered.next()) {
        (Some(_), Some(_)) => Some(""),
        (ticket, _) => ticket,
    }
}

/// Whether a request is to open a WebSocket, over HTTP/1.1 (RFC 6455) or HTTP/2 (RFC 8441).
pub fn opens_websocket(head: &Parts) -> bool {
    match head.method {
        Method::GET => has_word(&head.headers, &header::UPGRADE, "websocket"),
        Method::CONNECT => {
            let protocol = head.extensions.get::<Protocol>();
            protocol.is_some_and(|protocol| protocol.as_str() == "websocket")
        }
        _ => false,
    }
}

/// Whether a header that is a list of words has this one, in any case.
pub fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut lists = values.filter_map(|value| value.to_str().ok());
    let is_it = |one: &str| one.trim().eq_ignore_ascii_case(word);
    lists.any(|list| list.split(',').any(is_it))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hyper::Request;
    use tokio::sync::watch;

    use super::*;
    use crate::User;

    fn admitted(name: &str) -> (AdmittedUser, watch::Sender<bool>) {
        let (over, is_over) = watch::channel(false);
        let user = Arc::new(User {
            name: name.to_owned(),
            groups: Vec::new(),
        });
        (AdmittedUser { user, is_over }, over)
    }

    #[tokio::test(start_paused = true)]
    async fn a_ticket_is_valid_once_and_for_a_limited_time() {
        let tickets = Tickets::default();
        let (alice, over) = admitted("alice");
        let ticket = tickets.issue(&alice).unwrap();
        assert_eq!(ticket.reveal().len(), 43);
        assert_eq!(tickets.redeem(ticket.reveal()).unwrap().user, alice.user);
        assert!(tickets.redeem(ticket.reveal()).is_none());

        let (kept, late) = (
            tickets.issue(&alice).unwrap(),
            tickets.issue(&alice).unwrap(),
        );
        tokio::time::advance(LIFE / 2).await;
        assert!(tickets.redeem(kept.reveal()).is_some());
        tokio::time::advance(LIFE / 2).await;
        assert!(tickets.redeem(late.reveal()).is_none());

        let ticket = tickets.issue(&alice).unwrap();
        over.send_replace(true);
        assert!(tickets.redeem(ticket.reveal()).is_none());
    }

    #[test]
    fn a_sealed_token_is_opened_by_its_ticket_alone() {
        let token = "acp_of-alice";
        let (one, other) = (
            SealedTicket::new(token).unwrap(),
            SealedTicket::new(token).unwrap(),
        );
        let offered = one.ticket.reveal();
        assert_eq!(name(offered).as_deref(), Some(&*one.name));
        assert_eq!(unseal(offered, &one.sealed).as_deref(), Some(token));
        assert_ne!((&one.name, &one.sealed), (&other.name, &other.sealed));
        assert_eq!(unseal(other.ticket.reveal(), &one.sealed), None);
        let (cut, changed) = (
            &one.sealed[..one.sealed.len() - 4],
            format!("AAAA{}", &one.sealed[4..]),
        );
        for wrong in ["", "A", cut, &changed] {
            assert_eq!(unseal(offered, wrong), None, "{wrong}");
        }
        for wrong in ["", "ticket", &offered[1..], &format!("{offered}A")] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        assert!(!format!("{one:?}").contains(offered));
    }

    #[test]
    fn a_user_with_many_tickets_evicts_none_of_others() {
        let tickets = Tickets::default();
        let (alice, _alice) = admitted("alice");
        let (bob, _bob) = admitted("bob");
        let his = tickets.issue(&bob).unwrap();
        let hers: Vec<_> = (0..=A_USER)
            .map(|_| tickets.issue(&alice).unwrap())
            .collect();
        assert_eq!(tickets.0.lock().len(), A_USER + 1);
        assert!(tickets.redeem(hers[0].reveal()).is_none());
        assert!(tickets.redeem(hers[A_USER].reveal()).is_some());
        assert!(tickets.redeem(his.reveal()).is_some());
        // Those of many users.
        let until = Instant::now() + LIFE;
        let mut open = tickets.0.lock();
        for number in open.len()..ALL {
            let user = number.to_string();
            let other = OpenTicket {
                admitted: admitted(&user).0,
                until,
            };
            open.insert(digest(user.as_bytes()), other);
        }
        drop(open);
        for number in 0..10 {
            let user = format!("late {number}");
            tickets.issue(&admitted(&user).0).unwrap();
        }
        assert_eq!(tickets.0.lock().len(), ALL);
    }

    #[test]
    fn a_ticket_counts_only_where_a_websocket_is_opened() {
        let offers =
            |method: &str, query: &str, upgrade: &[&str], protocol: Option<&'static str>| {
                let mut request = Request::builder()
                    .method(method)
                    .uri(format!("/acp{query}"));
                for upgrade in upgrade {
                    request = request.header("upgrade", *upgrade);
                }
                let mut head = request.body(()).unwrap().into_parts().0;
                if let Some(protocol) = protocol {
                    head.extensions.insert(Protocol::from_static(protocol));
                }
                offered(&head).map(str::to_owned)
            };
        let is = |ticket: &str| Some(ticket.to_owned());
        assert_eq!(offers("GET", "?ticket=t", &["websocket"], None), is("t"));
        assert_eq!(
            offers("GET", "?a=b&ticket=t&c", &["h2c, WebSocket"], None),
            is("t")
        );
        assert_eq!(
            offers("CONNECT", "?ticket=t", &[], Some("websocket")),
            is("t")
        );
        assert_eq!(offers("GET", "?ticket=", &["websocket"], None), is(""));
        assert_eq!(
            offers("GET", "?ticket=t&ticket=t", &["websocket"], None),
            is("")
        );
        assert_eq!(offers("GET", "?xticket=t", &["websocket"], None), None);
        assert_eq!(offers("GET", "", &["websocket"], None), None);
        assert_eq!(offers("GET", "?ticket=t", &[], None), None);
        assert_eq!(offers("GET", "?ticket=t", &["h2c"], None), None);
        assert_eq!(offers("POST", "?ticket=t", &["websocket"], None), None);
        assert_eq!(
            offers("CONNECT", "?ticket=t", &["websocket"], Some("webtransport")),
            None
        );
    }
}
