//! The fake host's calls to a proxy's tools, resources, prompts and completion, and their outcomes.

use std::collections::BTreeMap;

#[cfg(feature = "tools")]
use serde_json::Value;

use crate::host::Change;
use crate::{Action, ChannelError, Error, Json, MessageId};

/// A progress report of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// The final value of `progress`, if known.
    pub total: Option<f64>,
    /// A text for the user.
    pub message: Option<String>,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallKind {
    /// A tool, and whether it has an output schema.
    #[cfg(feature = "tools")]
    Tool { structured: bool },
    /// A resource, a prompt or a completion.
    Other,
}

impl CallKind {
    /// Fails the test if a result is invalid for such a call.
    fn check(self, result: &Json) {
        match self {
            #[cfg(feature = "tools")]
            Self::Tool { structured } => {
                let content: Option<Vec<Value>> = result.at("/content");
                assert!(content.is_some(), "this is not a CallToolResult: {result}");
                let failed = result.at("/isError").unwrap_or_default();
                let data: Option<BTreeMap<String, Value>> = result.at("/structuredContent");
                assert!(
                    data.is_some() || failed || !structured,
                    "the tool has an output schema, but the result has no structured content: {result}"
                );
            }
            Self::Other => {
                let object: Option<BTreeMap<String, Json>> = result.at("");
                assert!(object.is_some(), "this is not an MCP result: {result}");
            }
        }
    }
}

/// All calls, and the changes that the proxy reported.
#[derive(Default)]
pub(super) struct Calls {
    all: BTreeMap<MessageId, CallRecord>,
    pub(super) changed: Vec<Change>,
}

struct CallRecord {
    kind: CallKind,
    /// `None` while the call is pending.
    outcome: Option<Result<Json, Error>>,
    progress: Vec<Progress>,
}

impl Calls {
    /// Records a call before it is made.
    pub(super) fn begin(&mut self, id: MessageId, kind: CallKind) {
        let called = CallRecord {
            kind,
            outcome: None,
            progress: Vec::new(),
        };
        self.all.insert(id, called);
    }

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

    pub(super) fn outcome(&self, id: MessageId) -> Option<Result<Json, Error>> {
        self.all.get(&id)?.outcome.clone()
    }

    pub(super) fn progress(&self, id: MessageId) -> Vec<Progress> {
        let called = self.all.get(&id);
        called
            .map(|called| called.progress.clone())
            .unwrap_or_default()
    }

    /// Records a progress report of a pending call.
    pub(super) fn report(&mut self, id: MessageId, report: Progress) -> Result<(), ChannelError> {
        let called = self.all.get_mut(&id);
        let called = called.filter(|called| called.outcome.is_none());
        let called = called.ok_or(ChannelError::UnknownMessage)?;
        let last = called.progress.last();
        if last.is_some_and(|last| report.progress <= last.progress) {
            return Err(ChannelError::Invalid("progress has to grow".into()));
        }
        called.progress.push(report);
        Ok(())
    }

    /// Settles a pending call for the proxy.
    pub(super) fn settle(&mut self, id: MessageId, action: Action) -> Result<(), ChannelError> {
        match action {
            Action::Respond(result) => self.conclude(id, Ok(result)),
            Action::Reject(error) => self.conclude(id, Err(error)),
            action => {
                let why =
                    format!("a call is settled with a result or an error, not with {action:?}");
                return Err(ChannelError::Invalid(why));
            }
        }
        Ok(())
    }

    /// Records the outcome of a call.
    pub(super) fn conclude(&mut self, id: MessageId, outcome: Result<Json, Error>) {
        let called = self.all.get_mut(&id).expect("there is such a call");
        if let Ok(result) = &outcome {
            called.kind.check(result);
        }
        called.outcome = Some(outcome);
    }
}
