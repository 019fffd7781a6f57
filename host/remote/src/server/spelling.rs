//! Names of sessions, as the most lenient agent may read them: as a UUID in any of its forms, as a file's name, or as a
//! part of an address. Characters that such an agent skips, cuts off or resolves do not distinguish names.

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization;

/// How often a name is decoded: within an address that is a part of another, it is encoded twice.
const DECODINGS: usize = 3;

/// The distinguishing part of a name: names with the same one may be read as one session.
pub fn plain(name: &str) -> String {
    let mut decoded = name.to_owned();
    for _ in 0..DECODINGS {
        let bytes = percent_decode_str(&decoded);
        decoded = bytes.decode_utf8_lossy().into_owned();
    }
    let compatible: String = decoded.nfkc().collect();
    let folded = compatible.to_uppercase().to_lowercase();
    let letters = last_of_path(&folded).chars();
    let letters: String = letters.filter(|letter| letter.is_alphanumeric()).collect();
    // A UUID may also be read as a number.
    let prefixes = ["urn", "uuid", "0x"].iter();
    let bare = prefixes.fold(&*letters, |rest, prefix| {
        rest.strip_prefix(prefix).unwrap_or(rest)
    });
    bare.trim_start_matches('0').to_owned()
}

/// The last folder or file of a path, before a query, a fragment, or the end of a string in C.
fn last_of_path(path: &str) -> &str {
    let path = path.split(['?', '#', '\0']).next().unwrap_or_default();
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part.trim() {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_uuid_remain_the_same() {
        let uuid = "0f1c1c7e-9d0b-4a6e-8c3f-00000000abcd";
        let remains = "f1c1c7e9d0b4a6e8c3f00000000abcd";
        let simple = uuid.replace('-', "");
        let wide: String = uuid
            .chars()
            .map(|letter| match letter {
                '-' => '-',
                letter => char::from_u32(u32::from(letter) + 0xfee0).unwrap(),
            })
            .collect();
        for spelling in [
            uuid.to_owned(),
            uuid.to_uppercase(),
            simple.clone(),
            format!("{{{uuid}}}"),
            format!("({uuid})"),
            format!("urn:uuid:{uuid}"),
            format!("URN:UUID:{{{simple}}}"),
            format!("uuid:{uuid}"),
            format!(" {uuid}\n"),
            format!("\u{feff}{uuid}\u{200b}"),
            format!("\u{feff}urn:uuid:{uuid}"),
            format!("0x{simple}"),
            simple.replacen('0', "+", 1),
            simple.replacen('f', "f_", 1),
            uuid.replace('-', "%2d"),
            uuid.replace('-', "%252D"),
            uuid.replace('a', "%61"),
            format!("other/../{uuid}"),
            format!("./{uuid}/."),
            format!("..\\{uuid}"),
            format!("{uuid}?a=b#c"),
            format!("{uuid}%00.json"),
            wide,
        ] {
            assert_eq!(plain(&spelling), remains, "{spelling}");
        }
    }

    #[test]
    fn different_names_stay_different() {
        let names = ["session-1", "session-2", "a/1", "a/2", "日本", "日", ""];
        let plain: std::collections::HashSet<_> = names.iter().map(|name| plain(name)).collect();
        assert_eq!(plain.len(), names.len());
    }
}
