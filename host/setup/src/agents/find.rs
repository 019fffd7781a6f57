//! Finds the agents of a configuration, and the positions of their commands.

use std::env::consts::OS;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast,
};

use super::command::{Arguments, Command, ConfigString};
use crate::error::Malformed;

/// What is said of an agent that the editor has installed itself.
pub const BY_EDITOR: &str =
    "has no `command` in this file: the editor launches it by itself, without a chain";

/// How a kind of configuration lists agents.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The top-level keys that contain agents, by name.
    pub keys: &'static [&'static str],
    /// The paths of objects that override the top level, and may contain the same keys: `*` is any name.
    pub overrides: &'static [&'static [&'static str]],
    /// The keys of overrides for one system each, with the names of [`OS`].
    pub systems: &'static [&'static str],
    /// A `command` without `args` is a whole command line, as in a shell; all words may also be one `argv`.
    pub lines: bool,
    /// The `type` of an agent with a command.
    pub kind: Option<&'static str>,
}

/// An agent of a configuration.
pub struct ConfiguredAgent {
    pub name: String,
    /// The position of its name.
    pub at: usize,
    /// The command, or why it is unknown.
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
    parsed.map_err(|error| Malformed::new(error.line_display(), error.kind().to_string()))
}

pub fn find(text: &str, dialect: Dialect) -> Result<Vec<ConfiguredAgent>, Malformed> {
    let start = start(text);
    let reader = Reader { text, start };
    let Some(top) = parse(text)?.value else {
        return Ok(Vec::new());
    };
    let Value::Object(top) = &top else {
        return Err(reader.wrong(&top, "expected an object with settings".to_owned()));
    };
    let mut found = Vec::new();
    for layer in reader.layers(top, dialect)? {
        for key in dialect.keys {
            let Some(agents) = reader.property(layer.settings, key)? else {
                continue;
            };
            let agents = match &agents.value {
                Value::Object(agents) => agents,
                Value::NullKeyword(_) => continue,
                other => {
                    let wrong = format!("expected an object with agents in `{key}`");
                    return Err(reader.wrong(other, wrong));
                }
            };
            for agent in &agents.properties {
                let name = agent.name.as_str().to_owned();
                // A duplicate name is an error, since it is undefined which one is meant.
                reader.property(agents, &name)?;
                let command = match &agent.value {
                    _ if !layer.is_for_us => {
                        Err("is for another system: run `acp-chain setup` there")
                    }
                    Value::Object(agent) => reader.command(agent, dialect)?,
                    _ => Err("is no object with a `command`"),
                };
                let at = reader.range(agent).start;
                found.push(ConfiguredAgent { name, at, command });
            }
        }
    }
    Ok(found)
}

/// An object with settings: the whole configuration, or one that overrides it.
struct Layer<'a, 't> {
    settings: &'a Object<'t>,
    /// Whether it applies to this system.
    is_for_us: bool,
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
        let properties = object.properties.iter();
        let mut named = properties.filter(|one| one.name.as_str() == name);
        let first = named.next();
        match named.next() {
            Some(second) => Err(self.wrong(second, format!("duplicate key `{name}`"))),
            None => Ok(first),
        }
    }

    /// All objects with settings, the top level first.
    fn layers<'a, 't>(
        &self,
        top: &'a Object<'t>,
        dialect: Dialect,
    ) -> Result<Vec<Layer<'a, 't>>, Malformed> {
        let mut layers = vec![Layer {
            settings: top,
            is_for_us: true,
        }];
        let overrides = dialect.overrides.iter().map(|way| (*way, true));
        let systems = dialect.systems.iter();
        let systems = systems.map(|system| (std::slice::from_ref(system), *system == OS));
        for (way, is_for_us) in overrides.chain(systems) {
            let settings = self.follow(top, way)?.into_iter();
            layers.extend(settings.map(|settings| Layer {
                settings,
                is_for_us,
            }));
        }
        Ok(layers)
    }

    /// The objects at this path.
    fn follow<'a, 't>(
        &self,
        from: &'a Object<'t>,
        way: &[&str],
    ) -> Result<Vec<&'a Object<'t>>, Malformed> {
        let Some((key, rest)) = way.split_first() else {
            return Ok(vec![from]);
        };
        let mut ends = Vec::new();
        let next = match *key {
            "*" => from.properties.iter().collect(),
            key => Vec::from_iter(self.property(from, key)?),
        };
        for property in next {
            if let Value::Object(object) = &property.value {
                ends.extend(self.follow(object, rest)?);
            }
        }
        Ok(ends)
    }

    fn word(&self, text: &StringLit) -> ConfigString {
        ConfigString {
            at: self.range(text),
            says: text.value.to_string(),
        }
    }

    /// The strings of a list; `None` if it has other items.
    fn words(&self, list: &Array) -> Option<Vec<ConfigString>> {
        let words = list.elements.iter().map(|element| match element {
            Value::StringLit(text) => Some(self.word(text)),
            _ => None,
        });
        words.collect()
    }

    /// The command of an agent, or why it is unknown.
    fn command(
        &self,
        agent: &Object,
        dialect: Dialect,
    ) -> Result<Result<Command, &'static str>, Malformed> {
        let remote = self.property(agent, "remote")?.map(|remote| &remote.value);
        if !matches!(remote, None | Some(Value::NullKeyword(_))) {
            return Ok(Err(
                "has `remote`, so its command runs on another machine: give it one there that launches acp-chain",
            ));
        }
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
            return Ok(Err(BY_EDITOR));
        };
        let key = self.range(program).start;
        let Value::StringLit(word) = &program.value else {
            return Ok(Err("has a `command` that is not text"));
        };
        let program = self.word(word);
        let arguments = match arguments.map(|arguments| (arguments, &arguments.value)) {
            None if dialect.lines => return Ok(Ok(Command::Line(program))),
            None => Arguments::None,
            Some((_, Value::NullKeyword(null))) => Arguments::Null(self.range(null)),
            Some((property, Value::Array(list))) => match self.words(list) {
                Some(words) => Arguments::List {
                    key: self.range(property).start,
                    at: self.range(list),
                    words,
                },
                None => return Ok(Err("has `args` that are not a list of texts")),
            },
            Some(_) => return Ok(Err("has `args` that are not a list of texts")),
        };
        Ok(Ok(Command::Split {
            key,
            program,
            arguments,
        }))
    }
}
