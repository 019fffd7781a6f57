//! What the arguments of prompts, and the variables of resource templates, could be: what an author
//! writes.

#[cfg(target_arch = "wasm32")]
mod component;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use serde::Serialize;

use crate::{Call, Error, Json, Proxy, Result, call};

/// A proxy that completes arguments while they are written. It takes the power `tools`, and
/// `export!(Name: Prompts, Completion)`.
#[allow(async_fn_in_trait, reason = "a component has one thread")]
pub trait Completion: Proxy {
    /// What an argument could be, the best first; the first 100 are passed on. It may wait, as handlers
    /// may; an `Err` is an error of the protocol.
    async fn complete(&self, call: Call<Partial>) -> Result<Vec<String>>;
}

/// An argument that is being written.
#[derive(Clone, Debug)]
pub struct Partial {
    /// What it is an argument of.
    pub of: Reference,
    /// Its name.
    pub argument: String,
    /// What of it is there already.
    pub value: String,
    /// The arguments that are known already.
    pub known: BTreeMap<String, String>,
}

/// What has arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The prompt of this name.
    Prompt(String),
    /// The resource template that this is the URI of.
    Template(String),
}

/// How many values there may be at once (MCP, `CompleteResult`).
const MOST: usize = 100;

/// A proxy that completes, whose type is forgotten.
trait Completer {
    fn complete(
        self: Rc<Self>,
        call: Call<Partial>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<String>>>>>;
}

impl<P: Completion> Completer for P {
    fn complete(
        self: Rc<Self>,
        call: Call<Partial>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<String>>>>> {
        Box::pin(async move { Completion::complete(&*self, call).await })
    }
}

thread_local! {
    static COMPLETER: RefCell<Option<Rc<dyn Completer>>> = const { RefCell::new(None) };
}

/// There is a proxy that completes.
pub fn started<P: Completion>(proxy: &Rc<P>) {
    COMPLETER.set(Some(Rc::clone(proxy) as Rc<dyn Completer>));
}

/// MCP's `CompleteResult`.
#[derive(Serialize)]
struct Completed {
    completion: Completions,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completions {
    total: usize,
    has_more: bool,
    values: Vec<String>,
}

/// Completes an argument; none if that is pending.
pub(crate) fn complete(call: Call<Partial>) -> std::result::Result<Option<Json>, Error> {
    let completer = COMPLETER.with_borrow(Clone::clone);
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
        Ok(Json::of(&Completed { completion })?)
    })
}

#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn clear() {
    COMPLETER.set(None);
}
