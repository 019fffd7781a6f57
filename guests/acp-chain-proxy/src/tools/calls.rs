//! The tools of this component's proxy, and the host's two calls to them: list and call.

use std::cell::RefCell;
use std::rc::Rc;

use super::tool::RunningCall;
use super::{Tool, Tools, result};
use crate::{Call, Error, Json, call};

/// The catalog for a session.
pub(crate) struct Catalog {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Json>,
}

trait ErasedTools {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String>;
    /// `None` if there is no such tool.
    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<RunningCall>;
}

impl<P: Tools> ErasedTools for P {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String> {
        let tools = self.tools(session);
        Ok(Catalog {
            instructions: self.instructions(session),
            tools: tools.iter().map(Tool::listed).collect::<Result<_, _>>()?,
        })
    }

    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<RunningCall> {
        let tools = self.tools(call.session.as_deref());
        let tool = tools.into_iter().find(|tool| tool.name() == name)?;
        Some(tool.run(self, call))
    }
}

thread_local! {
    static TOOLS: RefCell<Option<Rc<dyn ErasedTools>>> = const { RefCell::new(None) };
}

/// Registers a proxy with tools.
pub fn started<P: Tools>(proxy: &Rc<P>) {
    TOOLS.set(Some(Rc::clone(proxy) as Rc<dyn ErasedTools>));
}

fn erased() -> Result<Rc<dyn ErasedTools>, String> {
    TOOLS
        .with_borrow(Clone::clone)
        .ok_or_else(|| "its tools were used before `init`".into())
}

pub(crate) fn list(session: Option<&str>) -> Result<Catalog, String> {
    erased()?.list(session)
}

/// Calls a tool; `None` if the call is pending.
pub(crate) fn call(name: &str, call: Call<Json>) -> Result<Option<Json>, Error> {
    let internal = |why: String| Error::new(Error::INTERNAL, why);
    let id = call.id;
    let running = erased().map_err(internal)?.call(name, call);
    let running = running.ok_or_else(|| {
        Error::new(
            INVALID_PARAMS,
            format!("there is no tool `{name}` any more"),
        )
    })?;
    call::make(id, async move { result::result(running.await) })
}

/// JSON-RPC's code for invalid params, which MCP uses for unknown tools.
pub(super) const INVALID_PARAMS: i32 = -32602;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    TOOLS.set(None);
}
