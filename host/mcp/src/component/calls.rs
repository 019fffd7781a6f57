//! Calls to a component: their checks, progress and answers.

use std::borrow::Cow;
use std::sync::Arc;

use super::answers::Budget;
use super::catalog::Catalog;
use super::channel::ToComponent;
use super::items::Tool;
use super::operation::{ParsedCall, Target};
use super::outcome;
use super::{Component, Request};
use crate::protocol::{self, Version, invalid, quoted, with};
use crate::seat::{Output, Outputs};
use crate::secret::Secret;
use crate::versions;
use crate::wire::McpMessage;
use acp_chain_rpc::{Error, Id, Kind, Message, member};
use acp_chain_schema::CheckError;

/// An open call at the component.
#[derive(Debug)]
pub(super) struct Call {
    pub request: Request,
    pub of: Target,
    /// The tool, if the call is of a tool.
    tool: Option<Arc<Tool>>,
    pub token: Option<Id>,
    progress: Option<f64>,
    /// The `requestState` for the client's retry. If present, no request waits for an answer until the retry.
    pub state: Option<Secret>,
    /// Whether the call was cancelled.
    pub withdrawn: bool,
}

impl Call {
    /// The progress notification for the caller. `None` if the caller gave no token, or the progress has not increased.
    pub fn progressed(
        &mut self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Option<McpMessage> {
        let token = self.token.as_ref()?.as_str();
        let value = protocol::number(progress)?;
        if self.progress.is_some_and(|before| progress <= before) {
            return None;
        }
        self.progress = Some(progress);
        let params = protocol::object(&[
            ("progressToken", Some(token)),
            ("progress", Some(&value)),
            ("total", total.and_then(protocol::number).as_deref()),
            ("message", message.map(quoted).as_deref()),
        ]);
        Some(McpMessage::new("notifications/progress", &params))
    }
}

impl Component {
    /// Calls a tool or a prompt, if it is listed and the arguments match. Depending on the version, a mismatch is an
    /// error or the result of the call.
    pub(super) fn call(
        &mut self,
        request: Request,
        mut wanted: ParsedCall,
        catalog: Result<&Catalog, &str>,
        budget: &mut Budget,
        out: &mut Outputs,
    ) -> Result<(), Error> {
        let catalog = catalog.map_err(|reason| self.fault(reason))?;
        let arguments = member(&wanted.params, "arguments").unwrap_or("{}");
        let mut called = None;
        match &wanted.of {
            Target::Prompt(name) => {
                let prompt = catalog.prompts.get(name);
                let prompt = prompt.ok_or_else(|| unknown("prompt", name))?;
                if let Some(lacking) = prompt.lacks(arguments) {
                    let lacking = protocol::clipped(lacking);
                    let text = format!("The prompt {name} requires the argument {lacking}");
                    return Err(invalid(text));
                }
            }
            Target::Tool(name) => {
                let tool = catalog.tools.get(name);
                let tool = tool.ok_or_else(|| unknown("tool", name))?;
                let mismatch = match tool.input.accept(arguments, &mut budget.checks) {
                    Ok(Cow::Borrowed(_)) => None,
                    Ok(Cow::Owned(meant)) => {
                        wanted.params = with(&wanted.params, "/arguments", Some(&meant));
                        None
                    }
                    Err(CheckError::Work) => return Err(protocol::heavy(&self.name)),
                    Err(CheckError::Mismatch(why)) => Some(format!(
                        "The arguments do not match the inputSchema of {name} {why}"
                    )),
                    Err(CheckError::Unreadable(why)) => Some(format!(
                        "The arguments cannot be checked against the inputSchema of {name}: {why}"
                    )),
                };
                if let Some(mismatch) = mismatch {
                    if request.version < Version::V2025November {
                        return Err(invalid(mismatch));
                    }
                    out.result(request.ask, &outcome::mismatch(&mismatch));
                    return Ok(());
                }
                called = Some(tool.clone());
            }
            Target::Resource(_) | Target::Completion => {}
        }
        self.make(request, wanted, called, out);
        Ok(())
    }

    /// Sends a checked call to the component.
    pub(super) fn make(
        &mut self,
        request: Request,
        wanted: ParsedCall,
        tool: Option<Arc<Tool>>,
        out: &mut Outputs,
    ) {
        let question = out.number();
        let method = wanted.of.method();
        let call = Call {
            request,
            of: wanted.of,
            tool,
            token: wanted.token,
            progress: None,
            state: None,
            withdrawn: false,
        };
        self.calls.insert(question, call);
        let params = wanted.params;
        let asks = ToComponent::Call { method, params };
        out.push(Output::Component { question, asks });
    }

    /// Answers a call with its outcome.
    pub(super) fn called(&self, call: &Call, outcome: Message, out: &mut Outputs) {
        let ask = call.request.ask;
        if outcome.kind() != Kind::Result {
            let outcome = match (&call.of, call.request.version) {
                (Target::Resource(_), Version::Stateless) => versions::newer_error(outcome),
                _ => outcome,
            };
            return out.answer(ask, outcome);
        }
        match outcome::checked(outcome.body(), &call.of, call.tool.as_deref()) {
            Ok(Cow::Owned(text)) => out.result(ask, &text),
            Ok(_) => out.answer(ask, outcome),
            Err(reason) => {
                let what = call.of.invalid_result();
                let error = self.fault(&format!("{what}: {reason}"));
                out.fail(ask, &error);
            }
        }
    }
}

fn unknown(what: &str, name: &str) -> Error {
    let name = protocol::clipped(name);
    invalid(format!("Unknown {what}: {name}"))
}
