//! Paths on the client's machine, of any operating system: a component has no file system, and is built for none.

/// A file in a directory, in the directory's own style: `C:\proj` and `docs/a.md` make
/// `C:\proj\docs\a.md`.
#[must_use]
pub fn join(directory: &str, name: &str) -> String {
    if is_windows(directory) {
        format!(
            "{}\\{}",
            directory.trim_end_matches(['/', '\\']),
            name.replace('/', "\\")
        )
    } else {
        format!("{}/{name}", directory.trim_end_matches('/'))
    }
}

/// Whether a path names a place without regard to any directory: `/a`, `C:\a`, `\\server\share`.
#[must_use]
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

/// A path with `/` between its parts and without `.` and `..`, as far as the text shows: symbolic links are not
/// followed. A drive letter becomes upper case. `..` above the root is dropped; above a relative path it stays.
///
/// ```
/// use acp_chain_proxy::path::normal;
///
/// assert_eq!(normal("/proj/../etc//./passwd"), "/etc/passwd");
/// assert_eq!(normal(r"c:\proj\..\x"), "C:/x");
/// assert_eq!(normal("../a"), "../a");
/// ```
#[must_use]
pub fn normal(path: &str) -> String {
    let mut path = path.to_owned();
    if is_windows(&path) {
        path = path.replace('\\', "/");
        if let Some(letter) = path.get_mut(..1) {
            letter.make_ascii_uppercase();
        }
    }
    let root = if path.starts_with("//") && !path.starts_with("///") {
        "//"
    } else if path.starts_with('/') {
        "/"
    } else {
        ""
    };
    let drive = has_drive(&path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        let above = match parts.last() {
            None => root.is_empty(),
            Some(last) => *last == "..",
        };
        let at_drive = drive && parts.len() == 1;
        match part {
            ".." if above => parts.push(part),
            ".." if !at_drive => drop(parts.pop()),
            ".." => {}
            _ => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

fn is_windows(path: &str) -> bool {
    has_drive(path) || path.starts_with(r"\\")
}

fn has_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && matches!(bytes.next(), None | Some(b'/' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_joined_in_the_style_of_their_directory() {
        for (directory, name, joined) in [
            ("/proj", "AGENTS.md", "/proj/AGENTS.md"),
            ("/proj/", ".github/a.md", "/proj/.github/a.md"),
            ("/", "a", "/a"),
            (r"C:\proj", ".github/a.md", r"C:\proj\.github\a.md"),
            (r"C:\", "a", r"C:\a"),
            ("C:/proj", "a", r"C:/proj\a"),
            (r"\\server\share", "a", r"\\server\share\a"),
        ] {
            assert_eq!(join(directory, name), joined);
        }
    }

    #[test]
    fn paths_are_brought_to_one_form() {
        for (path, expected) in [
            ("/a/b", "/a/b"),
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/..", "/"),
            ("///a", "/a"),
            ("a/../b", "b"),
            ("a/../../b", "../b"),
            ("../../b", "../../b"),
            (r"/a\b/../c", "/c"),
            (r"c:\a\..\..\b", "C:/b"),
            ("C:", "C:"),
            ("/:/../etc/passwd", "/etc/passwd"),
            ("a:b/../x", "x"),
            ("1:/../x", "x"),
            (r"\\server\share\..\a", "//server/a"),
            ("", ""),
        ] {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    #[test]
    fn absolute_paths_are_told_from_others() {
        for path in ["/a", r"C:\a", "c:/a", r"\\server\share"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["a", "./a", "~/a", "file:///a", "C:a", ""] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}
