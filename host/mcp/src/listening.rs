//! `subscriptions/listen` of MCP 2026-07-28, for seats that send or answer it.

use std::collections::BTreeSet;

use serde_json::json;

use super::IncomingId;
use super::edge::Request;
use super::protocol::{self, LISTS, code, invalid, is_object, key, object, with_meta};
use super::seat::Outputs;
use super::wire::McpMessage;
use acp_chain_channel::limits::{Charge, LONGEST_URI};
use acp_chain_channel::{Offer, Offers};
use acp_chain_rpc::{Error, member};

/// The notifications that a client subscribes to.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Changes of these lists.
    pub lists: Offers,
    /// Changes of these resources.
    pub resources: Uris,
}

impl Filter {
    /// Reads the filter in a caller's params. Unsupported lists and resources are left out.
    fn read(params: &str, lists: Offers, has_resources: bool) -> Result<Self, Error> {
        let filter = member(params, "notifications");
        let Some(filter) = filter.filter(|filter| is_object(filter)) else {
            return Err(invalid("subscriptions/listen lacks `notifications`"));
        };
        let is_wanted = |list: &Offer| member(filter, &in_filter(*list)) == Some("true");
        let lists = LISTS.into_iter().filter(|list| lists.has(*list));
        let mut wanted = Self {
            lists: lists.filter(is_wanted).collect(),
            resources: Uris::default(),
        };
        let named = member(filter, "resourceSubscriptions").filter(|named| *named != "null");
        if let Some(named) = named.filter(|_| has_resources) {
            let named: Vec<String> = serde_json::from_str(named)
                .map_err(|_| invalid("resourceSubscriptions is not an array of strings"))?;
            for uri in named {
                wanted.resources.add(&uri)?;
            }
        }
        Ok(wanted)
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.resources.is_empty()
    }

    /// The filter as in MCP's `notifications`.
    pub fn to_json(&self) -> String {
        let resources = (!self.resources.is_empty()).then(|| self.resources.to_json());
        let lists = LISTS.into_iter().filter(|list| self.lists.has(*list));
        let lists: Vec<_> = lists.map(in_filter).collect();
        let lists = lists.iter().map(|name| (&**name, Some("true")));
        let resources = ("resourceSubscriptions", resources.as_deref());
        object(&lists.chain([resources]).collect::<Vec<_>>())
    }
}

/// The member of the filter for changes of a list.
fn in_filter(list: Offer) -> String {
    format!("{}ListChanged", list.as_str())
}

/// An open `subscriptions/listen` of a caller that the seat answers.
#[derive(Debug)]
pub struct Listener {
    /// Its id is the subscription id; `None` if it is the edge's own subscription.
    pub request: Request,
    pub filter: Filter,
}

impl Listener {
    /// Reads a caller's request. Unsupported lists and resources are left out of the filter.
    pub fn read(
        request: Request,
        params: &str,
        lists: Offers,
        has_resources: bool,
    ) -> Result<Self, Error> {
        let filter = Filter::read(params, lists, has_resources)?;
        if request.id.is_none() {
            return Err(invalid(
                "the id of subscriptions/listen is none or too long",
            ));
        }
        Ok(Self { request, filter })
    }

    /// Sends the caller a notification.
    fn tell(&self, method: &str, params: &str, out: &mut Outputs) {
        let Request { ask, caller, .. } = &self.request;
        out.tell_caller(caller.clone(), Some(*ask), McpMessage::new(method, params));
    }

    /// The `_meta` with the subscription id.
    fn meta(&self) -> Option<String> {
        let id = self.request.id.as_ref()?.as_str();
        Some(object(&[(key::SUBSCRIPTION, Some(id))]))
    }
}

/// The open subscriptions that a seat answers.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Each with the charge for its filter.
    pub all: Vec<(Listener, Option<Charge>)>,
}

impl Listeners {
    /// Begins a subscription: sends the caller the acknowledgement, with the filter.
    pub fn add(&mut self, listener: Listener, charge: Option<Charge>, out: &mut Outputs) {
        let (meta, filter) = (listener.meta(), listener.filter.to_json());
        let accepted = [
            ("_meta", meta.as_deref()),
            ("notifications", Some(&*filter)),
        ];
        listener.tell(protocol::ACKNOWLEDGED, &object(&accepted), out);
        self.all.push((listener, charge));
    }

    /// The requests that are subscriptions.
    pub fn asks(&self) -> impl Iterator<Item = IncomingId> {
        self.all.iter().map(|(listener, _)| listener.request.ask)
    }

    /// Ends a subscription. Returns its result.
    pub fn end(&mut self, ask: IncomingId) -> Option<String> {
        let at = self.asks().position(|open| open == ask)?;
        let (listener, _) = self.all.remove(at);
        let complete = ("resultType", Some(r#""complete""#));
        let meta = listener.meta();
        Some(object(&[complete, ("_meta", meta.as_deref())]))
    }

    /// Sends a notification to the callers that want it, each with its subscription id.
    pub fn tell(
        &self,
        method: &str,
        params: &str,
        is_wanted: impl Fn(&Filter) -> bool,
        out: &mut Outputs,
    ) {
        for (listener, _) in self.all.iter().filter(|(of, _)| is_wanted(&of.filter)) {
            match &listener.request.id {
                Some(id) => {
                    let params = with_meta(params, key::SUBSCRIPTION, Some(id.as_str()));
                    listener.tell(method, &params, out);
                }
                None => listener.tell(method, params, out),
            }
        }
    }
}

/// The maximum number of URIs.
const MAX_URIS: usize = 1024;

/// The maximum total length, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The URIs of the resources that a client subscribes to, limited in number and length.
#[derive(Clone, Debug, Default)]
pub struct Uris {
    uris: BTreeSet<String>,
    /// The total length, in bytes.
    length: usize,
}

/// An error if a URI is longer than [`LONGEST_URI`].
pub fn check_uri(uri: &str) -> Result<(), Error> {
    if uri.len() <= LONGEST_URI {
        Ok(())
    } else {
        Err(invalid(format!(
            "the uri is longer than {LONGEST_URI} bytes"
        )))
    }
}

impl Uris {
    /// Returns whether the URI is new.
    pub fn add(&mut self, uri: &str) -> Result<bool, Error> {
        check_uri(uri)?;
        if self.uris.contains(uri) {
            return Ok(false);
        }
        if self.uris.len() >= MAX_URIS || self.length + uri.len() > MAX_BYTES {
            let most = MAX_BYTES / 1024;
            let text = format!(
                "A client may subscribe to {MAX_URIS} resources, with URIs of {most} KiB in all"
            );
            return Err(Error::new(code::LIMIT, text));
        }
        self.length += uri.len();
        Ok(self.uris.insert(uri.to_owned()))
    }

    /// Returns whether the URI was present.
    pub fn remove(&mut self, uri: &str) -> bool {
        let removed = self.uris.remove(uri);
        if removed {
            self.length -= uri.len();
        }
        removed
    }

    pub fn has(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    pub fn is_empty(&self) -> bool {
        self.uris.is_empty()
    }

    /// The size in bytes.
    pub fn weight(&self) -> usize {
        self.length
    }

    /// The URIs as a JSON array.
    pub fn to_json(&self) -> String {
        json!(self.uris).to_string()
    }
}
