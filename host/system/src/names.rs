//! Names of files and paths of Windows, on every system: archives and configurations have them, too.

/// The longest path that every program takes without the prefix `\\?\`, in UTF-16 units (`MAX_PATH`, without the zero
/// at its end).
const LONGEST: usize = 259;

/// Whether Windows gives a name of a file another meaning: `NUL`, `com1.txt` and the like are devices, and dots and
/// spaces at the end are dropped.
#[must_use]
pub fn is_special(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    let stem = stem.trim_ascii_end().to_ascii_uppercase();
    let is_device = match &stem[..] {
        b"CON" | b"PRN" | b"AUX" | b"NUL" | b"CONIN$" | b"CONOUT$" => true,
        // A digit, of the three that are superscripts too.
        [b'C', b'O', b'M', number @ ..] | [b'L', b'P', b'T', number @ ..] => {
            matches!(number, [b'0'..=b'9'] | [0xc2, 0xb9 | 0xb2 | 0xb3])
        }
        _ => false,
    };
    is_device || matches!(name.last(), Some(b'.' | b' '))
}

/// A path on a disk without the prefix `\\?\`, with which Windows takes it as it is, and which some programs do not
/// know; `None` if there is none, or the path would mean something else without.
#[must_use]
pub fn plain(path: &str) -> Option<&str> {
    let plain = path.strip_prefix(r"\\?\")?;
    let (disk, names) = plain.split_once(r":\")?;
    let is_disk = matches!(disk.as_bytes(), [letter] if letter.is_ascii_alphabetic());
    let is_short = plain.encode_utf16().count() <= LONGEST;
    let is_plain = |name: &str| {
        let is_odd = |letter: char| letter.is_control() || r#"/:*?"<>|"#.contains(letter);
        !name.is_empty() && !name.contains(is_odd) && !is_special(name.as_bytes())
    };
    let are_plain = names.is_empty() || names.split('\\').all(is_plain);
    (is_disk && is_short && are_plain).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_another_meaning_on_windows_are_known() {
        for name in [
            "CON",
            "nul",
            "Aux.txt",
            "com1",
            "LPT9.tar.gz",
            "prn .x",
            "com²",
            "conin$",
            "a.",
            "a ",
        ] {
            assert!(is_special(name.as_bytes()), "{name}");
        }
        for name in [
            "console",
            "nul-agent",
            "com",
            "com10",
            "auxiliary.txt",
            "a.b",
            ".nul",
        ] {
            assert!(!is_special(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_path_has_no_prefix_where_it_means_the_same_without() {
        for path in [r"C:\Users\me\my project ü\.git", r"d:\", r"C:\console"] {
            assert_eq!(plain(&format!(r"\\?\{path}")), Some(path));
            assert_eq!(plain(path), None);
        }
        let long = format!(r"C:\{}", "a".repeat(LONGEST - 3));
        assert_eq!(plain(&format!(r"\\?\{long}")), Some(&*long));
        for other in [
            r"UNC\server\share\file",
            r"Volume{4c1b02c1-d990-11dc-99ae-806e6f6e6963}\file",
            r"C:",
            r"CC:\file",
            r"C:\nul\file",
            r"C:\com1.txt",
            r"C:\a.\b",
            r"C:\a \b",
            r"C:\a/b",
            r"C:\..\b",
            r"C:\a\\b",
            r"C:\a:b",
            &format!("{long}a"),
        ] {
            assert_eq!(plain(&format!(r"\\?\{other}")), None, "{other}");
        }
    }
}
