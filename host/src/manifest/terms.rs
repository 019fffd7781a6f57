//! Under which terms a proxy works: `[proxy.limits]`, `[proxy.grant]` and `on-failure`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Spanned, Value};

use super::error::unknown_key;
use crate::channel::{FailurePolicy, Grant, Methods};
use crate::limits::{Limit, Limits, Quantity, TABLE};
use crate::sandbox::Directory;

/// Something wrong, and the byte at which it begins.
pub(super) type Wrong = (usize, String);

/// A table of limits, by their keys.
pub(super) type LimitsTable = BTreeMap<Spanned<String>, Spanned<Value>>;

/// Changes limits by a table of them; none may go over its ceiling, if there are ceilings.
pub(super) fn read_limits(
    table: LimitsTable,
    mut limits: Limits,
    ceilings: Option<&Limits>,
) -> Result<Limits, Wrong> {
    for (key, value) in table {
        let Some(limit) = Limit::named(key.get_ref()) else {
            let known: Vec<_> = TABLE.iter().map(|limit| limit.key).collect();
            return Err((key.span().start, unknown_key(key.get_ref(), &known)));
        };
        let at = value.span().start;
        let amount = read_amount(limit.quantity, value.get_ref())
            .map_err(|wrong| (at, format!("`{}`: {wrong}", limit.key)))?;
        if let Some(ceilings) = ceilings
            && amount > limit.of(ceilings)
        {
            let (key, ceiling) = (limit.key, limit.show(ceilings));
            let asked = limit.quantity.show(amount);
            return Err((
                at,
                format!(
                    "`{key}`: {asked} is over the ceiling of {ceiling}; only the user can raise \
                     that, by `{key}` under `[ceilings]` in the user's config.toml"
                ),
            ));
        }
        limit.put(&mut limits, amount);
    }
    Ok(limits)
}

fn read_amount(quantity: Quantity, value: &Value) -> Result<u64, String> {
    match (quantity, value) {
        (Quantity::Size | Quantity::Time, Value::String(text)) => quantity.read(text),
        (Quantity::Count, Value::Integer(number)) => quantity.read(&number.to_string()),
        (_, Value::String(text)) => Err(format!("{text:?} is a text; {}", quantity.example())),
        (_, Value::Integer(number)) => Err(format!("{number} has no unit; {}", quantity.example())),
        (_, other) => {
            let (kind, example) = (other.type_str(), quantity.example());
            Err(format!("this cannot be a {kind}; {example}"))
        }
    }
}

/// `[proxy.grant]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantTable {
    observe: Option<Vec<Spanned<String>>>,
    change: Option<Vec<Spanned<String>>>,
    answer: Option<Vec<Spanned<String>>>,
    originate: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    tools: bool,
    #[serde(default)]
    directories: Vec<DirectoryTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectoryTable {
    path: PathBuf,
    name: Spanned<String>,
    #[serde(default)]
    write: bool,
}

impl GrantTable {
    /// What it grants; what it does not mention stays as it is by default. Relative paths begin
    /// at `folder`.
    pub(super) fn read(self, folder: &Path) -> Result<(Grant, Vec<Directory>), Wrong> {
        let defaults = Grant::default();
        let grant = Grant {
            observe: read_methods("observe", self.observe, defaults.observe)?,
            change: read_methods("change", self.change, defaults.change)?,
            answer: read_methods("answer", self.answer, defaults.answer)?,
            originate: read_methods("originate", self.originate, defaults.originate)?,
            tools: self.tools,
        };
        let mut directories: Vec<Directory> = Vec::new();
        for directory in self.directories {
            let (at, name) = (directory.name.span().start, directory.name.into_inner());
            if name.is_empty() || directories.iter().any(|other| other.name == name) {
                let wrong = format!("each directory needs a name of its own; {name:?} is none");
                return Err((at, wrong));
            }
            directories.push(Directory {
                path: folder.join(directory.path),
                name,
                write: directory.write,
            });
        }
        Ok((grant, directories))
    }
}

fn read_methods(
    power: &str,
    patterns: Option<Vec<Spanned<String>>>,
    default: Methods,
) -> Result<Methods, Wrong> {
    let Some(patterns) = patterns else {
        return Ok(default);
    };
    let texts: Vec<_> = patterns.iter().map(Spanned::get_ref).collect();
    for (count, pattern) in patterns.iter().enumerate() {
        let wrong = |wrong: String| (pattern.span().start, format!("`{power}`: {wrong}"));
        // One more at a time, so that the first wrong one is known.
        Methods::new(&texts[..=count]).map_err(|error| wrong(error.to_string()))?;
        if power == "originate" && *pattern.get_ref() == "initialize" {
            return Err(wrong("initialize is the host's own to send".to_owned()));
        }
    }
    Methods::new(&texts).map_err(|error| (0, error.to_string()))
}

/// `on-failure`.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OnFailure {
    Restart,
    RestartThenBypass,
    Bypass,
    Refuse,
}

impl From<OnFailure> for FailurePolicy {
    fn from(on_failure: OnFailure) -> Self {
        match on_failure {
            OnFailure::Restart => Self::Restart,
            OnFailure::RestartThenBypass => Self::RestartThenBypass,
            OnFailure::Bypass => Self::Bypass,
            OnFailure::Refuse => Self::Refuse,
        }
    }
}
