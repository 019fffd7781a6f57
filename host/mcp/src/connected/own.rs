//! Callers whose requests stand alone, at a provider with connections.
//!
//! They share one connection, which is opened for the first request, and stays open. On it, the seat sends
//! `server/discover`. If the provider's MCP server supports 2026-07-28, the callers' requests pass. After any other
//! answer, the provider is treated as legacy. A caller that can fall back to `initialize` gets this answer, as it can
//! use more of the server after `initialize`; if all callers can, the connection is closed again. For other callers the
//! seat sends `initialize` (2025-11-25), and adapts:
//!
//! - `server/discover` is answered from the result of `initialize`;
//! - the keys of 2026-07-28 are removed from the `_meta` of requests, and its required members are added to results:
//!   `resultType`, and for cacheable results `ttlMs` 0 and `cacheScope` "private";
//! - `subscriptions/listen` is answered by the seat, for the lists whose changes the provider reports.
//!
//! In both cases the provider gets progress tokens of the seat, as the tokens of two callers may be equal.
//!
//! Limits for a legacy provider:
//!
//! - The provider cannot send requests: a `sampling/createMessage`, `elicitation/create` or `roots/list` does not name
//!   its call, and the caller might never retry the call with the answer. The seat declares no capabilities, and
//!   answers with -32601 (`ping` with `{}`).
//! - There are no subscriptions to resources, and no log messages: neither names a call. Tasks are not supported: they
//!   differ from those of 2026-07-28.

use std::collections::BTreeMap;

use super::{CallerRequest, ConnectedProvider, Open, Owner, Waits};
use crate::Asked;
use crate::listening::Listener;
use crate::protocol::{self, LISTS, Version, invalid, key, no_method, quoted, with, with_meta};
use crate::seat::Outputs;
use crate::versions;
use crate::wire::{self, Said};
use acp_chain_rpc::{Error, Kind, Message, member, resolve};

/// The keys in the `_meta` of requests that 2026-07-28 added.
const OF_STATELESS: [&str; 4] = [
    key::VERSION,
    key::CLIENT_INFO,
    key::CAPABILITIES,
    key::LOG_LEVEL,
];

/// The state of a legacy provider.
#[derive(Debug)]
pub(super) struct Legacy {
    /// The answer to `server/discover`.
    discovered: String,
    /// Whether the provider reports changes, for each of [`LISTS`].
    offers: [bool; 3],
    listeners: BTreeMap<Asked, Listener>,
}

impl Legacy {
    fn new(initialized: &str) -> Self {
        let capabilities = member(initialized, "capabilities").unwrap_or("{}");
        let offers = LISTS.map(|(of, _, _)| {
            let offered = resolve(capabilities, &format!("/{of}/listChanged"));
            offered == Ok(Some("true"))
        });
        // These do not exist in 2026-07-28, or need a connection.
        let mut capabilities = capabilities.to_owned();
        for unsupported in ["/resources/subscribe", "/logging", "/tasks"] {
            capabilities = with(&capabilities, unsupported, None);
        }
        let version = quoted(Version::Stateless.as_str());
        let mut discovered = format!(
            r#"{{"supportedVersions":[{version}],"capabilities":{capabilities},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#
        );
        if let Some(instructions) = member(initialized, "instructions") {
            discovered = with(&discovered, "/instructions", Some(instructions));
        }
        if let Some(software) = member(initialized, "serverInfo") {
            discovered = with_meta(Some(&discovered), key::SERVER_INFO, Some(software));
        }
        Self {
            discovered,
            offers,
            listeners: BTreeMap::new(),
        }
    }

