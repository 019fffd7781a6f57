//! Parses the text of a transcript into steps, each with its place in the text.
//!
//! A step is a line, with following lines that continue its JSON: they begin with white space, or with a closing
//! bracket. A line that begins with `#` is a comment. Text above a line `---` is the head, which is not parsed here.

use std::ops::Range;
use std::time::Duration;

use super::act::{Act, Call, Kind, Said, ValuesOf};
use super::names::Names;
use super::pattern::JsonPattern;
use acp_chain_channel::Peer;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The maximum length of a transcript, in bytes.
pub const LONGEST: usize = 16 << 20;

/// The maximum time in a single step.
const LONGEST_TIME: Duration = Duration::from_hours(24 * 365);

/// The line after the head.
const SEPARATOR: &str = "---";

/// A transcript, ready to be played.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    head: Range<usize>,
    /// The offset of the first line after the head.
    pub(super) start: usize,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a transcript.
#[derive(Clone, Debug)]
pub struct Step {
    /// The first line, counted from 1.
    pub line: usize,
    /// The bytes of the step in the text, with its last line feed.
    pub place: Range<usize>,
    /// The action or the expectation.
    pub act: Act,
}

/// An error in a transcript, and how to correct it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct Wrong {
    /// The line, counted from 1.
    pub line: usize,
    /// The error.
    pub what: String,
}

impl Script {
    /// Parses a transcript.
    ///
    /// # Errors
    /// If a line is not a step, or uses an undefined name.
    pub fn read(text: &str) -> Result<Self, Wrong> {
        if text.len() > LONGEST {
            let what = format!("a transcript has at most {} MiB; split it", LONGEST >> 20);
            return Err(Wrong { line: 1, what });
        }
        let mut lines = Lines::of(text);
        let head = lines.head();
        let start = lines.at;
        let mut names = Names::default();
        let mut steps = Vec::new();
        while let Some((line, place)) = lines.next_step() {
            let written = &text[place.clone()];
            let wrong = |(below, what): (usize, String)| Wrong {
                line: line + below,
                what,
            };
            let act = read_step(written).map_err(wrong)?;
            names.take(line, &act).map_err(|what| wrong((0, what)))?;
            steps.push(Step { line, place, act });
        }
        Ok(Self {
            text: text.to_owned(),
            head,
            start,
            steps,
        })
    }

    /// A transcript without a text: only the steps.
    pub fn of(acts: Vec<Act>) -> Self {
        let steps = (1..).zip(acts).map(|(line, act)| Step {
            line,
            place: 0..0,
            act,
        });
        Self {
            text: String::new(),
            head: 0..0,
            start: 0,
            steps: steps.collect(),
        }
    }

    /// The position of the first step that does not say what a proxy has stored.
    pub(super) fn beginning(&self) -> usize {
        let has_stored = |step: &&Step| matches!(step.act, Act::HasStored(..));
        self.steps.iter().take_while(has_stored).count()
    }

    /// The text above the steps: the chain, as in a manifest.
    pub fn head(&self) -> &str {
        &self.text[self.head.clone()]
    }

    /// The whole text, with the head and comments.
    pub fn text(&self) -> &str {
        &self.text
    }
}

struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            number: 0,
        }
    }

    /// Skips the head, and returns its place; empty if there is none.
    fn head(&mut self) -> Range<usize> {
        let mut head = Lines::of(self.text);
        while let Some(line) = head.peek() {
            let end = head.at;
            head.pass(line);
            if line.trim_end() == SEPARATOR {
                *self = head;
                return 0..end;
            }
        }
        0..0
    }

    fn peek(&self) -> Option<&'a str> {
        self.text[self.at..].split_inclusive('\n').next()
    }

    fn pass(&mut self, line: &str) {
        self.at += line.len();
        self.number += 1;
    }

    /// The next step: its line, and its place.
    fn next_step(&mut self) -> Option<(usize, Range<usize>)> {
        loop {
            let line = self.peek()?;
            let start = self.at;
            self.pass(line);
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let number = self.number;
            while let Some(line) = self.peek().filter(|line| is_continuation(line)) {
                self.pass(line);
            }
            return Some((number, start..self.at));
        }
    }
}

