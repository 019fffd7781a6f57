//! Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-TIME-SESSION.jsonl`.
//!
//! Calls of the model are `response_item`s. In its code mode the model writes programs (`exec`), and only the items
//! that are completed say what these have run: as what Codex reports to hooks, they count in place of the program. The
//! user's prompts are items, too, and in older versions events of their own; messages with the role `user` are also
//! Codex' own.

use acp_chain_hooks::{self as hooks, recorded};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::{OpenCalls, SeenIds, whole_call};
use super::{Reader, output, short, string, text_of};
use crate::event::Event;
use crate::tokens::Tokens;

#[derive(Default)]
pub(super) struct Codex {
    cwd: Option<String>,
    model: String,
    calls: OpenCalls,
    /// The ids of calls of the model.
    called: SeenIds,
    /// The sum over the session that was reported last.
    used: Tokens,
}

#[derive(Deserialize)]
struct Line<'l> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow)]
    payload: Option<&'l RawValue>,
}

/// `session_meta` and `turn_context`.
#[serde_with::apply(Option<String> => #[serde(default, deserialize_with = "short")])]
#[derive(Deserialize)]
struct Context {
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
}

/// A `response_item` of any kind.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
struct Item<'i> {
    #[serde(rename = "type", default)]
    kind: String,
    call_id: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    /// JSON text in a text; of some calls that are not played, an object.
    arguments: Option<&'i RawValue>,
    input: Option<&'i RawValue>,
    action: Option<&'i RawValue>,
    output: Option<&'i RawValue>,
}

/// An `event_msg` of any kind.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
struct Told<'t> {
    #[serde(rename = "type", default)]
    kind: String,
    message: Option<&'t RawValue>,
    item: Option<&'t RawValue>,
    info: Option<&'t RawValue>,
}

/// An item that is completed, of any kind.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
struct Done<'d> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    id: String,
    content: Option<&'d RawValue>,
    command: Option<&'d RawValue>,
    aggregated_output: Option<String>,
    exit_code: Option<i64>,
    server: Option<String>,
    tool: Option<String>,
    arguments: Option<&'d RawValue>,
    result: Option<&'d RawValue>,
}

/// The inputs of the tools that run commands.
#[derive(Deserialize)]
struct CommandInput<'c> {
    cmd: Option<String>,
    #[serde(borrow)]
    command: Option<&'c RawValue>,
    #[serde(default, deserialize_with = "short")]
    workdir: Option<String>,
}

#[derive(Deserialize)]
struct Info {
    total_token_usage: Option<Tokens>,
}

/// What hooks name the tools that run commands.
const SHELL: &str = "Bash";

/// The tool with which the model's programs run.
const PROGRAM: &str = "exec";

