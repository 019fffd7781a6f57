//! Manifests and their errors.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path};

use acp_chain::extension::{Installed, Location};
use acp_chain::limits::{Limits, Quantity, TABLE};
use acp_chain::manifest::{Draft, From, Manifest, ManifestError, ProxyEntry, ProxyKind, User};
use acp_chain::untrusted::Untrusted;
use serde_json::{Map, Value};

const FOLDER: &str = "/project";
const PATH: &str = "/project/acp-chain.toml";

/// A parsed manifest has the proxies of its text, with unique ids, absolute paths and objects as
/// configurations; an error names a place in the text. A project's manifest has only what projects
/// may use.
///
/// # Panics
/// If this does not hold.
pub fn manifest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Manifest::parse(
        text,
        Path::new(PATH),
        &User::default(),
        &Installed::default(),
    ) {
        Ok(manifest) => {
            assert_eq!(manifest.path, Path::new(PATH));
            let table: toml::Table = text.parse().expect("valid TOML");
            let named = table.get("proxy").and_then(toml::Value::as_array);
            let named = named.map(Vec::as_slice).unwrap_or_default();
            assert_eq!(manifest.proxies.len(), named.len());
            for (entry, table) in manifest.proxies.iter().zip(named) {
                is_asked_for(entry, table);
            }
            let ids: HashSet<_> = manifest.proxies.iter().map(|entry| &entry.id).collect();
            assert_eq!(ids.len(), named.len(), "ids are unique");
            if let Some(agent) = &manifest.agent {
                let command = table["agent"]["command"].as_str().expect("a command");
                let expected = if command.contains('/') {
                    Path::new(FOLDER).join(command)
                } else {
                    command.into()
                };
                assert_eq!(*agent.program, *expected);
            }
        }
        Err(error) => has_its_place(text, &error),
    }
    match Draft::parse(text, Path::new(PATH)) {
        Ok(draft) => says_no_more_than_a_project_may(text, &draft),
        Err(error) => has_its_place(text, &error),
    }
}

/// The manifest of a repository names proxies inside the repository, and no programs.
fn says_no_more_than_a_project_may(text: &str, draft: &Draft) {
    let table: toml::Table = text.parse().expect("valid TOML");
    let mut keys = table.keys();
    assert!(
        keys.all(|key| ["order", "proxy"].contains(&&**key)),
        "{text}"
    );
    let named = table.get("proxy").and_then(toml::Value::as_array);
    let named = named.map(Vec::as_slice).unwrap_or_default();
    assert_eq!(draft.proxies.len(), named.len());
    for (proxy, table) in draft.proxies.iter().zip(named) {
        assert!(table.get("command").is_none() && table.get("env").is_none());
        if let From::Path(path) = &proxy.from {
            let mut steps = path.components();
            assert!(steps.all(|step| matches!(step, Component::Normal(_) | Component::CurDir)));
        }
    }
}

/// A proxy is as its table says, and valid in a chain.
fn is_asked_for(entry: &ProxyEntry, table: &toml::Value) {
    let id = &*entry.id;
    assert_eq!(table["id"].as_str(), Some(id));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    assert!(
        (1..=64).contains(&id.len()) && id.bytes().all(plain),
        "{id}"
    );
    assert!(id != "client" && id != "agent", "{id}");
    let entry = match &entry.kind {
        ProxyKind::Component(component) => component,
        ProxyKind::Native(native) => {
            let command = table["command"].as_str().expect("a command");
            assert!(native.command.program.to_string_lossy().ends_with(command));
            for component_only in [
                "use",
                "path",
                "config",
                "limits",
                "powers",
                "methods",
                "directories",
            ] {
                assert!(table.get(component_only).is_none());
            }
            return;
        }
    };
    let path = table["path"].as_str().expect("a path");
    assert_eq!(entry.location, Location::File(Path::new(FOLDER).join(path)));
    let config: Map<String, Value> = serde_json::from_str(&entry.config).expect("an object");
    let asked = table.get("config").and_then(toml::Value::as_table);
    let keys = asked
        .map(|asked| asked.keys().collect())
        .unwrap_or_default();
    assert_eq!(config.keys().collect::<BTreeSet<_>>(), keys);
    for limit in TABLE {
        let asked = table.get("limits").and_then(|limits| limits.get(limit.key));
        let expected = match asked {
            None => limit.of(&Limits::default()),
            Some(toml::Value::String(text)) => limit.quantity.read(text).expect("a quantity"),
            Some(value) => {
                assert_eq!(limit.quantity, Quantity::Count);
                let count = value.as_integer().expect("an integer");
                u64::try_from(count).expect("not negative")
            }
        };
        assert_eq!(limit.of(&entry.limits), expected, "{}", limit.key);
        assert!(expected <= limit.of(&Limits::ceilings()), "{}", limit.key);
    }
}

/// The error states the file, the place and the problem in one line.
fn has_its_place(text: &str, error: &ManifestError) {
    let ManifestError::Wrong {
        path,
        line,
        column,
        what,
    } = error
    else {
        panic!("the file was read: {error}")
    };
    assert_eq!(path, Path::new(PATH));
    let there = text.split('\n').nth(line - 1);
    let there = there.unwrap_or_else(|| panic!("line {line} of {text:?}"));
    // The place may be the end of the line.
    let columns = 1..=there.chars().count() + 1;
    assert!(columns.contains(column), "column {column} of {there:?}");
    assert!(!what.trim().is_empty() && !what.contains('\n'), "{what:?}");
    let what = Untrusted::new(what);
    assert_eq!(error.to_string(), format!("{PATH}:{line}:{column}: {what}"));
}
