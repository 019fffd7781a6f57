//! The component's interface: the exported `tools`, in terms of the types of this crate.

use super::calls;
use crate::bindings::acp_chain::proxy::types;
use crate::bindings::tools::acp_chain::proxy::calls::Outcome;
use crate::bindings::tools::exports::acp_chain::proxy::tools as wit;
use crate::component::{ExportedProxy, body};
use crate::{Call, Component, Tools};

impl<P: ExportedProxy + Tools> wit::Guest for Component<P> {
    fn list_tools(session: Option<String>) -> Result<wit::Catalog, String> {
        let catalog = calls::list(session.as_deref())?;
        Ok(wit::Catalog {
            instructions: catalog.instructions,
            tools: catalog.tools.into_iter().map(String::from).collect(),
        })
    }

    fn call_tool(call: wit::ToolCall) -> Result<Outcome, types::RpcError> {
        let tool = call.name;
        let call = Call::new(call.id, call.session, body(call.arguments));
        let done = calls::call(&tool, call)?;
        Ok(done.map_or(Outcome::Pending, |result| Outcome::Done(result.into())))
    }
}
