//! The files that a file refers to: modules, imports, includes, links, and entries of a manifest. A client cannot list
//! the files of a project, so references are followed to find them.
//!
//! A reference is a list of the names that it may mean, to be tried in order. All names are relative to the project's
//! directory; names that lead out of it are rejected by the reader.

mod manifest;

use crate::language::Language;
use crate::project::{beside, directory, extension, last};

/// Common files of a project, from which all others are found.
pub(crate) const ENTRIES: &[&str] = &[
    "README.md",
    "Cargo.toml",
    "package.json",
    "go.mod",
    "go.work",
    "pyproject.toml",
    "CMakeLists.txt",
    "pom.xml",
    "main.py",
    "src/main.py",
    "main.go",
    "index.js",
    "index.ts",
    "src/index.ts",
    "src/index.js",
    "main.c",
    "src/main.c",
    "src/main.cpp",
];

/// The maximum number of references of one file.
const MOST_REFERENCES: usize = 500;

/// A reference to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Its possible names.
    pub(crate) names: Vec<String>,
    /// The reference as written, if one of the names must exist; `None` for a guess.
    pub(crate) written: Option<String>,
}

impl Reference {
    pub(crate) fn sure(written: &str, names: Vec<String>) -> Self {
        Self {
            names,
            written: Some(written.to_owned()),
        }
    }

    pub(crate) fn guess(names: Vec<String>) -> Self {
        Self {
            names,
            written: None,
        }
    }
}

/// The references of a file, in order.
pub(crate) fn references(name: &str, language: Language, text: &str) -> Vec<Reference> {
    match language {
        Language::CargoToml => manifest::cargo(directory(name), text),
        Language::PackageJson => manifest::npm(directory(name), text),
        Language::GoMod => manifest::go(directory(name), text),
        Language::Rust => each(text, |line| rust(name, line)),
        Language::Python => each(text, |line| python(name, line)),
        Language::Script => each(text, |line| script(name, line)),
        Language::C => each(text, |line| c(name, line)),
        Language::Java => each(text, |line| java(name, line)),
        Language::Markdown => {
            let links = text.lines().flat_map(|line| markdown(name, line));
            links.take(MOST_REFERENCES).collect()
        }
        // A package is a directory, and its imports do not name files.
        Language::Go => Vec::new(),
    }
}

fn each(text: &str, refer: impl Fn(&str) -> Option<Reference>) -> Vec<Reference> {
    let found = text.lines().filter_map(|line| refer(line.trim()));
    found.take(MOST_REFERENCES).collect()
}

/// `mod name;`
fn rust(file: &str, line: &str) -> Option<Reference> {
    let rest = line
        .strip_prefix("pub")
        .map_or(line, |rest| match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        });
    let module = rest
        .trim_start()
        .strip_prefix("mod ")?
        .split_once(';')?
        .0
        .trim();
    let module = module.strip_prefix("r#").unwrap_or(module);
    let here = directory(file);
    let both = |folder: &str| {
        [format!("{module}.rs"), format!("{module}/mod.rs")].map(|name| beside(folder, &name))
    };
    let stem = last(file).trim_end_matches(".rs");
    let mut names = Vec::new();
    if !matches!(stem, "mod" | "lib" | "main") {
        names.extend(both(&beside(here, stem)));
    }
    // Modules may also be beside the file: any file may be the root of a crate.
    names.extend(both(here));
    Some(Reference::sure(&format!("mod {module}"), names))
}

/// `import a.b`, `from .a import b`
fn python(file: &str, line: &str) -> Option<Reference> {
    let (module, import) = match line.strip_prefix("from ") {
        Some(rest) => rest.split_once(" import ")?,
        None => (line.strip_prefix("import ")?, ""),
    };
    let module = module.split([',', ' ']).next().unwrap_or_default();
    let below = module.trim_start_matches('.');
    let up = module.len() - below.len();
    let path = below.replace('.', "/");
    let files = |path: &str| [format!("{path}.py"), format!("{path}/__init__.py")];
    let here = directory(file);
    if up == 0 {
        let roots = ["", "src", here];
        let names = roots
            .iter()
            .flat_map(|root| files(&path).map(|name| beside(root, &name)));
        return Some(Reference::guess(names.collect()));
    }
    let folder = beside(here, &"../".repeat(up - 1));
    let path = match path.as_str() {
        "" => import
            .split([',', ' '])
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => path,
    };
    let names = files(&path).map(|name| beside(&folder, &name));
    Some(Reference::guess(names.to_vec()))
}

/// `import … from "./a"`, `export … from`, `require("./a")`, `import("./a")`
fn script(file: &str, line: &str) -> Option<Reference> {
    let marks = ["from ", "require(", "import(", "import "];
    let written = marks.iter().find_map(|mark| {
        let rest = &line[line.find(mark)? + mark.len()..];
        let quote = rest
            .chars()
            .next()
            .filter(|quote| "\"'`".contains(*quote))?;
        rest[1..].split_once(quote).map(|(path, _)| path)
    })?;
    if !written.starts_with('.') {
        return None;
    }
    let path = beside(directory(file), written);
    let mut names = Vec::new();
    if Language::of(&path).is_some() || extension(&path) == Some("json") {
        names.push(path.clone());
        // TypeScript is imported under the name of its compiled file.
        let source = path
            .strip_suffix(".js")
            .or_else(|| path.strip_suffix(".mjs"));
        names.extend(
            source
                .iter()
                .flat_map(|path| [format!("{path}.ts"), format!("{path}.tsx")]),
        );
    } else {
        for end in [
            ".ts",
            ".tsx",
            ".js",
            ".jsx",
            ".mjs",
            "/index.ts",
            "/index.js",
        ] {
            names.push(format!("{path}{end}"));
        }
    }
    Some(Reference::sure(written, names))
}

/// `#include "a.h"`
fn c(file: &str, line: &str) -> Option<Reference> {
    let rest = line
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("include")?;
    let (header, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    let places = [directory(file), "include", "src", ""];
    let names = places.iter().map(|place| beside(place, header)).collect();
    Some(Reference::sure(header, names))
}

/// `import a.b.C;`
fn java(file: &str, line: &str) -> Option<Reference> {
    let class = line
        .strip_prefix("import ")?
        .trim_start_matches("static ")
        .strip_suffix(';')?;
    let path = format!("{}.java", class.replace('.', "/"));
    let root = file
        .find("/java/")
        .map_or("src", |at| &file[..at + "/java".len()]);
    Some(Reference::guess(vec![beside(root, &path)]))
}

/// `[text](path)`
fn markdown(file: &str, line: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for part in line.split("](").skip(1) {
        let path = part.split([')', '#', ' ', '?']).next().unwrap_or_default();
        if path.contains(':') || path.starts_with('/') || Language::of(path).is_none() {
            continue;
        }
        found.push(Reference::guess(vec![beside(directory(file), path)]));
    }
    found
}

#[cfg(test)]
mod tests;
