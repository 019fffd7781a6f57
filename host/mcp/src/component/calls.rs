//! Calls of what a component has: checked, made, told how far they are, and answered.

use std::borrow::Cow;

use super::answers::Budget;
use super::called::Called;
use super::catalog::Catalog;
use super::outcome;
use super::wants::Use;
use super::{ComponentProvider, Request};
use crate::protocol::{self, Version, invalid, quoted};
use crate::schema::Refused;
use crate::seat::{Output, Question};
use crate::secret::Secret;
use acp_chain_rpc::{Error, Id, Kind, Message, member};

/// A call that the component has.
#[derive(Debug)]
pub(super) struct Call {
    pub request: Request,
    pub of: Called,
    pub token: Option<Id>,
    progress: Option<f64>,
    /// By what its client finds it again that is to come again, and whom nobody answers until then.
    pub state: Option<Secret>,
    /// Whether nobody waits for it any more.
    pub withdrawn: bool,
}

impl ComponentProvider {
    /// Calls a tool or a prompt, if that is listed and the arguments are right. What is wrong with
    /// those may be the result.
    pub(super) fn call(
        &mut self,
        request: Request,
        wanted: Use,
        catalog: Result<&Catalog, &str>,
        budget: &mut Budget,
    ) -> Result<Output, Error> {
        let catalog = catalog.map_err(|reason| self.fault(reason))?;
        let arguments = member(&wanted.params, "arguments").unwrap_or("{}");
        let name = &wanted.name;
        if wanted.method == "prompts/get" {
            let prompt = catalog.prompts.get(name);
            let prompt = prompt.ok_or_else(|| unknown("prompt", name))?;
            if let Some(lacking) = prompt.lacks(arguments) {
                let lacking = protocol::clipped(lacking);
                let text = format!("The prompt {name} requires the argument {lacking}");
                return Err(invalid(text));
            }
            let of = Called::Prompt(name.clone());
            return Ok(self.make(request, of, wanted));
        }
        let tool = catalog.tools.get(name);
        let tool = tool.ok_or_else(|| unknown("tool", name))?;
        match tool.input.check(arguments, &mut budget.checks) {
            Err(Refused::Work) => Err(protocol::heavy(&self.name)),
            Err(Refused::Mismatch(reason)) => {
                let told = format!("The arguments do not match the inputSchema of {name} {reason}");
                match request.version >= Version::V2025November {
                    true => {
                        let result = outcome::mismatch(&told, request.version);
                        Ok(protocol::result(request.ask, &result))
                    }
                    false => Err(invalid(told)),
                }
            }
            Ok(()) => Ok(self.make(request, Called::Tool(tool.clone()), wanted)),
        }
    }

    /// Reads a resource, or completes an argument.
    pub(super) fn call_unlisted(&mut self, request: Request, mut wanted: Use) -> Output {
        let of = match wanted.method {
            "resources/read" => Called::Resource(std::mem::take(&mut wanted.name)),
            _ => Called::Completion,
        };
        self.make(request, of, wanted)
    }

    fn make(&mut self, request: Request, of: Called, wanted: Use) -> Output {
        let question = self.number();
        let call = Call {
            request,
            of,
            token: wanted.token,
            progress: None,
            state: None,
            withdrawn: false,
        };
        self.calls.insert(question, call);
        Output::Call {
            question,
            method: wanted.method,
            params: wanted.params,
        }
    }

    pub(super) fn progress(
        &mut self,
        question: Question,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Option<Output> {
        let call = self.calls.get_mut(&question)?;
        let token = call.token.as_ref()?.as_str();
        let value = protocol::number(progress)?;
        if call.progress.is_some_and(|before| progress <= before) {
            return None;
        }
        call.progress = Some(progress);
        let total = total.and_then(protocol::number);
        let total = total.map(|total| format!(r#","total":{total}"#));
        let message = message.map(|message| format!(r#","message":{}"#, quoted(message)));
        let (total, message) = (total.unwrap_or_default(), message.unwrap_or_default());
        Some(Output::TellCaller {
            caller: call.request.caller.clone(),
            method: "notifications/progress".to_owned(),
            params: Some(format!(
                r#"{{"progressToken":{token},"progress":{value}{total}{message}}}"#
            )),
            meta: None,
        })
    }

    /// Answers a call with what came of it.
    pub(super) fn called(&self, call: &Call, outcome: Message) -> Output {
        let (ask, version) = (call.request.ask, call.request.version);
        if outcome.kind() != Kind::Result {
            return protocol::answer(ask, call.of.error(outcome, version));
        }
        match outcome::checked(outcome.body(), &call.of, version) {
            Ok(Cow::Owned(text)) => protocol::result(ask, &text),
            Ok(_) => protocol::answer(ask, outcome),
            Err(reason) => {
                let what = match &call.of {
                    Called::Tool(tool) => {
                        format!("its tool {:?} gave is no CallToolResult", tool.name)
                    }
                    Called::Resource(uri) => {
                        let uri = protocol::clipped(uri);
                        format!("it gave of {uri:?} is no ReadResourceResult")
                    }
                    Called::Prompt(name) => {
                        format!("its prompt {name:?} gave is no GetPromptResult")
                    }
                    Called::Completion => String::from("it completed is no CompleteResult"),
                };
                protocol::failed(ask, &self.fault(&format!("what {what}: {reason}")))
            }
        }
    }
}

fn unknown(what: &str, name: &str) -> Error {
    let name = protocol::clipped(name);
    invalid(format!("Unknown {what}: {name}"))
}
