//! The host's side of a proxy's resources, prompts and completion: lists them, calls them, and records the outcomes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::calls::{CallKind, Progress};
use super::line::{self, LINE};
use super::{Host, channel, values as stored};
use crate::host::Change;
use crate::{
    Call, ChannelError, CompleteRequest, Error, ExportedProxy, GetPromptRequest, Json, MessageId,
    Peer, completion, instance, prompts, resources,
};

/// A proxy's resources and templates for a session.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceList {
    /// How to use the resources.
    pub instructions: Option<String>,
    /// Each a `Resource` of MCP.
    pub resources: Vec<Value>,
    /// Each a `ResourceTemplate` of MCP.
    pub templates: Vec<Value>,
}

impl Host {
    /// Creates a proxy with everything that [`export!`](crate::export) exports, and with its configuration.
    pub fn start_exported<P: ExportedProxy>(config: Value) -> Result<Self, String> {
        let init = |config: &Json, saved| instance::init::<P>(config, saved, P::started);
        Self::start_after(init, config, None)
    }

    /// Sets the `_meta` of later calls. Initially it declares every capability.
    pub fn meta(&mut self, meta: Value) {
        LINE.with_borrow_mut(|line| line.meta = Some(meta.into()));
    }

    /// Lists the resources for a session. An error if the host would reject the list.
    pub fn list_resources(&mut self, session: Option<&str>) -> Result<ResourceList, String> {
        granted().map_err(|error| error.to_string())?;
        let catalog = resources::list(session)?;
        Ok(ResourceList {
            instructions: catalog.instructions,
            resources: values(&catalog.resources)?,
            templates: values(&catalog.templates)?,
        })
    }

    /// Reads a resource. Returns the number of the call.
    pub fn read_resource(&mut self, session: Option<&str>, uri: &str) -> MessageId {
        let call = begin(CallKind::Other, session, uri.to_owned());
        done(call.id, resources::read(call))
    }

    /// Lists the prompts for a session, each a `Prompt` of MCP. An error if the host would reject the list.
    pub fn list_prompts(&mut self, session: Option<&str>) -> Result<Vec<Value>, String> {
        granted().map_err(|error| error.to_string())?;
        values(&prompts::list(session)?)
    }

    /// Gets a prompt. Returns the number of the call. Unlike the real host, does not check required arguments.
    pub fn get_prompt(
        &mut self,
        session: Option<&str>,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> MessageId {
        let arguments = arguments.iter();
        let arguments = arguments.map(|(name, text)| ((*name).into(), (*text).into()));
        let picked = GetPromptRequest {
            name: name.to_owned(),
            arguments: arguments.collect::<BTreeMap<_, _>>(),
        };
        let call = begin(CallKind::Other, session, picked);
        done(call.id, prompts::get(call))
    }

    /// Completes an argument. Returns the number of the call.
    pub fn complete(&mut self, session: Option<&str>, argument: CompleteRequest) -> MessageId {
        let call = begin(CallKind::Other, session, argument);
        done(call.id, completion::complete(call))
    }

    /// The outcome of a call: MCP's result for it, or a protocol error. `None` while it is pending.
    #[must_use]
    pub fn result(&self, call: MessageId) -> Option<Result<Value, Error>> {
        let outcome = LINE.with_borrow(|line| line.calls.outcome(call))?;
        Some(outcome.map(|result| result.parse().expect("JSON")))
    }

    /// All progress reports of a call.
    #[must_use]
    pub fn progress(&self, call: MessageId) -> Vec<Progress> {
        LINE.with_borrow(|line| line.calls.progress(call))
    }

    /// Whether the proxy reported a change of its resources since the last call.
    pub fn resources_changed(&mut self) -> bool {
        took(|change| *change == Change::Resources)
    }

    /// Whether the proxy reported a change of its prompts since the last call.
    pub fn prompts_changed(&mut self) -> bool {
        took(|change| *change == Change::Prompts)
    }

    /// Whether the proxy reported a change of this resource since the last call.
    pub fn resource_changed(&mut self, uri: &str) -> bool {
        took(|change| matches!(change, Change::Resource(of) if of == uri))
    }
}

pub(super) fn values(listed: &[Json]) -> Result<Vec<Value>, String> {
    let parse = |one: &Json| one.parse().map_err(|error| format!("{one}: {error}"));
    listed.iter().map(parse).collect()
}

pub(super) fn begin<A>(kind: CallKind, session: Option<&str>, arguments: A) -> Call<A> {
    let id = line::next_id();
    LINE.with_borrow_mut(|line| line.calls.begin(id, kind));
    Call::new(id, session.map(str::to_owned), arguments)
}

/// Records the immediate outcome of a call, if any.
pub(super) fn done(id: MessageId, outcome: Result<Option<Json>, Error>) -> MessageId {
    if let Some(outcome) = outcome.transpose() {
        LINE.with_borrow_mut(|line| line.calls.conclude(id, outcome));
    }
    stored::respond();
    id
}

/// Takes a reported change of this kind. Returns whether there was one.
pub(super) fn took(is_it: impl Fn(&Change) -> bool) -> bool {
    LINE.with_borrow_mut(|line| {
        let before = line.calls.changed.len();
        line.calls.changed.retain(|change| !is_it(change));
        line.calls.changed.len() < before
    })
}

pub(super) fn granted() -> Result<(), ChannelError> {
    channel::granted("tools")
}

pub(crate) fn progress(
    id: MessageId,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) -> Result<(), ChannelError> {
    granted()?;
    let report = Progress {
        progress,
        total,
        message: message.map(str::to_owned),
    };
    LINE.with_borrow_mut(|line| line.calls.report(id, report))
}

pub(crate) fn changed(change: &Change) -> Result<(), ChannelError> {
    granted()?;
    LINE.with_borrow_mut(|line| line.calls.changed.push(change.clone()));
    Ok(())
}

pub(crate) fn meta(call: MessageId) -> Result<Json, ChannelError> {
    LINE.with_borrow(|line| {
        if !line.calls.is_pending(call) {
            return Err(ChannelError::UnknownMessage);
        }
        Ok(line.meta.clone().unwrap_or_else(|| {
            let all = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
            json!({ "io.modelcontextprotocol/clientCapabilities": all }).into()
        }))
    })
}

pub(crate) fn ask(call: MessageId, method: &str, params: Json) -> Result<MessageId, ChannelError> {
    let capability = match method {
        "elicitation/create" => "elicitation",
        "sampling/createMessage" => "sampling",
        "roots/list" => "roots",
        _ => {
            return Err(ChannelError::Denied(format!(
                "`{method}` is not a request that a caller can receive"
            )));
        }
    };
    let place = format!("/io.modelcontextprotocol~1clientCapabilities/{capability}");
    if meta(call)?.at::<Json>(&place).is_none() {
        let why = format!("the caller did not declare the capability `{capability}`");
        return Err(ChannelError::Denied(why));
    }
    Ok(line::request(Peer::Agent, method, None, params))
}
