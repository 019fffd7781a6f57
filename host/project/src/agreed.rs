//! The proxies of a project and their permissions, as stored with the user's consent; and the differences between two
//! such lists.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::Content;
use acp_chain_channel::FailurePolicy;
use acp_chain_channel::limits::{Limits, TABLE};
use acp_chain_extension::{Digest, Location, Signer};
use acp_chain_manifest::{ComponentEntry, Manifest, ProxyEntry, ProxyKind};

/// A proxy of a project, with its permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Agreed {
    /// The id of the proxy.
    pub id: String,
    /// The source of the component, as text: a path below the root, or the source of an extension.
    pub source: String,
    /// The version in the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The signer in the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// The digest of the component; `None` for a built-in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// The keys of its powers.
    pub powers: Vec<String>,
    /// The permitted actions by method, for methods that no power covers.
    pub methods: BTreeMap<String, Vec<String>>,
    /// The directories that it may open, by name: the path relative to the root, and whether it may write there.
    pub directories: BTreeMap<String, (String, bool)>,
    /// The limits that differ from the defaults, by key.
    pub limits: BTreeMap<String, String>,
    /// The failure policy of its entry; `None` if the component's own applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<FailurePolicy>,
    /// The configuration as JSON.
    pub config: Value,
}

/// The differences between two chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The changed proxies by id, each with its changed properties.
    pub changed: Vec<(String, Vec<PropertyChange>)>,
    /// The ids of new proxies.
    pub new: Vec<String>,
    /// The ids of removed proxies.
    pub gone: Vec<String>,
    /// The ids in the old and in the new order; `None` if the order is the same, or proxies were added or removed.
    pub order: Option<[Vec<String>; 2]>,
}

/// The name of a property, its old value, and its new value.
pub type PropertyChange = (String, String, String);

impl Agreed {
    /// The proxies of a project, the client's neighbour first.
    pub fn of(manifest: &Manifest, content: &Content) -> Vec<Self> {
        let entries = manifest.proxies.iter();
        let components = entries.filter_map(|entry| match &entry.kind {
            ProxyKind::Component(component) => Some(Self::of_one(entry, component, content)),
            ProxyKind::Native(_) => None,
        });
        components.collect()
    }

    fn of_one(entry: &ProxyEntry, component: &ComponentEntry, content: &Content) -> Self {
        let below = |path: &std::path::Path| {
            let path = path.strip_prefix(content.root()).unwrap_or(path);
            path.display().to_string()
        };
        let mut one = Self {
            id: entry.id.clone(),
            on_failure: entry.on_failure,
            config: serde_json::from_str(&component.config).unwrap_or_default(),
            ..Self::default()
        };
        match (&component.location, content.locked(&entry.id)) {
            (Location::Read(path, _), _) => {
                one.source = below(path);
                one.digest = content.stored(&entry.id).map(|stored| stored.digest);
            }
            (_, Some(release)) => {
                one.source = release.source.to_string();
                one.version.clone_from(&release.version);
                one.signer.clone_from(&release.signer);
                one.digest = Some(release.digest);
            }
            (location, None) => one.source = location.to_string(),
        }
        let powers = component.grant.powers().iter();
        one.powers = powers.map(|power| power.key.to_owned()).collect();
        let methods = component.grant.methods().iter();
        let methods = methods.map(|named| {
            let actions = named.actions.names().into_iter().map(str::to_owned);
            (named.methods.to_string(), actions.collect())
        });
        one.methods = methods.collect();
        let directories = component.directories.iter();
        let directories = directories.map(|directory| {
            (
                directory.name.clone(),
                (below(&directory.path), directory.write),
            )
        });
        one.directories = directories.collect();
        let (limits, defaults) = (&component.limits, Limits::default());
        let limits = TABLE
            .iter()
            .filter(|limit| limit.of(limits) != limit.of(&defaults))
            .map(|limit| (limit.key.to_owned(), limit.show(limits)));
        one.limits = limits.collect();
        one
    }

