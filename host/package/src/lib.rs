//! A component's metadata, in custom sections: an *extension* is a component with them, in a single file.
//!
//! Metadata common to all components (name, version, description, licences, authors, source, homepage, revision) is
//! where `wasm-tools metadata` writes and reads it. Metadata specific to acp-chain is in one section, [`SECTION`], as
//! JSON that conforms to `extension.schema.json`: the requested powers, each with a reason, the configuration, and
//! other requirements.
//!
//! All of this is the author's text, and proves nothing: its size and form are checked before it is shown. Reading runs
//! and compiles nothing. Only the outermost sections are read, and a duplicate is an error, since other tools might
//! show the other one.

#![forbid(unsafe_code)]

mod asks;
mod keys;
mod project;
mod read;
mod sections;
#[cfg(test)]
mod tests;
mod write;

pub use asks::{AskedMethods, Asks, RequestedPower};
pub use keys::{Key, keys};
pub use project::{MetadataError, Project};
pub use read::PackageError;
pub use semver::Version;
pub use write::WriteError;

/// The name of the section with a component's [`Asks`].
pub const SECTION: &str = "acp-chain:extension";

/// The name of the empty section that marks a draft.
pub const DRAFT: &str = "acp-chain:draft";

/// The JSON Schema of the content of [`SECTION`].
pub const SCHEMA: &str = include_str!("../extension.schema.json");

/// An extension, by its metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// 1 to 64 lower-case letters, digits, `-`, `_` or `.`, the first a letter or a digit.
    pub name: String,
    /// According to Semantic Versioning.
    pub version: Version,
    /// Its author and purpose.
    pub about: About,
    /// What it asks for.
    pub asks: Asks,
    /// The names of its imports.
    pub imports: Vec<String>,
    /// The names of its exports.
    pub exports: Vec<String>,
    /// Whether it is a draft: built faster, but slower at run time than a published one.
    pub draft: bool,
}

/// The author and purpose of an extension. Missing fields are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its purpose, in a sentence.
    pub description: Option<String>,
    /// The people responsible for it.
    pub authors: Option<String>,
    /// An SPDX license expression.
    pub licenses: Option<String>,
    /// The URL of its source.
    pub source: Option<String>,
    /// The URL of a page about it.
    pub homepage: Option<String>,
    /// The revision of its source.
    pub revision: Option<String>,
}

impl About {
    /// All present fields, by the names of their sections.
    pub fn said(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("description", &self.description),
            ("authors", &self.authors),
            ("licenses", &self.licenses),
            ("source", &self.source),
            ("homepage", &self.homepage),
            ("revision", &self.revision),
        ];
        let all = all.into_iter();
        all.filter_map(|(section, said)| Some((section, said.as_deref()?)))
    }
}

impl Package {
    /// The version of the interface (`acp-chain:proxy`) that it uses; `None` if it is not a proxy.
    #[must_use]
    pub fn interface(&self) -> Option<&str> {
        let mut names = self.exports.iter();
        names.find_map(|name| name.strip_prefix("acp-chain:proxy/handler@"))
    }
}

/// Whether an extension may have this name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 64
        && name.starts_with(plain)
        && name
            .chars()
            .all(|c| plain(c) || matches!(c, '-' | '_' | '.'))
        && !matches!(name, "client" | "agent")
}

/// The error for an invalid name.
fn no_name(name: &str) -> String {
    format!(
        "{name:?} is not the name of an extension: that is 1 to 64 lower-case letters, digits, `-`, `_` or `.`, and \
         neither `client` nor `agent`"
    )
}
