//! The component's interface: the exported `prompts`, in terms of the types of this crate.

use super::{GetPromptRequest, Prompts};
use crate::bindings::acp_chain::proxy::types;
use crate::bindings::prompts::acp_chain::proxy::calls::Outcome;
use crate::bindings::prompts::exports::acp_chain::proxy::prompts as wit;
use crate::component::{ExportedProxy, body};
use crate::{Call, Component};

impl<P: ExportedProxy + Prompts> wit::Guest for Component<P> {
    fn list_prompts(session: Option<String>) -> Result<Vec<String>, String> {
        let listed = super::list(session.as_deref())?;
        Ok(listed.into_iter().map(String::from).collect())
    }

    fn get_prompt(call: wit::PromptCall) -> Result<Outcome, types::RpcError> {
        let arguments = GetPromptRequest {
            name: call.name,
            arguments: body(call.arguments).parse().unwrap_or_default(),
        };
        let call = Call::new(call.id, call.session, arguments);
        let done = super::get(call)?;
        Ok(done.map_or(Outcome::Pending, |result| Outcome::Done(result.into())))
    }
}
