//! Unambiguous paths.

use super::names::{alias, same, unseen};

#[derive(Clone, Debug)]
pub struct Path {
    pub root: String,
    pub names: Vec<String>,
}

/// The directory of the session, if it is unambiguous.
pub fn directory(cwd: Option<&str>) -> Option<Path> {
    let cwd = cwd?;
    let path = absolute(cwd)?;
    (!cwd.chars().any(char::is_control)).then_some(path)
}

pub fn absolute(path: &str) -> Option<Path> {
    let chars: Vec<char> = path.chars().collect();
    let (root, rest, separators) = match chars[..] {
        ['/', ref rest @ ..] => ("/".to_owned(), rest, "/"),
        [letter, ':', '/' | '\\', ref rest @ ..] if letter.is_ascii_alphabetic() => {
            (format!("{}:", letter.to_ascii_uppercase()), rest, "/\\")
        }
        _ => return None,
    };
    if rest.first().is_some_and(|c| "/\\".contains(*c)) {
        return None;
    }
    let rest: String = rest.iter().collect();
    let names = rest.split(|c| separators.contains(c)).map(str::to_owned);
    let names: Vec<_> = names
        .filter(|name| !name.is_empty() && name != ".")
        .collect();
    (!names.iter().any(|name| name == "..")).then_some(Path { root, names })
}

/// An unambiguous path.
pub fn certain(path: &str, cwd: Option<&str>) -> Option<Path> {
    let path = absolute(path)?;
    let own = directory(cwd);
    if let Some(own) = &own
        && (own.root == "/") != (path.root == "/")
    {
        return None;
    }
    let own = own.filter(|own| own.root == path.root && path.names.starts_with(&own.names));
    let own = own.map_or(0, |own| own.names.len());
    let windows = path.root != "/";
    let first = path.names.first().map_or(String::new(), |name| same(name));
    if own == 0 && !windows && (first == "proc" || first == "dev") {
        return None;
    }
    let unambiguous = |name: &String| {
        let folded = same(name);
        let base = folded.split('.').next().unwrap().trim_end();
        let device = match base.len() {
            4 => {
                (base.starts_with("com") || base.starts_with("lpt"))
                    && base.ends_with(|c: char| c.is_ascii_digit())
            }
            _ => ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&base),
        };
        [name, &folded].iter().all(|name| {
            let bad = |c: char| {
                "/\\:*?\u{fffd}".contains(c)
                    || c.is_control()
                    || unseen(c)
                    || (c != ' ' && c.is_whitespace())
            };
            !name.is_empty()
                && !name.contains(bad)
                && !name.ends_with('.')
                && !name.ends_with(' ')
                && alias(name).is_none()
        }) && !(windows && device)
    };
    path.names[own..].iter().all(unambiguous).then_some(path)
}

/// For each name whether it is protected.
pub fn guarded(path: &Path, cwd: Option<&str>) -> Vec<bool> {
    let own =
        directory(cwd).filter(|own| own.root == path.root && path.names.starts_with(&own.names));
    let own = own.map_or(0, |own| own.names.len());
    let names: Vec<String> = path.names.iter().map(|name| same(name)).collect();
    let mut guarded = vec![false; names.len()];
    for at in own..names.len() {
        let name = &*names[at];
        let above = |directory: &str| names[..at].iter().any(|name| name == directory);
        let in_git = above(".git")
            || names[own..at]
                .iter()
                .any(|name| name.strip_suffix(".git").is_some());
        guarded[at] = name.starts_with('.')
            || (at == 0 && name == "etc")
            || ["acp-chain.toml", "acp-chain.lock", "mcp.json", "appdata"].contains(&name)
            || name.split('.').next_back() == Some("wasm")
            || (name == "head" && at + 1 == names.len())
            || (in_git && ["hooks", "config", "config.worktree"].contains(&name))
            || (above("acp-chain") && ["config.toml", "compiled"].contains(&name));
    }
    guarded
}
