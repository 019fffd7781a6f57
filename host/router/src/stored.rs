//! Requests of proxies for stored values, as the conductor takes them.

use std::sync::Arc;

use serde_json::json;

use acp_chain_channel::Owner;
use acp_chain_channel::limits::Charge;
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_rpc::Message;

/// Why a request fails where no values can be stored for the proxy.
pub const NOT_HERE: &str = "values cannot be stored here";

/// A request of a proxy for a stored value.
#[derive(Debug)]
pub struct ValueRequest {
    /// The number of the request, see [`Router::receive_value`](crate::Router::receive_value).
    pub number: ExchangeId,
    /// The proxy, by its id in the manifest: one of the user's own.
    pub proxy: String,
    /// The folder of the project whose value it is, as the setup of the session names it to the agent; `None` for a
    /// value of the user.
    pub project: Option<Arc<str>>,
    /// The key.
    pub key: String,
    /// What the proxy requests.
    pub call: ValueCall,
    /// The charge for the key and the value.
    pub(super) _charge: Option<Charge>,
}

/// What a proxy requests.
#[derive(Debug)]
pub enum ValueCall {
    /// The value is loaded.
    Load,
    /// The value is stored, or removed, if its version is still this one; 0 if there is none.
    Store {
        /// The version that is replaced.
        version: u64,
        /// The value; `None` removes it.
        value: Option<String>,
    },
}

impl ValueCall {
    /// The request as a message, by which it is known in the trace.
    pub(super) fn message(&self, of: &Owner, key: &str) -> Message {
        let (method, mut params) = match self {
            Self::Load => ("load-value", json!({ "key": key })),
            Self::Store { version, value } => {
                let params = json!({ "key": key, "version": version, "value": value });
                ("store-value", params)
            }
        };
        if let Some(session) = of.session() {
            params["sessionId"] = session.as_ref().into();
        }
        Message::request(method, &params.to_string())
    }
}
