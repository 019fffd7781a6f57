//! The tools of this component's one proxy, and the host's two calls to them.

use std::cell::RefCell;
use std::rc::Rc;

use super::tool::Running;
use super::{Tool, Tools, result};
use crate::{Call, Error, Json, call};

/// The catalog for a session.
pub(crate) struct Catalog {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Json>,
}

/// A type-erased proxy with tools.
trait Toolbox {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String>;
    /// `None` if there is no such tool.
    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<Running>;
}

impl<P: Tools> Toolbox for P {
    fn list(&self, session: Option<&str>) -> Result<Catalog, String> {
        let tools = self.tools(session);
        Ok(Catalog {
            instructions: self.instructions(session),
            tools: tools.iter().map(Tool::listed).collect::<Result<_, _>>()?,
        })
    }

    fn call(self: Rc<Self>, name: &str, call: Call<Json>) -> Option<Running> {
        let tools = self.tools(call.session.as_deref());
        let tool = tools.into_iter().find(|tool| tool.name() == name)?;
        Some(tool.run(self, call))
    }
}

thread_local! {
    static TOOLBOX: RefCell<Option<Rc<dyn Toolbox>>> = const { RefCell::new(None) };
}

/// Registers a proxy with tools.
pub fn started<P: Tools>(proxy: &Rc<P>) {
    TOOLBOX.set(Some(Rc::clone(proxy) as Rc<dyn Toolbox>));
}

fn toolbox() -> Result<Rc<dyn Toolbox>, String> {
    TOOLBOX
        .with_borrow(Clone::clone)
        .ok_or_else(|| "its tools were used before `init`".into())
}

pub(crate) fn list(session: Option<&str>) -> Result<Catalog, String> {
    toolbox()?.list(session)
}

/// Calls a tool; `None` if it is pending.
pub(crate) fn call(name: &str, call: Call<Json>) -> Result<Option<Json>, Error> {
    let internal = |why: String| Error::new(Error::INTERNAL, why);
    let id = call.id;
    let running = toolbox().map_err(internal)?.call(name, call);
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
    TOOLBOX.set(None);
}
