//! Completion of the arguments of prompts, and the variables of resource templates: the part that an author writes.

#[cfg(target_arch = "wasm32")]
mod component;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;

use crate::call::{self, RunningCall};
use crate::{Call, Error, Json, Proxy, Result};

/// A proxy that completes arguments while the user types. It requires the power `tools`, and `export!(Name: Prompts,
/// Completion)`.
#[allow(async_fn_in_trait, reason = "a component has one thread")]
pub trait Completion: Proxy {
    /// Possible values of an argument, the best first; the first 100 are passed on. It may wait, as handlers may; an
    /// `Err` is a protocol error.
    async fn complete(&self, call: Call<CompleteRequest>) -> Result<Vec<String>>;
}

/// The request to complete an argument that is being written.
#[derive(Clone, Debug)]
pub struct CompleteRequest {
    /// The prompt or template of the argument.
    pub of: Reference,
    /// The argument's name.
    pub argument: String,
    /// The value typed so far.
    pub value: String,
    /// The arguments that are known already.
    pub known: BTreeMap<String, String>,
}

/// Something with arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The prompt of this name.
    Prompt(String),
    /// The resource template with this URI.
    Template(String),
}

/// The maximum number of values (MCP, `CompleteResult`).
const MOST: usize = 100;

trait ErasedCompletion {
    fn complete(self: Rc<Self>, call: Call<CompleteRequest>) -> RunningCall<Vec<String>>;
}

impl<P: Completion> ErasedCompletion for P {
    fn complete(self: Rc<Self>, call: Call<CompleteRequest>) -> RunningCall<Vec<String>> {
        Box::pin(async move { Completion::complete(&*self, call).await })
    }
}

call::provider!(
    COMPLETION: ErasedCompletion of Completion,
    "its completion was used before `init`"
);

#[derive(Serialize)]
struct CompleteResult {
    completion: Completions,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completions {
    total: usize,
    has_more: bool,
    values: Vec<String>,
}

/// Completes an argument; `None` if the call is pending.
pub(crate) fn complete(call: Call<CompleteRequest>) -> std::result::Result<Option<Json>, Error> {
    let proxy = provider().map_err(call::internal)?;
    call::make(call.id, async move {
        let mut values = proxy.complete(call).await?;
        let total = values.len();
        values.truncate(MOST);
        let completion = Completions {
            total,
            has_more: total > MOST,
            values,
        };
        Ok(Json::of(&CompleteResult { completion })?)
    })
}
