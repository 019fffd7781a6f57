//! Callers whose requests stand alone, at a provider that is connected to.
//!
//! They share one connection, which is made when the first of them asks, and stays. On it the
//! provider's MCP server is asked with `server/discover` what it speaks. If that is 2026-07-28, what
//! the callers say passes. Any other answer means that it is legacy. A caller that can fall back to
//! `initialize` gets that answer, since it has more of the server by then; if all can, the connection
//! is closed again. For others the seat says `initialize` (2025-11-25), and adapts:
//!
//! - `server/discover` is answered with what `initialize` gave;
//! - the keys of 2026-07-28 are taken out of the `_meta` of requests, and what it requires is put into
//!   results: `resultType`, and `ttlMs` 0 and `cacheScope` "private" where they may be kept;
//! - `subscriptions/listen` is answered here, for the lists whose changes the provider tells.
//!
//! Either way a provider gets progress tokens of the seat's, since those of two callers may be equal.
//!
//! What it cannot do for a legacy provider:
//!
//! - The provider asks nothing: nothing tells to which call a `sampling/createMessage`,
//!   `elicitation/create` or `roots/list` belongs, and a caller that has to come again with what it was
//!   asked for may never come. The seat declares no capabilities, and answers with -32601 (`ping` with
//!   `{}`).
//! - Resources cannot be subscribed to, and there is no log: neither names a call. Tasks are not
//!   those of 2026-07-28.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{CallerRequest, ConnectedProvider, Open, Owner, Waits, envelope};
use crate::protocol::{self, LISTS, Version, invalid, key, no_method, quoted, with, with_meta};
use crate::seat::{Asked, Caller, Output};
use acp_chain_rpc::{Error, Id, Kind, Message, member, resolve};

/// What is known of a legacy provider.
#[derive(Debug)]
pub(super) struct Legacy {
    /// The answer to `server/discover`.
    discovered: String,
    /// Of which [`LISTS`] it tells that they have changed.
    offers: [bool; 3],
    listeners: BTreeMap<Asked, Listener>,
}

/// An open `subscriptions/listen`.
#[derive(Debug)]
struct Listener {
    caller: Caller,
    id: Id,
    wants: [bool; 3],
}

impl Legacy {
    fn new(initialized: &str) -> Self {
        let capabilities = member(initialized, "capabilities").unwrap_or("{}");
        let offers = LISTS.map(|(of, _, _)| {
            let offered = resolve(capabilities, &format!("/{of}/listChanged"));
            offered == Ok(Some("true"))
        });
        // What has no place in the new version, or none without a connection.
        let mut capabilities = capabilities.to_owned();
        for gone in ["/resources/subscribe", "/logging", "/tasks"] {
            capabilities = with(&capabilities, gone, None);
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

    pub fn asks(&self) -> impl Iterator<Item = Asked> {
        self.listeners.keys().copied()
    }

    /// Ends a subscription, with its result.
    pub fn forget(&mut self, ask: Asked) -> Option<String> {
        let listener = self.listeners.remove(&ask)?;
        Some(protocol::listened(&listener.id))
    }

    /// Opens a subscription, and acknowledges it.
    fn listen(&mut self, said: &CallerRequest) -> Result<Output, Error> {
        let filter = said
            .params
            .as_deref()
            .and_then(|params| member(params, "notifications"));
        let Some(filter) = filter.filter(|filter| protocol::is_object(filter)) else {
            return Err(invalid("subscriptions/listen lacks `notifications`"));
        };
        let Some(id) = said.id.clone() else {
            return Err(invalid(
                "the id of subscriptions/listen is none or too long",
            ));
        };
        let (mut wants, mut accepted) = ([false; 3], String::from("{}"));
        for (at, (_, name, _)) in LISTS.into_iter().enumerate() {
            wants[at] = self.offers[at] && member(filter, name) == Some("true");
            if wants[at] {
                accepted = with(&accepted, &format!("/{name}"), Some("true"));
            }
        }
        let (key, text) = (key::SUBSCRIPTION, id.as_str());
        let params = format!(r#"{{"_meta":{{"{key}":{text}}},"notifications":{accepted}}}"#);
        let caller = said.caller.clone();
        let listener = Listener {
            caller: caller.clone(),
            id,
            wants,
        };
        self.listeners.insert(said.ask, listener);
        Ok(Output::TellCaller {
            caller,
            method: protocol::ACKNOWLEDGED.to_owned(),
            params: Some(params),
            meta: None,
        })
    }
}

impl ConnectedProvider {
    /// Asks on the seat's own connection what the provider speaks.
    pub(super) fn probe(&mut self, out: &mut Vec<Output>) {
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
        self.ask_own(Open::Probe, "server/discover", &params, out);
    }

    pub(super) fn probed(&mut self, outcome: &Message, out: &mut Vec<Output>) {
        let versions = member(outcome.body(), "supportedVersions");
        let versions: Option<Vec<String>> =
            versions.and_then(|versions| serde_json::from_str(versions).ok());
        let stateless = Version::Stateless.as_str();
        if outcome.kind() == Kind::Result
            && versions.is_some_and(|versions| versions.iter().any(|version| version == stateless))
        {
            return self.open(Owner::Own, out);
        }
        let refusal = refusal(outcome);
        let Some(link) = self.links.get_mut(&Owner::Own) else {
            return;
        };
        let waiting = std::mem::take(&mut link.waiting).into_iter();
        let (refused, waiting): (Vec<_>, Vec<_>) = waiting.partition(Waits::falls_back);
        link.waiting = waiting.into();
        let nobody_waits = link.waiting.is_empty();
        out.extend(
            refused
                .iter()
                .filter_map(Waits::ask)
                .map(|ask| protocol::answer(ask, refusal.clone())),
        );
        if nobody_waits {
            return self.fail(Owner::Own, &refusal, out);
        }
        let software = self.first_meta(&[key::CLIENT_INFO]).pop();
        let software = software.map_or_else(
            || {
                format!(
                    r#"{{"name":"acp-chain","version":"{}"}}"#,
                    env!("CARGO_PKG_VERSION")
                )
            },
            |(_, software)| software,
        );
        let version = Version::V2025November.as_str();
        let params = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{software}}}"#
        );
        self.ask_own(Open::Initialize, "initialize", &params, out);
    }

