//! The messages between the host's server and its component.

use crate::{Asked, Question};
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Message;

/// A message from a component.
#[derive(Clone, Debug)]
pub enum FromComponent<'a> {
    /// Something that it offers has changed, or may have.
    Changed(&'a Change),
    /// It asks the client of a call.
    Asks {
        /// The question that is the call.
        call: Question,
        /// Its questions, all at once.
        asks: Vec<Ask>,
    },
    /// The progress of a call.
    Progress {
        /// The question that is the call.
        question: Question,
        /// Grows with every report.
        progress: f64,
        /// Its final value, if known.
        total: Option<f64>,
        /// For people.
        message: Option<&'a str>,
    },
}

/// A question of a component to the client of a call. The answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct Ask {
    /// To be answered.
    pub ask: Asked,
    /// An MCP request, which the client is known to support.
    pub message: Message,
}

/// A request to a component.
#[derive(Clone, Debug)]
pub enum ToComponent {
    /// Its list of these. The answer is a result of the form `{"instructions": string | null, "tools": […]}`, with
    /// `resources` and `templates`, or `prompts`, in place of `tools`; it is only known to be JSON. Or it is an error
    /// that says why there is none.
    List(Offer),
    /// A call. The answer is the component's result, only known to be JSON; or an error.
    Call {
        /// MCP's method.
        method: &'static str,
        /// The part of MCP's parameters that it gets.
        params: String,
    },
}
