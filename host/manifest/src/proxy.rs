//! `[[proxy]]`: a component, or a native proxy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toml::Spanned;

use super::grant::{DirectoryTable, MethodsTable, read_directories, read_grant};
use super::terms::{LimitsTable, Wrong, read_limits};
use super::user::placed;
use super::{Context, Environment, Origin, command, extension};
use acp_chain_channel::limits::Limits;
use acp_chain_channel::{FailurePolicy, Grant, Registration};
use acp_chain_extension::{Location, is_name};
use acp_chain_router::native::{CommandLine, Dialect};
use acp_chain_sandbox::Directory;

/// A `[[proxy]]` of a manifest.
#[derive(Clone, Debug)]
pub struct ProxyEntry {
    /// The name in messages to the user, logs and traces.
    pub id: String,
    /// The failure policy; `None` if the component's own applies.
    pub on_failure: Option<FailurePolicy>,
    /// A component, or a native proxy.
    pub kind: ProxyKind,
}

/// The kind of a proxy.
#[derive(Clone, Debug)]
pub enum ProxyKind {
    /// A sandboxed component.
    Component(ComponentEntry),
    /// A program with all of the user's privileges.
    Native(NativeEntry),
}

/// A native proxy.
#[derive(Clone, Debug)]
pub struct NativeEntry {
    /// The program.
    pub command: CommandLine,
    /// The dialect of its messages as a proxy; by default, it is determined from the proxy's answer to `initialize`.
    pub dialect: Option<Dialect>,
}

/// A proxy that is a component.
#[derive(Clone, Debug)]
pub struct ComponentEntry {
    /// The location of the component.
    pub location: Location,
    /// Which extension it is, whatever its version is.
    pub origin: Origin,
    /// The table `config` as JSON text.
    pub config: String,
    /// The default limits, with the changes of the table `limits`.
    pub limits: Arc<Limits>,
    /// The `powers` and `methods` of the entry.
    pub grant: Arc<Grant>,
    /// The directories that it may open.
    pub directories: Arc<[Directory]>,
    /// Whether it may be put to sleep when many chains are served.
    pub sleeps: bool,
    /// Whether the package declares it a guard.
    pub is_guard: bool,
    /// Whether it has a package, by which its user was told whether it is a guard.
    pub has_package: bool,
    /// The powers that its package declares necessary for a guard (`guards-by`), and that its entry does not grant.
    pub lacks: Vec<String>,
}

