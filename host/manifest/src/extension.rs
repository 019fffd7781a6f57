//! `use`: a proxy that is an installed extension, with the limits and the failure policy of its package.
//!
//! It has only the powers that the user agreed to. An entry may remove powers, but not add any.

use std::collections::BTreeMap;

use acp_chain_package::{Asks, Package};
use acp_chain_powers::{Actions, Power};
use serde_json::{Map, Value};
use toml::Spanned;

use super::error::unknown_key;
use super::grant::{MethodsTable, read_grant};
use super::terms::{LimitsTable, Wrong, read_limits};
use acp_chain_channel::Grant;
use acp_chain_channel::limits::{Limits, TABLE};
use acp_chain_extension::Release;
use acp_chain_extension::installed::Found;
use acp_chain_schema::{CheckError, Mismatch, Schema, WORK};

/// The maximum weight of the schema of a package.
const WEIGHT: usize = 100_000;

/// The default limits, raised to those that the package asks for, up to the user's ceilings.
pub(super) fn limits(package: &Package, ceilings: &Limits) -> Result<Limits, String> {
    let mut table = LimitsTable::new();
    for (key, value) in &package.asks.limits {
        let value = toml::Value::try_from(value);
        let value = value.map_err(|error| format!("in the package: `limits`: `{key}`: {error}"))?;
        table.insert(Spanned::new(0..0, key.clone()), Spanned::new(0..0, value));
    }
    let asked = read_limits(table, Limits::default(), None)
        .map_err(|(_, wrong)| format!("in the package: `limits`: {wrong}"))?;
    let mut limits = Limits::default();
    for limit in TABLE {
        let raised = limit.of(&asked).min(limit.of(ceilings));
        limit.put(&mut limits, raised.max(limit.of(&Limits::default())));
    }
    Ok(limits)
}

/// An error if a package asks for unknown limits, or has an invalid schema.
pub fn check_asks(package: &Package) -> Result<(), String> {
    limits(package, &Limits::ceilings())?;
    let schema = package.asks.config.clone().map(Value::Object);
    let read = schema.map(|schema| Schema::of_objects(&schema.to_string(), &mut { WEIGHT }));
    let wrong = |wrong| format!("the schema of its `config` {wrong}");
    read.transpose().map(drop).map_err(wrong)
}

/// Powers and methods by name: those that the user agreed to, or that a component asks for.
struct Permissions<'a> {
    powers: Vec<&'a str>,
    /// The actions, by method.
    methods: BTreeMap<&'a str, &'a [String]>,
}

impl<'a> Permissions<'a> {
    fn asked(asks: &'a Asks) -> Self {
        let (powers, methods) = (asks.powers.iter(), asks.methods.iter());
        Self {
            powers: powers.map(|asked| &*asked.power).collect(),
            methods: methods
                .map(|(name, asked)| (&**name, &*asked.actions))
                .collect(),
        }
    }

    /// Those of the lock; for an extension that no lock names, all that it asks for.
    fn agreed(found: &'a Found) -> Self {
        let Some(release) = &found.locked else {
            return Self::asked(&found.package.asks);
        };
        let (powers, methods) = (release.powers.iter(), release.methods.iter());
        Self {
            powers: powers.map(String::as_str).collect(),
            methods: methods
                .map(|(name, actions)| (&**name, &**actions))
                .collect(),
        }
    }

    fn has(&self, power: &str) -> bool {
        self.powers.contains(&power)
    }

    fn allow(&self, method: &str, action: &str) -> bool {
        let actions = self.methods.get(method);
        actions.is_some_and(|actions| actions.iter().any(|one| one == action))
    }

    /// The first power or action of an entry that is not among these: its place, and what it is.
    fn first_beyond(&self, powers: &[Spanned<String>], methods: &MethodsTable) -> Option<Wrong> {
        // An unknown power has its own error.
        let is_beyond = |power: &&Spanned<String>| {
            let key = power.get_ref();
            Power::named(key).is_some() && !self.has(key)
        };
        if let Some(power) = powers.iter().find(is_beyond) {
            let what = format!("`powers`: `{}`", power.get_ref());
            return Some((power.span().start, what));
        }
        methods.iter().find_map(|(name, actions)| {
            // So has an unknown action.
            let is_known = |action: &str| Actions::NAMES.iter().any(|(known, _)| *known == action);
            let mut actions = actions.iter();
            let action = actions.find(|action| {
                is_known(action.get_ref()) && !self.allow(name.get_ref(), action.get_ref())
            })?;
            let what = format!("`methods`: to {} `{}`", action.get_ref(), name.get_ref());
            Some((action.span().start, what))
        })
    }
}

