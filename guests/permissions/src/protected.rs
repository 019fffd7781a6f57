//! Names that no `*` and no `**` reaches where something may be changed: what starts programs, or says
//! what may be done. A rule has to write them out.
//!
//! Every name that begins with a dot is one: so the settings of editors, agents, shells, version
//! control and package managers are, also of those that are yet to come. This is the rest.

use crate::fold::fold;

/// Wherever they stand.
const NAMES: &[&str] = &[
    // This program's.
    "acp-chain.toml",
    "acp-chain.lock",
    // Agents'.
    "crush.json",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    // Editors'.
    "_exrc",
    "_gvimrc",
    "_vimrc",
    // What runs when one commits, or enters a directory.
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

/// Names that end so.
const ENDINGS: &[&str] = &[
    // Proxies.
    ".wasm",
    ".code-workspace",
    ".sublime-project",
    // PowerShell's start files.
    "profile.ps1",
];

/// Names that stand somewhere below another.
const BELOW: &[(&str, &[&str])] = &[
    (".git", &["hooks", "config", "config.worktree"]),
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

/// Which names of an absolute path are protected. The first `own` of them are the session's directory,
/// which its user has named.
pub(crate) fn marks(names: &[&str], own: usize) -> Vec<bool> {
    let folded: Vec<_> = names.iter().map(|name| fold(name)).collect();
    let is_protected = |(at, name): (usize, &String)| {
        let is_below = |above: &str| folded[..at].iter().any(|name| name == above);
        at >= own
            && (name.starts_with('.')
                || NAMES.contains(&&**name)
                || ENDINGS.iter().any(|ending| name.ends_with(ending))
                || (at == 0 && name == "etc")
                || BELOW
                    .iter()
                    .any(|(above, these)| these.contains(&&**name) && is_below(above)))
    };
    folded.iter().enumerate().map(is_protected).collect()
}