impl ProxyEntry {
    /// Whether both have the same component, whatever their settings are.
    pub fn is_same_extension(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (ProxyKind::Component(one), ProxyKind::Component(two)) => one.location == two.location,
            _ => false,
        }
    }

    /// Why a guard cannot guard: it lacks powers. `None` for other proxies.
    pub fn cannot_guard(&self) -> Option<String> {
        let ProxyKind::Component(component) = &self.kind else {
            return None;
        };
        let lacks = &component.lacks;
        (!lacks.is_empty()).then(|| {
            format!(
                "it cannot guard without `{}`: add this to the `powers` of its entry",
                lacks.join("`, `"),
            )
        })
    }

    /// Whether this is `permissions`, and its configuration has no rules: then it decides nothing.
    pub fn lacks_rules(&self) -> bool {
        let ProxyKind::Component(component) = &self.kind else {
            return false;
        };
        let config: Value = serde_json::from_str(&component.config).unwrap_or_default();
        component.origin.name == "permissions"
            && config["rules"].as_array().is_none_or(Vec::is_empty)
    }

    /// An error if a guard lacks powers, and its `on-failure` is not `bypass`.
    pub fn check_guard(&self) -> Result<(), String> {
        match self.cannot_guard() {
            Some(why) if self.on_failure != Some(FailurePolicy::Bypass) => Err(format!(
                "{why}; with `on-failure = \"bypass\"` messages that it cannot guard pass"
            )),
            _ => Ok(()),
        }
    }

    /// Checks that the component registers as a guard if its package declares it one, and only then. A component
    /// without a package is what it registers as.
    ///
    /// # Errors
    /// If it does not: a message for the user.
    pub fn check_declared(&self, registration: &Registration) -> Result<(), &'static str> {
        match &self.kind {
            ProxyKind::Component(component) if component.is_guard && !registration.guard => Err(
                "its package says that it is a guard, and the component does not declare itself one, so that other \
                 proxies could change its decisions: its author must correct this",
            ),
            ProxyKind::Component(component)
                if component.has_package && !component.is_guard && registration.guard =>
            {
                Err(
                    "the component declares itself a guard, which may change the decisions of other guards, and its \
                     package does not say so: its author must correct this (`guard = true`)",
                )
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ProxyTable {
    id: Option<Spanned<String>>,
    pub(super) r#use: Option<Spanned<String>>,
    pub(super) path: Option<PathBuf>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Environment>,
    #[serde(default, deserialize_with = "dialect")]
    dialect: Option<Dialect>,
    config: Option<toml::Table>,
    on_failure: Option<FailurePolicy>,
    limits: Option<LimitsTable>,
    powers: Option<Vec<Spanned<String>>>,
    methods: Option<MethodsTable>,
    pub(super) directories: Option<Vec<DirectoryTable>>,
    sleeps: Option<bool>,
}

/// Reads the name of a dialect.
fn dialect<'de, D: Deserializer<'de>>(name: D) -> Result<Option<Dialect>, D::Error> {
    const NAMES: &[&str] = &["proxy", "proxy-meta", "_proxy"];
    let name = String::deserialize(name)?;
    let known = Dialect::ALL.into_iter().find(|one| one.as_str() == name);
    let unknown = || D::Error::unknown_variant(&name, NAMES);
    known.map(Some).ok_or_else(unknown)
}

impl ProxyTable {
    /// The entry of an extension without any settings.
    pub fn of_extension(name: &str) -> Self {
        let nowhere = |name: &str| Spanned::new(0..0, name.to_owned());
        Self {
            r#use: Some(nowhere(name)),
            ..Self::default()
        }
    }

    /// Whether the table names neither an extension nor a component nor a program.
    pub fn is_empty(&self) -> bool {
        self.r#use.is_none() && self.path.is_none() && self.command.is_none()
    }

    /// Sets a missing id to the name in the component's package, or that of the file.
    pub fn name_by_file(&mut self, folder: &Path) {
        let Some(path) = self.path.as_ref().filter(|_| self.id.is_none()) else {
            return;
        };
        let package = Location::File(placed(folder, path)).package();
        let stem = || Some(path.file_stem()?.to_str()?.to_owned());
        let name = package.map(|package| package.name).ok().or_else(stem);
        self.id = name.map(|name| Spanned::new(0..0, name));
    }

    /// The id, with its place; by default, the name of the extension.
    pub fn id(&self, start: usize) -> Result<Spanned<String>, Wrong> {
        let id = self.id.as_ref().or(self.r#use.as_ref());
        let missing = || {
            let what = if self.is_empty() {
                "a proxy needs a `use`, if it is an extension, or an `id`, and a `path`, if it is your own component, or a \
                 `command`, if it is a program"
            } else {
                "an `id` is missing, by which errors, the log and traces name the proxy"
            };
            (start, what.to_owned())
        };
        let id = id.cloned().ok_or_else(missing)?;
        check_id(id.get_ref()).map_err(|wrong| (id.span().start, wrong))?;
        Ok(id)
    }

    /// Reads the proxy. The table begins at byte `start`.
    pub fn read(self, start: usize, context: &Context) -> Result<ProxyEntry, Wrong> {
        let id = self.id(start)?.into_inner();
        let on_failure = self.on_failure;
        let (kind, policy) = self.kind(&id, start, context)?;
        Ok(ProxyEntry {
            id,
            on_failure: on_failure.or(policy),
            kind,
        })
    }

    /// Reads the kind of the proxy, and the failure policy that its package asks for.
    fn kind(
        self,
        id: &str,
        start: usize,
        context: &Context,
    ) -> Result<(ProxyKind, Option<FailurePolicy>), Wrong> {
        let Some(program) = self.command else {
            return self.read_component(id, start, context);
        };
        let component_only = [
            ("use", self.r#use.is_some()),
            ("path", self.path.is_some()),
            ("config", self.config.is_some()),
            ("limits", self.limits.is_some()),
            ("powers", self.powers.is_some()),
            ("methods", self.methods.is_some()),
            ("directories", self.directories.is_some()),
            ("sleeps", self.sleeps.is_some()),
        ];
        if let Some((key, _)) = component_only.iter().find(|(_, given)| *given) {
            let what = format!(
                "`{key}` is for components; `{id}` has a `command`, and so is a program, which \
                 has all of the user's privileges"
            );
            return Err((start, what));
        }
        let (args, env) = (self.args.unwrap_or_default(), self.env.unwrap_or_default());
        let native = NativeEntry {
            command: command((start, &program), args, env, context.folder())?,
            dialect: self.dialect,
        };
        Ok((ProxyKind::Native(native), None))
    }

    fn read_component(
        self,
        id: &str,
        start: usize,
        context: &Context,
    ) -> Result<(ProxyKind, Option<FailurePolicy>), Wrong> {
        let wrong = |what: String| (start, what);
        let native_only = [
            ("args", self.args.is_some()),
            ("env", self.env.is_some()),
            ("dialect", self.dialect.is_some()),
        ];
        let native_only = native_only.iter().find(|(_, given)| *given);
        let found = match (&self.r#use, &self.path) {
            (Some(name), Some(_)) => {
                let what = format!("`{id}` has both `use` and `path`; leave out one of them");
                return Err((name.span().start, what));
            }
            (None, None) => {
                return Err(wrong(format!(
                    "`{id}` needs a `use`, if it is an extension, a `path`, if it is your own component, \
                     or a `command`, if it is a program"
                )));
            }
            (Some(name), None) => {
                let found = context.extension(name.get_ref());
                Some(found.map_err(|error| (name.span().start, error))?)
            }
            (None, Some(path)) => context.as_extension(path).map_err(wrong)?,
        };
        if let Some((key, _)) = native_only {
            return Err(wrong(format!(
                "`{key}` is for programs, which have a `command`; `{id}` is a component"
            )));
        }
        let config = to_json(toml::Value::Table(self.config.unwrap_or_default()))
            .map_err(|what| wrong(format!("the config of `{id}` {what}")))?;
        let ceilings = &context.user.ceilings;
        let defaults = match &found {
            Some(found) => extension::limits(&found.package, ceilings).map_err(wrong)?,
            None => Limits::default(),
        };
        let limits = self.limits.unwrap_or_default();
        let limits = read_limits(limits, defaults, Some(ceilings))?;
        let path = self.path.unwrap_or_default();
        let own = context.component(id, &path).map_err(wrong)?;
        // A component in a file need not have a package.
        let own_package = match &found {
            Some(_) => None,
            None => own.package().ok(),
        };
        let grant = match &found {
            Some(found) => extension::grant(id, start, found, self.powers, self.methods)?,
            None => {
                let powers = self.powers.unwrap_or_default();
                let methods = self.methods.unwrap_or_default();
                if context.is_project()
                    && let Some(package) = &own_package
                {
                    extension::check_asked(package, &powers, &methods)?;
                }
                read_grant(id, start, &powers, methods)?
            }
        };
        let directories = self.directories.unwrap_or_default();
        let directories = read_directories(directories, context.folder())?;
        let on_failure = found
            .as_ref()
            .and_then(|found| found.package.asks.on_failure);
        let package = found.as_ref().map(|found| &found.package);
        let package = package.or(own_package.as_ref());
        let asks = package.map(|package| &package.asks);
        let is_guard = asks.is_some_and(|asks| asks.guard);
        let has_package = asks.is_some();
        let guards_by = asks.into_iter().flat_map(|asks| &asks.guards_by);
        let lacks = guards_by
            .filter(|power| !grant.has(power))
            .cloned()
            .collect();
        let origin = match &self.r#use {
            Some(name) => Origin::installed(name.get_ref(), found.as_ref(), context.folder()),
            None => Origin::in_file(&own, package, id),
        };
        let location = match found {
            Some(found) => {
                let place = |place: &str| context.place_of_config(start, place);
                extension::check_config(id, &found.package, &config)
                    .map_err(|(at, what)| (place(&at).unwrap_or(start), what))?;
                found.location
            }
            None => own,
        };
        let component = ComponentEntry {
            location,
            origin,
            config: config.to_string(),
            limits: limits.into(),
            grant: grant.into(),
            directories: directories.into(),
            sleeps: self.sleeps.unwrap_or(true),
            is_guard,
            has_package,
            lacks,
        };
        Ok((ProxyKind::Component(component), on_failure))
    }
}

/// An error if the id is malformed or reserved.
fn check_id(id: &str) -> Result<(), String> {
    if !is_name(id) {
        return Err(format!(
            "the id {id:?} is not of 1 to 64 letters, digits, `-`, `_` or `.`"
        ));
    }
    if matches!(id, "client" | "agent") {
        return Err(format!(
            "`{id}` is the name of an end of the chain, and cannot be the id of a proxy"
        ));
    }
    Ok(())
}

/// Converts a config table to JSON. Dates become strings.
fn to_json(value: toml::Value) -> Result<serde_json::Value, &'static str> {
    use serde_json::Value as Json;
    Ok(match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map(Json::Number)
            .ok_or("has an infinite number or NaN, which JSON cannot express")?,
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
