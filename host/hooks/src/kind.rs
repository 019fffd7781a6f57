//! The kinds of tools, and the files that their inputs name.

use acp_chain_rpc::{member, resolve};
use serde::{Deserialize, Serialize};

/// A kind of tool, as in ACP's `ToolKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads files.
    Read,
    /// Writes or changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves or renames files.
    Move,
    /// Finds files, or text in them.
    Search,
    /// Runs a command.
    Execute,
    /// Fetches from the network.
    Fetch,
    /// Changes the mode of the session.
    SwitchMode,
    /// Plans, keeps notes for the model, or has a subagent work.
    Think,
    /// Anything else, and every tool that no table has.
    #[serde(other)]
    Other,
}

/// Members of inputs with the path of a file or folder, or a list of them.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "absolute_path",
    "path",
    "paths",
    "files",
    "file_paths",
    "filename",
    "notebook_path",
    "dir_path",
    "directory",
    "directory_absolute_path",
];

/// Members of inputs with a patch in the form of `apply_patch`.
const PATCHES: &[&str] = &["patchText", "patch", "input", "command"];

/// Beginnings of lines of such a patch that name a file. A parser may take them with blanks in front, or none behind.
const NAMING: &[&str] = &[
    "*** Add File:",
    "*** Update File:",
    "*** Delete File:",
    "*** Move to:",
];

impl Kind {
    /// The files that a tool of this kind reads, changes or searches, according to its input.
    pub(crate) fn paths(self, input: &str) -> Vec<String> {
        let names_files = matches!(
            self,
            Self::Read | Self::Edit | Self::Delete | Self::Move | Self::Search
        );
        if !names_files {
            return Vec::new();
        }
        let mut paths = Vec::new();
        for name in PATHS {
            let Some(value) = member(input, name) else {
                continue;
            };
            match serde_json::from_str(value) {
                Ok(Paths::One(path)) => paths.push(path),
                Ok(Paths::Several(several)) => paths.extend(several),
                Ok(Paths::Described(several)) => {
                    paths.extend(several.into_iter().map(|file| file.path));
                }
                Err(_) => {}
            }
        }
        if self == Self::Edit {
            // An input may be nothing but a patch.
            let whole = serde_json::from_str::<String>(input).ok();
            paths.extend(whole.iter().flat_map(|patch| named(patch)));
            for name in PATCHES {
                let patch = resolve(input, &format!("/{name}")).ok().flatten();
                let patch = patch.and_then(|text| serde_json::from_str::<String>(text).ok());
                paths.extend(patch.iter().flat_map(|patch| named(patch)));
            }
        }
        paths
    }
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Paths {
    One(String),
    Several(Vec<String>),
    Described(Vec<File>),
}

#[derive(serde::Deserialize)]
struct File {
    path: String,
}

fn named(patch: &str) -> impl Iterator<Item = String> {
    let names = patch.lines().filter_map(|line| {
        let mut starts = NAMING.iter();
        starts.find_map(|start| line.trim_start().strip_prefix(start))
    });
    names.map(|name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_names_a_file_with_any_blanks() {
        let patch = "*** Begin Patch\n*** Add File: a\n+*** Add File: no\n  *** Add File: /b\n\
                     *** Update File:/c\n\t*** Move to: /d\n*** End Patch";
        let paths = Kind::Edit.paths(&json!({ "input": patch }).to_string());
        assert_eq!(paths, ["a", "/b", "/c", "/d"]);
        assert_eq!(Kind::Edit.paths(&json!(patch).to_string()), paths);
    }

    #[test]
    fn what_an_agent_says_to_delete_or_move_is_of_these_kinds() {
        for (name, kind) in [
            ("edit", Kind::Edit),
            ("delete", Kind::Delete),
            ("move", Kind::Move),
        ] {
            assert_eq!(serde_json::from_value::<Kind>(json!(name)).unwrap(), kind);
            assert_eq!(kind.paths(r#"{"path":"a"}"#), ["a"]);
        }
    }

    #[test]
    fn several_files_may_be_named_at_once() {
        let input = json!({ "file_paths": ["a", "b"] }).to_string();
        assert_eq!(Kind::Edit.paths(&input), ["a", "b"]);
    }
}
