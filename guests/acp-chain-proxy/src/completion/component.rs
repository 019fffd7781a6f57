//! The component's interface: the exported `completion`, in terms of the types of this crate.

use super::{CompleteRequest, Completion, Reference};
use crate::bindings::acp_chain::proxy::types;
use crate::bindings::completion::acp_chain::proxy::calls::Outcome;
use crate::bindings::completion::exports::acp_chain::proxy::completion as wit;
use crate::component::{ExportedProxy, body};
use crate::{Call, Component};

impl<P: ExportedProxy + Completion> wit::Guest for Component<P> {
    fn complete(call: wit::CompletionCall) -> Result<Outcome, types::RpcError> {
        let reference = body(call.reference);
        // The host ensures that it is one or the other, and has what that needs.
        let of = match reference.at::<String>("/type").as_deref() {
            Some("ref/prompt") => Reference::Prompt(reference.at("/name").unwrap_or_default()),
            _ => Reference::Template(reference.at("/uri").unwrap_or_default()),
        };
        let arguments = CompleteRequest {
            of,
            argument: call.argument,
            value: call.value,
            known: body(call.context).parse().unwrap_or_default(),
        };
        let call = Call::new(call.id, call.session, arguments);
        let done = super::complete(call)?;
        Ok(done.map_or(Outcome::Pending, |result| Outcome::Done(result.into())))
    }
}
