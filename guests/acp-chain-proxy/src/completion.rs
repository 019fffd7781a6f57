//! Completion of the arguments of prompts, and the variables of resource templates: the part that an author writes.

#[cfg(target_arch = "wasm32")]
mod component;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use serde::Serialize;

use crate::{Call, Error, Json, Proxy, Result, call};

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
    fn complete(
        self: Rc<Self>,
        call: Call<CompleteRequest>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<String>>>>>;
}

impl<P: Completion> ErasedCompletion for P {
    fn complete(
        self: Rc<Self>,
        call: Call<CompleteRequest>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<String>>>>> {
        Box::pin(async move { Completion::complete(&*self, call).await })
    }
}

thread_local! {
    static COMPLETION: RefCell<Option<Rc<dyn ErasedCompletion>>> = const { RefCell::new(None) };
}

/// Registers a proxy with completion.
pub fn started<P: Completion>(proxy: &Rc<P>) {
    COMPLETION.set(Some(Rc::clone(proxy) as Rc<dyn ErasedCompletion>));
}

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
    let completer = COMPLETION.with_borrow(Clone::clone);
    let early = || Error::new(Error::INTERNAL, "its completion was used before `init`");
    let completer = completer.ok_or_else(early)?;
    call::make(call.id, async move {
        let mut values = completer.complete(call).await?;
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

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    COMPLETION.set(None);
}
