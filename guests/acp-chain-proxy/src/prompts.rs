//! Prompts that the user picks: the part that an author writes.

#[cfg(target_arch = "wasm32")]
mod component;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;

use crate::call::{self, RunningCall};
use crate::host::{self, Change};
use crate::{Call, ChannelError, Content, Error, Json, Proxy, Result};

/// A proxy with prompts, which the user picks in the agent, commonly as commands. It requires the power `tools`, and
/// `export!(Name: Prompts)`.
///
/// ```
/// use acp_chain_proxy::{
///     Call, Content, GetPromptRequest, Prompt, PromptMessage, Prompts, Proxy, Result, export,
/// };
///
/// #[derive(Default)]
/// struct Reviews;
///
/// impl Proxy for Reviews {}
///
/// impl Prompts for Reviews {
///     fn prompts(&self, _session: Option<&str>) -> Vec<Prompt> {
///         vec![Prompt::new("review", "Reviews a file.").requires("file", "Its path.")]
///     }
///
///     async fn get(&self, call: Call<GetPromptRequest>) -> Result<Vec<PromptMessage>> {
///         let file = call.arguments.text("file");
///         let text = format!("Review {file}. Be strict.");
///         Ok(vec![PromptMessage::user(Content::text(&text))])
///     }
/// }
///
/// export!(Reviews: Prompts);
/// ```
#[allow(async_fn_in_trait, reason = "a component has one thread")]
pub trait Prompts: Proxy {
    /// The prompts for a session. Called when the session's agent lists them, and again after [`prompts_changed`].
    fn prompts(&self, session: Option<&str>) -> Vec<Prompt>;

    /// The messages of a prompt, which is a listed one with its required arguments. `get` may wait, as handlers may; an
    /// `Err` is a protocol error.
    async fn get(&self, call: Call<GetPromptRequest>) -> Result<Vec<PromptMessage>>;
}

/// A prompt as it is listed.
#[derive(Clone, Debug, Serialize)]
pub struct Prompt {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug, Serialize)]
struct Argument {
    name: String,
    description: String,
    required: bool,
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            arguments: Vec::new(),
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a required argument.
    #[must_use]
    pub fn requires(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), true)
    }

    /// Adds an optional argument.
    #[must_use]
    pub fn takes(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), false)
    }

    fn with(mut self, name: String, description: String, required: bool) -> Self {
        self.arguments.push(Argument {
            name,
            description,
            required,
        });
        self
    }
}

/// The request for a prompt that the user picked.
#[derive(Clone, Debug)]
pub struct GetPromptRequest {
    /// The prompt's name.
    pub name: String,
    /// The arguments, by name.
    pub arguments: BTreeMap<String, String>,
}

impl GetPromptRequest {
    /// An argument; empty if it was left out.
    #[must_use]
    pub fn text(&self, argument: &str) -> &str {
        self.arguments.get(argument).map_or("", String::as_str)
    }
}

/// A message of a prompt.
#[derive(Clone, Debug, Serialize)]
pub struct PromptMessage {
    role: &'static str,
    content: Content,
}

impl PromptMessage {
    /// A message of the user.
    #[must_use]
    pub fn user(content: Content) -> Self {
        let role = "user";
        Self { role, content }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(content: Content) -> Self {
        let role = "assistant";
        Self { role, content }
    }
}

/// Reports that the result of [`Prompts::prompts`] has changed.
pub fn prompts_changed() -> std::result::Result<(), ChannelError> {
    host::changed(&Change::Prompts)
}

trait ErasedPrompts {
    fn list(&self, session: Option<&str>) -> std::result::Result<Vec<Json>, String>;
    fn get(self: Rc<Self>, call: Call<GetPromptRequest>) -> RunningCall<Vec<PromptMessage>>;
}

impl<P: Prompts> ErasedPrompts for P {
    fn list(&self, session: Option<&str>) -> std::result::Result<Vec<Json>, String> {
        let prompts = self.prompts(session).into_iter();
        let listed = prompts.map(|prompt| {
            let wrong = |error| format!("the prompt `{}` cannot be listed: {error}", prompt.name);
            Json::of(&prompt).map_err(wrong)
        });
        listed.collect()
    }

    fn get(self: Rc<Self>, call: Call<GetPromptRequest>) -> RunningCall<Vec<PromptMessage>> {
        Box::pin(async move { Prompts::get(&*self, call).await })
    }
}

call::provider!(PROMPTS: ErasedPrompts of Prompts, "its prompts were used before `init`");

pub(crate) fn list(session: Option<&str>) -> std::result::Result<Vec<Json>, String> {
    provider()?.list(session)
}

#[derive(Serialize)]
struct GetPromptResult {
    messages: Vec<PromptMessage>,
}

/// Gets a prompt; `None` if the call is pending.
pub(crate) fn get(call: Call<GetPromptRequest>) -> std::result::Result<Option<Json>, Error> {
    let proxy = provider().map_err(call::internal)?;
    call::make(call.id, async move {
        let messages = proxy.get(call).await?;
        Ok(Json::of(&GetPromptResult { messages })?)
    })
}