    pub(super) fn initialized(&mut self, outcome: &Message, out: &mut Vec<Output>) {
        if outcome.kind() != Kind::Result {
            return self.fail(Owner::Own, outcome, out);
        }
        if outcome.body().len() > protocol::MAX_SAID {
            let text = format!(
                "The provider of the MCP server {:?} answered initialize with more than {} KiB",
                self.name,
                protocol::MAX_SAID / 1024
            );
            let error = Error::new(protocol::code::BACKEND, text);
            return self.fail(Owner::Own, &Message::error(&error), out);
        }
        if let Some(link) = self.links.get_mut(&Owner::Own) {
            link.legacy = Some(Legacy::new(outcome.body()));
        }
        self.tell(Owner::Own, "notifications/initialized", [None, None], out);
        self.open(Owner::Own, out);
    }

    /// What the first caller that waits says of itself under these keys.
    fn first_meta<'k>(&self, keys: &[&'k str]) -> Vec<(&'k str, String)> {
        let link = self.links.get(&Owner::Own);
        let said = link.and_then(|link| link.requests().next());
        let params = said.and_then(|said| said.params.as_deref());
        let value = |key: &&'k str| Some((*key, protocol::meta(params, key)?.to_owned()));
        keys.iter().filter_map(value).collect()
    }

    fn ask_own(&mut self, open: Open, method: &str, params: &str, out: &mut Vec<Output>) {
        let link = self.links.get(&Owner::Own);
        let Some(theirs) = link.and_then(|link| link.theirs.clone()) else {
            return;
        };
        let question = self.ask(open);
        out.push(Output::AskProvider {
            question,
            method: "mcp/message",
            params: envelope(&theirs, method, Some(params), None),
        });
    }

    /// Turns a request that stands alone into one for a legacy provider, or answers it.
    pub(super) fn adapt<'a>(
        &mut self,
        place: Owner,
        said: CallerRequest<'a>,
        out: &mut Vec<Output>,
    ) -> Option<CallerRequest<'a>> {
        let link = self.links.get_mut(&place)?;
        let Some(legacy) = &mut link.legacy else {
            return Some(said);
        };
        let ask = said.ask;
        if let Err(error) = protocol::stands_alone(said.params.as_deref()) {
            out.push(protocol::failed(ask, &error));
            return None;
        }
        if said.falls_back {
            out.push(protocol::failed(ask, &no_method(&said.method)));
            return None;
        }
        match &*said.method {
            "server/discover" => out.push(protocol::result(ask, &legacy.discovered)),
            "subscriptions/listen" => out.push(match legacy.listen(&said) {
                Ok(acknowledged) => acknowledged,
                Err(error) => protocol::failed(ask, &error),
            }),
            // Of a connection, and so unknown to whoever has none.
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe" => {
                out.push(protocol::failed(ask, &no_method(&said.method)));
            }
            _ => {
                let mut params = said.params.map_or_else(|| "{}".to_owned(), Cow::into_owned);
                let known = [
                    key::VERSION,
                    key::CLIENT_INFO,
                    key::CAPABILITIES,
                    key::LOG_LEVEL,
                ];
                for key in known {
                    params = with_meta(Some(&params), key, None);
                }
                return Some(CallerRequest {
                    params: Some(params.into()),
                    ..said
                });
            }
        }
        None
    }

    /// Passes on what the provider says on the seat's own connection, if it can be told to whom.
    pub(super) fn own_told(
        &mut self,
        method: String,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let mut tell = |caller: &Caller, params: Option<String>| {
            out.push(Output::TellCaller {
                caller: caller.clone(),
                method: method.clone(),
                params,
                meta: None,
            });
        };
        if method == "notifications/progress" {
            let question = params.and_then(|params| member(params, "progressToken"));
            let question = question.and_then(|text| text.parse().ok());
            let open = question.and_then(|question: u64| self.questions.get(&question));
            let Some(Open::Caller(relayed)) = open else {
                return Err(invalid("it is about no open request"));
            };
            let token = relayed.token.as_ref().filter(|_| !relayed.withdrawn);
            let Some((token, params)) = token.zip(params) else {
                return Err(invalid("nobody asked for progress"));
            };
            let params = with(params, "/progressToken", Some(token.as_str()));
            tell(&relayed.caller, Some(params));
            return Ok(());
        }
        let link = self.links.get(&Owner::Own);
        if let Some(legacy) = link.and_then(|link| link.legacy.as_ref()) {
            let Some(list) = LISTS.iter().position(|(_, _, name)| *name == method) else {
                return Err(whose(&method));
            };
            for listener in legacy
                .listeners
                .values()
                .filter(|listener| listener.wants[list])
            {
                let id = Some(listener.id.as_str());
                tell(
                    &listener.caller,
                    Some(with_meta(params, key::SUBSCRIPTION, id)),
                );
            }
            return Ok(());
        }
        let mut calls = self.questions.values().filter_map(|open| match open {
            Open::Caller(relayed) if relayed.place == Owner::Own && !relayed.listens => {
                Some(relayed)
            }
            _ => None,
        });
        // A log is of a call, though it does not say of which.
        match (calls.next(), calls.next()) {
            (Some(call), None) if call.withdrawn => {}
            (Some(call), None) => tell(&call.caller, params.map(str::to_owned)),
            _ => return Err(whose(&method)),
        }
        Ok(())
    }
}

