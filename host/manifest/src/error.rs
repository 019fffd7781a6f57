//! Errors in a manifest, and their places.

use std::path::{Path, PathBuf};

use acp_chain_rpc::untrusted::Untrusted;

/// A manifest that cannot be used. The message names the file, the line and the column, and how to correct the error.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("{}: the file cannot be read: {error}", Untrusted::new(path.display()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The `config.toml` that the command line names is missing.
    #[error(
        "{}: your config.toml is missing, and without it your own chain would be empty. Restore the file, or run \
         `acp-chain setup` again: it writes the new path into your editor's settings (`--settings` on this command line)",
        Untrusted::new(path.display())
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
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
        Self::Unreadable {
            path: path.to_owned(),
            error,
        }
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
        let message = error.message().replace('\n', ", ");
        Self::at(path, text, offset, advice(&message).unwrap_or(message))
    }
}

/// Turns serde's "unknown field `a`, expected one of `b`, `c`" into advice.
fn advice(message: &str) -> Option<String> {
    let mut names = message
        .strip_prefix("unknown field ")?
        .split('`')
        .skip(1)
        .step_by(2);
    let unknown = names.next()?;
    let known: Vec<_> = names.collect();
    (!known.is_empty()).then(|| unknown_key(unknown, &known))
}

/// The error about an unknown key, with the most similar known one.
pub(super) fn unknown_key(unknown: &str, known: &[&str]) -> String {
    let nearest = known.iter().max_by(|one, two| {
        strsim::jaro_winkler(one, unknown).total_cmp(&strsim::jaro_winkler(two, unknown))
    });
    let nearest = nearest.map_or("", |nearest| nearest);
    let known = known.join("`, `");
    format!("unknown key `{unknown}`; did you mean `{nearest}`? Known here are `{known}`")
}
