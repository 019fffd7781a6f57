//! The MCP server that the host runs for a component with tools, resources, prompts or completion.
//!
//! It speaks MCP 2026-07-28; `edge` translates clients of older versions.
//!
//! Invariants beside those of every [seat](super::seat): a cancelled request is also answered, once; clients receive
//! only checked items and results, and components only checked calls.
//!
//! - The component's lists are requested when a client first needs them, and kept until the component reports a change,
//!   see `list.rs`.
//! - Invalid items are left out of a list, and the reason is reported to the user.
//! - If a list is malformed, or the component returns an error, requests that need the list fail with -32603, which
//!   names the proxy and the problem; the next request retries. `initialize` and `server/discover` then lack
//!   `instructions`.
//! - Arguments that do not match the `inputSchema` cause a tool result with `isError` from 2025-11-25 on (SEP-1303),
//!   and the error -32602 before. Arguments are not checked against schemas that are recursive, refer to other
//!   documents, are large, or have regular expressions with look-around. Large arguments are not checked either; the
//!   limit depends on the schema, see `acp_chain_schema`.
//! - A result that MCP does not allow for the call, or that does not match the `outputSchema`, becomes the error
//!   -32603.
//! - Any resource can be read and subscribed to, listed or not: the host cannot know which exist.
//! - For the component's requests to the client during a call, see `asks.rs`.
//! - Progress is sent to callers that gave a token, as long as it increases.
//! - Requests past [`OPEN`](protocol::OPEN) open ones fail with -33000, and so do requests that are too large together:
//!   to keep while the component lists, or to check and answer afterwards.
//!
//! Not offered: `logging/setLevel`, tasks.

mod answers;
mod asks;
mod calls;
mod catalog;
pub mod channel;
mod items;
mod list;
mod mirrors;
mod operation;
mod outcome;
mod subscriptions;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::calls::Call;
pub use self::catalog::Catalog;
use self::channel::{FromComponent, ToComponent};
use self::list::List;
use self::operation::Operation;
use super::edge::{CallerEdge, Client, Provider, Request};
use super::listening::{Listener, Listeners};
use super::param_headers::ParamHeaders;
use super::protocol::{self, KEPT, LISTS, Version, no_method};
use super::seat::{Caller, Output, Outputs};
use super::wire::McpMessage;
use super::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_channel::{Offer, Offers};
use acp_chain_rpc::{Error, Kind, Message, member, text_member};

/// The seat of one component.
pub type ComponentProvider = CallerEdge<Component>;

impl ComponentProvider {
    /// The server of the component with this id, which is also the server's name, and these offers. What it keeps is
    /// charged to `kept` and its parts.
    pub fn new(name: &str, offers: Offers, kept: &Account) -> Self {
        let lists = LISTS.into_iter().filter(|offer| offers.has(*offer));
        let component = Component {
            name: name.to_owned(),
            offers,
            lists: lists.map(|offer| (offer, List::default())).collect(),
            waiting: Vec::new(),
            calls: BTreeMap::new(),
            listeners: Listeners::default(),
            asks: BTreeMap::new(),
            kept: kept.clone(),
            waits: kept.part(KEPT),
            subscribed: kept.part(KEPT),
        };
        Self::of(component, kept)
    }
}

/// The server of one component.
#[derive(Debug)]
pub struct Component {
    name: String,
    offers: Offers,
    lists: BTreeMap<Offer, List>,
    waiting: Vec<WaitingRequest>,
    calls: BTreeMap<OutgoingId, Call>,
    listeners: Listeners,
    /// The component's requests to clients.
    asks: BTreeMap<IncomingId, asks::Open>,
    /// The account of the lists.
    kept: Account,
    /// The account of what waits for lists, and for clients that retry calls.
    waits: Account,
    /// The account of subscriptions.
    subscribed: Account,
}

/// A request that needs a list.
#[derive(Debug)]
struct WaitingRequest {
    request: Request,
    operation: Operation,
    list: Offer,
    /// The charge for what it keeps.
    charge: Charge,
}