    /// Answers a request that stands alone, or converts it for the provider. Returns whether to send it to the
    /// provider.
    fn answer(&mut self, request: &mut CallerRequest, out: &mut Outputs) -> Result<bool, Error> {
        let said = &mut request.said;
        protocol::stands_alone(said.params())?;
        if request.falls_back {
            return Err(no_method(&said.method));
        }
        match &*said.method {
            "server/discover" => out.result(request.ask, &self.discovered),
            "subscriptions/listen" => {
                let (caller, id) = (request.caller.clone(), request.id.clone());
                let listener = Listener::read(caller, id, said.params(), self.offers, false)?;
                listener.acknowledge(out);
                self.listeners.insert(request.ask, listener);
            }
            // These methods need a connection.
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe" => return Err(no_method(&said.method)),
            _ => {
                for key in OF_STATELESS {
                    let params = with_meta(said.params(), key, None);
                    said.params = Some(params.into());
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn asks(&self) -> impl Iterator<Item = Asked> {
        self.listeners.keys().copied()
    }

    /// Ends a subscription, with its result.
    pub fn forget(&mut self, ask: Asked) -> Option<String> {
        let listener = self.listeners.remove(&ask)?;
        Some(listener.result())
    }
}

impl ConnectedProvider {
    /// Sends `server/discover` on the seat's own connection.
    pub(super) fn probe(&mut self) {
        let meta = self.first_meta(&[key::CAPABILITIES, key::CLIENT_INFO]);
        let version = quoted(Version::Stateless.as_str());
        let mut params = format!(
            r#"{{"_meta":{{"{}":{version},"{}":{{}}}}}}"#,
            key::VERSION,
            key::CAPABILITIES
        );
        for (key, value) in meta {
            params = with_meta(Some(&params), key, Some(&value));
        }
        self.ask_own(Open::Probe, "server/discover", params);
    }

    pub(super) fn probed(&mut self, outcome: &Message) {
        let is_result = outcome.kind() == Kind::Result;
        if is_result && versions::speaks_stateless(outcome.body()) == Some(true) {
            return self.open(Owner::Own);
        }
        let refusal = refusal(outcome);
        let Some(link) = self.links.get_mut(&Owner::Own) else {
            return;
        };
        let waiting = std::mem::take(&mut link.waiting).into_iter();
        let (refused, waiting): (Vec<_>, Vec<_>) = waiting.partition(|waits| {
            let request = waits.request();
            request.is_some_and(|request| request.falls_back)
        });
        link.waiting = waiting.into();
        let none_waits = link.waiting.is_empty();
        for request in refused.iter().filter_map(Waits::request) {
            self.out.answer(request.ask, refusal.clone());
        }
        if none_waits {
            return self.fail(Owner::Own, &refusal);
        }
        let software = self.first_meta(&[key::CLIENT_INFO]).pop();
        let software =
            software.map_or_else(|| protocol::software("acp-chain"), |(_, software)| software);
        let version = Version::V2025November.as_str();
        let params = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{software}}}"#
        );
        self.ask_own(Open::Initialize, "initialize", params);
    }

    pub(super) fn initialized(&mut self, outcome: &Message) {
        if outcome.kind() != Kind::Result {
            return self.fail(Owner::Own, outcome);
        }
        if outcome.body().len() > protocol::MAX_SAID {
            let text = format!(
                "The provider of the MCP server {:?} answered initialize with more than {} KiB",
                self.name,
                protocol::MAX_SAID / 1024
            );
            let error = Error::new(protocol::code::BACKEND, text);
            return self.fail(Owner::Own, &Message::error(&error));
        }
        if let Some(link) = self.links.get_mut(&Owner::Own) {
            link.legacy = Some(Legacy::new(outcome.body()));
        }
        let initialized = Said::new("notifications/initialized", None);
        self.tell(Owner::Own, &initialized);
        self.open(Owner::Own);
    }

    /// The values of these keys for the first waiting caller.
    fn first_meta<'k>(&self, keys: &[&'k str]) -> Vec<(&'k str, String)> {
        let link = self.links.get(&Owner::Own);
        let first = link.and_then(|link| link.requests().next());
        let params = first.and_then(|request| request.said.params());
        let value = |key: &&'k str| Some((*key, protocol::meta(params, key)?.to_owned()));
        keys.iter().filter_map(value).collect()
    }

    fn ask_own(&mut self, open: Open, method: &str, params: String) {
        let link = self.links.get(&Owner::Own);
        let Some(theirs) = link.and_then(|link| link.theirs.clone()) else {
            return;
        };
        let params = wire::on_connection(theirs.as_str(), &Said::made(method, params));
        let question = self.ask(open);
        self.out.ask_provider(question, "mcp/message", params);
    }

    /// Converts a request that stands alone for a legacy provider, or answers it.
    pub(super) fn adapt<'a>(
        &mut self,
        place: Owner,
        mut request: CallerRequest<'a>,
    ) -> Option<CallerRequest<'a>> {
        let link = self.links.get_mut(&place)?;
        let Some(legacy) = &mut link.legacy else {
            return Some(request);
        };
        let ask = request.ask;
        match legacy.answer(&mut request, &mut self.out) {
            Ok(true) => return Some(request),
            Ok(false) => {}
            Err(error) => self.out.fail(ask, &error),
        }
        None
    }

    /// Passes on the provider's notification on the seat's own connection, if its recipient is known.
    pub(super) fn own_notification(&mut self, mut said: Said<'static>) -> Result<(), Error> {
        said.meta = None;
        if said.method == "notifications/progress" {
            let question = said
                .params()
                .and_then(|params| member(params, "progressToken"));
            let question = question.and_then(|text| text.parse().ok());
            let open = question.and_then(|question: u64| self.questions.get(&question));
            let Some(Open::Caller(relayed)) = open else {
                return Err(invalid("it names no open request"));
            };
            let token = relayed.token.as_ref().filter(|_| !relayed.withdrawn);
            let Some((token, params)) = token.zip(said.params()) else {
                return Err(invalid("no progress was requested"));
            };
            let params = with(params, "/progressToken", Some(token.as_str()));
            said.params = Some(params.into());
            self.out.tell_caller(relayed.caller.clone(), said);
            return Ok(());
        }
        let link = self.links.get(&Owner::Own);
        if let Some(legacy) = link.and_then(|link| link.legacy.as_ref()) {
            let Some(list) = LISTS.iter().position(|(_, _, name)| *name == said.method) else {
                return Err(unassigned(&said.method));
            };
            let listeners = legacy.listeners.values();
            for listener in listeners.filter(|listener| listener.filter.lists[list]) {
                listener.tell(&said.method, said.params(), &mut self.out);
            }
            return Ok(());
        }
        let mut calls = self.questions.values().filter_map(|open| match open {
            Open::Caller(relayed) if relayed.place == Owner::Own && !relayed.listens => {
                Some(relayed)
            }
            _ => None,
        });
        // A log message belongs to a call, but does not name it.
        match (calls.next(), calls.next()) {
            (Some(call), None) if call.withdrawn => {}
            (Some(call), None) => self.out.tell_caller(call.caller.clone(), said),
            _ => return Err(unassigned(&said.method)),
        }
        Ok(())
    }
}

/// The answer for a caller, from a legacy provider's answer to `server/discover`.
fn refusal(outcome: &Message) -> Message {
    match outcome.kind() {
        Kind::Error => outcome.clone(),
        _ => Message::error(&no_method("server/discover")),
    }
}

fn unassigned(method: &str) -> Error {
    let method = protocol::clipped(method);
    invalid(format!("{method:?} does not name its call"))
}

/// A legacy provider's answer, in the form of 2026-07-28.
pub(super) fn adapted(outcome: Message, cacheable: bool) -> Message {
    match outcome.kind() {
        Kind::Result if protocol::is_object(outcome.body()) => {
            Message::result(&versions::newer(outcome.body(), cacheable))
        }
        Kind::Result => outcome,
        _ => versions::newer_error(outcome),
    }
}
