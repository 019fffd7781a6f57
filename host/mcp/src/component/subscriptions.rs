//! Notifications to clients: of changed lists, and of changed resources that they subscribe to. The host keeps the
//! subscriptions; the component is not notified of them.

use super::{ComponentProvider, List, Request};
use crate::listening::{Filter, Listener};
use crate::protocol::{self, LISTS, invalid, quoted};
use crate::seat::Caller;
use crate::wire::Said;
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Error;

/// The interfaces with the lists of [`LISTS`].
const OF_LISTS: [Offer; 3] = [Offer::Tools, Offer::Prompts, Offer::Resources];

/// The notification of a changed resource.
const UPDATED: &str = "notifications/resources/updated";

impl ComponentProvider {
    pub(super) fn listen(&mut self, request: Request, params: Option<&str>) -> Result<(), Error> {
        let lists = OF_LISTS.map(|offer| self.offers.has(offer));
        let has_resources = self.offers.has(Offer::Resources);
        let listener = Listener::read(request.caller, request.id, params, lists, has_resources)?;
        self.has_room_for(listener.filter.weight())?;
        listener.acknowledge(&mut self.out);
        self.listeners.insert(request.ask, listener);
        Ok(())
    }

    /// `resources/subscribe` and `resources/unsubscribe`.
    pub(super) fn subscribe(
        &mut self,
        request: &Request,
        method: &str,
        params: Option<&str>,
    ) -> Result<(), Error> {
        let uri = protocol::string(params, "uri");
        let uri = uri.ok_or_else(|| invalid("the request lacks a uri, a string"))?;
        let has_room = self.has_room_for(uri.len());
        if let Caller::Connection(id) = &request.caller
            && let Some(connection) = self.connections.get_mut(id)
        {
            let resources = &mut connection.filter.resources;
            match method {
                "resources/unsubscribe" => resources.remove(&uri),
                _ if resources.has(&uri) => false,
                _ => has_room.and_then(|()| resources.add(&uri))?,
            };
        }
        self.out.result(request.ask, "{}");
        Ok(())
    }

    pub(super) fn changed(&mut self, change: &Change) {
        match change {
            Change::List(offer) => {
                let list = self.lists.get_mut(offer);
                let at = OF_LISTS.iter().position(|of| of == offer);
                if let Some(at) = at.filter(|_| list.is_some_and(List::changed)) {
                    let (_, _, method) = LISTS[at];
                    self.tell(method, None, |filter| filter.lists[at]);
                }
            }
            Change::Resource(uri) => {
                let params = format!(r#"{{"uri":{}}}"#, quoted(uri));
                self.tell(UPDATED, Some(&params), |filter| filter.resources.has(uri));
            }
        }
    }

    /// Sends a notification to the clients that want it.
    fn tell(&mut self, method: &str, params: Option<&str>, is_wanted: impl Fn(&Filter) -> bool) {
        let connections = self.connections.iter();
        for (connection, _) in connections.filter(|(_, of)| is_wanted(&of.filter)) {
            let said = Said::new(method, params).into_owned();
            self.out.tell_caller(Caller::Connection(*connection), said);
        }
        let listeners = self.listeners.values();
        for listener in listeners.filter(|of| is_wanted(&of.filter)) {
            listener.tell(method, params, &mut self.out);
        }
    }
}
