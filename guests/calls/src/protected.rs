//! Names that neither `*` nor `**` matches for changes: files that start programs, or set permissions. A rule must
//! spell them out.
//!
//! Every name that begins with a dot is protected, which covers settings of editors, agents, shells, version control
//! and package managers, including future ones. The tables have the others.

use crate::fold::fold;

/// Names in any directory.
const NAMES: &[&str] = &[
    // Files of acp-chain.
    "acp-chain.toml",
    "acp-chain.lock",
    // Files of agents.
    "crush.json",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    // Files of editors.
    "_exrc",
    "_gvimrc",
    "_vimrc",
    // Run on commits, or on entering a directory.
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "lefthook-local.json",
    "lefthook-local.toml",
    "lefthook-local.yaml",
    "lefthook-local.yml",
    "mise.toml",
    "mise.local.toml",
    // Settings of all programs on Windows.
    "appdata",
];

/// Endings of names.
const ENDINGS: &[&str] = &[
    // Proxies.
    ".wasm",
    ".code-workspace",
    ".sublime-project",
    // PowerShell's start files.
    "profile.ps1",
];

/// The folder of a repository.
const GIT: &str = ".git";

/// Names of files only: a folder with this one is a repository for git, which runs what its `config` says, as in
/// `cd folder && git status`.
const FILES: &[&str] = &["head"];

/// Names somewhere below another; those of git also below the name of a bare repository, `x.git`.
const BELOW: &[(&str, &[&str])] = &[
    (GIT, &["hooks", "config", "config.worktree"]),
    ("acp-chain", &["config.toml", "compiled"]),
    (
        "library",
        &[
            "application support",
            "launchagents",
            "launchdaemons",
            "preferences",
        ],
    ),
    ("start menu", &["startup"]),
];

/// Which names of an absolute path are protected. The first `own` of them are the session's directory, which its user
/// chose.
pub fn marks(names: &[&str], own: usize) -> Vec<bool> {
    let folded: Vec<_> = names.iter().map(|name| fold(name)).collect();
    let is_protected = |(at, name): (usize, &String)| {
        let is_below = |above: &str| {
            let is_bare = |name: &String| above == GIT && name.ends_with(GIT);
            let is_named = folded[..at].iter().any(|name| name == above);
            // A session may work in a worktree below a bare repository.
            is_named || folded[own.min(at)..at].iter().any(is_bare)
        };
        let is_last = at + 1 == folded.len();
        at >= own
            && (name.starts_with('.')
                || NAMES.contains(&&**name)
                || (is_last && FILES.contains(&&**name))
                || ENDINGS.iter().any(|ending| name.ends_with(ending))
                || (at == 0 && name == "etc")
                || BELOW
                    .iter()
                    .any(|(above, these)| these.contains(&&**name) && is_below(above)))
    };
    folded.iter().enumerate().map(is_protected).collect()
}
