//! Adds entries of agents, laid out like their neighbours, and removes them with their commas. The rest of the text is
//! unchanged.

use std::env::consts::OS;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};

use super::command::{Edits, edited, gap, json};
use super::find::{Dialect, parse, start};
use crate::error::Malformed;
use crate::shell::shell_line;

/// One step of indentation, by default.
const STEP: &str = "  ";

/// Adds an agent that is launched with these words, under each existing key, since each belongs to another extension
/// of the editor; if there are none, under the first one.
pub fn put(
    text: &str,
    dialect: Dialect,
    name: &str,
    words: &[String],
) -> Result<String, Malformed> {
    let (mark, text) = text.split_at(start(text));
    let parsed = parse(text)?;
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let place = Place {
        text,
        tokens: parsed.tokens.unwrap_or_default(),
        line,
    };
    let key = dialect.keys.first().copied().unwrap_or_default();
    let Some(Value::Object(top)) = &parsed.value else {
        let inner = Layout::after(line, STEP).inner();
        let agents = inner.agents(dialect, name, words);
        let agents = object(&[(key, agents)], &inner.gap, line);
        let is_whole = text.is_empty() || text.ends_with('\n');
        let end = if is_whole { "" } else { line };
        return Ok(format!("{mark}{text}{end}{agents}{line}"));
    };
    let step = place.gap(top).unwrap_or_default();
    let step = Some(step.trim_matches(['\r', '\n'])).filter(|step| !step.is_empty());
    let step = step.unwrap_or(STEP);
    let mut edits: Edits = Vec::new();
    for (at, value) in under(top, dialect) {
        let around = gap(text, at);
        match value {
            Value::Object(agents) => edits.extend(place.insert(agents, around, step, |layout| {
                (name, layout.agent(dialect, words))
            })),
            Value::NullKeyword(null) => {
                let agents = Layout::after(around, step).agents(dialect, name, words);
                edits.push((null.start()..null.end(), agents));
            }
            _ => {}
        }
    }
    if edits.is_empty() {
        edits = place.insert(top, line, step, |layout| {
            (key, layout.agents(dialect, name, words))
        });
    }
    Ok(format!("{mark}{}", edited(text, edits)))
}

/// Removes the agent whose name begins at this place.
pub fn take(text: &str, dialect: Dialect, at: usize) -> Result<String, Malformed> {
    let (mark, text) = text.split_at(start(text));
    let parsed = parse(text)?;
    let place = Place {
        text,
        tokens: parsed.tokens.unwrap_or_default(),
        line: "\n",
    };
    let Some(Value::Object(top)) = &parsed.value else {
        return Ok(format!("{mark}{text}"));
    };
    let edits = under(top, dialect).flat_map(|(_, value)| {
        let Value::Object(agents) = value else {
            return Vec::new();
        };
        let mut all = agents.properties.iter();
        let index = all.position(|agent| agent.start() + mark.len() == at);
        index.map_or_else(Vec::new, |index| place.remove(agents, index))
    });
    Ok(format!("{mark}{}", edited(text, edits.collect())))
}

/// The values that contain agents, and the positions of their keys.
fn under<'a, 't>(
    top: &'a Object<'t>,
    dialect: Dialect,
) -> impl Iterator<Item = (usize, &'a Value<'t>)> {
    let keys = top.properties.iter();
    let keys = keys.filter(move |key| dialect.keys.contains(&key.name.as_str()));
    keys.map(|key| (key.start(), &key.value))
}

/// The layout of an item after this gap.
struct Layout<'s> {
    gap: String,
    step: &'s str,
}

impl<'s> Layout<'s> {
    fn after(gap: &str, step: &'s str) -> Self {
        let gap = gap.to_owned();
        Self { gap, step }
    }

    /// The layout of its contents.
    fn inner(&self) -> Self {
        let gap = if self.gap.contains('\n') {
            format!("{}{}", self.gap, self.step)
        } else {
            self.gap.clone()
        };
        Self { gap, ..*self }
    }

    /// An object with only this agent.
    fn agents(&self, dialect: Dialect, name: &str, words: &[String]) -> String {
        let inner = self.inner();
        let agent = inner.agent(dialect, words);
        object(&[(name, agent)], &inner.gap, &self.gap)
    }

