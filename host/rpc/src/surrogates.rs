//! Escapes of halves of surrogate pairs in JSON text, which stand for no character. Ends that cut a text between the
//! halves write them, and parsers for Rust's texts reject them.

/// The JSON text with the escape of U+FFFD in place of that of each half.
pub fn well_formed(json: &[u8]) -> Vec<u8> {
    let unit = |json: &[u8], at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut json = json.to_vec();
    let mut at = 0;
    // Only strings have backslashes.
    while let Some(found) = memchr::memchr(b'\\', json.get(at..).unwrap_or_default()) {
        at += found;
        at += match (unit(&json, at), unit(&json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                json[at..at + 6].copy_from_slice(b"\\ufffd");
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    json
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_well_formed_stays(text: String) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(well_formed(json.as_bytes()), json.as_bytes());
        }
    }
}
