//! Notifications to clients: of changed lists, and of changed resources that they subscribe to. The host keeps the
//! subscriptions; the component is not notified of them.

use super::{Component, List, Request};
use crate::listening::{Filter, Listener};
use crate::outputs::Outputs;
use crate::protocol::{self, object, quoted};
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Error;

/// The notification of a changed resource.
const UPDATED: &str = "notifications/resources/updated";

impl Component {
    pub(super) fn subscribe(
        &mut self,
        request: Request,
        params: Option<&str>,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let has_resources = self.offers.has(Offer::Resources);
        let listener = Listener::read(request, params, self.offers, has_resources)?;
        if !protocol::keeps(self.kept_for_listeners(), listener.filter.weight()) {
            return Err(protocol::heavy(&self.name));
        }
        self.add_listener(listener, out);
        Ok(())
    }

    pub(super) fn add_listener(&mut self, listener: Listener, out: &mut Outputs) {
        listener.acknowledge(out);
        self.listeners.push(listener);
    }

    pub(super) fn changed(&mut self, change: &Change, out: &mut Outputs) {
        match change {
            Change::List(offer) => {
                let list = self.lists.get_mut(offer);
                if list.is_some_and(List::changed) {
                    let method = protocol::list_changed(*offer);
                    self.tell(&method, None, |filter| filter.lists.has(*offer), out);
                }
            }
            Change::Resource(uri) => {
                let params = object(&[("uri", Some(&quoted(uri)))]);
                let is_wanted = |filter: &Filter| filter.resources.has(uri);
                self.tell(UPDATED, Some(&params), is_wanted, out);
            }
        }
    }

    /// Sends a notification to the clients that want it.
    fn tell(
        &self,
        method: &str,
        params: Option<&str>,
        is_wanted: impl Fn(&Filter) -> bool,
        out: &mut Outputs,
    ) {
        let listeners = self.listeners.iter();
        for listener in listeners.filter(|of| is_wanted(&of.filter)) {
            listener.tell(method, params, out);
        }
    }
}
