//! What a message says: the few members of its body that a person looks for, whatever the types of the others.

use acp_chain_acp::UPDATE;
use acp_chain_trace::{Kind, Line, read_whole};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The maximum length of a row's text, in characters.
const SHORT: usize = 120;

/// The maximum nesting of content that is read.
const DEEPEST: usize = 4;

/// A member of an object; `None` also for `null`.
pub type Member<'a> = Option<&'a RawValue>;

/// Defines the members that are read, of any object in a message.
macro_rules! members {
    ($($name:ident)*) => {
        /// The members that are read, of any object in a message. An object that has one of them twice has none of
        /// them.
        #[derive(Clone, Copy, Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        pub struct Members<'a> {
            $(#[serde(borrow)] pub $name: Member<'a>,)*
        }
    };
}

// In version 2, `info` has the names of both sides.
members! {
    client_info agent_info info protocol_version cwd prompt update session_update state stop_reason
    tool_call tool_call_id raw_input title status entries options option_id outcome content resource
    text uri path command mode_id method params name message
}

impl<'a> Members<'a> {
    /// The members of an object; none of anything else.
    pub fn of(object: Member<'a>) -> Self {
        // An array would be read as well, its items as members in order.
        let object = object.filter(|object| object.get().starts_with('{'));
        let read = object.and_then(|object| serde_json::from_str(object.get()).ok());
        read.unwrap_or_default()
    }

    /// The members of a message's body.
    pub fn of_body(line: &'a Line) -> Self {
        let body = line.params.as_deref().or(line.result.as_deref());
        Self::of(body.or(line.error.as_deref()))
    }

    /// The update of a session in a message, with its kind.
    pub fn update_of(line: &'a Line) -> Option<(String, Self)> {
        let is_update =
            line.kind == Some(Kind::Notification) && line.method.as_deref() == Some(UPDATE);
        let body = is_update.then(|| Self::of_body(line))?;
        let update = Self::of(body.update);
        Some((string(update.session_update)?, update))
    }

    /// The command or the path of a tool call's input, as agents spell it.
    pub fn input(&self) -> Option<String> {
        let input = Self::of(self.raw_input);
        string(input.command)
            .or_else(|| words(input.command))
            .or_else(|| string(input.path))
    }
}

/// A string.
pub fn string(member: Member) -> Option<String> {
    let text = member?.get();
    text.starts_with('"')
        .then(|| read_whole(text.as_bytes()).ok())?
}

/// The items of an array.
pub fn items(member: Member<'_>) -> Vec<&RawValue> {
    let read = member.map(|member| serde_json::from_str(member.get()));
    read.and_then(Result::ok).unwrap_or_default()
}

/// The text of content: of a string, of blocks, or of a block in them.
pub fn words(member: Member) -> Option<String> {
    words_at(member, DEEPEST)
}

