//! The host's side of tools: it lists them, calls them, and keeps what became of each call.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::line::{self, LINE};
use super::{Host, json};
use crate::tools::calls;
use crate::{Action, Call, ChannelError, Error, Json, MessageId, Tools, instance};

/// What a proxy has for a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    /// How to use the tools together.
    pub instructions: Option<String>,
    /// Each a `Tool` of MCP.
    pub tools: Vec<Value>,
}

/// A report of how far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// What it reaches in the end.
    pub total: Option<f64>,
    /// For people.
    pub message: Option<String>,
}

/// All calls there were, and whether others are told that the list has changed.
#[derive(Default)]
pub(super) struct Calls {
    all: BTreeMap<MessageId, Called>,
    changed: bool,
}

#[derive(Default)]
struct Called {
    /// None: it is pending.
    outcome: Option<Result<Json, Error>>,
    progress: Vec<Progress>,
    /// Whether its tool has an output schema.
    structured: bool,
}

impl Host {
    /// Makes a proxy that has tools, with its configuration.
    pub fn start_with_tools<P: Tools>(config: Value) -> Result<Self, String> {
        let init = |config: &Json, saved| instance::init::<P>(config, saved, calls::started);
        Self::start_after(init, config, None)
    }

    /// Asks which tools there are for a session. An error if the host would refuse the list.
    pub fn list_tools(&mut self, session: Option<&str>) -> Result<Catalog, String> {
        granted().map_err(|error| error.to_string())?;
        let calls::Catalog {
            instructions,
            tools,
        } = calls::list(session)?;
        let parse = |tool: &Json| tool.parse().map_err(|error| format!("{tool}: {error}"));
        let tools: Vec<Value> = tools.iter().map(parse).collect::<Result<_, _>>()?;
        let mut names = BTreeSet::new();
        for tool in &tools {
            let name = tool["name"].as_str().unwrap_or_default();
            if name.is_empty() || !names.insert(name) {
                return Err(format!(
                    "there are two tools `{name}`, or one without a name"
                ));
            }
            for schema in ["inputSchema", "outputSchema"] {
                if tool
                    .get(schema)
                    .is_some_and(|schema| schema["type"] != "object")
                {
                    return Err(format!(
                        "the `{schema}` of the tool `{name}` is for no object"
                    ));
                }
            }
        }
        Ok(Catalog {
            instructions,
            tools,
        })
    }

    /// Calls a tool, which has to be there. Returns the number of the call. Whether the arguments fit
    /// the tool's schema is not looked at, as it is by the real host.
    pub fn call_tool(
        &mut self,
        session: Option<&str>,
        name: &str,
        arguments: impl Serialize,
    ) -> MessageId {
        let tools = self
            .list_tools(session)
            .expect("tools that can be listed")
            .tools;
        let tool = tools.iter().find(|tool| tool["name"] == name);
        let tool = tool.unwrap_or_else(|| panic!("there is no tool `{name}`"));
        let id = line::next_id();
        let structured = tool.get("outputSchema").is_some();
        LINE.with_borrow_mut(|line| {
            let called = Called {
                structured,
                ..Called::default()
            };
            line.calls.all.insert(id, called);
        });
        let call = Call {
            id,
            session: session.map(str::to_owned),
            arguments: json(arguments),
        };
        match calls::call(name, call) {
            Ok(None) => {}
            Ok(Some(result)) => conclude(id, Ok(result)),
            Err(error) => conclude(id, Err(error)),
        }
        id
    }

    /// What became of a call: a `CallToolResult`, or an error of the protocol. None while it is
    /// pending.
    #[must_use]
    pub fn result(&self, call: MessageId) -> Option<Result<Value, Error>> {
        LINE.with_borrow(|line| {
            let outcome = line.calls.all.get(&call)?.outcome.clone()?;
            Some(outcome.map(|result| result.parse().expect("JSON")))
        })
    }

    /// How far a call has come: all that was reported.
    #[must_use]
    pub fn progress(&self, call: MessageId) -> Vec<Progress> {
        LINE.with_borrow(|line| {
            let called = line.calls.all.get(&call);
            called
                .map(|called| called.progress.clone())
                .unwrap_or_default()
        })
    }

    /// Whether the proxy said that its tools have changed, since this was last asked.
    pub fn tools_changed(&mut self) -> bool {
        LINE.with_borrow_mut(|line| std::mem::take(&mut line.calls.changed))
    }
}

impl Calls {
    /// The calls that are pending.
    pub(super) fn pending(&self) -> impl Iterator<Item = MessageId> {
        let pending = self
            .all
            .iter()
            .filter(|(_, called)| called.outcome.is_none());
        pending.map(|(id, _)| *id)
    }

    pub(super) fn is_pending(&self, id: MessageId) -> bool {
        self.pending().any(|pending| pending == id)
    }
}

fn granted() -> Result<(), ChannelError> {
    LINE.with_borrow(|line| match (line.open, line.grant().tools) {
        (true, true) => Ok(()),
        (true, false) => Err(ChannelError::Denied(
            "its grant lacks `tools = true`".into(),
        )),
        (false, _) => Err(ChannelError::Denied("there are no neighbours yet".into())),
    })
}

/// What the proxy says has become of a pending call.
pub(super) fn settle(id: MessageId, action: Action) -> Result<(), ChannelError> {
    match action {
        Action::Respond(result) => conclude(id, Ok(result)),
        Action::Reject(error) => conclude(id, Err(error)),
        action => {
            let why = format!("a call is settled with a result or an error, not with {action:?}");
            return Err(ChannelError::Invalid(why));
        }
    }
    Ok(())
}

/// A call comes to its end, whoever decides it.
pub(super) fn conclude(id: MessageId, outcome: Result<Json, Error>) {
    LINE.with_borrow_mut(|line| {
        let called = line.calls.all.get_mut(&id).expect("there is such a call");
        if let Ok(result) = &outcome {
            let content: Option<Vec<Value>> = result.at("/content");
            assert!(content.is_some(), "this is no CallToolResult: {result}");
            let failed = result.at("/isError").unwrap_or_default();
            let data: Option<BTreeMap<String, Value>> = result.at("/structuredContent");
            assert!(
                data.is_some() || failed || !called.structured,
                "the tool has an output schema, and this no structured content: {result}"
            );
        }
        called.outcome = Some(outcome);
    });
}

pub(crate) fn progress(
    id: MessageId,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) -> Result<(), ChannelError> {
    granted()?;
    LINE.with_borrow_mut(|line| {
        let called = line.calls.all.get_mut(&id);
        let called = called.filter(|called| called.outcome.is_none());
        let called = called.ok_or(ChannelError::UnknownMessage)?;
        if called
            .progress
            .last()
            .is_some_and(|last| progress <= last.progress)
        {
            return Err(ChannelError::Invalid("progress has to grow".into()));
        }
        called.progress.push(Progress {
            progress,
            total,
            message: message.map(str::to_owned),
        });
        Ok(())
    })
}

pub(crate) fn changed() -> Result<(), ChannelError> {
    granted()?;
    LINE.with_borrow_mut(|line| line.calls.changed = true);
    Ok(())
}
