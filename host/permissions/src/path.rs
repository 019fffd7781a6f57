//! Patterns for paths, as a `.gitignore` has them, as globs of `permissions`.

use std::path::Path;

/// Where patterns count from.
pub(crate) struct Bases<'a> {
    /// The user's home folder: `~/`.
    pub(crate) home: &'a Path,
    /// The folder that a pattern with one leading slash counts from.
    pub(crate) root: &'a Path,
}

/// Whether a rule allows, or whether it denies or asks, which decides in doubt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Allow,
    Refuse,
}

/// The globs for a pattern of Claude: `//` is the root, `~/` the home folder, `/` the folder of the settings, and
/// anything else the session's directory.
pub(crate) fn globs(
    pattern: &str,
    bases: &Bases<'_>,
    purpose: Purpose,
) -> Result<Vec<String>, String> {
    if pattern.starts_with('!') {
        return Err("no glob says what a path is not".to_owned());
    }
    if pattern.starts_with('#') {
        return Err("it is a comment, as in a `.gitignore`".to_owned());
    }
    let (base, rest) = if let Some(rest) = pattern.strip_prefix("//") {
        (String::new(), rest)
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        (folder(bases.home)?, rest)
    } else if let Some(rest) = pattern.strip_prefix('/') {
        (folder(bases.root)?, rest)
    } else {
        (".".to_owned(), pattern)
    };
    let names = names(rest)?;
    // A name alone is meant at any depth, and so may be one behind `./`.
    let is_sole = base == "." && names.len() == 1;
    let is_deep = is_sole && (purpose == Purpose::Refuse || !pattern.starts_with("./"));
    let anywhere = is_deep.then(|| "**".to_owned());
    let names: Vec<_> = anywhere.into_iter().chain(names).collect();
    Ok(ended(&base, &names, rest.ends_with('/'), purpose))
}

/// The globs for names below a base: a pattern for a folder is one for all in it, too.
pub(crate) fn ended(
    base: &str,
    names: &[String],
    is_folder: bool,
    purpose: Purpose,
) -> Vec<String> {
    let last = names.last().map_or("**", String::as_str);
    let own = [&[base.to_owned()][..], names].concat().join("/");
    let below = format!("{own}/**");
    if names.is_empty() || is_folder {
        return vec![below];
    }
    if last == "**" || (purpose == Purpose::Allow && last.contains('*')) {
        return vec![own];
    }
    vec![own, below]
}

/// The names of a pattern, as a glob has them.
pub(crate) fn names(pattern: &str) -> Result<Vec<String>, String> {
    if let Some(c) = pattern
        .chars()
        .find(|c| r"\[]".contains(*c) || c.is_control())
    {
        return Err(format!("{c:?} has another meaning in globs"));
    }
    let names = pattern.split('/').filter(|name| !matches!(*name, "" | "."));
    names
        .map(|name| match name {
            ".." => Err("it leads out of its folder by `..`".to_owned()),
            "**" => Ok(name.to_owned()),
            name => Ok(escaped(&one_star(name))),
        })
        .collect()
}

/// Several stars side by side are one.
pub(crate) fn one_star(name: &str) -> String {
    let mut kept = String::new();
    for c in name.chars() {
        if c != '*' || !kept.ends_with('*') {
            kept.push(c);
        }
    }
    kept
}

/// Braces are choices in globs alone.
fn escaped(name: &str) -> String {
    name.replace('{', r"\{").replace('}', r"\}")
}

/// A folder of this machine, spelt as the beginning of a glob.
pub(crate) fn folder(path: &Path) -> Result<String, String> {
    let text = path.to_str().filter(|text| text.starts_with('/'));
    let text = text.ok_or_else(|| format!("{} cannot be written in a glob", path.display()))?;
    let mut glob = String::new();
    for c in text.trim_end_matches('/').chars() {
        if r"*?[]{}\".contains(c) {
            glob.push('\\');
        }
        glob.push(c);
    }
    Ok(glob)
}

/// Whether a glob spells out a hidden name. Agents ask before they change such files, whatever a rule says.
pub(crate) fn names_hidden(glob: &str) -> bool {
    let mut names = glob.split('/').filter(|name| *name != ".");
    names.any(|name| name.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str, purpose: Purpose) -> Result<Vec<String>, String> {
        let bases = Bases {
            home: Path::new("/home/u"),
            root: Path::new("/work/a{b"),
        };
        globs(pattern, &bases, purpose)
    }

    #[test]
    fn each_beginning_has_its_folder() {
        for (pattern, expected) in [
            ("//etc/**", &["/etc/**"][..]),
            ("//", &["/**"]),
            ("~/.ssh/**", &["/home/u/.ssh/**"]),
            ("~/.zshrc", &["/home/u/.zshrc", "/home/u/.zshrc/**"]),
            (
                "/src/*.rs",
                &[r"/work/a\{b/src/*.rs", r"/work/a\{b/src/*.rs/**"],
            ),
            ("./src/", &["./**/src/**"]),
            (".env", &["./**/.env", "./**/.env/**"]),
            ("./.env", &["./**/.env", "./**/.env/**"]),
            ("a/b***c", &["./a/b*c", "./a/b*c/**"]),
            ("a/{b}", &[r"./a/\{b\}", r"./a/\{b\}/**"]),
        ] {
            let found = of(pattern, Purpose::Refuse).unwrap();
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn what_allows_does_not_go_below_a_wildcard() {
        assert_eq!(of("/src/*", Purpose::Allow).unwrap(), [r"/work/a\{b/src/*"]);
        assert_eq!(of("./a", Purpose::Allow).unwrap(), ["./a", "./a/**"]);
        assert_eq!(of("*.md", Purpose::Allow).unwrap(), ["./**/*.md"]);
    }

    #[test]
    fn what_no_glob_says_is_an_error() {
        for pattern in ["!a", "#a", "../a", "a/../b", "a[b]", r"a\*"] {
            assert!(of(pattern, Purpose::Refuse).is_err(), "{pattern}");
        }
    }
}
