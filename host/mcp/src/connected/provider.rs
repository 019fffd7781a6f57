//! What the provider says of its own.

use super::{ConnectedProvider, Open, Owner};
use crate::protocol::{self, invalid, key, no_method};
use crate::seat::{Asked, Caller, Output};
use crate::wire;
use acp_chain_rpc::{Error, Id, member};

impl ConnectedProvider {
    /// Finds out for which connection the provider has something.
    pub(super) fn addressed<'p>(
        &self,
        params: &'p str,
    ) -> Result<(Owner, String, Option<&'p str>), Error> {
        let theirs = member(params, "connectionId").filter(|text| text.starts_with('"'));
        let theirs = theirs
            .and_then(Id::parse)
            .ok_or_else(|| invalid("mcp/message lacks a connectionId, a string"))?;
        let method = protocol::string(Some(params), "method")
            .ok_or_else(|| invalid("mcp/message lacks a method, a string"))?;
        let place = self.theirs.get(&theirs).ok_or_else(|| {
            let theirs = protocol::clipped(theirs.as_str());
            let name = &self.name;
            invalid(format!(
                "The MCP server {name:?} has no connection {theirs}, or it is over"
            ))
        })?;
        let params = member(params, "params").filter(|params| *params != "null");
        Ok((*place, method, params))
    }

    pub(super) fn provider_asks(
        &mut self,
        ask: Asked,
        params: &str,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let meta = wire::meta(params);
        let (place, method, params) = self.addressed(params)?;
        match place {
            Owner::Own if method == "ping" => out.push(protocol::result(ask, "{}")),
            Owner::Own => return Err(no_method(&method)),
            Owner::Caller(_) if self.is_full() => return Err(protocol::full(&self.name)),
            Owner::Caller(connection) => out.push(Output::AskCaller {
                question: self.ask(Open::Provider { ask, place }),
                connection,
                method,
                params: params.map(str::to_owned),
                meta: meta.map(str::to_owned),
            }),
        }
        Ok(())
    }

    pub(super) fn provider_tells(
        &mut self,
        params: &str,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let meta = wire::meta(params);
        let (place, method, params) = self.addressed(params)?;
        if method == protocol::CANCELLED {
            return Err(invalid("requests are withdrawn with $/cancel_request"));
        }
        let link = self.links.get(&place);
        if link.is_some_and(|link| link.listens.is_used())
            && let Some(subscription) = protocol::meta(params, key::SUBSCRIPTION)
        {
            return self.provider_publishes(place, method, [params, meta], subscription, out);
        }
        match place {
            Owner::Caller(connection) => {
                out.push(Output::TellCaller {
                    caller: Caller::Connection(connection),
                    method,
                    params: params.map(str::to_owned),
                    meta: meta.map(str::to_owned),
                });
                Ok(())
            }
            Owner::Own => self.own_told(method, params, out),
        }
    }

    /// Passes on what belongs to a subscription, under the id that this has for the caller.
    pub(super) fn provider_publishes(
        &mut self,
        place: Owner,
        method: String,
        [params, meta]: [Option<&str>; 2],
        subscription: &str,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let acknowledges = method == protocol::ACKNOWLEDGED;
        let link = self.links.get_mut(&place);
        let theirs = protocol::token(Some(subscription));
        let question = link
            .zip(theirs)
            .and_then(|(link, theirs)| link.listens.of(theirs, acknowledges));
        let Some(Open::Caller(relayed)) = question.and_then(|of| self.questions.get(&of)) else {
            return Err(invalid("it is of no open subscription"));
        };
        let id = relayed.id.as_ref().map(Id::as_str);
        if !relayed.withdrawn {
            out.push(Output::TellCaller {
                caller: relayed.caller.clone(),
                method,
                params: Some(protocol::with_meta(params, key::SUBSCRIPTION, id)),
                meta: meta.map(str::to_owned),
            });
        }
        if acknowledges {
            self.listen_on(place, out);
        }
        Ok(())
    }
}
