//! Finds the agents of a configuration, and the places of their commands in it.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast,
};

use super::command::{Arguments, Command, Word};
use crate::error::Malformed;

/// How a kind of configuration lists agents.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The top-level keys that contain agents, by name.
    pub keys: &'static [&'static str],
    /// A `command` without `args` is a whole command line, as in a shell; all words may also be one `argv`.
    pub lines: bool,
    /// The `type` of an agent with a command.
    pub kind: Option<&'static str>,
}

/// An agent of a configuration.
pub struct Found {
    pub name: String,
    /// The place of its name.
    pub at: usize,
    /// Its command, or why that is unknown.
    pub command: Result<Command, &'static str>,
}

/// The place after the byte order mark with which some editors begin their files.
pub fn start(text: &str) -> usize {
    text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len()
}

/// Parses a configuration, from [`start`] on. Commas and comments are among the tokens.
pub fn parse(text: &str) -> Result<ParseResult<'_>, Malformed> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    let parsed = parse_to_ast(&text[start(text)..], &collect, &options);
    parsed.map_err(|error| Malformed {
        line: error.line_display(),
        wrong: error.kind().to_string(),
    })
}

/// All agents.
pub fn find(text: &str, dialect: Dialect) -> Result<Vec<Found>, Malformed> {
    let start = start(text);
    let reader = Reader { text, start };
    let Some(top) = parse(text)?.value else {
        return Ok(Vec::new());
    };
    let Value::Object(top) = &top else {
        return Err(reader.wrong(&top, "expected an object with settings".to_owned()));
    };
    let mut found = Vec::new();
    for key in dialect.keys {
        let Some(agents) = reader.property(top, key)? else {
            continue;
        };
        let Value::Object(agents) = &agents.value else {
            let wrong = format!("expected an object with agents in `{key}`");
            return Err(reader.wrong(&agents.value, wrong));
        };
        for agent in &agents.properties {
            let name = agent.name.as_str().to_owned();
            // A duplicate name is an error, since it is undefined which one is meant.
            reader.property(agents, &name)?;
            let command = match &agent.value {
                Value::Object(agent) => reader.command(agent, dialect)?,
                _ => Err("is no object with a `command`"),
            };
            let at = reader.range(agent).start;
            found.push(Found { name, at, command });
        }
    }
    Ok(found)
}

/// Searches a text that was parsed from this place on.
struct Reader<'t> {
    text: &'t str,
    start: usize,
}

impl Reader<'_> {
    fn range(&self, of: &impl Ranged) -> Range<usize> {
        of.start() + self.start..of.end() + self.start
    }

    fn wrong(&self, at: &impl Ranged, wrong: String) -> Malformed {
        let before = &self.text[..self.range(at).start];
        let line = before.matches('\n').count() + 1;
        Malformed { line, wrong }
    }

    /// The property of this name; there may be only one.
    fn property<'a, 't>(
        &self,
        object: &'a Object<'t>,
        name: &str,
    ) -> Result<Option<&'a ObjectProp<'t>>, Malformed> {
        let mut named = object
            .properties
            .iter()
            .filter(|one| one.name.as_str() == name);
        let first = named.next();
        match named.next() {
            Some(second) => Err(self.wrong(second, format!("`{name}` is there twice"))),
            None => Ok(first),
        }
    }

    fn word(&self, text: &StringLit) -> Word {
        Word {
            at: self.range(text),
            says: text.value.to_string(),
        }
    }

    /// The strings of a list, if it contains nothing else.
    fn words(&self, list: &Array) -> Option<Vec<Word>> {
        let words = list.elements.iter().map(|element| match element {
            Value::StringLit(text) => Some(self.word(text)),
            _ => None,
        });
        words.collect()
    }

    /// The command of an agent, or why that is unknown.
    fn command(
        &self,
        agent: &Object,
        dialect: Dialect,
    ) -> Result<Result<Command, &'static str>, Malformed> {
        let list = self.property(agent, "argv")?.filter(|_| dialect.lines);
        let program = self.property(agent, "command")?;
        let arguments = self.property(agent, "args")?;
        if let Some(list) = list {
            let Value::Array(list) = &list.value else {
                return Ok(Err("has an `argv` that is not a list"));
            };
            let open = self.range(list).start;
            let words = self.words(list);
            return Ok(match words.filter(|words| !words.is_empty()) {
                Some(words) => Ok(Command::List { open, words }),
                None => Err("has an `argv` that is not a list of texts"),
            });
        }
        let Some(program) = program else {
            return Ok(Err(
                "has no `command` in this file: the editor launches it by itself; add an agent with a command of \
                 its own",
            ));
        };
        let key = self.range(program).start;
        let Value::StringLit(word) = &program.value else {
            return Ok(Err("has a `command` that is not text"));
        };
        let program = self.word(word);
        let arguments = match arguments.map(|arguments| &arguments.value) {
            None if dialect.lines => return Ok(Ok(Command::Line(program))),
            None => Arguments::None,
            Some(Value::NullKeyword(null)) => Arguments::Null(self.range(null)),
            Some(Value::Array(list)) => {
                let open = self.range(list).start;
                match self.words(list) {
                    Some(words) => Arguments::List { open, words },
                    None => return Ok(Err("has `args` that are no list of texts")),
                }
            }
            Some(_) => return Ok(Err("has `args` that are no list of texts")),
        };
        Ok(Ok(Command::Split {
            key,
            program,
            arguments,
        }))
    }
}