fn words_at(member: Member, depth: usize) -> Option<String> {
    let left = depth.checked_sub(1)?;
    match member?.get().as_bytes().first()? {
        b'"' => string(member),
        b'[' => {
            let blocks = items(member).into_iter();
            let texts: Vec<_> = blocks
                .filter_map(|block| words_at(Some(block), left))
                .collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        b'{' => {
            let block = Members::of(member);
            let inner = [block.text, block.content, block.resource, block.uri];
            inner.into_iter().find_map(|inner| words_at(inner, left))
        }
        _ => None,
    }
}

/// The kind of a message within its method (of an update, or of a message of MCP), and its text.
pub fn said(line: &Line) -> (Option<String>, String) {
    let (kind, text) = match line.kind {
        None => (None, line.why.clone()),
        Some(Kind::Response) => (None, answer(line)),
        Some(_) => asked(line),
    };
    (kind, one_line(&text.unwrap_or_default(), SHORT))
}

fn asked(line: &Line) -> (Option<String>, Option<String>) {
    if let Some((kind, update)) = Members::update_of(line) {
        return (Some(kind), of_update(&update));
    }
    let body = Members::of_body(line);
    if body.tool_call.is_some() {
        return (None, of_tool(&Members::of(body.tool_call)));
    }
    let method = string(body.method);
    let name = || string(Members::of(body.params).name);
    let info = body.client_info.or(body.info);
    let text = words(body.prompt)
        .or_else(|| string(body.path))
        .or_else(|| string(body.command))
        .or_else(|| string(body.cwd))
        .or_else(|| string(body.mode_id))
        .or_else(|| string(Members::of(info).name))
        .or_else(|| method.as_ref().and_then(|_| name()))
        .or_else(|| words(body.content))
        .or_else(|| string(body.message));
    (method, text)
}

/// The text of an update: the title and the status of a tool call, the steps of a plan, or content.
fn of_update(update: &Members) -> Option<String> {
    let tool = of_tool(update).filter(|_| update.tool_call_id.is_some());
    tool.or_else(|| words(update.content))
        .or_else(|| words(update.entries))
        .or_else(|| string(update.title))
        .or_else(|| string(update.state))
}

fn of_tool(tool: &Members) -> Option<String> {
    let what = string(tool.title).or_else(|| tool.input());
    let parts: Vec<_> = [what, string(tool.status)].into_iter().flatten().collect();
    let id = || string(tool.tool_call_id);
    (!parts.is_empty()).then(|| parts.join(" · ")).or_else(id)
}

fn answer(line: &Line) -> Option<String> {
    let body = Members::of_body(line);
    let outcome = Members::of(body.outcome);
    let info = body.agent_info.or(body.info);
    string(body.message)
        .or_else(|| string(body.stop_reason))
        .or_else(|| string(outcome.option_id))
        .or_else(|| string(outcome.outcome))
        .or_else(|| string(Members::of(info).name))
        .or_else(|| words(body.content))
}

/// The beginning of a text, on one line.
pub fn one_line(text: &str, most: usize) -> String {
    let words = text.split_whitespace().flat_map(|word| [word, " "]);
    let line: String = words.flat_map(str::chars).take(most).collect();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, method: &str, body: &str) -> (Option<String>, String) {
        let slot = if kind == "response" {
            "result"
        } else {
            "params"
        };
        let line = format!(
            r#"{{"from":"a","to":"b","kind":"{kind}","method":"{method}","{slot}":{body}}}"#
        );
        said(&serde_json::from_str(&line).unwrap())
    }

    #[test]
    fn a_row_says_what_its_message_holds() {
        let told = |kind: &str, method: &str, body: &str| of(kind, method, body).1;
        for (kind, method, body, text) in [
            (
                "request",
                "session/prompt",
                r#"{"prompt":[{"type":"text","text":"fix\n it"},{"resource":{"text":"a"}}]}"#,
                "fix it a",
            ),
            (
                "request",
                "session/request_permission",
                r#"{"toolCall":{"title":"Edit a"},"options":[]}"#,
                "Edit a",
            ),
            (
                "request",
                "_acp-chain/hook/before_tool",
                r#"{"toolCall":{"rawInput":{"command":["ls","-l"]},"status":"pending"}}"#,
                "ls -l · pending",
            ),
            ("request", "fs/read_text_file", r#"{"path":"/a"}"#, "/a"),
            ("request", "session/new", r#"{"cwd":"/w"}"#, "/w"),
            (
                "response",
                "session/prompt",
                r#"{"stopReason":"end_turn"}"#,
                "end_turn",
            ),
            (
                "response",
                "session/request_permission",
                r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#,
                "yes",
            ),
        ] {
            assert_eq!(told(kind, method, body), text, "{method}");
        }
    }

    #[test]
    fn an_update_has_its_kind_and_a_call_of_mcp_its_tool() {
        let update = |update: &str| {
            let body = format!(r#"{{"sessionId":"s","update":{update}}}"#);
            let (kind, text) = of("notification", "session/update", &body);
            (kind.unwrap_or_default(), text)
        };
        let expected = |kind: &str, text: &str| (kind.to_owned(), text.to_owned());
        assert_eq!(
            update(
                r#"{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","status":"pending"}"#
            ),
            expected("tool_call", "ls · pending")
        );
        assert_eq!(
            update(r#"{"sessionUpdate":"agent_message_chunk","content":{"text":"\ud800 hi"}}"#),
            expected("agent_message_chunk", "\u{fffd} hi")
        );
        assert_eq!(
            update(r#"{"sessionUpdate":"available_commands_update"}"#),
            expected("available_commands_update", "")
        );
        let (kind, text) = of(
            "request",
            "mcp/message",
            r#"{"method":"tools/call","params":{"name":"add"}}"#,
        );
        assert_eq!((kind.as_deref(), &*text), (Some("tools/call"), "add"));
    }

    #[test]
    fn members_of_other_types_say_nothing() {
        for body in [
            "null",
            "7",
            "[]",
            r#"{"prompt":7,"path":{}}"#,
            r#"{"path":"a","path":"b"}"#,
            r#"{"prompt":[[[[[["deep"]]]]]]}"#,
        ] {
            assert_eq!(of("request", "m", body), (None, String::new()), "{body}");
        }
    }
}
