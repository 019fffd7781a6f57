//! The messages between the host's server and its component.

use crate::{IncomingId, OutgoingId};
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Message;

/// A message from a component.
#[derive(Clone, Debug)]
pub enum FromComponent<'a> {
    /// A list or resource has changed, or may have changed.
    Changed(&'a Change),
    /// Requests to the client of a call.
    Asks {
        /// The seat's number for the call.
        call: OutgoingId,
        asks: Vec<Ask>,
    },
    /// The progress of a call.
    Progress {
        /// The seat's number for the call.
        question: OutgoingId,
        /// Must increase with every report.
        progress: f64,
        /// The final value of `progress`, if known.
        total: Option<f64>,
        message: Option<&'a str>,
    },
}

/// A request of a component to the client of a call. The answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct Ask {
    pub ask: IncomingId,
    /// An MCP request that the client supports.
    pub message: Message,
}

/// A request to a component.
#[derive(Clone, Debug)]
pub enum ToComponent {
    /// Requests a list. The answer is a result of the form `{"instructions": string | null, "tools": […]}`, with
    /// `resources` and `templates`, or `prompts`, in place of `tools`; or an error. The result is JSON, but otherwise
    /// unchecked.
    List(Offer),
    /// A call. The answer is the component's result, or an error. The result is JSON, but otherwise unchecked.
    Call {
        /// The MCP method.
        method: &'static str,
        /// The MCP parameters that the component gets.
        params: String,
    },
}