impl Reader for Codex {
    fn read(&mut self, line: &[u8], events: &mut Vec<Event>) -> serde_json::Result<()> {
        let line: Line = serde_json::from_slice(line)?;
        let Some(payload) = line.payload.map(RawValue::get) else {
            return Ok(());
        };
        match &*line.kind {
            "session_meta" => {
                let context: Context = serde_json::from_str(payload)?;
                self.cwd.clone_from(&context.cwd);
                let cwd = context.cwd;
                events.extend(context.id.map(|id| Event::Session { id, cwd }));
            }
            "turn_context" => {
                let context: Context = serde_json::from_str(payload)?;
                self.cwd = context.cwd.or(self.cwd.take());
                self.model = context.model.unwrap_or_default();
            }
            "response_item" => {
                let item: Item = serde_json::from_str(payload)?;
                self.item(&item, events);
            }
            "event_msg" => {
                let told: Told = serde_json::from_str(payload)?;
                self.told(&told, events)?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Codex {
    fn item(&mut self, item: &Item, events: &mut Vec<Event>) {
        let id = item.call_id.as_deref().unwrap_or_default();
        match &*item.kind {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.called.is_new(id);
                if item.kind == "custom_tool_call" && item.name.as_deref() == Some(PROGRAM) {
                    return;
                }
                let Some(mut call) = self.call(item) else {
                    return;
                };
                call.call.clone_from(&item.call_id);
                self.calls.begin(&call);
                events.push(Event::tool(call));
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let ended = self.calls.end(id, output(item.output), false);
                events.extend(ended.map(Event::tool));
            }
            _ => {}
        }
    }

    /// A call, in the form in which hooks report it.
    fn call(&self, item: &Item) -> Option<hooks::Event> {
        let name = match item.kind.as_str() {
            "local_shell_call" => "shell",
            _ => item.name.as_deref()?,
        };
        let given = item.arguments.and_then(string);
        let arguments = given
            .as_deref()
            .or(item.action.map(RawValue::get))
            .unwrap_or("null");
        if let "exec_command" | "shell" | "shell_command" | "container.exec" = name {
            return Some(self.command(arguments));
        }
        if let Some(input) = item.input {
            // The input of a custom tool is text: a patch.
            let input = json!({ "command": string(input)? }).to_string();
            return Some(self.event(name, &input));
        }
        let namespace = item.namespace.as_ref();
        let in_namespace = namespace.map(|namespace| format!("{namespace}__{name}"));
        let tool = in_namespace.as_deref().unwrap_or(name);
        let is_json = serde_json::from_str::<&RawValue>(arguments).is_ok();
        let input = if is_json { arguments } else { "null" };
        Some(self.event(tool, input))
    }

    fn command(&self, arguments: &str) -> hooks::Event {
        let input = serde_json::from_str::<CommandInput>(arguments).ok();
        let command = input
            .as_ref()
            .map(|input| match (&input.cmd, input.command) {
                (Some(command), _) => json!(command).to_string(),
                (None, command) => of_shell(text_of(command)),
            });
        let command = command.unwrap_or_else(|| "null".to_owned());
        let mut event = self.event(SHELL, &format!("{{\"command\":{command}}}"));
        event.cwd = input.and_then(|input| input.workdir).or(event.cwd);
        event
    }

    fn event(&self, tool: &str, input: &str) -> hooks::Event {
        let mut event = recorded("codex", tool, input);
        event.cwd.clone_from(&self.cwd);
        event
    }

    fn told(&mut self, told: &Told, events: &mut Vec<Event>) -> serde_json::Result<()> {
        match (&*told.kind, told.item, told.info) {
            ("user_message", _, _) => {
                let text = told.message.and_then(string);
                events.extend(text.map(|text| Event::Prompt(vec![text])));
            }
            ("item_completed", Some(item), _) => {
                let done: Done = serde_json::from_str(item.get())?;
                self.done(&done, events);
            }
            ("token_count", _, Some(info)) => {
                let info: Info = serde_json::from_str(info.get())?;
                let sum = info.total_token_usage.map_or(self.used, apart);
                let tokens = sum.since(self.used);
                self.used = sum;
                let model = self.model.clone();
                events.extend((!tokens.is_none()).then_some(Event::Used { model, tokens }));
            }
            _ => {}
        }
        Ok(())
    }

    fn done(&mut self, done: &Done, events: &mut Vec<Event>) {
        let (call, result) = match &*done.kind {
            "UserMessage" => {
                let texts = output(done.content);
                events.extend((!texts.is_empty()).then_some(Event::Prompt(texts)));
                return;
            }
            "CommandExecution" => {
                let command = of_shell(text_of(done.command));
                let call = self.event(SHELL, &format!("{{\"command\":{command}}}"));
                (call, done.aggregated_output.iter().cloned().collect())
            }
            "McpToolCall" => {
                let [server, tool] = [&done.server, &done.tool].map(|name| name.as_deref());
                let (Some(server), Some(tool)) = (server, tool) else {
                    return;
                };
                let name = format!("mcp__{server}__{tool}");
                let call = self.event(&name, text_of(done.arguments));
                (call, output(done.result))
            }
            _ => return,
        };
        if !self.called.is_new(&done.id) {
            return;
        }
        let call = hooks::Event {
            call: Some(done.id.clone()),
            ..call
        };
        let failed = done.exit_code.is_some_and(|code| code != 0);
        events.extend(whole_call(call, result, failed));
    }
}

/// Tokens of Codex, whose input has those of the cache.
fn apart(sum: Tokens) -> Tokens {
    let cached = sum.cached_read.saturating_add(sum.cached_write);
    Tokens {
        input: sum.input.saturating_sub(cached),
        ..sum
    }
}

/// The command (JSON) in a list for a shell, as in `["bash", "-lc", "make"]`; or the list, which is a command itself.
fn of_shell(command: &str) -> String {
    let words: Vec<String> = serde_json::from_str(command).unwrap_or_default();
    match words.as_slice() {
        [_, option, script] if matches!(option.as_str(), "-c" | "-lc") => json!(script).to_string(),
        _ => command.to_owned(),
    }
}
