//! Globs.

use super::paths::Path;

pub struct Glob {
    /// `/`, a drive, `share`, `any`, or `project` if its directory is not known.
    pub root: String,
    /// The root as written: `project` even if its directory is known.
    pub pattern_root: String,
    pub segments: Vec<String>,
}

impl Glob {
    pub fn parse(glob: &str, own: Option<&Path>) -> Self {
        let windows = glob.replace('\\', "/");
        let (root, rest) = if glob == "**" || glob.starts_with("**/") {
            ("any".to_owned(), glob)
        } else if let Some(rest) = glob.strip_prefix("./") {
            ("project".to_owned(), rest)
        } else if glob.starts_with("\\\\") {
            ("share".to_owned(), &*windows)
        } else if glob.starts_with('/') {
            ("/".to_owned(), glob)
        } else {
            (windows[..2].to_uppercase(), &windows[2..])
        };
        let segments = rest
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".");
        let mut segments: Vec<_> = segments.map(str::to_owned).collect();
        let pattern_root = root.clone();
        let root = match (&*root, own) {
            ("project", Some(own)) => {
                segments = own.names.iter().cloned().chain(segments).collect();
                own.root.clone()
            }
            _ => root,
        };
        Self {
            root,
            pattern_root,
            segments,
        }
    }
}

pub fn unfold_braces(glob: &str) -> Vec<String> {
    let Some(open) = glob.find('{') else {
        return vec![glob.to_owned()];
    };
    let close = open
        + glob[open..]
            .find('}')
            .expect("a brace that is closed, and none within");
    let choices = glob[open + 1..close].split(',');
    let unfold =
        |choice| unfold_braces(&format!("{}{choice}{}", &glob[..open], &glob[close + 1..]));
    choices.flat_map(unfold).collect()
}

/// A name that a segment with wildcards matches.
pub fn instance(segment: &str) -> String {
    let (before, rest) = segment.split_once('[').unwrap_or((segment, ""));
    let class = rest.chars().next().map_or(String::new(), |c| c.to_string());
    let behind = rest.split_once(']').map_or("", |(_, behind)| behind);
    format!("{before}{class}{behind}")
        .replace('*', "")
        .replace('?', "x")
}
