//! A text as a JSON string, spelt as by serde. Stretches without escapes, nearly all of most texts, are found and
//! copied at once.

use std::fmt::Write;

/// How many bytes are examined together: as many as fit into a register.
const STRETCH: usize = 16;

/// The text in quotes, with its escapes.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut copied = 0;
    while let Some(at) = escaped_from(text.as_bytes(), copied) {
        quoted.push_str(&text[copied..at]);
        escape(text.as_bytes()[at], &mut quoted);
        copied = at + 1;
    }
    quoted.push_str(&text[copied..]);
    quoted.push('"');
    quoted
}

/// The first byte from this place on that must be escaped.
fn escaped_from(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for stretch in text[from..].chunks(STRETCH) {
        // Without an early exit, so that all of them are compared at once.
        if stretch
            .iter()
            .fold(false, |any, byte| any | is_escaped(*byte))
        {
            return stretch
                .iter()
                .position(|byte| is_escaped(*byte))
                .map(|found| at + found);
        }
        at += stretch.len();
    }
    None
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn escape(byte: u8, quoted: &mut String) {
    let short = match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0c => "\\f",
        _ => {
            // Writing to a string does not fail.
            let _ = write!(quoted, "\\u{byte:04x}");
            return;
        }
    };
    quoted.push_str(short);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_spelt_as_serde_spells_it(text in "[a-z\\PC\u{0}-\u{1f}\"\\\\]{0,80}") {
            prop_assert_eq!(quote(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
