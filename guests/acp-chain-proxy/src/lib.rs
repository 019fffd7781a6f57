//! Write a proxy for `acp-chain`: a WebAssembly component that stands between a client (an editor)
//! and a coding agent which speak the Agent Client Protocol, and sees, changes, answers or adds
//! messages.
//!
//! Messages that a proxy does not subscribe to bypass it. This is a complete proxy, which asks the agent to be brief:
//!
//! ```
//! use acp_chain_proxy::{Proxy, Request, Result, Subscription, export};
//!
//! #[derive(Default)]
//! struct Brief;
//!
//! impl Proxy for Brief {
//!     const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("session/prompt")];
//!
//!     async fn on_request(&self, request: Request) -> Result {
//!         Ok(request.rewrite("/prompt/0/text", |text: String| text + "\n\nBe brief."))
//!     }
//! }
//!
//! export!(Brief);
//! ```
//!
//! A proxy is a crate with `crate-type = ["cdylib", "rlib"]`, built for `wasm32-unknown-unknown` and made a
//! component: `acp-chain new` creates such a crate, and `acp-chain build` does both.
//!
//! **Waiting is `.await`.** A handler that waits for a neighbour holds its message; others go on meanwhile. When the
//! sender cancels the message, the handler is dropped, and the requests that it waits for are cancelled as well.
//!
//! ```
//! use acp_chain_proxy::{Action, Edit, Peer, Proxy, Request, Result, Subscription};
//! use serde_json::json;
//!
//! #[derive(Default)]
//! struct Readme;
//!
//! impl Proxy for Readme {
//!     const SUBSCRIPTIONS: &[Subscription] =
//!         &[Subscription::requests("session/prompt").from(Peer::Client).without_body()];
//!
//!     async fn on_request(&self, request: Request) -> Result {
//!         let file = json!({ "sessionId": request.head.session, "path": "/project/README.md" });
//!         let answer = Peer::Client.request("fs/read_text_file", file).await?;
//!         let text: String = answer.at("/content").ok_or("the client gave no content")?;
//!         let block = json!({ "type": "text", "text": text });
//!         Ok(Action::Edit(vec![Edit::set("/prompt/-", block)]))
//!     }
//! }
//! ```
//!
//! **Bodies keep their spelling.** An [`Edit`] changes one place of a body, and nothing else: unknown members,
//! `_meta`, the order of members and the digits of numbers stay. The same holds for [`Json`], for larger changes.
//! With the feature `typed`, `request.parse::<schema::v1::PromptRequest>()` gives the protocol's structs.
//!
//! **A proxy may break** and be restarted ([`FailurePolicy`] has the alternatives). State that a new instance needs
//! must be [saved](save) when it changes:
//!
//! ```
//! use std::cell::RefCell;
//! use std::collections::BTreeSet;
//!
//! use acp_chain_proxy::{Action, Edit, Json, Proxy, Request, Result, Subscription, save};
//! use serde::{Deserialize, Serialize};
//! use serde_json::json;
//!
//! /// Greets the agent once a session.
//! #[derive(Default, Deserialize, Serialize)]
//! struct Greet {
//!     greeted: RefCell<BTreeSet<Option<String>>>,
//! }
//!
//! impl Proxy for Greet {
//!     const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("session/prompt")];
//!
//!     fn restore(&mut self, saved: Json) -> Result<()> {
//!         *self = saved.parse()?;
//!         Ok(())
//!     }
//!
//!     async fn on_request(&self, request: Request) -> Result {
//!         if !self.greeted.borrow_mut().insert(request.head.session) {
//!             return Ok(Action::Forward);
//!         }
//!         save(self)?;
//!         let block = json!({ "type": "text", "text": "Good morning!" });
//!         Ok(Action::Edit(vec![Edit::set("/prompt/-", block)]))
//!     }
//! }
//! ```
//!
//! **Values may outlast the connection**, with the power `values.keep`: the module [`values`] stores them for the user,
//! or for a project.
//!
//! **A proxy may have tools for the agent**, with the feature `tools`: an `async fn` whose argument has a schema is
//! one. The host offers them as an MCP server, under the proxy's name in the manifest, and any agent can call them;
//! the documentation of `Tools` has the details.
//!
#![cfg_attr(feature = "tools", doc = "```")]
#![cfg_attr(not(feature = "tools"), doc = "```text")]
//! use acp_chain_proxy::{Call, Proxy, Result, Tool, Tools, export};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     /// The numbers to add up.
//!     numbers: Vec<f64>,
//! }
//!
//! #[derive(Default)]
//! struct Sums;
//!
//! impl Sums {
//!     async fn add(&self, call: Call<Add>) -> Result<String> {
//!         Ok(call.arguments.numbers.iter().sum::<f64>().to_string())
//!     }
//! }
//!
//! impl Proxy for Sums {}
//!
//! impl Tools for Sums {
//!     fn tools(&self, _session: Option<&str>) -> Vec<Tool<Self>> {
//!         vec![Tool::new("add", "Adds numbers up.", Self::add).read_only()]
//!     }
//! }
//!
//! export!(Sums: Tools);
//! ```
//!
//! **And resources, prompts, completion** of their arguments, in the same way: see [`Resources`], [`Prompts`],
//! [`Completion`]. In a [`Call`] to any of these, the proxy may send the caller requests.
//!
//! **A proxy can do what its powers cover**, which the user's manifest grants: read a message, change
//! certain places of it, refuse or answer it, send one, offer tools. Without a power it sees nothing. A
//! call that no power covers fails with [`ChannelError::Denied`], and a message for which a handler
//! returns such an action is refused. List the needed powers in your README; a test can
//! [grant just these](testing::Host::powers).
//!
//! **Tests need no host.** [`testing`] plays the host for `cargo test`.
#![warn(missing_docs)]