impl Provider for Component {
    const IS_HOST: bool = true;

    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> usize {
        self.waiting.len() + self.calls.len() + self.listeners.all.len()
    }

    fn check_headers(&self, params: &str, headers: &ParamHeaders) -> Result<(), Error> {
        let tools = self.lists.get(&Offer::Tools).and_then(List::catalog);
        // Before the tools are listed, no client can know of annotations.
        let Some(tools) = tools.map(|catalog| &catalog.tools) else {
            return Ok(());
        };
        let name = text_member(params, "name").unwrap_or_default();
        let Some(tool) = tools.get(&name) else {
            return Ok(());
        };
        let arguments = member(params, "arguments").unwrap_or("{}");
        mirrors::check(&tool.mirrors, arguments, headers)
            .map_err(|reason| Error::new(protocol::code::HEADER_MISMATCH, reason))
    }

    fn request(
        &mut self,
        request: Request,
        said: &McpMessage,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let (method, params) = (said.method(), said.params());
        protocol::stands_alone(params)?;
        if Offer::of(method).is_some()
            && request.version == Version::Stateless
            && let Some(state) = text_member(params, "requestState")
        {
            return self.resume(request, method, params, &state, out);
        }
        let operation = match method {
            "server/discover" => Operation::Discover(Vec::new()),
            "subscriptions/listen" => return self.subscribe(request, params, out),
            _ => {
                let offered = Offer::of(method).filter(|offer| self.offers.has(*offer));
                offered.ok_or_else(|| no_method(method))?;
                let operation = Operation::read(method, params, request.version)?;
                operation.ok_or_else(|| no_method(method))?
            }
        };
        self.begin(request, operation, out)
    }

    fn listen(&mut self, request: Request, client: &Client, out: &mut Outputs) {
        let filter = client.changes.filter.clone();
        let charge = self.subscribed.charge_anyway(filter.resources.weight());
        let listener = Listener { request, filter };
        self.listeners.add(listener, Some(charge), out);
    }

    fn withdraw(&mut self, ask: IncomingId, out: &mut Outputs) {
        let waits = |waiting: &WaitingRequest| waiting.request.ask == ask;
        if let Some(at) = self.waiting.iter().position(waits) {
            self.waiting.remove(at);
            return out.fail(ask, &Error::cancelled());
        }
        if let Some(result) = self.listeners.end(ask) {
            return out.result(ask, &result);
        }
        if self.withdraw_ask(ask, out) {
            return;
        }
        let mut calls = self.calls.iter_mut();
        let is_it = |call: &Call| call.request.ask == ask && call.state.is_none();
        if let Some((question, call)) = calls.find(|(_, call)| is_it(call)) {
            // Progress of a cancelled call has no recipient.
            call.token = None;
            call.withdrawn = true;
            out.withdraw(*question);
        }
    }

    fn disconnected(&mut self, connection: ConnectionId, out: &mut Outputs) {
        let closed = Caller::Connection(connection);
        // A closed connection cannot retry with the answers.
        for (question, call) in &mut self.calls {
            if call.state.is_some() && call.request.caller == closed {
                call.withdrawn = true;
                out.withdraw(*question);
            }
        }
    }

    fn answered(&mut self, question: OutgoingId, outcome: Message, out: &mut Outputs) {
        if let Some(call) = self.calls.remove(&question) {
            self.end_asks(question, out);
            // Until the client retries the call, no request is open to answer.
            if call.state.is_none() {
                self.called(&call, outcome, out);
            }
        } else if !self.client_answered(question, &outcome, out) {
            self.listed(question, &outcome, out);
        }
    }