    /// Whether `agreed` covers all powers, methods and directories of the proxies `now`. These may differ for the same
    /// files if the version of acp-chain or the user's ceilings changed.
    pub fn lets(agreed: &[Self], now: &[Self]) -> bool {
        now.iter().all(|now| {
            let before = agreed.iter().find(|one| one.id == now.id);
            before.is_some_and(|before| before.covers(now))
        })
    }

    /// Whether this proxy has all powers, methods and directories of another.
    fn covers(&self, other: &Self) -> bool {
        let has = |name: &String, action: &String| {
            let actions = self.methods.get(name);
            actions.is_some_and(|actions| actions.contains(action))
        };
        let mut methods = other.methods.iter();
        let mut directories = other.directories.iter();
        other.powers.iter().all(|power| self.powers.contains(power))
            && methods.all(|(name, actions)| actions.iter().all(|action| has(name, action)))
            && directories.all(|(name, given)| self.directories.get(name) == Some(given))
    }

    /// All properties that may change: a name and a value each.
    fn facts(&self) -> BTreeMap<String, String> {
        let none = || "nothing".to_owned();
        let or_none = |text: Option<String>| text.unwrap_or_else(none);
        let list = |texts: &[String]| {
            if texts.is_empty() {
                none()
            } else {
                texts.join(", ")
            }
        };
        let mut facts = BTreeMap::from([
            ("source".to_owned(), self.source.clone()),
            ("version".to_owned(), or_none(self.version.clone())),
            (
                "signer".to_owned(),
                or_none(self.signer.as_ref().map(ToString::to_string)),
            ),
            (
                "digest".to_owned(),
                or_none(self.digest.map(|digest| digest.to_string())),
            ),
            ("powers".to_owned(), list(&self.powers)),
            (
                "on-failure".to_owned(),
                or_none(self.on_failure.map(|policy| policy.to_string())),
            ),
        ]);
        for (name, actions) in &self.methods {
            facts.insert(format!("method {name}"), list(actions));
        }
        for (name, (path, write)) in &self.directories {
            let how = if *write { "read and write" } else { "read" };
            facts.insert(format!("directory {name}"), format!("{how} in {path:?}"));
        }
        for limit in TABLE {
            let value = self.limits.get(limit.key);
            let value = value
                .cloned()
                .unwrap_or_else(|| limit.show(&Limits::default()));
            facts.insert(format!("limit {}", limit.key), value);
        }
        for (key, value) in self.config.as_object().into_iter().flatten() {
            leaves(member("config", key), value, &mut facts);
        }
        facts
    }
}

/// Adds each scalar within a value, by its path.
fn leaves(path: String, value: &Value, facts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                leaves(member(&path, key), value, facts);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for (index, value) in values.iter().enumerate() {
                leaves(format!("{path}[{index}]"), value, facts);
            }
        }
        _ => drop(facts.insert(path, value.to_string())),
    }
}

/// The path of a member. Different members have different paths.
fn member(path: &str, key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_plain) {
        format!("{path}.{key}")
    } else {
        format!("{path}.{key:?}")
    }
}

impl Difference {
    /// Compares two chains.
    pub fn between(before: &[Agreed], now: &[Agreed]) -> Self {
        let ids = |all: &[Agreed]| all.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        let (was, is) = (ids(before), ids(now));
        let missing = |from: &[String], all: &[String]| {
            let missing = all.iter().filter(|id| !from.contains(id));
            missing.cloned().collect::<Vec<_>>()
        };
        let mut difference = Self {
            new: missing(&was, &is),
            gone: missing(&is, &was),
            ..Self::default()
        };
        for now in now {
            let Some(before) = before.iter().find(|one| one.id == now.id) else {
                continue;
            };
            let changed = changed(&before.facts(), &now.facts());
            if !changed.is_empty() {
                difference.changed.push((now.id.clone(), changed));
            }
        }
        let same = difference.new.is_empty() && difference.gone.is_empty();
        difference.order = (same && was != is).then_some([was, is]);
        difference
    }

