//! References in the manifests of Cargo, npm and Go.

use serde_json::Value;

use super::Reference;
use crate::language::Language;
use crate::project::beside;

/// `members`, the `path` of targets and dependencies, and the common places of targets. Globs are left out: there is no
/// list of files to match them with.
pub(super) fn cargo(folder: &str, text: &str) -> Vec<Reference> {
    let mut found: Vec<_> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .map(|name| Reference::guess(vec![beside(folder, name)]))
        .into();
    let mut within_members = false;
    for line in text.lines() {
        let line = line.trim();
        within_members |= line.starts_with("members");
        if within_members {
            let members = texts(line).filter(|member| !member.contains('*'));
            found.extend(members.map(|member| crate_in(folder, member)));
            within_members = !line.contains(']');
        } else if let Some(at) = line.find("path")
            && let rest = line[at + "path".len()..].trim_start()
            && rest.starts_with('=')
            && let Some(path) = texts(rest).next()
        {
            found.push(if Language::of(path) == Some(Language::Rust) {
                Reference::sure(path, vec![beside(folder, path)])
            } else {
                crate_in(folder, path)
            });
        }
    }
    found
}

fn crate_in(folder: &str, path: &str) -> Reference {
    Reference::sure(path, vec![beside(folder, &format!("{path}/Cargo.toml"))])
}

/// The strings in double quotes.
fn texts(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// `main`, `module`, `types`, `bin`, `exports` and `workspaces`. Files that exist only after a build are guesses like
/// everything here.
pub(super) fn npm(folder: &str, text: &str) -> Vec<Reference> {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for member in ["main", "module", "types", "source", "bin", "exports"] {
        strings(&manifest[member], &mut paths);
    }
    let code = [
        "index.js",
        "src/index.ts",
        "src/index.tsx",
        "src/index.js",
        "src/main.ts",
    ];
    paths.extend(code.map(str::to_owned));
    let mut workspaces = Vec::new();
    strings(&manifest["workspaces"], &mut workspaces);
    let packages = workspaces.iter().map(|path| format!("{path}/package.json"));
    let paths = paths.into_iter().chain(packages);
    paths
        .filter(|path| !path.contains('*') && !path.starts_with('/'))
        .map(|path| Reference::guess(vec![beside(folder, &path)]))
        .collect()
}

/// All strings in a value.
fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        Value::Object(members) => members.values().for_each(|value| strings(value, into)),
        _ => {}
    }
}

/// The modules that `replace` and `use` find in a directory, and the common places of the main package.
pub(super) fn go(folder: &str, text: &str) -> Vec<Reference> {
    let mut found = vec![Reference::guess(vec![beside(folder, "main.go")])];
    for line in text.lines() {
        let path = line
            .split_whitespace()
            .find(|word| word.starts_with("./") || word.starts_with("../"));
        if let Some(path) = path {
            found.push(Reference::sure(
                path,
                vec![beside(folder, &format!("{path}/go.mod"))],
            ));
        }
        if let Some(module) = line.strip_prefix("module ") {
            let module = module.trim().rsplit('/').next().unwrap_or_default();
            found.push(Reference::guess(vec![beside(
                folder,
                &format!("{module}.go"),
            )]));
            let command = format!("cmd/{module}/main.go");
            found.push(Reference::guess(vec![beside(folder, &command)]));
        }
    }
    found
}
