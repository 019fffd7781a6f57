//! The catalogue, as it is published.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Catalogue {
    /// The filter that excludes findings of every rule.
    pub filter: String,
    pub rules: Vec<Entry>,
}

/// A rule of the catalogue.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: String,
    pub description: String,
    #[serde(default)]
    pub regex: String,
    #[serde(default)]
    pub filter: String,
    /// Only files of these names.
    pub path: Option<String>,
    /// The rule finds no secret, but the context that makes another finding one.
    #[serde(default)]
    pub skip_report: bool,
    /// Which group of the regex is the secret; 0 for the first one.
    #[serde(default)]
    pub value_group: usize,
}