/// The grant of an extension: the powers and methods that the user agreed to, or those of them that the entry lists.
pub(super) fn grant(
    id: &str,
    start: usize,
    found: &Found,
    powers: Option<Vec<Spanned<String>>>,
    methods: Option<MethodsTable>,
) -> Result<Grant, Wrong> {
    let agreed = Permissions::agreed(found);
    let here = |text: &str| Spanned::new(start..start, text.to_owned());
    let powers = powers.unwrap_or_else(|| agreed.powers.iter().map(|power| here(power)).collect());
    let methods = methods.unwrap_or_else(|| {
        let methods = agreed.methods.iter().map(|(name, actions)| {
            let actions = actions.iter().map(|action| here(action));
            (here(name), actions.collect())
        });
        methods.collect()
    });
    if let Some((at, what)) = agreed.first_beyond(&powers, &methods) {
        let name = &found.package.name;
        let instead = "leave it out, or name your own component by `path`";
        let what = format!("{what} was not agreed to for `{name}`: {instead}");
        return Err((at, what));
    }
    read_grant(id, start, &powers, methods)
}

/// Removes the powers and methods of a lock that the component does not ask for.
pub(super) fn keep_asked(release: &mut Release, asks: &Asks) {
    let asked = Permissions::asked(asks);
    release.powers.retain(|power| asked.has(power));
    for (name, actions) in &mut release.methods {
        actions.retain(|action| asked.allow(name, action));
    }
    release.methods.retain(|_, actions| !actions.is_empty());
}

/// An error if an entry lists a power or a method that its component does not ask for.
pub(super) fn check_asked(
    package: &Package,
    powers: &[Spanned<String>],
    methods: &MethodsTable,
) -> Result<(), Wrong> {
    match Permissions::asked(&package.asks).first_beyond(powers, methods) {
        Some((at, what)) => {
            let unasked = "is not asked for by the component; leave it out";
            Err((at, format!("{what} {unasked}")))
        }
        None => Ok(()),
    }
}

/// An error if the configuration does not match the package's schema: its place as a JSON Pointer, and its message.
pub(super) fn check_config(
    id: &str,
    package: &Package,
    config: &Value,
) -> Result<(), (String, String)> {
    let at_top = |what: String| (String::new(), what);
    let Some(schema) = &package.asks.config else {
        let Some(key) = config.as_object().and_then(|keys| keys.keys().next()) else {
            return Ok(());
        };
        let what = format!("`config`: `{id}` takes no configuration; leave out `{key}`");
        return Err((format!("/{key}"), what));
    };
    if config.as_object().is_some_and(Map::is_empty) && accepts_empty(schema) {
        return Ok(());
    }
    let schema = Value::Object(schema.clone());
    let read = Schema::of_objects(&schema.to_string(), &mut { WEIGHT }).map_err(|wrong| {
        at_top(format!(
            "the package of `{id}`: the schema of its `config` {wrong}"
        ))
    })?;
    match read.check(&config.to_string(), &mut { WORK }) {
        Ok(()) | Err(CheckError::Work) => Ok(()),
        Err(CheckError::Mismatch(mismatch)) => Err(explain(id, &schema, config, mismatch)),
        Err(CheckError::Unreadable(why)) => Err(at_top(format!(
            "`config`: the configuration of `{id}` cannot be checked: {why}"
        ))),
    }
}

/// Whether an empty object surely matches a schema. This saves parsing the schema, which takes a millisecond at each
/// start and was validated at installation.
fn accepts_empty(schema: &Map<String, Value>) -> bool {
    const ABOUT: &str = "\
        $schema $id $defs $comment title description default examples properties patternProperties \
        additionalProperties";
    let mut others = schema.keys().filter(|key| *key != "type");
    schema.get("type").is_some_and(|kind| kind == "object")
        && others.all(|key| ABOUT.split(' ').any(|known| known == key))
}

/// The place and the message of a mismatch.
fn explain(id: &str, schema: &Value, config: &Value, mismatch: Mismatch) -> (String, String) {
    let place = mismatch.place.clone().unwrap_or_default();
    let Some(unknown) = mismatch.unknown.first() else {
        let advice = as_list(schema, config, &mismatch).unwrap_or_default();
        let what = format!("the config of `{id}` is wrong {mismatch}{advice}");
        return (place, what);
    };
    let parent = mismatch
        .said_at
        .rsplit_once('/')
        .map_or("", |(parent, _)| parent);
    let known = schema.pointer(&format!("{parent}/properties"));
    let known = known.and_then(Value::as_object);
    let known: Vec<_> = known.iter().flat_map(|known| known.keys()).collect();
    let known: Vec<_> = known.iter().map(|key| key.as_str()).collect();
    let what = if known.is_empty() {
        format!("unknown key `{unknown}`: no keys are allowed here")
    } else {
        unknown_key(unknown, &known)
    };
    let key = unknown.replace('~', "~0").replace('/', "~1");
    (
        format!("{place}/{key}"),
        format!("the config of `{id}`: {what}"),
    )
}