/// Whether a line continues the JSON of the previous one.
fn is_continuation(line: &str) -> bool {
    let is_blank = line.trim().is_empty();
    !is_blank && line.starts_with([' ', '\t', '}', ']'])
}

/// An error, with the number of lines below the first of its step.
type WrongBelow = (usize, String);

fn read_step(text: &str) -> Result<Act, WrongBelow> {
    let (first, rest) = word(text);
    let (second, behind) = word(rest);
    let here = |what: String| (0, what);
    match (first, second) {
        (end, _) if end.ends_with(':') => {}
        (proxy, "fails") if behind.trim().is_empty() => {
            return Ok(Act::Fails(proxy.to_owned()));
        }
        (proxy, "restarts") => {
            let saved = match word(behind) {
                ("", _) => None,
                ("with", json) => Some(read_json(text, json)?),
                (other, _) => {
                    let other = quote(other, MAX_QUOTE);
                    return Err(here(format!(
                        "`{other}`: a proxy `restarts`, or `restarts with` its saved state, as JSON"
                    )));
                }
            };
            return Ok(Act::Restarts(proxy.to_owned(), saved));
        }
        (proxy, "has") if word(behind).0 == "stored" => {
            return values(text, proxy, word(behind).1, Act::HasStored);
        }
        (proxy, "stores:") => return values(text, proxy, behind, Act::Stores),
        (proxy, "stores") if word(behind).0 == "in" => {
            return values(text, proxy, behind, Act::Stores);
        }
        (proxy, "logs:") => return Ok(Act::Logs(proxy.to_owned(), read_json(text, behind)?)),
        _ => {}
    }
    match (first, second) {
        ("client:", _) => says(text, rest, Peer::Client, Act::Says),
        ("agent:", _) => says(text, rest, Peer::Agent, Act::Says),
        ("client", "gets:") => says(text, behind, Peer::Client, Act::Gets),
        ("agent", "gets:") => says(text, behind, Peer::Agent, Act::Gets),
        ("agent", "calls:") => calls(text, behind),
        ("after", _) => {
            let time = humantime::parse_duration(rest.trim()).ok();
            let time = time.filter(|time| *time <= LONGEST_TIME);
            time.map(Act::After).ok_or_else(|| {
                let time = quote(rest.trim(), MAX_QUOTE);
                here(format!(
                    "`{time}` is not a time; write `after 30s`, `after 100ms` or `after 2h 5m`"
                ))
            })
        }
        ("session", name) => {
            let name = check_name(name).map_err(here)?;
            let params = match behind.trim() {
                "" => JsonPattern::of(super::json::Json::Object(indexmap::IndexMap::new())),
                _ => read_json(text, behind)?,
            };
            Ok(Act::Session(name, params))
        }
        (other, _) => {
            let other = quote(other, MAX_QUOTE);
            Err(here(format!(
                "`{other}` does not begin a line; a line is `client: …`, `client gets: …`, `agent: …`, `agent gets: …`, \
                 `agent calls: …`, `session NAME`, `after TIME`, `PROXY fails`, `PROXY restarts`, `PROXY logs: …`, \
                 `PROXY has stored …`, `PROXY stores: …`, or a comment after `#`"
            )))
        }
    }
}

