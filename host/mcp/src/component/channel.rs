//! What the server that the host speaks and its component say to each other.

use crate::seat::{Asked, Question};
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::Message;

/// What a component says.
#[derive(Clone, Debug)]
pub enum FromComponent<'a> {
    /// Something that it has has changed, or may have.
    Changed(&'a Change),
    /// It asks the client of a call.
    Asks {
        /// The question that is the call.
        call: Question,
        /// What it asks, all at once.
        asks: Vec<Ask>,
    },
    /// How far a call has come.
    Progress {
        /// The question that is the call.
        question: Question,
        /// Grows with every report.
        progress: f64,
        /// What it reaches in the end, if that is known.
        total: Option<f64>,
        /// For people.
        message: Option<&'a str>,
    },
}

/// Something that a component asks the client of a call. Its answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct Ask {
    /// To be answered.
    pub ask: Asked,
    /// A request of MCP's. Whether the client can answer it was looked at.
    pub message: Message,
}

/// What a component is asked.
#[derive(Clone, Debug)]
pub enum ToComponent {
    /// What it has of this. The answer is a result of the form
    /// `{"instructions": string | null, "tools": […]}`, with `resources` and `templates`, or
    /// `prompts`, in place of `tools`; nothing is checked in it yet but that it is JSON. Or it is an
    /// error that says why there is none.
    List(Offer),
    /// To do something that it has. The answer is what the component says is its result, unchecked but
    /// for being JSON; or an error.
    Call {
        /// MCP's method.
        method: &'static str,
        /// What of MCP's parameters it gets.
        params: String,
    },
}
