//! Notifications to clients: of changed lists, and of changed resources that they subscribe to. The host keeps the
//! subscriptions; the component is not notified of them.

use super::{Component, List, Request};
use crate::listening::{Filter, Listener};
use crate::protocol::{self, object, quoted};
use crate::seat::Outputs;
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Error;

/// The notification of a changed resource.
const UPDATED: &str = "notifications/resources/updated";

impl Component {
    pub(super) fn subscribe(
        &mut self,
        request: Request,
        params: &str,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let has_resources = self.offers.has(Offer::Resources);
        let listener = Listener::read(request, params, self.offers, has_resources)?;
        let weight = listener.filter.resources.weight();
        let charge = protocol::keep(&self.subscribed, weight, &self.name)?;
        self.listeners.add(listener, Some(charge), out);
        Ok(())
    }

    pub(super) fn changed(&mut self, change: &Change, out: &mut Outputs) {
        match change {
            Change::List(offer) => {
                let list = self.lists.get_mut(offer);
                if list.is_some_and(List::changed) {
                    let method = protocol::list_changed(*offer);
                    let is_wanted = |filter: &Filter| filter.lists.has(*offer);
                    self.listeners.tell(&method, "null", is_wanted, out);
                }
            }
            Change::Resource(uri) => {
                let params = object(&[("uri", Some(&quoted(uri)))]);
                let is_wanted = |filter: &Filter| filter.resources.has(uri);
                self.listeners.tell(UPDATED, &params, is_wanted, out);
            }
        }
    }
}
