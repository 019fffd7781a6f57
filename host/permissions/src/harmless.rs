//! Commands that are known to be harmless, and those that are known to act outside.
//!
//! A command is harmless if, whatever its further words are, it changes no file of the user, sends nothing, shows
//! nothing but what is in the repository or is no secret of a machine, and runs no program that the repository brings.
//! `permissions` itself lets no `*` stand for an option that writes a file or runs a program.
//!
//! So programs whose version a file of the project chooses are not here (`cargo --version`). git is taken to have the
//! configuration of its user and of this clone, which no commit brings.

/// Patterns that allow only what is harmless. A last `*` stands for any words.
const HARMLESS: &[&str] = &[
    "date",
    "git branch",
    "git branch --show-current",
    "git branch -a",
    "git diff",
    "git diff --cached",
    "git diff --name-only",
    "git diff --staged",
    "git diff --stat",
    "git diff HEAD",
    "git log *",
    "git ls-files",
    "git rev-parse --abbrev-ref HEAD",
    "git rev-parse --show-toplevel",
    "git rev-parse HEAD",
    "git show *",
    "git stash list",
    "git status *",
    "git tag",
    "ls",
    "ls -a",
    "ls -l",
    "ls -la",
    "pwd",
    "true",
    "uname",
    "uname -a",
    "whoami",
];

/// Patterns for what reaches others, or destroys: worth a question in any session.
const OUTSIDE: &[&str] = &[
    "aws *",
    "cargo publish *",
    "curl *",
    "dd *",
    "docker *",
    "gcloud *",
    "gh *",
    "git clean *",
    "git push *",
    "git reset *",
    "kubectl *",
    "mkfs *",
    "nc *",
    "npm publish *",
    "rm *",
    "rsync *",
    "scp *",
    "ssh *",
    "sudo *",
    "terraform *",
    "twine *",
    "wget *",
];

/// The pattern by which a command is harmless.
pub(crate) fn harmless(words: &[&str]) -> Option<&'static str> {
    matching(HARMLESS, words)
}

/// The pattern by which a command acts outside.
pub(crate) fn outside(words: &[&str]) -> Option<&'static str> {
    matching(OUTSIDE, words)
}

fn matching(patterns: &[&'static str], words: &[&str]) -> Option<&'static str> {
    let mut patterns = patterns.iter().copied();
    patterns.find(|pattern| {
        let mut own: Vec<_> = pattern.split(' ').collect();
        let is_open = own.pop_if(|word| *word == "*").is_some();
        words.starts_with(&own) && (is_open || words.len() == own.len())
    })
}