    /// Whether the chain is the same.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

fn changed(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>) -> Vec<PropertyChange> {
    let mut names: Vec<_> = was.keys().chain(is.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let value = |facts: &BTreeMap<String, String>, name: &String| {
        facts
            .get(name)
            .map_or_else(|| "nothing".to_owned(), Clone::clone)
    };
    let each = names
        .into_iter()
        .map(|name| (name.clone(), value(was, name), value(is, name)));
    each.filter(|(_, was, is)| was != is).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(id: &str) -> Agreed {
        Agreed {
            id: id.to_owned(),
            source: "tools/it.wasm".to_owned(),
            powers: vec!["prompts.read".to_owned()],
            config: json!({ "loud": false }),
            ..Agreed::default()
        }
    }

    #[test]
    fn only_changes_are_reported() {
        let before = [one("a"), one("b"), one("c")];
        let mut b = one("b");
        b.powers.push("prompts.change".to_owned());
        b.config = json!({ "loud": true });
        b.directories
            .insert("/n".to_owned(), ("notes".to_owned(), true));
        let difference = Difference::between(&before, &[one("a"), b, one("d")]);
        let text = |text: &str| text.to_owned();
        assert_eq!(
            difference,
            Difference {
                changed: vec![(
                    text("b"),
                    vec![
                        (text("config.loud"), text("false"), text("true")),
                        (
                            text("directory /n"),
                            text("nothing"),
                            text("read and write in \"notes\"")
                        ),
                        (
                            text("powers"),
                            text("prompts.read"),
                            text("prompts.read, prompts.change")
                        ),
                    ]
                )],
                new: vec![text("d")],
                gone: vec![text("c")],
                order: None,
            }
        );
    }

    #[test]
    fn a_change_deep_in_the_configuration_is_reported_by_its_path() {
        let configured = |config: Value| [Agreed { config, ..one("a") }];
        let changes = |before, now| {
            let difference = Difference::between(&configured(before), &configured(now));
            let changed = difference.changed.into_iter();
            let changed = changed.flat_map(|(_, changed)| changed);
            let texts = changed.map(|(what, before, now)| format!("{what}: {before} → {now}"));
            texts.collect::<Vec<_>>()
        };
        let rule = json!({ "decision": "ask", "path": "./src/**" });
        let mut rules = vec![rule; 30];
        let before = json!({ "rules": rules });
        rules.push(json!({ "decision": "allow", "path": [] }));
        assert_eq!(
            changes(before, json!({ "rules": rules })),
            [
                "config.rules[30].decision: nothing → \"allow\"",
                "config.rules[30].path: nothing → []",
            ]
        );
        // Names that look like paths hide nothing.
        assert_eq!(
            changes(json!({ "a": { "b": 1 } }), json!({ "a.b": 1 })),
            ["config.\"a.b\": nothing → 1", "config.a.b: 1 → nothing"]
        );
        assert_eq!(
            changes(json!({ "a": [1] }), json!({ "a[0]": 1 })),
            ["config.\"a[0]\": nothing → 1", "config.a[0]: 1 → nothing"]
        );
    }

    #[test]
    fn less_than_was_agreed_to_needs_no_consent() {
        let mut less = one("a");
        less.powers.clear();
        less.limits.insert("memory".to_owned(), "1 GiB".to_owned());
        assert!(Agreed::lets(&[one("a"), one("b")], &[less]));
        let more: [fn(&mut Agreed); 4] = [
            |one| one.id.push('x'),
            |one| one.powers.push("prompts.change".to_owned()),
            |one| drop(one.methods.insert("_x".to_owned(), vec!["read".to_owned()])),
            |one| {
                let given = ("notes".to_owned(), false);
                one.directories.insert("/n".to_owned(), given);
            },
        ];
        for more in more {
            let mut now = one("a");
            more(&mut now);
            assert!(!Agreed::lets(&[one("a")], &[now]));
        }
    }

    #[test]
    fn another_order_is_a_difference() {
        let difference = Difference::between(&[one("a"), one("b")], &[one("b"), one("a")]);
        let text = |ids: [&str; 2]| ids.map(str::to_owned).to_vec();
        assert_eq!(difference.order, Some([text(["a", "b"]), text(["b", "a"])]));
        assert!(Difference::between(&[one("a")], &[one("a")]).is_none());
    }
}
