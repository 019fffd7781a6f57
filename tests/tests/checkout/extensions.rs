//! The pages of the built-in extensions list each key of their configuration, as its schema describes it, and use each
//! in an example; that of `two-of-three` lists the ways out that are tried. `cargo xtask book` writes the lists again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_package::{Key, keys};
use acp_chain_tests::host::EXTENSIONS;
use acp_chain_tests::ways::ways;
use serde_json::{Map, Value};

/// Set by `cargo xtask book`.
const WRITE: &str = "ACP_CHAIN_BOOK";

/// The lines around lists.
const BEGIN: &str = "<!-- the keys, by cargo xtask book -->\n";
const BEGIN_WAYS: &str = "<!-- the ways, from tests/ways-out.toml, by cargo xtask book -->\n";
const END: &str = "<!-- end -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> PathBuf {
    root().join(format!("docs/extensions/{name}.md"))
}

/// The keys of an extension; none for one that takes no configuration.
fn keys_of(name: &str) -> Vec<Key> {
    let schema = root().join(format!("guests/{name}/config.schema.json"));
    let Ok(text) = fs::read_to_string(schema) else {
        return Vec::new();
    };
    let schema: Map<String, Value> = serde_json::from_str(&text).unwrap();
    keys(&schema)
}

/// The list of keys, as a table.
fn table(keys: &[Key]) -> String {
    let mut table = "| key | default | meaning |\n|---|---|---|\n".to_owned();
    for key in keys {
        let default = match (&key.default, key.is_required) {
            (Some(default), _) => format!("`{default}`"),
            (None, true) => "required".to_owned(),
            (None, false) => "none".to_owned(),
        };
        let (path, description) = (&key.path, &key.description);
        assert!(
            !description.is_empty() && !description.contains('|'),
            "{path}"
        );
        let row = [&format!("`{path}`"), &default, description];
        table += &["| ", &row.map(String::as_str).join(" | "), " |\n"].concat();
    }
    table
}

/// The page of `two-of-three`, with the list of the ways out.
fn with_ways(page: &str) -> String {
    let rows = ways().into_iter().map(|way| {
        let end = match way.unseen {
            Some(why) => format!("not seen: {why}"),
            None => "a question".to_owned(),
        };
        format!("| {} | {end} |\n", way.what)
    });
    let table = "| A way out | Ends with |\n|---|---|\n".to_owned() + &rows.collect::<String>();
    let (before, rest) = page.split_once(BEGIN_WAYS).expect("a list of ways");
    let (_, after) = rest.split_once(END).expect("the end of the list");
    format!("{before}{BEGIN_WAYS}\n{table}\n{END}{after}")
}

#[test]
fn pages_of_extensions_list_their_keys() {
    let writes = std::env::var_os(WRITE).is_some();
    for name in EXTENSIONS {
        let keys = keys_of(name);
        let text = fs::read_to_string(page(name)).unwrap();
        if keys.is_empty() {
            assert!(text.contains("It takes no configuration."), "{name}");
            continue;
        }
        let (before, rest) = text.split_once(BEGIN).expect("a list of keys");
        let (_, after) = rest.split_once(END).expect("the end of the list");
        let mut now = format!("{before}{BEGIN}\n{}\n{END}{after}", table(&keys));
        if name == "two-of-three" {
            now = with_ways(&now);
        }
        if writes {
            fs::write(page(name), now).unwrap();
        } else {
            assert!(
                now == text,
                "the page of {name} is out of date: `cargo xtask book` regenerates it"
            );
        }
    }
}

/// The paths of all keys in a configuration. Tables under any name are those of `NAME`, if the schema has such.
fn used(value: &toml::Value, prefix: &str, known: &BTreeSet<String>, paths: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            let any = format!("{prefix}NAME.");
            let has_any = known.iter().any(|path| path.starts_with(&any));
            for (name, value) in table {
                if has_any {
                    used(value, &any, known, paths);
                } else {
                    let path = format!("{prefix}{name}");
                    used(value, &format!("{path}."), known, paths);
                    paths.insert(path);
                }
            }
        }
        toml::Value::Array(values) => {
            let prefix = prefix.strip_suffix('.').unwrap_or(prefix);
            for value in values {
                used(value, &format!("{prefix}[]."), known, paths);
            }
        }
        _ => {}
    }
}

/// The paths of all keys in the examples of a page, which are manifests with this extension.
fn used_in_examples(name: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let text = fs::read_to_string(page(name)).unwrap();
    let mut paths = BTreeSet::new();
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let manifest: toml::Table = block
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}\n{block}"));
        for proxy in manifest["proxy"].as_array().unwrap() {
            let config = proxy.get("config");
            if let Some(config) = config.filter(|_| proxy["use"].as_str() == Some(name)) {
                used(config, "", known, &mut paths);
            }
        }
    }
    paths
}

#[test]
fn pages_of_extensions_use_each_key_in_an_example_and_no_others() {
    for name in EXTENSIONS {
        let known: BTreeSet<_> = keys_of(name).into_iter().map(|key| key.path).collect();
        // A key that is the same in several tables is in the example of one.
        let last = |path: &String| path.rsplit('.').next().unwrap().to_owned();
        let names = |paths: &BTreeSet<String>| paths.iter().map(last).collect::<BTreeSet<_>>();
        assert_eq!(
            names(&used_in_examples(name, &known)),
            names(&known),
            "{name}"
        );
    }
}

#[test]
fn the_summary_has_the_pages_of_extensions() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for name in EXTENSIONS {
        assert!(
            summary.contains(&format!("(extensions/{name}.md)")),
            "{name}"
        );
    }
}
