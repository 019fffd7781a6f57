//! Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`, of older versions `….json`. A line is a message,
//! the beginning of the session, or a change of it (`$set`), which may have messages as well. Messages with their calls
//! are written again when these go on, so what has an id counts once. A chat of an older version is one object, read as
//! a line that has all messages.

use acp_chain_hooks::{self as hooks, recorded};
use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;

use super::calls::{SeenIds, whole_call};
use super::{List, MOST_ITEMS, Reader, output, short, string, text_of};
use crate::event::Event;
use crate::tokens::{Tokens, count};

#[derive(Default)]
pub(super) struct Gemini {
    project: Option<String>,
    session: Option<String>,
    messages: SeenIds,
    calls: SeenIds,
}

/// A line of any kind, or a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'m> {
    #[serde(default, deserialize_with = "short")]
    session_id: Option<String>,
    #[serde(rename = "$set", borrow)]
    set: Option<Change<'m>>,
    /// Of an older version. They are read one by one.
    #[serde(borrow)]
    messages: Option<List<&'m RawValue>>,
    id: Option<String>,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow)]
    content: Option<&'m RawValue>,
    #[serde(borrow)]
    tool_calls: Option<List<Call<'m>>>,
    tokens: Option<Usage>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Change<'c> {
    /// They are read one by one.
    #[serde(borrow)]
    messages: Option<List<&'c RawValue>>,
}

#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Deserialize)]
struct Call<'c> {
    id: Option<String>,
    #[serde(default)]
    name: String,
    args: Option<&'c RawValue>,
    result: Option<&'c RawValue>,
    status: Option<String>,
}

/// A part of content.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'p> {
    text: Option<String>,
    #[serde(borrow)]
    function_response: Option<FunctionResponse<'p>>,
}

#[derive(Deserialize)]
struct FunctionResponse<'f> {
    #[serde(borrow)]
    response: Option<&'f RawValue>,
}

/// Tokens of the cache are among those of the input, and those of thoughts are not among those of the output.
#[serde_with::apply(u64 => #[serde(default, deserialize_with = "count")])]
#[derive(Deserialize)]
struct Usage {
    input: u64,
    output: u64,
    cached: u64,
    thoughts: u64,
    tool: u64,
}

/// How the text begins that Gemini itself puts in front of a session.
const CONTEXT: &str = "<session_context>";

impl Reader for Gemini {
    fn read(&mut self, line: &[u8], events: &mut Vec<Event>) -> serde_json::Result<()> {
        let line: Message = serde_json::from_slice(line)?;
        if line.session_id.is_some() && line.session_id != self.session {
            self.session.clone_from(&line.session_id);
            let cwd = self.project.clone();
            let id = line.session_id.clone();
            events.extend(id.map(|id| Event::Session { id, cwd }));
        }
        let most = events.len() + MOST_ITEMS;
        let set = line.set.iter().filter_map(|set| set.messages.as_ref());
        for message in set
            .chain(&line.messages)
            .flat_map(|List(messages)| messages)
        {
            if events.len() > most {
                return Err(serde_json::Error::custom("a line has too many calls"));
            }
            self.message(&serde_json::from_str(message.get())?, events)?;
        }
        self.message(&line, events)
    }
}

impl Gemini {
    /// Of chats of a project in this folder.
    pub(super) fn new(project: Option<String>) -> Self {
        Self {
            project,
            ..Self::default()
        }
    }

    fn message(&mut self, message: &Message, events: &mut Vec<Event>) -> serde_json::Result<()> {
        let Some(id) = &message.id else { return Ok(()) };
        if self.messages.is_new(id) {
            if let Some(used) = &message.tokens {
                let tokens = Tokens::from(used);
                let model = message.model.clone().unwrap_or_default();
                events.push(Event::Used { model, tokens });
            }
            if let Some(content) = message.content.filter(|_| message.kind == "user") {
                let texts = texts(content)?;
                let is_own = texts.iter().any(|text| text.starts_with(CONTEXT));
                events.extend((!texts.is_empty() && !is_own).then_some(Event::Prompt(texts)));
            }
        }
        for call in message.tool_calls.iter().flat_map(|List(calls)| calls) {
            self.call(call, events)?;
        }
        Ok(())
    }

    /// A call, once it has a result.
    fn call(&mut self, call: &Call, events: &mut Vec<Event>) -> serde_json::Result<()> {
        let (Some(id), Some(result)) = (&call.id, call.result) else {
            return Ok(());
        };
        if !self.calls.is_new(id) {
            return Ok(());
        }
        let parts = parts(result)?;
        let begun = hooks::Event {
            call: Some(id.clone()),
            cwd: self.project.clone(),
            ..recorded("gemini", &call.name, text_of(call.args))
        };
        let texts = parts.into_iter().flat_map(|part| {
            let response = part.function_response;
            let response = response.map(|response| output(response.response));
            part.text.into_iter().chain(response.into_iter().flatten())
        });
        let failed = call.status.as_deref() == Some("error");
        events.extend(whole_call(begun, texts.collect(), failed));
        Ok(())
    }
}

/// The texts of a user's message.
fn texts(content: &RawValue) -> serde_json::Result<Vec<String>> {
    let parts = parts(content)?.into_iter();
    Ok(parts.filter_map(|part| part.text).collect())
}

/// The parts of content: of a list, or a single one. Each may be a text.
fn parts(content: &RawValue) -> serde_json::Result<Vec<Part<'_>>> {
    if !content.get().starts_with('[') {
        return Ok(vec![part(content)?]);
    }
    let List(parts): List<&RawValue> = serde_json::from_str(content.get())?;
    parts.into_iter().map(part).collect()
}

fn part(json: &RawValue) -> serde_json::Result<Part<'_>> {
    match string(json) {
        Some(text) => Ok(Part {
            text: Some(text),
            function_response: None,
        }),
        None => serde_json::from_str(json.get()),
    }
}

impl From<&Usage> for Tokens {
    fn from(used: &Usage) -> Self {
        Self {
            input: used
                .input
                .saturating_sub(used.cached)
                .saturating_add(used.tool),
            output: used.output.saturating_add(used.thoughts),
            cached_read: used.cached,
            cached_write: 0,
        }
    }
}
