//! Callers whose requests stand alone, at a provider with connections.
//!
//! They share one connection, which is opened for the first request, and stays open. On it, the seat sends
//! `server/discover`. If the provider's MCP server supports 2026-07-28, the callers' requests pass. After any other
//! answer, the provider is treated as legacy. A caller that can fall back to `initialize` gets this answer, as it can
//! use more of the server after `initialize`; if all callers can, the connection is closed again. For other callers the
//! seat sends `initialize` (2025-11-25), and translates as `server` says. It answers `subscriptions/listen` itself, for
//! the lists whose changes the provider reports.
//!
//! In both cases the provider gets progress tokens of the seat, as the tokens of two callers may be equal.
//!
//! Limit: a legacy provider cannot send requests. A `sampling/createMessage`, `elicitation/create` or `roots/list` does
//! not name its call, and the caller might never retry the call with the answer. The seat declares no capabilities, and
//! answers with -32601 (`ping` with `{}`).

use super::server::{LegacyServer, discover, initialize};
use super::{CallerRequest, ConnectedProvider, LISTEN, Open, Owner};
use crate::edge::Request;
use crate::listening::{Filter, Listener};
use crate::protocol::{self, LISTS, Version, invalid, key, no_method, with};
use crate::seat::Outputs;
use crate::versions;
use crate::wire::McpMessage;
use acp_chain_rpc::{Error, Kind, Message, member};

impl LegacyServer {
    /// Answers a request that stands alone, or translates it for the provider. Returns whether to send it to the
    /// provider.
    fn serve(&mut self, request: &mut CallerRequest, out: &mut Outputs) -> Result<bool, Error> {
        let said = &mut request.said;
        protocol::stands_alone(said.params())?;
        if request.falls_back {
            return Err(no_method(said.method()));
        }
        match said.method() {
            "server/discover" => out.result(request.ask, &self.discovered),
            LISTEN => {
                let listens = Request::of(request, Version::Stateless);
                let (params, lists) = (request.said.params(), self.lists);
                let listener = Listener::read(listens, params, lists, false)?;
                self.listeners.add(listener, None, out);
            }
            _ => return Self::request(said).map(|()| true),
        }
        Ok(false)
    }
}

impl ConnectedProvider {
    /// Sends `server/discover` on the seat's own connection.
    pub(super) fn probe(&mut self) {
        let capabilities = self.first_meta(key::CAPABILITIES);
        let software = self.first_meta(key::CLIENT_INFO);
        let params = discover(capabilities.as_deref(), software.as_deref());
        let discover = McpMessage::new("server/discover", &params);
        self.ask_on(Owner::Own, Open::Probe, &discover);
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
        let (refused, waiting): (Vec<_>, Vec<_>) = waiting.partition(|(waits, _)| {
            let request = waits.request();
            request.is_some_and(|request| request.falls_back)
        });
        link.waiting = waiting.into();
        let none_waits = link.waiting.is_empty();
        for request in refused.iter().filter_map(|(waits, _)| waits.request()) {
            self.out.answer(request.ask, refusal.clone());
        }
        if none_waits {
            return self.fail(Owner::Own, &refusal);
        }
        let params = initialize(self.first_meta(key::CLIENT_INFO));
        let initialize = McpMessage::new("initialize", &params);
        self.ask_on(Owner::Own, Open::Initialize, &initialize);
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
            link.legacy = Some(LegacyServer::new(outcome.body()));
        }
        let initialized = McpMessage::new("notifications/initialized", "null");
        self.tell(Owner::Own, &initialized);
        self.open(Owner::Own);
    }

    /// The value of this key for the first waiting caller.
    fn first_meta(&self, key: &str) -> Option<String> {
        let link = self.links.get(&Owner::Own)?;
        let first = link.requests().next()?;
        protocol::meta(first.said.params(), key).map(str::to_owned)
    }

    /// Translates a request that stands alone for a legacy provider, or answers it.
    pub(super) fn adapt(
        &mut self,
        place: Owner,
        mut request: CallerRequest,
    ) -> Option<CallerRequest> {
        let link = self.links.get_mut(&place)?;
        let Some(legacy) = &mut link.legacy else {
            return Some(request);
        };
        let ask = request.ask;
        match legacy.serve(&mut request, &mut self.out) {
            Ok(true) => return Some(request),
            Ok(false) => {}
            Err(error) => self.out.fail(ask, &error),
        }
        None
    }

    /// Passes on the provider's notification on the seat's own connection, if its recipient is known.
    pub(super) fn own_notification(&mut self, mut said: McpMessage) -> Result<(), Error> {
        said.meta = None;
        if said.method() == "notifications/progress" {
            let question = member(said.params(), "progressToken");
            let question = question.and_then(|text| text.parse().ok());
            let open = question.and_then(|question: u64| self.questions.get(&question));
            let Some(Open::Caller(relayed)) = open else {
                return Err(invalid("it names no open request"));
            };
            let token = relayed.token.as_ref().filter(|_| !relayed.withdrawn);
            let token = token.ok_or_else(|| invalid("no progress was requested"))?;
            said.set_params(&with(said.params(), "/progressToken", Some(token.as_str())));
            relayed.tell(said, &mut self.out);
            return Ok(());
        }
        let link = self.links.get(&Owner::Own);
        if let Some(legacy) = link.and_then(|link| link.legacy.as_ref()) {
            let mut lists = LISTS.into_iter();
            let list = lists.find(|list| protocol::list_changed(*list) == said.method());
            let list = list.ok_or_else(|| unassigned(said.method()))?;
            let is_wanted = |filter: &Filter| filter.lists.has(list);
            let (method, params) = (said.method(), said.params());
            let listeners = &legacy.listeners;
            listeners.tell(method, params, is_wanted, &mut self.out);
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
            (Some(call), None) => call.tell(said, &mut self.out),
            _ => return Err(unassigned(said.method())),
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
