//! Errors in a manifest, and their places.

use std::path::{Path, PathBuf};

use acp_chain_rpc::untrusted::Untrusted;

/// A manifest that cannot be used. The message names the file, the line and the column, and how to correct the error.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("{}: the file cannot be read: {}", Untrusted::new(.0.display()), .1)]
    Unreadable(PathBuf, std::io::Error),
    /// The `config.toml` that the command line names is missing.
    #[error(
        "{}: your config.toml is missing, and without it your own chain would be empty. Restore the file, or run \
         `acp-chain setup` again: it writes the new path into your editor's settings (`--settings` on this command line)",
        Untrusted::new(.0.display())
    )]
    Missing(PathBuf),
    /// The `config.toml` of the user, the first of these, is behind a symbolic link, the second, that leads nowhere.
    #[error(
        "{}: your config.toml cannot be read, as the link {} leads nowhere, and without it your own chain would be \
         empty. Restore what it leads to, or remove the link",
        Untrusted::new(.0.display()), Untrusted::new(.1.display())
    )]
    BrokenLink(PathBuf, PathBuf),
    /// The file has an error.
    #[error("{}:{line}:{column}: {}", Untrusted::new(path.display()), Untrusted::new(what))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// The error.
        what: String,
    },
}

impl ManifestError {
    pub(super) fn unreadable(path: &Path, error: std::io::Error) -> Self {
        Self::Unreadable(path.to_owned(), error)
    }

    pub(super) fn at(path: &Path, text: &str, offset: usize, what: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self::Wrong {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what,
        }
    }

    pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        if text
            .trim_start_matches(BYTE_ORDER_MARK)
            .trim_start()
            .starts_with('{')
        {
            return Self::at(path, text, offset, IS_JSON.to_owned());
        }
        let message = error.message().replace('\n', ", ");
        let advised = advice(&message)
            .or_else(|| as_list(&message, text, offset))
            .or_else(|| in_plain_words(&message));
        Self::at(path, text, offset, advised.unwrap_or(message))
    }
}

/// What some editors put in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What is said about a file that begins as JSON does. No TOML begins so.
const IS_JSON: &str = "this is JSON, and TOML is expected: a proxy is a line `[[proxy]]`, with `use = \"redact\"` below it";

/// How similar a name has to be to be suggested, by Jaro and Winkler.
const SIMILAR: f64 = 0.75;

/// The keys that `config.toml` has, and a manifest has not.
const OF_USER: &str = "\
    native ceilings require-signature revocations trust updates trace trace-bodies live serve";

/// Turns serde's "unknown field `a`, expected one of `b`, `c`" into advice, and the same about a "variant".
fn advice(message: &str) -> Option<String> {
    let (kind, rest) = message
        .strip_prefix("unknown field ")
        .map(|rest| ("key", rest))
        .or_else(|| Some(("value", message.strip_prefix("unknown variant ")?)))?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let known: Vec<_> = names.collect();
    (!known.is_empty()).then(|| unknown_name(kind, unknown, &known))
}

/// Advice about a value or a table in place of a list; serde's error is at byte `offset`.
fn as_list(message: &str, text: &str, offset: usize) -> Option<String> {
    let given = message.strip_prefix("invalid type: ")?;
    if !given.ends_with(", expected a sequence") {
        return None;
    }
    let (before, here) = text.split_at_checked(offset)?;
    let line = before.rsplit('\n').next().unwrap_or(before);
    // The error is at the header `[proxy]`, or in `[proxy.config]` at the key that is no list.
    let header = match line.trim_start() {
        "" if !here.starts_with("[[") => here.strip_prefix('[')?.split(']').next()?.to_owned(),
        "" => return None,
        key => match key.strip_prefix('[') {
            Some(parents) => parents.to_owned() + here.split(['.', ']']).next()?,
            None => return Some(format!("{message}: write a list in brackets, `[…]`")),
        },
    };
    let name = header.trim();
    Some(format!(
        "`{name}` is a list: each entry begins with a line `[[{name}]]`, with two brackets"
    ))
}

/// Says a type in the words of TOML where serde says it in those of Rust, and which key is missing.
fn in_plain_words(message: &str) -> Option<String> {
    if let Some(field) = message.strip_prefix("missing field ") {
        return Some(format!("the key {field} is missing"));
    }
    let (given, expected) = message.rsplit_once(", expected ")?;
    let plain = match expected {
        "path string" => "a path in quotes",
        "a map" => "a table, as in `{ key = … }`",
        "u16" | "u32" | "u64" | "usize" => "a whole number",
        "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "a whole number above 0"
        }
        _ if expected.starts_with("struct ") => "a table, as in `{ key = … }`",
        _ => return None,
    };
    Some(format!("{given}, expected {plain}"))
}

/// The error about an unknown key, with the most similar known one.
pub(super) fn unknown_key(unknown: &str, known: &[&str]) -> String {
    unknown_name("key", unknown, known)
}

fn unknown_name(kind: &str, unknown: &str, known: &[&str]) -> String {
    let like = |name: &str| strsim::jaro_winkler(name, unknown);
    let nearest = known
        .iter()
        .max_by(|one, two| like(one).total_cmp(&like(two)))
        .filter(|nearest| like(nearest) > SIMILAR);
    let shown = Untrusted::new(unknown);
    let all = known.join("`, `");
    let is_of_manifest = kind == "key" && known.contains(&"proxy") && !known.contains(&"native");
    match nearest {
        Some(nearest) => {
            format!("unknown {kind} `{shown}`; did you mean `{nearest}`? Known here are `{all}`")
        }
        // Its settings are looked for beside `use` now and then.
        None if known.contains(&"on-failure") && known.contains(&"config") => format!(
            "unknown {kind} `{shown}`; known here are `{all}`. The settings of a proxy are in `[proxy.config]`"
        ),
        None if is_of_manifest && OF_USER.split(' ').any(|key| key == unknown) => format!(
            "unknown {kind} `{shown}`: it belongs in your own config.toml; known here are `{all}`"
        ),
        None => format!("unknown {kind} `{shown}`; known here are `{all}`"),
    }
}
