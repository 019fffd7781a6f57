//! A text as a JSON string, spelt as serde spells it. What needs no escape, which is nearly all of most texts, is
//! found and copied by stretches.

use std::fmt::Write;

/// So many bytes are looked at together: as many as fit into a register.
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

/// The first place, from this one on, of a byte that has to be escaped.
fn escaped_from(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    for stretch in text[from..].chunks(STRETCH) {
        // Without a way out in the middle, so that all of them are compared at once.
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
            // To write to a string does not fail.
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
