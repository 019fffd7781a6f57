//! A report in the form that proxies see.

use acp_chain_rpc::resolve;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{Decision, Kind, MalformedReport};

/// The prefix of the methods of hooks, under ACP's rules for extensions.
pub const PREFIX: &str = "_acp-chain/hook/";

/// A point in an agent's work at which its hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The hooks of a session are in force: the agent's sign of life.
    SessionStart,
    /// A prompt has reached the agent: a sign of life as well.
    Prompt,
    /// A tool is about to run.
    BeforeTool,
    /// A tool has run, and its result has not reached the model.
    AfterTool,
}

impl Moment {
    /// The method of the request for this moment; none for signs of life, which no proxy decides about.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Self::BeforeTool => Some("_acp-chain/hook/before_tool"),
            Self::AfterTool => Some("_acp-chain/hook/after_tool"),
            Self::SessionStart | Self::Prompt => None,
        }
    }
}

/// What an agent's hook reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub moment: Moment,
    /// The agent's id for the session: that of ACP, unless the dialect says otherwise.
    pub session: Option<String>,
    /// The sessions that it is within, the nearest first, if it is a subagent's and the agent tells them.
    pub parents: Vec<String>,
    /// The id of the call, where the agent tells one: that of ACP's `toolCallId`, unless the dialect says otherwise.
    pub call: Option<String>,
    /// The subagent that calls, if it is not the agent itself.
    pub subagent: Option<String>,
    /// The agent's name of the tool.
    pub tool: String,
    /// The name of the MCP server with the tool, for one of a server.
    pub server: Option<String>,
    /// Its kind.
    pub kind: Kind,
    /// Its input: JSON text.
    pub input: String,
    /// Where it runs.
    pub cwd: Option<String>,
    /// The texts of its result, in order.
    pub output: Vec<String>,
    /// Whether it failed.
    pub failed: bool,
}

/// The parameters of a request about a tool run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'e> {
    session_id: &'e str,
    tool_call: Call<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'e [String]>,
    can_change: bool,
}

/// As ACP's `ToolCallUpdate`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Call<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'e str>,
    title: &'e str,
    kind: Kind,
    status: &'static str,
    locations: Vec<Location>,
    raw_input: &'e RawValue,
}

#[derive(Serialize)]
struct Location {
    path: String,
}

impl Event {
    /// The parameters of the request about this tool run, in a session with this id in ACP. `can_change` says whether
    /// the agent takes another input, or other texts, at this moment.
    ///
    /// # Errors
    /// If the input is not JSON.
    pub fn params(&self, session: &str, can_change: bool) -> serde_json::Result<String> {
        let locations = self.kind.paths(&self.input).into_iter();
        let input: &RawValue = serde_json::from_str(&self.input)?;
        serde_json::to_string(&Params {
            session_id: session,
            tool_call: Call {
                tool_call_id: self.call.as_deref(),
                title: &self.tool,
                kind: self.kind,
                status: self.status(),
                locations: locations.map(|path| Location { path }).collect(),
                raw_input: input,
            },
            server: self.server.as_deref(),
            subagent: self.subagent.as_deref(),
            cwd: self.cwd.as_deref(),
            output: (self.moment == Moment::AfterTool).then_some(&self.output),
            can_change,
        })
    }

    fn status(&self) -> &'static str {
        if self.moment != Moment::AfterTool {
            "pending"
        } else if self.failed {
            "failed"
        } else {
            "completed"
        }
    }

    /// The decision of the proxies: `params` are the parameters that all of them have passed on.
    ///
    /// # Errors
    /// If the parameters have no input, or other texts than those of this event.
    pub fn decision(&self, params: &str) -> Result<Decision, MalformedReport> {
        let at = |pointer| resolve(params, pointer).ok().flatten();
        let missing = |name| MalformedReport::Missing(name);
        match self.moment {
            Moment::SessionStart | Moment::Prompt => Ok(Decision::Pass),
            Moment::BeforeTool => {
                let input = at("/toolCall/rawInput").ok_or(missing("rawInput"))?;
                Ok(if input == self.input {
                    Decision::Pass
                } else {
                    Decision::Input(input.to_owned())
                })
            }
            Moment::AfterTool => {
                let output = at("/output").and_then(|text| serde_json::from_str(text).ok());
                let output: Vec<String> = output.ok_or(missing("output"))?;
                Ok(if output == self.output {
                    Decision::Pass
                } else {
                    Decision::Output(output)
                })
            }
        }
    }
}