    fn component(&mut self, says: FromComponent, out: &mut Outputs) {
        match says {
            FromComponent::Changed(change) => self.changed(change, out),
            FromComponent::Asks { call, asks } => self.ask_client(call, asks, out),
            FromComponent::Progress {
                question,
                progress,
                total,
                message,
            } => {
                if let Some(call) = self.calls.get_mut(&question)
                    && let Some(said) = call.progressed(progress, total, message)
                {
                    let Request { ask, caller, .. } = &call.request;
                    out.tell_caller(caller.clone(), Some(*ask), said);
                }
            }
        }
    }
}

impl Component {
    /// Serves a request, at once or when the list that it needs arrives.
    fn begin(
        &mut self,
        request: Request,
        operation: Operation,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let needs = match &operation {
            Operation::Discover(_) => self.next_with_instructions(None),
            operation => operation.needs(),
        };
        let Some(list) = needs else {
            match operation {
                Operation::Discover(said) => out.result(request.ask, &self.hello(&said)),
                Operation::Call(wanted) => self.make(request, wanted, None, out),
                // A page needs a list.
                Operation::Page(method, _) => return Err(no_method(method)),
            }
            return Ok(());
        };
        // With a known list the request does not wait.
        let is_listed = self.lists.get(&list).and_then(List::catalog).is_some();
        let kept = if is_listed { 0 } else { operation.weight() };
        let charge = protocol::keep(&self.waits, kept, &self.name)?;
        self.waiting.push(WaitingRequest {
            request,
            operation,
            list,
            charge,
        });
        self.go_on(out);
        Ok(())
    }

    /// The next list after this one that may have instructions.
    fn next_with_instructions(&self, last: Option<Offer>) -> Option<Offer> {
        let mut all = [Offer::Tools, Offer::Resources].into_iter();
        all.find(|offer| self.offers.has(*offer) && Some(*offer) > last)
    }

    /// Serves requests whose lists are known, and requests the other lists.
    fn go_on(&mut self, out: &mut Outputs) {
        let offers: Vec<_> = self.lists.keys().copied().collect();
        // A request that has the instructions of one list may then wait for the next list.
        for offer in offers {
            let is_needed = self.waiting.iter().any(|waiting| waiting.list == offer);
            let Some(list) = self.lists.get_mut(&offer).filter(|_| is_needed) else {
                continue;
            };
            if let Some(catalog) = list.catalog().cloned() {
                self.serve(offer, Ok(&catalog), out);
            } else if list.is_unknown() {
                let question = out.number();
                list.ask(question);
                let asks = ToComponent::List(offer);
                out.push(Output::Component { question, asks });
            }
        }
    }

    fn leave_out(&self, text: &str, out: &mut Outputs) {
        let name = &self.name;
        out.push(Output::Notice {
            text: format!("of the proxy `{name}`, {text}."),
        });
    }

    /// Handles the component's answer to a list request.
    fn listed(&mut self, question: OutgoingId, outcome: &Message, out: &mut Outputs) {
        let mut lists = self.lists.iter_mut();
        let Some((offer, list)) = lists.find(|(_, list)| list.is_asked(question)) else {
            return;
        };
        let (offer, what) = (*offer, offer.as_str());
        let catalog = match outcome.kind() {
            Kind::Result => Catalog::read(outcome.body()).map(Arc::new),
            _ => Err(match text_member(outcome.body(), "message") {
                Some(message) => {
                    let message = protocol::clipped(&message);
                    format!("it could not list its {what}: {message}")
                }
                None => format!("it could not list its {what}"),
            }),
        };
        list.answered(catalog.as_ref().ok(), &self.kept);
        match &catalog {
            Ok(catalog) => {
                if let Some(reasons) = catalog.left_out() {
                    let text = format!("{what} that it lists are left out: {reasons}");
                    self.leave_out(&text, out);
                }
            }
            // The answer is a malformed result; the conductor reports errors.
            Err(reason) if outcome.kind() == Kind::Result => {
                self.leave_out(&format!("no {what} are available: {reason}"), out);
            }
            Err(_) => {}
        }
        self.serve(offer, catalog.as_deref().map_err(|why| &**why), out);
        self.go_on(out);
    }
}
