//! Tools for the agent: the part that an author writes.

pub(crate) mod calls;
#[cfg(target_arch = "wasm32")]
mod component;
mod result;
mod schema;
mod tool;

use schemars::JsonSchema;
use serde::Deserialize;

pub use result::{IntoToolResult, Structured, ToolResult};
pub use tool::Tool;

use crate::host::{self, Change};
use crate::{ChannelError, Proxy};

/// A proxy with tools for the agent. The host declares them as an MCP server in every session, under the proxy's name
/// in the manifest, for any MCP transport of the agent. It requires the power `tools`, and `export!(Name: Tools)`.
///
/// A tool may wait for a neighbour, as handlers may: the call is then pending, and other calls continue. If the caller
/// cancels the call, its future is dropped, and the requests that it waits for are cancelled.
///
/// ```
/// use acp_chain_proxy::{Call, Peer, Proxy, Result, Structured, Tool, Tools, export};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct File {
///     /// Its absolute path.
///     path: String,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Size {
///     lines: usize,
/// }
///
/// #[derive(Default)]
/// struct Sizes;
///
/// impl Sizes {
///     async fn size(&self, call: Call<File>) -> Result<Structured<Size>> {
///         let params = json!({ "sessionId": call.session, "path": call.arguments.path });
///         let file = Peer::Client.request("fs/read_text_file", params).await?;
///         let text: String = file.at("/content").ok_or("the client gave no content")?;
///         Ok(Structured(Size { lines: text.lines().count() }))
///     }
/// }
///
/// impl Proxy for Sizes {}
///
/// impl Tools for Sizes {
///     fn tools(&self, _session: Option<&str>) -> Vec<Tool<Self>> {
///         vec![Tool::new("size", "Counts the lines of a file.", Self::size).read_only()]
///     }
///
///     fn instructions(&self, _session: Option<&str>) -> Option<String> {
///         Some("Look at the size of a file before you read it.".into())
///     }
/// }
///
/// export!(Sizes: Tools);
/// ```
pub trait Tools: Proxy {
    /// The tools of a session. Called when a session's agent connects, again after [`tools_changed`], and for every
    /// call: only tools listed at that moment can be called. `session` is `None` until the agent has named the session.
    fn tools(&self, session: Option<&str>) -> Vec<Tool<Self>>;

    /// How to use the tools together, for the model.
    #[allow(unused_variables, reason = "the name is part of the documentation")]
    fn instructions(&self, session: Option<&str>) -> Option<String> {
        None
    }
}

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct NoArguments {}

/// Reports that the result of [`Tools::tools`] has changed: clients are notified to list the tools again.
pub fn tools_changed() -> Result<(), ChannelError> {
    host::changed(&Change::Tools)
}
