//! Edits of a manifest that keep its comments, order and formatting.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::ManifestError;

/// A manifest, or a `config.toml`, while it is edited.
#[derive(Clone, Debug)]
pub struct Edit {
    path: PathBuf,
    document: DocumentMut,
}

impl Edit {
    /// Reads a file. A missing file is empty.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        match super::text(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::parse("", path),
            Err(error) => Err(super::unreadable(path, error)),
        }
    }

    /// Parses the text of the file at `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ManifestError> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let at = error.span().map_or(0, |span| span.start);
            ManifestError::at(path, text, at, error.message().replace('\n', ", "))
        })?;
        let edit = Self {
            path: path.to_owned(),
            document,
        };
        match edit.document.get("proxy") {
            None | Some(Item::ArrayOfTables(_)) => Ok(edit),
            Some(_) => {
                let what =
                    "`proxy` must be an array of tables: write each as `[[proxy]]`".to_owned();
                Err(ManifestError::at(path, text, 0, what))
            }
        }
    }

    /// The names of the extensions that the manifest uses, in order.
    pub fn uses(&self) -> impl Iterator<Item = &str> {
        self.entries()
            .filter_map(|entry| entry.get("use")?.as_str())
    }

    /// Whether the manifest has a proxy with this name as its id or its extension.
    pub fn has(&self, name: &str) -> bool {
        self.entries().any(|entry| is_named(entry, name))
    }

    /// Appends an extension after all proxies.
    pub fn add(&mut self, name: &str) {
        let mut entry = Table::new();
        entry.insert("use", value(name));
        if !self.document.is_empty() {
            entry.decor_mut().set_prefix("\n");
        }
        let proxies = self.document.entry("proxy");
        let proxies = proxies.or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Item::ArrayOfTables(proxies) = proxies {
            proxies.push(entry);
        }
    }

    /// The configuration of the first proxy with this name as its id or, without an id, as its extension: an empty one
    /// if it has none. `None` if there is no such proxy.
    pub fn config(&mut self, name: &str) -> Option<&mut Item> {
        let proxies = self.document.get_mut("proxy")?;
        let mut entries = proxies.as_array_of_tables_mut()?.iter_mut();
        let entry = entries.find(|entry| is_named(entry, name))?;
        let mut empty = Table::new();
        empty.set_implicit(true);
        Some(entry.entry("config").or_insert(Item::Table(empty)))
    }

    /// The entries of an extension that have more than its name, as the text of a manifest; `None` without one.
    pub fn configured(&self, name: &str) -> Option<String> {
        let is_it = |entry: &&Table| entry.get("use").and_then(Item::as_str) == Some(name);
        let entries = self.entries().filter(is_it);
        let entries = entries.filter(|entry| entry.len() > 1).cloned();
        let entries: ArrayOfTables = entries.collect();
        if entries.is_empty() {
            return None;
        }
        let mut document = DocumentMut::new();
        document.insert("proxy", Item::ArrayOfTables(entries));
        Some(document.to_string().trim().to_owned())
    }

    /// Removes an extension. Returns whether it was used.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(Item::ArrayOfTables(proxies)) = self.document.get_mut("proxy") else {
            return false;
        };
        let before = proxies.len();
        proxies.retain(|entry| entry.get("use").and_then(Item::as_str) != Some(name));
        let removed = proxies.len() < before;
        if proxies.is_empty() {
            self.document.remove("proxy");
        }
        removed
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The edited text.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    fn entries(&self) -> impl Iterator<Item = &Table> {
        let proxies = self
            .document
            .get("proxy")
            .and_then(Item::as_array_of_tables);
        proxies.into_iter().flat_map(ArrayOfTables::iter)
    }
}

/// Whether a proxy has this name as its id or, without an id, as its extension.
fn is_named(entry: &Table, name: &str) -> bool {
    let named = entry.get("id").or_else(|| entry.get("use"));
    named.and_then(Item::as_str) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "# Ours.\n[agent]\ncommand = 'agent'   # the agent\n\n[[proxy]] # first\n\
                            id   = \"rules\"\nuse = \"rules\"\n\n[proxy.config]\nfile = \"x\"\n\n\
                            # The guard.\n[[proxy]]\nuse = \"redact\"\n";

    fn edit(text: &str) -> Edit {
        Edit::parse(text, Path::new("/acp-chain.toml")).unwrap()
    }

    #[test]
    fn two_lines_are_added_and_nothing_else_changes() {
        let mut manifest = edit(MANIFEST);
        manifest.add("todo");
        assert_eq!(
            manifest.text(),
            format!("{MANIFEST}\n[[proxy]]\nuse = \"todo\"\n")
        );
        assert_eq!(
            manifest.uses().collect::<Vec<_>>(),
            ["rules", "redact", "todo"]
        );
        assert!(manifest.remove("todo"));
        assert_eq!(manifest.text(), MANIFEST);
    }

    #[test]
    fn an_empty_manifest_becomes_two_lines_and_empty_again() {
        let mut manifest = edit("");
        manifest.add("todo");
        assert_eq!(manifest.text(), "[[proxy]]\nuse = \"todo\"\n");
        assert!(manifest.has("todo") && !manifest.has("redact"));
        assert!(manifest.remove("todo") && !manifest.remove("todo"));
        assert_eq!(manifest.text(), "");
    }

    #[test]
    fn an_entry_is_removed_with_its_tables_and_others_stay() {
        let mut manifest = edit(MANIFEST);
        assert!(manifest.remove("rules"));
        assert_eq!(
            manifest.text(),
            "# Ours.\n[agent]\ncommand = 'agent'   # the agent\n\n# The guard.\n[[proxy]]\nuse = \"redact\"\n"
        );
    }

    #[test]
    fn what_an_entry_has_beside_its_name_is_known() {
        let manifest = edit(MANIFEST);
        let rules =
            "[[proxy]] # first\nid   = \"rules\"\nuse = \"rules\"\n\n[proxy.config]\nfile = \"x\"";
        assert_eq!(manifest.configured("rules").as_deref(), Some(rules));
        assert_eq!(manifest.configured("redact"), None);
        assert_eq!(manifest.configured("todo"), None);
    }

    #[test]
    fn a_configuration_is_edited_in_its_place() {
        let mut manifest = edit(MANIFEST);
        assert!(manifest.config("todo").is_none());
        let config = manifest.config("rules").unwrap();
        config["more"] = value(1);
        let more = MANIFEST.replace("file = \"x\"\n", "file = \"x\"\nmore = 1\n");
        assert_eq!(manifest.text(), more);
        let config = manifest.config("redact").unwrap();
        config["list"] = value(true);
        assert_eq!(
            manifest.text(),
            format!("{more}\n[proxy.config]\nlist = true\n")
        );
    }

    #[test]
    fn an_error_names_the_place() {
        let wrong = |text| {
            Edit::parse(text, Path::new("/m.toml"))
                .unwrap_err()
                .to_string()
        };
        assert!(wrong("a = 1\nb =\n").starts_with("/m.toml:2:"));
        assert!(wrong("proxy = [{ use = \"a\" }]").contains("write each as `[[proxy]]`"));
    }
}