    /// The command of an agent.
    fn agent(&self, dialect: Dialect, words: &[String]) -> String {
        let list = |words: &[String]| {
            let words: Vec<_> = words.iter().map(|word| json(word)).collect();
            format!("[{}]", words.join(", "))
        };
        let program = words.first().map(|word| json(word)).unwrap_or_default();
        let properties = if !dialect.lines {
            let kind = dialect.kind.map(|kind| ("type", json(kind)));
            let rest = [
                ("command", program),
                ("args", list(words.get(1..).unwrap_or_default())),
                ("env", "{}".to_owned()),
            ];
            kind.into_iter().chain(rest).collect()
        } else if OS == "windows" {
            // A line is read by every version, but not on Windows.
            vec![("argv", list(words))]
        } else {
            vec![("command", json(&shell_line(words)))]
        };
        object(&properties, &self.inner().gap, &self.gap)
    }
}

/// An object, with `gap` before each property, and `end` before its end.
fn object(properties: &[(&str, String)], gap: &str, end: &str) -> String {
    let properties = properties
        .iter()
        .map(|(key, value)| format!("{gap}{}: {value}", json(key)));
    let properties: Vec<_> = properties.collect();
    format!("{{{}{end}}}", properties.join(","))
}

/// A text, and the layout around its items.
struct Place<'p> {
    text: &'p str,
    tokens: Vec<TokenAndRange<'p>>,
    /// Its line ending.
    line: &'p str,
}

impl Place<'_> {
    /// The text before an object's properties, if one is on a line of its own.
    fn gap(&self, object: &Object) -> Option<String> {
        let gaps = object.properties.iter();
        let mut gaps = gaps.map(|property| gap(self.text, property.start()));
        gaps.find(|gap| gap.contains('\n')).map(str::to_owned)
    }

    /// The first comma in this range.
    fn comma(&self, within: Range<usize>) -> Option<Range<usize>> {
        let tokens = self.tokens.iter();
        let mut commas = tokens.filter(|token| token.token == Token::Comma);
        let comma = commas.find(|comma| within.contains(&comma.start()))?;
        Some(comma.start()..comma.end())
    }

    /// Appends a property to an object, after `around`.
    fn insert<'k>(
        &self,
        object: &Object,
        around: &str,
        step: &str,
        property: impl Fn(&Layout) -> (&'k str, String),
    ) -> Edits {
        let written = |layout: &Layout| {
            let (key, value) = property(layout);
            format!("{}{}: {value}", layout.gap, json(key))
        };
        let close = object.end() - 1;
        let Some(last) = object.properties.last() else {
            let inside = &self.text[object.start() + 1..close];
            // A comment may extend to the end of its line.
            let is_enough = inside.trim().is_empty() || around.contains('\n');
            let around = if is_enough { around } else { self.line };
            let outer = Layout::after(around, step);
            let end = close - (inside.len() - inside.trim_end().len());
            return vec![(end..close, written(&outer.inner()) + around)];
        };
        let layout = Layout::after(self.gap(object).as_deref().unwrap_or(" "), step);
        let comma = self.comma(last.end()..close);
        let mut at = comma.as_ref().map_or(last.end(), |comma| comma.end);
        if layout.gap.contains('\n') {
            at = self.behind_comments(at, close);
        }
        match comma {
            Some(_) => vec![(at..at, written(&layout) + ",")],
            None => vec![
                (last.end()..last.end(), ",".to_owned()),
                (at..at, written(&layout)),
            ],
        }
    }

    /// The place after the comments that begin on this place's line.
    fn behind_comments(&self, mut at: usize, close: usize) -> usize {
        for token in &self.tokens {
            let is_comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            if !is_comment || !(at..close).contains(&token.start()) {
                continue;
            }
            if self.text[at..token.start()].contains('\n') {
                break;
            }
            at = token.end();
        }
        at
    }

    /// Removes a property from an object.
    fn remove(&self, object: &Object, index: usize) -> Edits {
        let property = &object.properties[index];
        let next = object.properties.get(index + 1);
        let end = next.map_or(object.end() - 1, Ranged::start);
        let comma = self.comma(property.end()..end);
        let mut until = comma.as_ref().map_or(property.end(), |comma| comma.end);
        let behind = &self.text[until..];
        let behind = behind.trim_start_matches([' ', '\t']);
        until = self.text.len() - behind.len();
        let gap = gap(self.text, property.start());
        // Remove its line, unless something else is on it.
        let is_line = gap.contains('\n') && behind.starts_with(['\r', '\n']);
        let from = property.start() - if is_line { gap.len() } else { 0 };
        let mut edits = vec![(from..until, String::new())];
        if comma.is_none() && index > 0 {
            let before = object.properties[index - 1].end()..property.start();
            edits.extend(self.comma(before).map(|comma| (comma, String::new())));
        }
        edits
    }
}
