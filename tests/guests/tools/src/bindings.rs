//! The bare interfaces, without the SDK, which would obey their rules. The only place with `unsafe` code, all of it
//! generated.

#![allow(unsafe_code, reason = "generated")]

use acp_chain_proxy::bindings;

pub use bindings::acp_chain::proxy::{channel, types};
pub use bindings::exports::acp_chain::proxy::handler;
pub use bindings::tools::acp_chain::proxy::calls;
pub use bindings::tools::exports::acp_chain::proxy::tools;

#[cfg(target_arch = "wasm32")]
use super::TestTools;

#[cfg(target_arch = "wasm32")]
bindings::export!(TestTools with_types_in bindings);
#[cfg(target_arch = "wasm32")]
bindings::tools::export!(TestTools with_types_in bindings::tools);
