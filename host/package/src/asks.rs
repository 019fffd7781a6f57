//! What an extension asks for.

use std::collections::BTreeMap;
use std::fmt;

use acp_chain_powers::{Actions, FailurePolicy, Pattern, Power};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The maximum length of a reason, in bytes: a sentence.
const REASON: usize = 300;

/// What an extension asks for, as written in its section and in its author's files.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Asks {
    /// The oldest version of acp-chain that it works with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Version>,
    /// The powers, in the order of the table of all powers.
    #[serde(default, with = "powers", skip_serializing_if = "Vec::is_empty")]
    pub powers: Vec<RequestedPower>,
    /// Methods that no power covers, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub methods: BTreeMap<String, AskedMethods>,
    /// The JSON Schema of its configuration; without one, it takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
    /// Limits that it needs above the defaults, as a manifest writes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Value>,
    /// What happens when it breaks, unless the user configures that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<FailurePolicy>,
    /// Whether it is a guard: users rely on its decisions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
    /// The powers that it needs to guard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards_by: Vec<String>,
}

/// A requested power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPower {
    /// The power's key.
    pub power: String,
    /// The reason, in its author's words.
    pub reason: String,
}

/// A request for methods by name.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AskedMethods {
    /// The actions on these methods.
    pub actions: Vec<String>,
    /// The reason, in its author's words.
    pub reason: String,
}

impl Asks {
    /// Returns the first error. The host checks whether the limits exist, and whether the schema of the configuration
    /// is usable.
    pub(crate) fn check(&self) -> Result<(), String> {
        for asked in &self.powers {
            let key = &asked.power;
            let Some(power) = Power::named(key) else {
                return Err(format!(
                    "`powers`: there is no power `{key}`; did you mean `{}`? One that is newer than this \
                     version needs a newer acp-chain",
                    Power::nearest(key)
                ));
            };
            if let Some(needed) = power.needs.filter(|needed| !self.has(needed)) {
                return Err(format!(
                    "`powers`: `{key}` makes no sense without `{needed}`; ask for both, or neither"
                ));
            }
            check_reason(&asked.reason).map_err(|wrong| format!("`powers`: `{key}` {wrong}"))?;
        }
        for (name, asked) in &self.methods {
            let wrong = |wrong: &dyn fmt::Display| format!("`methods`: `{name}` {wrong}");
            Pattern::new(name).map_err(|error| format!("`methods`: {error}"))?;
            let unknown = asked.actions.iter().find(|action| !is_action(action));
            if let Some(unknown) = unknown {
                let known: Vec<_> = Actions::NAMES.iter().map(|(name, _)| *name).collect();
                return Err(wrong(&format!(
                    "has the unknown action `{unknown}`; the actions are `{}`",
                    known.join("`, `")
                )));
            }
            if asked.actions.is_empty() {
                return Err(wrong(&"has no actions"));
            }
            check_reason(&asked.reason).map_err(|error| wrong(&error))?;
        }
        self.check_guard()
    }

    fn check_guard(&self) -> Result<(), String> {
        if self.guard && self.powers.is_empty() && self.methods.is_empty() {
            let wrong = "`guard`: a guard must ask for a power or a method";
            return Err(wrong.to_owned());
        }
        if !self.guard && !self.guards_by.is_empty() {
            return Err("`guards-by` requires `guard = true` beside it".to_owned());
        }
        match self.guards_by.iter().find(|power| !self.has(power)) {
            Some(power) => Err(format!(
                "`guards-by`: `{power}` is not asked for in `powers`"
            )),
            None => Ok(()),
        }
    }

    /// Whether it asks for a power.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.powers.iter().any(|asked| asked.power == key)
    }
}

impl RequestedPower {
    /// Powers with their reasons, in the order of the table of all powers.
    pub(crate) fn in_order(powers: BTreeMap<String, String>) -> Vec<Self> {
        let powers = powers.into_iter();
        let mut powers: Vec<_> = powers
            .map(|(power, reason)| Self { power, reason })
            .collect();
        let place = |asked: &Self| Power::all().position(|power| power.key == asked.power);
        powers.sort_by_key(|asked| place(asked).unwrap_or(usize::MAX));
        powers
    }
}

fn is_action(action: &str) -> bool {
    Actions::NAMES.iter().any(|(name, _)| *name == action)
}

fn check_reason(reason: &str) -> Result<(), String> {
    match reason.trim() {
        "" => Err("has no reason; give one in a sentence".to_owned()),
        reason if reason.len() > REASON => Err(format!("has a reason of more than {REASON} bytes")),
        _ => Ok(()),
    }
}

/// Powers as an object: their keys, with the reasons.
mod powers {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RequestedPower;

    pub fn serialize<S: Serializer>(powers: &[RequestedPower], to: S) -> Result<S::Ok, S::Error> {
        let powers = powers.iter().map(|asked| (&asked.power, &asked.reason));
        powers.collect::<BTreeMap<_, _>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<RequestedPower>, D::Error> {
        BTreeMap::deserialize(from).map(RequestedPower::in_order)
    }
}