/// What a caller hears of a provider that answered `server/discover` so, and is legacy.
fn refusal(outcome: &Message) -> Message {
    match outcome.kind() {
        Kind::Error => outcome.clone(),
        _ => Message::error(&no_method("server/discover")),
    }
}

fn whose(method: &str) -> Error {
    let method = protocol::clipped(method);
    invalid(format!("nothing tells to whom {method:?} belongs"))
}

/// What a legacy provider answered, as 2026-07-28 has it.
pub(super) fn adapted(outcome: Message, cacheable: bool) -> Message {
    let body = outcome.body();
    if outcome.kind() != Kind::Result {
        // This code is gone.
        let gone = protocol::code::RESOURCE_NOT_FOUND.to_string();
        if member(body, "code") == Some(&gone)
            && let Ok(mut error) = serde_json::from_str::<Error>(body)
        {
            error.code = protocol::code::INVALID_PARAMS;
            return Message::error(&error);
        }
        return outcome;
    }
    if !protocol::is_object(body) {
        return outcome;
    }
    let mut result = with(body, "/resultType", Some(r#""complete""#));
    if cacheable {
        for (name, value) in [("ttlMs", "0"), ("cacheScope", r#""private""#)] {
            if member(body, name).is_none() {
                result = with(&result, &format!("/{name}"), Some(value));
            }
        }
    }
    Message::result(&result)
}
