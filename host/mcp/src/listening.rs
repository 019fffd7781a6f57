//! `subscriptions/listen` of MCP 2026-07-28, for seats that send or answer it.

use super::protocol::{self, LISTS, invalid, is_object, key, with, with_meta};
use super::seat::{Caller, Outputs};
use super::uris::Uris;
use super::wire::Said;
use acp_chain_rpc::{Error, Id, member};

/// The notifications that a client subscribes to.
#[derive(Debug, Default)]
pub struct Filter {
    /// Changes of these [`LISTS`].
    pub lists: [bool; 3],
    /// Changes of these resources.
    pub resources: Uris,
}

impl Filter {
    /// Reads the filter in a caller's params. Unsupported lists and resources are left out.
    fn read(params: Option<&str>, lists: [bool; 3], has_resources: bool) -> Result<Self, Error> {
        let filter = params.and_then(|params| member(params, "notifications"));
        let Some(filter) = filter.filter(|filter| is_object(filter)) else {
            return Err(invalid("subscriptions/listen lacks `notifications`"));
        };
        let mut wanted = Self::default();
        for (at, (_, name, _)) in LISTS.into_iter().enumerate() {
            wanted.lists[at] = lists[at] && member(filter, name) == Some("true");
        }
        let named = member(filter, "resourceSubscriptions").filter(|named| *named != "null");
        if let Some(named) = named.filter(|_| has_resources) {
            let named: Vec<String> = serde_json::from_str(named)
                .map_err(|_| invalid("resourceSubscriptions is not an array of strings"))?;
            for uri in named {
                wanted.resources.add(&uri)?;
            }
        }
        Ok(wanted)
    }

    pub fn is_empty(&self) -> bool {
        !self.lists.contains(&true) && self.resources.is_empty()
    }

    /// The size in bytes.
    pub fn weight(&self) -> usize {
        self.resources.weight()
    }

    /// The filter as in MCP's `notifications`.
    pub fn to_json(&self) -> String {
        let mut filter = String::from("{}");
        for ((_, name, _), is_wanted) in LISTS.into_iter().zip(self.lists) {
            if is_wanted {
                filter = with(&filter, &format!("/{name}"), Some("true"));
            }
        }
        if !self.resources.is_empty() {
            let resources = self.resources.to_json();
            filter = with(&filter, "/resourceSubscriptions", Some(&resources));
        }
        filter
    }
}

/// An open `subscriptions/listen` of a caller that the seat answers.
#[derive(Debug)]
pub struct Listener {
    pub caller: Caller,
    pub id: Id,
    pub filter: Filter,
}

impl Listener {
    /// Reads a caller's request. Unsupported lists and resources are left out of the filter.
    pub fn read(
        caller: Caller,
        id: Option<Id>,
        params: Option<&str>,
        lists: [bool; 3],
        has_resources: bool,
    ) -> Result<Self, Error> {
        let filter = Filter::read(params, lists, has_resources)?;
        let id = id.ok_or_else(|| invalid("the id of subscriptions/listen is none or too long"))?;
        Ok(Self { caller, id, filter })
    }

    /// Sends the caller the acknowledgement, with the filter.
    pub fn acknowledge(&self, out: &mut Outputs) {
        let (key, id) = (key::SUBSCRIPTION, self.id.as_str());
        let accepted = self.filter.to_json();
        let params = format!(r#"{{"_meta":{{"{key}":{id}}},"notifications":{accepted}}}"#);
        let said = Said::made(protocol::ACKNOWLEDGED, params);
        out.tell_caller(self.caller.clone(), said);
    }

    /// Sends the caller a notification, with the subscription id.
    pub fn tell(&self, method: &str, params: Option<&str>, out: &mut Outputs) {
        let params = with_meta(params, key::SUBSCRIPTION, Some(self.id.as_str()));
        out.tell_caller(self.caller.clone(), Said::made(method, params));
    }

    /// The result that ends the subscription.
    pub fn result(&self) -> String {
        let (key, id) = (key::SUBSCRIPTION, self.id.as_str());
        format!(r#"{{"resultType":"complete","_meta":{{"{key}":{id}}}}}"#)
    }
}