/// Advice about a table where the schema has a list.
fn as_list(schema: &Value, config: &Value, mismatch: &Mismatch) -> Option<String> {
    let place = mismatch.place.as_deref()?;
    let is_list = mismatch.said_at.ends_with("/type")
        && schema.pointer(&mismatch.said_at)?.as_str() == Some("array");
    let is_table = config.pointer(place)?.is_object();
    let header = format!("proxy.config{}", place.replace('/', "."));
    (is_list && is_table).then(|| {
        format!("; each entry of this list begins with a line `[[{header}]]`, with two brackets")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use acp_chain_channel::FailurePolicy;
    use acp_chain_package::{About, Asks, Version};
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::{Manifest, ProxyKind, User};
    use acp_chain_extension::carried::{self, Load};
    use acp_chain_extension::{Carried, Installed};

    /// A program with a built-in extension `shout` that has these `asks`.
    fn carrying(asks: &Value) -> (TempDir, Installed) {
        let package = Package {
            name: "shout".to_owned(),
            version: Version::new(1, 0, 0),
            about: About::default(),
            asks: serde_json::from_value::<Asks>(asks.clone()).unwrap(),
            imports: Vec::new(),
            exports: Vec::new(),
            draft: false,
        };
        let bare = b"\0asm\x0d\0\x01\0";
        let load = Load {
            component: package.write(bare).unwrap(),
            package,
            code: Vec::new(),
        };
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, "").unwrap();
        carried::write(&program, &[load], &program).unwrap();
        let installed = Installed {
            store: None,
            carried: Carried::by(&program).unwrap(),
            ..Installed::default()
        };
        (folder, installed)
    }

    fn asks() -> Value {
        json!({
            "powers": { "prompts.read": "to hear", "prompts.change": "to shout" },
            "methods": { "_x": { "actions": ["read"], "reason": "to see" } },
            "limits": { "memory": "128 MiB", "held": 3 },
            "on-failure": "bypass",
            "config": {
                "type": "object",
                "properties": {
                    "loud": { "type": "boolean" },
                    "words": { "type": "array", "items": { "type": "object", "properties": { "of": {} },
                               "additionalProperties": false } }
                },
                "additionalProperties": false
            }
        })
    }

    fn read(asks: &Value, text: &str) -> Result<Manifest, String> {
        let (_folder, installed) = carrying(asks);
        let path = Path::new("/project/acp-chain.toml");
        let read = Manifest::parse(text, path, &User::default(), &installed);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn an_extension_needs_only_two_lines() {
        let manifest = read(&asks(), "[[proxy]]\nuse = \"shout\"\n").unwrap();
        let proxy = &manifest.proxies[0];
        assert_eq!(proxy.id, "shout");
        assert_eq!(proxy.on_failure, Some(FailurePolicy::Bypass));
        let ProxyKind::Component(component) = &proxy.kind else {
            panic!("a component")
        };
        let grant = &component.grant;
        assert!(grant.has("prompts.read") && grant.has("prompts.change"));
        assert_eq!(grant.methods()[0].methods.to_string(), "_x");
        assert_eq!(component.limits.memory, 128 << 20);
        // A package cannot lower a limit below its default.
        assert_eq!(component.limits.held, Limits::default().held);
    }

    #[test]
    fn nothing_is_over_a_ceiling_that_is_below_its_default() {
        let (_folder, installed) = carrying(&asks());
        let user = User::parse(
            "[ceilings]\nmemory = \"16 MiB\"\nheld = 2\n",
            Path::new("/config.toml"),
        );
        let text = "[[proxy]]\nuse = \"shout\"\n[[proxy]]\nid = \"own\"\npath = \"own.wasm\"\n";
        let path = Path::new("/project/acp-chain.toml");
        let manifest = Manifest::parse(text, path, &user.unwrap(), &installed).unwrap();
        for proxy in &manifest.proxies {
            let ProxyKind::Component(component) = &proxy.kind else {
                panic!("a component")
            };
            assert_eq!(component.limits.memory, 16 << 20, "{}", proxy.id);
            assert_eq!(component.limits.held, 2, "{}", proxy.id);
        }
    }

    #[test]
    fn an_entry_takes_powers_away_and_changes_terms() {
        let manifest = read(
            &asks(),
            "[[proxy]]\nid = \"loud\"\nuse = \"shout\"\non-failure = \"refuse\"\nlimits.memory = \"1 MiB\"\n\
             powers = [\"prompts.read\"]\nmethods = {}\nconfig.loud = true\n",
        );
        let manifest = manifest.unwrap();
        let proxy = &manifest.proxies[0];
        assert_eq!(
            (&*proxy.id, proxy.on_failure),
            ("loud", Some(FailurePolicy::Refuse))
        );
        let ProxyKind::Component(component) = &proxy.kind else {
            panic!("a component")
        };
        assert!(component.grant.has("prompts.read") && !component.grant.has("prompts.change"));
        assert!(component.grant.methods().is_empty());
        assert_eq!(component.limits.memory, 1 << 20);
        assert_eq!(component.config, r#"{"loud":true}"#);
    }

    #[test]
    fn an_error_in_an_entry_has_its_place() {
        for (line, expected) in [
            (
                "powers = [\"prompts.read\", \"files.read\"]",
                ":3:27: `powers`: `files.read` was not agreed to for `shout`",
            ),
            (
                "powers = [\"file.read\"]",
                ":3:11: `powers`: there is no power `file.read`",
            ),
            (
                "methods = { \"_x\" = [\"read\", \"change\"] }",
                ":3:29: `methods`: to change `_x` was not agreed to",
            ),
            (
                "methods = { \"_x\" = [\"raed\"] }",
                ":3:21: `methods`: unknown key `raed`; did you mean `read`?",
            ),
            (
                "config.lood = true",
                ":3:8: the config of `shout`: unknown key `lood`; did you mean `loud`? Known here are \
                 `loud`, `words`",
            ),
            (
                "config.loud = 7",
                ":3:8: the config of `shout` is wrong at /loud: 7 is not of type \"boolean\"",
            ),
            (
                "config.words = [{ of = 1 }, { on = 1 }]",
                ":3:31: the config of `shout`: unknown key `on`; known here are `of`",
            ),
            (
                "[proxy.config.words]\nof = 1",
                "is not of type \"array\"; each entry of this list begins with a line `[[proxy.config.words]]`, with two brackets",
            ),
            ("path = \"p\"", "has both `use` and `path`"),
            ("args = []", "`args` is for programs"),
        ] {
            let error = read(&asks(), &format!("[[proxy]]\nuse = \"shout\"\n{line}\n"));
            let error = error.unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
        let takes_none = read(
            &json!({}),
            "[[proxy]]\nuse = \"shout\"\nconfig.loud = true\n",
        );
        let error = takes_none.unwrap_err();
        assert!(
            error.contains(":3:8: `config`: `shout` takes no configuration"),
            "{error}"
        );
        let unlike = read(&json!({}), "[[proxy]]\nuse = \"lint\"\n").unwrap_err();
        assert!(
            unlike.contains("`lint` is not installed; there are `shout`"),
            "{unlike}"
        );
        let other = read(&json!({}), "[[proxy]]\nuse = \"shot\"\n").unwrap_err();
        assert!(
            other.contains(
                ":2:7: `shot` is not installed (did you mean `shout`?); there are `shout`"
            ),
            "{other}"
        );
    }

    #[test]
    fn a_schema_that_accepts_an_empty_object_need_not_be_parsed() {
        for (schema, expected) in [
            (json!({}), false),
            (asks()["config"].clone(), true),
            (json!({ "type": "object", "required": ["a"] }), false),
            (json!({ "type": "array" }), false),
            (json!({ "type": ["object", "null"] }), false),
            (json!({ "type": "object", "minProperties": 1 }), false),
            (json!({ "type": "object", "not": {} }), false),
            (json!({ "type": "object", "unheard-of": 1 }), false),
        ] {
            let is = accepts_empty(schema.as_object().unwrap());
            assert_eq!(is, expected, "{schema}");
            let read = Schema::of_objects(&schema.to_string(), &mut { WEIGHT });
            let fits = read.is_ok_and(|schema| schema.check("{}", &mut { WORK }).is_ok());
            assert!(!is || fits, "{schema}");
        }
    }

    #[test]
    fn an_error_in_a_package_names_the_package() {
        for (asks, expected) in [
            (
                json!({ "limits": { "memroy": "1 MiB" } }),
                "in the package: `limits`: unknown key `memroy`",
            ),
            (
                json!({ "limits": { "memory": 7 } }),
                "in the package: `limits`: `memory`: 7 has no unit",
            ),
            (
                json!({ "config": { "type": "object", "required": 7 } }),
                "the package of `shout`: the schema of its `config` is not a JSON Schema at /required",
            ),
        ] {
            let error = read(&asks, "[[proxy]]\nuse = \"shout\"\n").unwrap_err();
            assert!(error.contains(expected), "{error}\nlacks\n{expected}");
        }
    }
}
