//! `[[proxy]]`: a component, or a program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::grant::{DirectoryTable, MethodsTable, instead_of, read_directories, read_grant};
use super::terms::{LimitsTable, OnFailure, Wrong, read_limits};
use super::{Environment, User, command};
use crate::channel::{FailurePolicy, Grant};
use crate::limits::Limits;
use crate::native::{CommandLine, Dialect};
use crate::sandbox::Directory;

/// One `[[proxy]]`.
#[derive(Clone, Debug)]
pub struct ProxyEntry {
    /// Its name in messages to people, logs and traces.
    pub id: String,
    /// What becomes of it when it breaks, unless it is a component that is to decide that.
    pub on_failure: Option<FailurePolicy>,
    /// What it is.
    pub make: Make,
}

/// What a proxy is.
#[derive(Clone, Debug)]
pub enum Make {
    /// A component in a sandbox.
    Component(ComponentEntry),
    /// A program with all of the user's rights.
    Native(NativeEntry),
}

/// A proxy that is a program.
#[derive(Clone, Debug)]
pub struct NativeEntry {
    /// The program.
    pub command: CommandLine,
    /// How it spells what only proxies speak; without it, what it answers tells.
    pub dialect: Option<Dialect>,
}

/// A proxy that is a component.
#[derive(Clone, Debug)]
pub struct ComponentEntry {
    /// The component file.
    pub path: PathBuf,
    /// The table `[proxy.config]` as JSON text.
    pub config: String,
    /// The defaults, changed by `[proxy.limits]`.
    pub limits: Arc<Limits>,
    /// Its `powers`, and its `methods`.
    pub grant: Arc<Grant>,
    /// The directories that it may open.
    pub directories: Arc<[Directory]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ProxyTable {
    pub id: Spanned<String>,
    path: Option<PathBuf>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Environment>,
    dialect: Option<Dialect>,
    config: Option<toml::Table>,
    pub on_failure: Option<OnFailure>,
    limits: Option<LimitsTable>,
    powers: Option<Vec<Spanned<String>>>,
    methods: Option<MethodsTable>,
    directories: Option<Vec<DirectoryTable>>,
    /// As it was before there were powers.
    grant: Option<Spanned<toml::Value>>,
}

impl ProxyTable {
    /// What the proxy is. The table begins at `start`.
    pub fn read(self, start: usize, folder: &Path, user: &User) -> Result<Make, Wrong> {
        if let Some(grant) = &self.grant {
            return Err((grant.span().start, instead_of(grant.get_ref())));
        }
        let Some(program) = self.command else {
            return self.read_component(start, folder, user);
        };
        let id = self.id.get_ref();
        let component_only = [
            ("path", self.path.is_some()),
            ("config", self.config.is_some()),
            ("limits", self.limits.is_some()),
            ("powers", self.powers.is_some()),
            ("methods", self.methods.is_some()),
            ("directories", self.directories.is_some()),
        ];
        if let Some((key, _)) = component_only.iter().find(|(_, given)| *given) {
            let what = format!(
                "`{key}` is for components; `{id}` has a `command`, and so is a program, which \
                 nothing limits but the rights of its user"
            );
            return Err((start, what));
        }
        let (args, env) = (self.args.unwrap_or_default(), self.env.unwrap_or_default());
        Ok(Make::Native(NativeEntry {
            command: command(&program, args, env, folder)?,
            dialect: self.dialect,
        }))
    }

    fn read_component(self, start: usize, folder: &Path, user: &User) -> Result<Make, Wrong> {
        let wrong = |what: String| (start, what);
        let id = self.id.get_ref();
        let Some(path) = self.path else {
            return Err(wrong(format!(
                "`{id}` needs a `path`, if it is a component, or a `command`, if it is a program"
            )));
        };
        let native_only = [
            ("args", self.args.is_some()),
            ("env", self.env.is_some()),
            ("dialect", self.dialect.is_some()),
        ];
        if let Some((key, _)) = native_only.iter().find(|(_, given)| *given) {
            return Err(wrong(format!(
                "`{key}` is for programs, which have a `command`; `{id}` is a component"
            )));
        }
        let config = to_json(toml::Value::Table(self.config.unwrap_or_default()))
            .map_err(|what| wrong(format!("the config of `{id}` {what}")))?;
        let limits = self.limits.unwrap_or_default();
        let limits = read_limits(limits, Limits::default(), Some(&user.ceilings))?;
        let powers = self.powers.unwrap_or_default();
        let methods = self.methods.unwrap_or_default();
        let grant = read_grant(id, start, &powers, methods)?;
        let directories = read_directories(self.directories.unwrap_or_default(), folder)?;
        Ok(Make::Component(ComponentEntry {
            path: folder.join(path),
            config: config.to_string(),
            limits: limits.into(),
            grant: grant.into(),
            directories: directories.into(),
        }))
    }
}

/// What is wrong with an id, if anything is.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
        return Err(format!(
            "the id {id:?} is not of 1 to 64 letters, digits, `-`, `_` or `.`"
        ));
    }
    if matches!(id, "client" | "agent") {
        return Err(format!(
            "`{id}` is the name of an end of the chain, and no id for a proxy"
        ));
    }
    Ok(())
}

/// A config table as JSON. Dates become strings.
fn to_json(value: toml::Value) -> Result<serde_json::Value, &'static str> {
    use serde_json::Value as Json;
    Ok(match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Json::Number)
            .ok_or("has a number that is infinite or not a number, which JSON cannot say")?,
        toml::Value::Array(values) => values.into_iter().map(to_json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let mut members = serde_json::Map::new();
            for (key, value) in table {
                members.insert(key, to_json(value)?);
            }
            Json::Object(members)
        }
    })
}
