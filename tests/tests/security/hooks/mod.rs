//! The hooks of an agent, attached by the program: what the proxies decide about a tool run is what the agent does, and
//! an agent that runs tools without its hooks is stopped.
//!
//! The agent is `agent.js`, in packages with the names of real agents.
//!
//! | file | its tests |
//! |---|---|
//! | `decisions` | a tool run is refused, changed, or its result redacted |
//! | `proof` | an agent that does not run the hooks gets no further |
//! | `attach` | when hooks are attached, to what, and what is left of them |
//! | `projects` | the proxies of projects decide, too |
//! | `subagents` | sessions with turns at the same time, and their subagents |
//! | `ways` | `two-of-three` asks before a key is posted, in whatever way |
//! | `forged` | reports that are not the agent's, and a host that has ended |
//! | `world` | the user's folders, the agent's package, and the program in front of it |

mod attach;
mod decisions;
mod forged;
mod projects;
mod proof;
mod subagents;
mod ways;
mod world;

use acp_chain_tests::chain::entry;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::powers::all_but;
use acp_chain_tests::process::Process;
use serde_json::{Value, json};

/// Without hooks, the program does not start.
const REQUIRED: &[&str] = &["--hooks", "required"];

/// A proxy with all powers over what the agent runs.
fn proxy(id: &str, config: &str) -> String {
    let granted = all_but(&["tools", "user.read"]);
    entry(id, id, &(granted + config))
}

/// `permissions`, which denies the commands of this pattern.
fn denies(commands: &str) -> String {
    let rule = format!("[[proxy.config.rules]]\ndecision = 'deny'\ncommand = '{commands}'\n");
    proxy("permissions", &rule)
}

/// The prompt for these steps of the agent.
fn steps(steps: &[Value]) -> String {
    Value::from(steps.to_vec()).to_string()
}

/// The step that runs a command.
fn bash(command: &str) -> Value {
    json!({ "tool": "Bash", "input": { "command": command } })
}

/// A step with one more member.
fn with(mut step: Value, member: &str, value: impl Into<Value>) -> Value {
    step[member] = value.into();
    step
}

/// Why a turn has ended; empty if the prompt was answered with an error.
fn reason(answer: &Message) -> String {
    let result = answer.result.as_deref().unwrap_or("{}");
    let result: Value = serde_json::from_str(result).unwrap();
    result["stopReason"].as_str().unwrap_or_default().to_owned()
}

/// What the host has told the user.
fn notices(client: &Process) -> Vec<String> {
    let mut chunks = client.chunks();
    chunks.retain(|text| text.contains("**acp-chain**"));
    chunks
}

/// Whether the user was told of hooks.
fn is_told_of_hooks(client: &Process) -> bool {
    notices(client)
        .iter()
        .any(|notice| notice.contains("hooks"))
}
