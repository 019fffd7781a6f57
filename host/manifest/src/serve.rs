//! `[serve]` in `config.toml`, as written. The values are read by the server, with their places for errors.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// `[serve]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServeTable {
    pub listen: Option<Spanned<String>>,
    pub metrics: Option<Spanned<String>>,
    pub access_log: Option<PathBuf>,
    pub path: Option<Spanned<String>>,
    pub node: Option<Spanned<String>>,
    pub hosts: Vec<Spanned<String>>,
    pub origins: Vec<Spanned<String>>,
    pub plain: bool,
    pub tokens: Option<PathBuf>,
    pub tls: Option<Tls>,
    pub jwt: Vec<Jwt>,
    pub store: Option<Spanned<String>>,
    pub store_password: Option<PathBuf>,
    pub store_ca: Option<PathBuf>,
    pub store_connections: Option<NonZeroU32>,
    pub agent_store: Option<Spanned<String>>,
    pub unknown_sessions: UnknownSessions,
    pub budgets: Budgets,
    pub limits: Limits,
    pub route: Vec<Spanned<Route>>,
}

/// `[serve]` `unknown-sessions`: what becomes of a session that nobody owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownSessions {
    /// Nobody may load it.
    #[default]
    Refuse,
    /// Whoever loads it first owns it.
    Admit,
}

/// `[serve]` `budgets`: what budgets, and limits that count at all replicas, are while the store cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budgets {
    /// As if they were used up.
    #[default]
    Closed,
    /// As if there were none.
    Open,
}

/// `[serve]` `tls`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tls {
    pub cert: PathBuf,
    pub key: PathBuf,
    pub client_ca: Option<PathBuf>,
}

/// `[[serve.jwt]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Jwt {
    pub issuer: Spanned<String>,
    pub audience: Spanned<String>,
    pub jwks: Spanned<String>,
    pub algorithms: Option<Spanned<Vec<Spanned<String>>>>,
    pub name_claim: Option<String>,
    pub groups_claim: Option<String>,
}

/// `[serve.limits]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    pub connections_per_user: Option<NonZeroU32>,
    pub sessions_per_user: Option<NonZeroU32>,
    pub bytes_per_second_per_user: Option<Spanned<String>>,
    pub prompts_per_hour_per_user: Option<Spanned<NonZeroU32>>,
    pub prompts_per_hour_of_groups: Option<Spanned<BTreeMap<String, NonZeroU32>>>,
    pub bytes_per_hour_per_user: Option<Spanned<String>>,
    pub turns: Option<NonZeroU32>,
    pub turns_per_user: Option<NonZeroU32>,
    #[serde(default)]
    pub turns_of_groups: BTreeMap<String, NonZeroU32>,
    pub connections: Option<NonZeroU32>,
    #[serde(default, deserialize_with = "seconds")]
    pub resume_seconds: Option<Duration>,
    #[serde(default, deserialize_with = "seconds")]
    pub drain_seconds: Option<Duration>,
    #[serde(default, deserialize_with = "seconds")]
    pub sleep_seconds: Option<Duration>,
    pub lease_seconds: Option<Spanned<u32>>,
    pub instances: Option<NonZeroU32>,
    pub memory: Option<Spanned<String>>,
}

/// `[[serve.route]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    #[serde(default)]
    pub users: Vec<String>,
    #[serde(default)]
    pub groups: Vec<String>,
    pub manifest: PathBuf,
}

impl Route {
    /// Whether the route is for all users: it names neither users nor groups.
    pub fn is_for_all(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    /// Whether the route is for the user with this name, of these groups.
    pub fn fits(&self, name: &String, groups: &[String]) -> bool {
        let is_member = || self.groups.iter().any(|group| groups.contains(group));
        self.is_for_all() || self.users.contains(name) || is_member()
    }
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let seconds = u32::deserialize(from)?;
    Ok(Some(Duration::from_secs(seconds.into())))
}