mod call;
mod channel;
mod completion;
mod component;
mod content;
mod host;
mod instance;
mod json;
mod message;
pub mod path;
mod pending;
mod prompts;
mod proxy;
mod resources;
mod sessions;
mod subscription;
mod tasks;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
#[cfg(feature = "tools")]
mod tools;
pub mod values;
mod version;

pub use acp_chain_acp as acp;
#[doc(hidden)]
pub use acp_chain_bindings as bindings;
#[cfg(feature = "typed")]
pub use agent_client_protocol_schema as schema;
pub use call::{Call, ProtocolError};
pub use channel::{
    Answer, ChannelError, Level, fail, id, log, mark, now, read, save, settle, sleep,
};
pub use completion::{CompleteRequest, Completion, Reference};
#[doc(hidden)]
pub use component::{Component, ExportedProxy};
pub use content::Content;
pub use json::{DEPTH, Json, Members, RawString, Step, Strings, StringsError};
pub use message::{Action, Edit, Error, Head, MessageId, Notification, Peer, Request, Response};
pub use prompts::{GetPromptRequest, Prompt, PromptMessage, Prompts, prompts_changed};
pub use proxy::{Configure, FailurePolicy, NoConfig, Proxy};
pub use resources::{Contents, Resource, Resources, resource_changed, resources_changed};
pub use sessions::{Origin, Session, Sessions};
pub use subscription::Subscription;
pub use tasks::spawn;
#[cfg(feature = "tools")]
pub use tools::{IntoToolResult, NoArguments, Structured, Tool, ToolResult, Tools, tools_changed};
pub use version::Version;

/// The result of a handler: any error may be returned with `?`.
pub type Result<T = Action> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Registers a proxy for its exports, by the name of the trait.
#[doc(hidden)]
#[allow(non_snake_case, reason = "each function has the name of its trait")]
pub mod started {
    pub use crate::completion::started as Completion;
    pub use crate::prompts::started as Prompts;
    pub use crate::resources::started as Resources;
    #[cfg(feature = "tools")]
    pub use crate::tools::calls::started as Tools;
}

/// Makes a type the proxy of this component. Once per crate; outside `wasm32` it only lets a
/// [test](testing::Host::start_exported) start it.
///
/// `export!(Name)` exports a [`Proxy`]; `export!(Name: Tools, Resources)` also exports these. There are
/// [`Resources`], [`Prompts`], [`Completion`], and `Tools`, which requires the feature `tools`.
#[macro_export]
macro_rules! export {
    ($proxy:ty $(: $($offer:ident),+)?) => {
        impl $crate::ExportedProxy for $proxy {
            fn started(proxy: &::std::rc::Rc<Self>) {
                let _ = proxy;
                $($($crate::started::$offer(proxy);)+)?
            }
        }
        const _: fn(&::std::rc::Rc<$proxy>) = <$proxy as $crate::ExportedProxy>::started;
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, reason = "generated: exports are named by `unsafe` attributes")]
        mod acp_chain_proxy_component {
            use super::*;
            type Component = $crate::Component<$proxy>;
            $crate::bindings::export!(Component with_types_in $crate::bindings);
            $($($crate::export_offer!($offer Component);)+)?
        }
    };
}

/// Exports one interface beside the handler.
#[doc(hidden)]
#[macro_export]
macro_rules! export_offer {
    (Tools $component:ident) => {
        $crate::bindings::tools::export!($component with_types_in $crate::bindings::tools);
    };
    (Resources $component:ident) => {
        $crate::bindings::resources::export!($component with_types_in $crate::bindings::resources);
    };
    (Prompts $component:ident) => {
        $crate::bindings::prompts::export!($component with_types_in $crate::bindings::prompts);
    };
    (Completion $component:ident) => {
        $crate::bindings::completion::export!($component with_types_in $crate::bindings::completion);
    };
}
