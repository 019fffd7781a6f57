//! What clients are told without asking: that a list has changed, or a resource that they subscribe
//! to. Who subscribes to what is kept here; the component does not know.

use super::{ComponentProvider, Connection, List, Request};
use crate::protocol::{self, LISTS, invalid, is_object, key, quoted, with};
use crate::seat::{Caller, Output};
use crate::uris::Uris;
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::{Error, Id, member};

/// An open `subscriptions/listen`.
#[derive(Debug)]
pub(super) struct Listener {
    pub request: Request,
    pub id: Id,
    /// The lists whose changes it is told, as in [`LISTS`].
    lists: [bool; 3],
    resources: Uris,
}

impl Listener {
    /// How many bytes are kept of it.
    pub fn weight(&self) -> usize {
        self.resources.weight()
    }
}

/// The interfaces with the lists of [`LISTS`].
const OF_LISTS: [Offer; 3] = [Offer::Tools, Offer::Prompts, Offer::Resources];

/// What tells that a resource has changed.
const UPDATED: &str = "notifications/resources/updated";

impl ComponentProvider {
    pub(super) fn listen(
        &mut self,
        request: Request,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let filter = params.and_then(|params| member(params, "notifications"));
        let Some(filter) = filter.filter(|filter| is_object(filter)) else {
            return Err(invalid("subscriptions/listen lacks `notifications`"));
        };
        let Some(id) = request.id.clone() else {
            return Err(invalid(
                "the id of subscriptions/listen is none or too long",
            ));
        };
        let (mut lists, mut accepted) = ([false; 3], String::from("{}"));
        for (at, (_, name, _)) in LISTS.into_iter().enumerate() {
            lists[at] = self.offers.has(OF_LISTS[at]) && member(filter, name) == Some("true");
            if lists[at] {
                accepted = with(&accepted, &format!("/{name}"), Some("true"));
            }
        }
        let mut resources = Uris::default();
        let named = member(filter, "resourceSubscriptions").filter(|named| *named != "null");
        if let Some(named) = named.filter(|_| self.offers.has(Offer::Resources)) {
            let named: Vec<String> = serde_json::from_str(named)
                .map_err(|_| invalid("resourceSubscriptions is no array of texts"))?;
            for uri in named {
                resources.add(&uri)?;
            }
            self.has_room_for(resources.weight())?;
            let named = resources.to_json();
            accepted = with(&accepted, "/resourceSubscriptions", Some(&named));
        }
        let (key, text) = (key::SUBSCRIPTION, id.as_str());
        out.push(Output::TellCaller {
            caller: request.caller.clone(),
            method: protocol::ACKNOWLEDGED.to_owned(),
            params: Some(format!(
                r#"{{"_meta":{{"{key}":{text}}},"notifications":{accepted}}}"#
            )),
            meta: None,
        });
        let ask = request.ask;
        let listener = Listener {
            request,
            id,
            lists,
            resources,
        };
        self.listeners.insert(ask, listener);
        Ok(())
    }

    /// `resources/subscribe` and `resources/unsubscribe`.
    pub(super) fn subscribe(
        &mut self,
        request: &Request,
        method: &str,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let uri = protocol::string(params, "uri");
        let uri = uri.ok_or_else(|| invalid("the request lacks a uri, a string"))?;
        self.has_room_for(uri.len())?;
        if let Caller::Connection(id) = &request.caller
            && let Some(connection) = self.connections.get_mut(id)
        {
            match method {
                "resources/subscribe" => connection.resources.add(&uri)?,
                _ => connection.resources.remove(&uri),
            };
        }
        out.push(protocol::result(request.ask, "{}"));
        Ok(())
    }

    pub(super) fn changed(&mut self, change: &Change, out: &mut Vec<Output>) {
        match change {
            Change::List(offer) => {
                let list = self.lists.get_mut(offer);
                let at = OF_LISTS.iter().position(|of| of == offer);
                if let Some(at) = at.filter(|_| list.is_some_and(List::changed)) {
                    let (_, _, method) = LISTS[at];
                    let listens = |listener: &Listener| listener.lists[at];
                    self.tell(method, None, |connection| connection.ready, listens, out);
                }
            }
            Change::Resource(uri) => {
                let said = format!(r#""uri":{}"#, quoted(uri));
                let subscribes = |connection: &Connection| connection.resources.has(uri);
                let listens = |listener: &Listener| listener.resources.has(uri);
                self.tell(UPDATED, Some(&said), subscribes, listens, out);
            }
        }
    }

    /// Sends a notification with these members to the clients for whom this is so.
    fn tell(
        &self,
        method: &str,
        members: Option<&str>,
        connections: impl Fn(&Connection) -> bool,
        listeners: impl Fn(&Listener) -> bool,
        out: &mut Vec<Output>,
    ) {
        let told = |caller, params| Output::TellCaller {
            caller,
            method: method.to_owned(),
            params,
            meta: None,
        };
        for (connection, _) in self.connections.iter().filter(|(_, of)| connections(of)) {
            let caller = Caller::Connection(*connection);
            let params = members.map(|members| format!("{{{members}}}"));
            out.push(told(caller, params));
        }
        for listener in self.listeners.values().filter(|of| listeners(of)) {
            let (key, id) = (key::SUBSCRIPTION, listener.id.as_str());
            let members = members.map(|members| format!("{members},"));
            let members = members.unwrap_or_default();
            let params = format!(r#"{{{members}"_meta":{{"{key}":{id}}}}}"#);
            out.push(told(listener.request.caller.clone(), Some(params)));
        }
    }
}