/// Parses a message of an end.
fn says(text: &str, rest: &str, end: Peer, act: fn(Peer, Said) -> Act) -> Result<Act, WrongBelow> {
    let (first, after_first) = word(rest);
    let (second, after_second) = word(after_first);
    let here = |what: String| (0, what);
    let has_name = !second.is_empty() && !second.starts_with(['{', '[']);
    let (name, head, json) = if has_name {
        (Some(check_name(first).map_err(here)?), second, after_second)
    } else {
        (None, first, after_first)
    };
    let kind = match (&name, head) {
        (_, "") => {
            return Err(here(
                "the message is missing; write `p1 session/prompt {…}`, or `p1 result {…}`"
                    .to_owned(),
            ));
        }
        (Some(_), "result") => Kind::Result,
        (_, "error") => Kind::Error,
        (Some(_), "cancel") => Kind::Cancel,
        (None, "result" | "cancel") => {
            return Err(here(format!(
                "`{head}` needs the name of its request: write `p1 {head}`"
            )));
        }
        (Some(_), method) => Kind::Request(method.to_owned()),
        (None, method) => Kind::Notification(method.to_owned()),
    };
    let body = match json.trim() {
        "" => None,
        _ if kind == Kind::Cancel => {
            return Err(here("`cancel` must end the line".to_owned()));
        }
        _ => Some(read_json(text, json)?),
    };
    Ok(act(end, Said { kind, name, body }))
}

/// Parses stored values: `{…}`, or `in FOLDER {…}`, where a colon may follow the folder.
fn values(
    text: &str,
    proxy: &str,
    rest: &str,
    act: fn(ValuesOf, JsonPattern) -> Act,
) -> Result<Act, WrongBelow> {
    let (folder, json) = match word(rest) {
        ("in", behind) => {
            let (folder, json) = word(behind);
            (Some(folder.strip_suffix(':').unwrap_or(folder)), json)
        }
        _ => (None, rest),
    };
    let values = read_json(text, json)?;
    if !values.is_object() {
        let what = "stored values are an object with a member for each key, such as `{\"key\": \"value\"}`";
        return Err((0, what.to_owned()));
    }
    let of = ValuesOf {
        proxy: proxy.to_owned(),
        folder: folder.map(str::to_owned),
    };
    Ok(act(of, values))
}

/// Parses `NAME SERVER/TOOL {…}`, or `NAME SERVER METHOD {…}`.
fn calls(text: &str, rest: &str) -> Result<Act, WrongBelow> {
    let here = |what: &str| (0, what.to_owned());
    let (name, rest) = word(rest);
    let name = check_name(name).map_err(|what| (0, what))?;
    let (target, rest) = word(rest);
    let (method, behind) = word(rest);
    let is_tool = method.is_empty() || method.starts_with('{');
    let json = if is_tool { rest } else { behind };
    let body = match json.trim() {
        "" => "{}",
        json => json,
    };
    let body = read_json(text, body)?;
    let (server, method, params) = match (is_tool, target.split_once('/')) {
        (true, Some((server, tool))) if !server.is_empty() && !tool.is_empty() => {
            (server, "tools/call", body.of_tool(tool))
        }
        (false, None) => (target, method, body),
        _ => {
            return Err(here(
                "the agent calls a tool, `c1 SERVER/TOOL {…}`, or any MCP method, `c1 SERVER METHOD {…}`",
            ));
        }
    };
    Ok(Act::Calls(Call {
        name,
        server: server.to_owned(),
        method: method.to_owned(),
        params,
    }))
}

fn check_name(name: &str) -> Result<String, String> {
    if super::is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(format!(
            "`{}` is not a name; a name has 1 to 64 letters, digits, `-` or `_`, and begins with a letter",
            quote(name, MAX_QUOTE)
        ))
    }
}

/// The first word, and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// Parses JSON at the end of a step. An error has the number of lines below the step's first.
fn read_json(step: &str, json: &str) -> Result<JsonPattern, WrongBelow> {
    JsonPattern::read(json).map_err(|error| {
        let before = step.len() - json.len();
        let lines = step.get(..before).unwrap_or_default().matches('\n').count();
        let shown = error.to_string();
        let what = shown.split(" at line ").next().unwrap_or_default();
        let what = format!("this is not JSON: {what}; continuation lines begin with a space");
        (lines + error.line().saturating_sub(1), what)
    })
}

impl Act {
    /// Whether the step is an expectation, not an action.
    pub fn is_expected(&self) -> bool {
        matches!(self, Self::Gets(..) | Self::Logs(..) | Self::Stores(..))
    }
}
