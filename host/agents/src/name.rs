//! Names of agents.

/// Whether an agent can have this name, which is also that of a folder: 1 to 64 letters, digits, `-`, `_` or `.`,
/// starting with a letter or a digit, and on Windows none that means something else there.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !(cfg!(windows) && is_special(name.as_bytes()))
}

/// Whether Windows gives a name of a file another meaning: `NUL`, `com1.txt` and the like are devices, and dots and
/// spaces at the end are dropped.
pub(crate) fn is_special(name: &[u8]) -> bool {
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

/// The most similar of these names, if any is similar.
pub(crate) fn nearest<'n>(name: &str, all: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let like = |other: &str| strsim::jaro_winkler(&other.to_lowercase(), &name.to_lowercase());
    let near = all
        .into_iter()
        .max_by(|one, other| like(one).total_cmp(&like(other)));
    near.filter(|near| like(near) > 0.7).map(str::to_owned)
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
}
