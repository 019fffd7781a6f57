//! Messages that the provider initiates.

use super::{ConnectedProvider, Open, Owner};
use crate::protocol::{self, invalid, key, no_method, with_meta};
use crate::seat::Caller;
use crate::wire::McpMessage;
use crate::{IncomingId, OutgoingId};
use acp_chain_rpc::{Error, Id, Message, member};

impl ConnectedProvider {
    /// The connection of a provider's message, and the MCP message.
    fn addressed(&self, message: &Message) -> Result<(Owner, McpMessage), Error> {
        let theirs = member(message.body(), "connectionId").filter(|text| text.starts_with('"'));
        let theirs = theirs
            .and_then(Id::parse)
            .ok_or_else(|| invalid("mcp/message lacks a connectionId, a string"))?;
        let said = McpMessage::read(message);
        let said = said.ok_or_else(|| invalid("mcp/message lacks a method, a string"))?;
        let place = self.theirs.get(&theirs).ok_or_else(|| {
            let theirs = protocol::clipped(theirs.as_str());
            let name = &self.name;
            invalid(format!(
                "The MCP server {name:?} has no connection {theirs}, or it is closed"
            ))
        })?;
        Ok((*place, said))
    }

    /// Passes on a provider's request.
    pub(super) fn pass_request(&mut self, ask: IncomingId, message: &Message) -> Result<(), Error> {
        let (place, said) = self.addressed(message)?;
        match place {
            Owner::Own if said.method() == "ping" => self.out.result(ask, "{}"),
            Owner::Own => return Err(no_method(said.method())),
            Owner::Caller(_) if self.is_full() => return Err(protocol::full(&self.name)),
            Owner::Caller(connection) => {
                let question = self.ask(Open::Provider { ask, place });
                self.out.ask_caller(question, connection, said);
            }
        }
        Ok(())
    }

    /// Passes on a provider's notification.
    pub(super) fn pass_notification(&mut self, message: &Message) -> Result<(), Error> {
        let (place, said) = self.addressed(message)?;
        if said.method() == protocol::CANCELLED {
            return Err(invalid("requests are cancelled with $/cancel_request"));
        }
        let link = self.links.get(&place);
        if link.is_some_and(|link| link.listens.is_used())
            && let Some(subscription) = protocol::meta(said.params(), key::SUBSCRIPTION)
        {
            let theirs = protocol::token(Some(subscription));
            return self.publish(place, said, theirs);
        }
        match place {
            Owner::Caller(connection) => {
                let caller = Caller::Connection(connection);
                self.out.tell_caller(caller, None, said);
                Ok(())
            }
            Owner::Own => self.own_notification(said),
        }
    }

    /// Passes on a notification of a subscription, with the caller's subscription id.
    fn publish(
        &mut self,
        place: Owner,
        mut said: McpMessage,
        theirs: Option<Id>,
    ) -> Result<(), Error> {
        let acknowledges = said.method() == protocol::ACKNOWLEDGED;
        let link = self.links.get_mut(&place);
        let question = link
            .zip(theirs)
            .and_then(|(link, theirs)| link.listens.of(theirs, acknowledges));
        let Some(Open::Caller(relayed)) = question.and_then(|of| self.questions.get(&of)) else {
            return Err(invalid("it names no open subscription"));
        };
        if !relayed.withdrawn {
            let id = relayed.id.as_ref().map(Id::as_str);
            said.set_params(&with_meta(said.params(), key::SUBSCRIPTION, id));
            relayed.tell(said, &mut self.out);
        }
        if acknowledges {
            self.listen_on(place);
        }
        Ok(())
    }
}

/// Maps subscription ids on a connection to the requests that opened them.
///
/// A subscription's id is the id of `subscriptions/listen` on the provider's hop, which the seat does not know. The
/// acknowledgement is the first message with this id. So while one request is unacknowledged, no other is sent, and the
/// next acknowledgement with an unknown id belongs to it.
#[derive(Debug, Default)]
pub(super) struct Listens {
    /// The request that is unacknowledged.
    pub asking: Option<OutgoingId>,
    known: Vec<(Id, OutgoingId)>,
}

impl Listens {
    /// Whether any request is open at the provider.
    pub fn is_used(&self) -> bool {
        self.asking.is_some() || !self.known.is_empty()
    }

    /// The request with this id at the provider. An acknowledgement assigns an unknown id.
    pub fn of(&mut self, theirs: Id, acknowledges: bool) -> Option<OutgoingId> {
        let known = self.known.iter().find(|(id, _)| *id == theirs);
        if let Some((_, question)) = known {
            return Some(*question);
        }
        let question = self.asking.take_if(|_| acknowledges)?;
        self.known.push((theirs, question));
        Some(question)
    }

    /// Removes an ended request.
    pub fn end(&mut self, question: OutgoingId) {
        self.asking.take_if(|asking| *asking == question);
        self.known.retain(|(_, of)| *of != question);
    }
}
