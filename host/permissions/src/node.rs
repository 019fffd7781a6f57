//! Files of agents, JSON with comments or TOML, as one kind of tree, whose values know their lines.

use std::collections::HashSet;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value, and its line, counted from 1.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Bool(bool),
    Number(f64),
    List(Vec<Node>),
    /// In the order of the file for JSON, by name for TOML.
    Table(Vec<Member>),
    /// A date, or `null`.
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) node: Node,
}

/// Why a text is not a tree.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) wrong: String,
}

impl Node {
    /// Parses JSON with comments and trailing commas. A name that occurs twice in an object is an error, since parsers
    /// differ in which of the two counts.
    pub(crate) fn of_json(text: &str) -> Result<Self, Malformed> {
        // Some editors begin their files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = Lines::of(text);
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
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
        let parsed = parsed.map_err(|error| Malformed {
            line: lines.at(error.range().start),
            wrong: error.kind().to_string(),
        })?;
        match &parsed.value {
            Some(value) => of_ast(value, &lines),
            None => Ok(Self {
                line: 1,
                value: Value::Table(Vec::new()),
            }),
        }
    }

    /// Parses TOML.
    pub(crate) fn of_toml(text: &str) -> Result<Self, Malformed> {
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| Malformed {
            line: lines.at(error.span().map_or(0, |span| span.start)),
            wrong: error.message().replace('\n', ", "),
        })?;
        Ok(Self {
            line: 1,
            value: of_table(table.get_ref(), &lines),
        })
    }

    /// The members of a table; none of any other value.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.value {
            Value::Table(members) => members,
            _ => &[],
        }
    }

    /// The elements of a list; none of any other value.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The member of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let member = self.members().iter().find(|member| member.name == name)?;
        Some(&member.node)
    }

    /// The member at the end of these names.
    pub(crate) fn at(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text, or the texts of a list; `None` of anything else.
    pub(crate) fn texts(&self) -> Option<Vec<&str>> {
        match &self.value {
            Value::Text(text) => Some(vec![text]),
            Value::List(items) => items.iter().map(Self::text).collect(),
            _ => None,
        }
    }

    /// The value in one line, for people.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Bool(is_set) => is_set.to_string(),
            Value::Number(number) => number.to_string(),
            Value::List(_) => "[…]".to_owned(),
            Value::Table(_) => "{…}".to_owned(),
            Value::Other => "…".to_owned(),
        }
    }
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        Self([0].into_iter().chain(behind).collect())
    }

    /// The line of a byte, counted from 1.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte)
    }
}

fn of_ast(value: &ast::Value<'_>, lines: &Lines) -> Result<Node, Malformed> {
    let line = lines.at(value.range().start);
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NumberLit(number) => number.value.parse().map_or(Value::Other, Value::Number),
        ast::Value::Array(array) => {
            let items = array.elements.iter().map(|value| of_ast(value, lines));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => {
            let mut members = Vec::new();
            let mut names = HashSet::new();
            for property in &object.properties {
                let name = property.name.as_str().to_owned();
                let node = of_ast(&property.value, lines)?;
                if !names.insert(name.clone()) {
                    let line = lines.at(property.range().start);
                    let wrong = format!("`{name}` occurs twice");
                    return Err(Malformed { line, wrong });
                }
                members.push(Member { name, node });
            }
            Value::Table(members)
        }
        ast::Value::NullKeyword(_) => Value::Other,
    };
    Ok(Node { line, value })
}

fn of_table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let members = table.iter().map(|(name, value)| Member {
        name: name.get_ref().to_string(),
        node: of_value(value, lines),
    });
    Value::Table(members.collect())
}

fn of_value(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let line = lines.at(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(is_set) => Value::Bool(*is_set),
        DeValue::Integer(number) => number.as_str().parse().map_or(Value::Other, Value::Number),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Other, Value::Number),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| of_value(item, lines)).collect())
        }
        DeValue::Table(table) => of_table(table, lines),
        DeValue::Datetime(_) => Value::Other,
    };
    Node { line, value }
}
