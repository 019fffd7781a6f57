//! The tools of this component's proxy, and the host's two calls to them: list and call.

use std::rc::Rc;

use super::{Tool, ToolResult, Tools, result};
use crate::call::{self, RunningCall};
use crate::{Call, Error, Json};

/// The catalog for a session.
pub(crate) struct Catalog {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Json>,
}

trait ErasedTools {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String>;
    /// `None` if there is no such tool.
    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<RunningCall<ToolResult>>;
}

impl<P: Tools> ErasedTools for P {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String> {
        let tools = self.tools(session);
        Ok(Catalog {
            instructions: self.instructions(session),
            tools: tools.iter().map(Tool::listed).collect::<Result<_, _>>()?,
        })
    }

    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<RunningCall<ToolResult>> {
        let tools = self.tools(call.session.as_deref());
        let tool = tools.into_iter().find(|tool| tool.name() == name)?;
        Some(tool.run(self, call))
    }
}

call::provider!(TOOLS: ErasedTools of Tools, "its tools were used before `init`");

pub(crate) fn list(session: Option<&str>) -> Result<Catalog, String> {
    provider()?.list(session)
}

/// Calls a tool; `None` if the call is pending.
pub(crate) fn call(name: &str, call: Call<Json>) -> Result<Option<Json>, Error> {
    let id = call.id;
    let running = provider().map_err(call::internal)?.call(name, call);
    let running = running.ok_or_else(|| {
        let text = format!("there is no tool `{name}` any more");
        Error::new(INVALID_PARAMS, text)
    })?;
    call::make(id, async move { result::result(running.await) })
}

/// JSON-RPC's code for invalid params, which MCP uses for unknown tools.
pub(super) const INVALID_PARAMS: i32 = -32602;
