//! Text encoded as Base64, such as the output of terminals in version 2. It need not be UTF-8, and may be cut within a
//! character: so every byte is decoded to the character with its number, and encoded as that byte again. Rules match
//! ASCII, which is unaffected.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The encoding of a text in a string.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub enum Coding {
    /// Unencoded.
    Text,
    Base64,
}

/// A text in a string.
#[derive(Debug, PartialEq)]
pub struct DecodedText<'s> {
    pub text: Cow<'s, str>,
    /// Whether some readers may decode the string to another text. Re-encoding the text avoids that.
    pub is_loose: bool,
}

impl Coding {
    /// Decodes a string as the most lenient readers do: invalid characters are skipped.
    pub fn decoded(self, string: Cow<'_, str>) -> DecodedText<'_> {
        match self {
            Self::Text => DecodedText {
                text: string,
                is_loose: false,
            },
            Self::Base64 => {
                let bytes = lenient(&string);
                DecodedText {
                    is_loose: BASE64.encode(&bytes) != *string,
                    text: bytes.into_iter().map(char::from).collect(),
                }
            }
        }
    }

    /// Encodes a text.
    pub fn encoded(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Text => text.into(),
            Self::Base64 => {
                // Decoded text and markers contain no other characters.
                let bytes = text.chars().filter_map(|char| u8::try_from(char).ok());
                BASE64.encode(bytes.collect::<Vec<_>>()).into()
            }
        }
    }
}

/// Decodes Base64 in either alphabet, with any characters in between, in several parts, or after the head of a `data:`
/// URL.
fn lenient(string: &str) -> Vec<u8> {
    let start = string.trim_start();
    let is_address = start
        .get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("data:"));
    let data = match start.split_once(',') {
        Some((_, data)) if is_address => data,
        _ => start,
    };
    let parts = data.split('=').map(|part| {
        let mut letters: Vec<u8> = part.bytes().filter_map(letter).collect();
        if letters.len() % 4 == 1 {
            letters.pop();
        }
        // Only letters of the alphabet, in a valid number: decoding cannot fail.
        BASE64.decode(letters).unwrap_or_default()
    });
    parts.flatten().collect()
}

/// A letter of Base64, in its usual alphabet.
fn letter(byte: u8) -> Option<u8> {
    match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'+' | b'/' => Some(byte),
        _ => byte.is_ascii_alphanumeric().then_some(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_decoded_and_all_but_the_canonical_one_are_loose() {
        for string in ["", "Pz8/Pj4+", "Pz8/Pj4+Pz8=", "Pz8/Pj4+Pw=="] {
            let decoded = Coding::Base64.decoded(string.into());
            assert!(!decoded.is_loose, "{string}");
            assert_eq!(Coding::Base64.encoded(&decoded.text), string);
        }
        for string in [
            "Pz8_Pj4-",
            "Pz8/\nPj4+",
            " Pz8/Pj4+",
            "Pz8/Pj4+A",
            "Pz8*/Pj\u{e9}4+",
            "Pz8=Lz8+Pg==",
            "data:text/plain;base64,Pz8/Pj4+",
            "DATA:,Pz8/Pj4+",
        ] {
            let decoded = Coding::Base64.decoded(string.into());
            assert!(decoded.is_loose, "{string}");
            assert!(decoded.text.starts_with("??"), "{string}");
        }
        for string in ["Pz8", "Pz9=", "Pz8==", "%", "P"] {
            assert!(Coding::Base64.decoded(string.into()).is_loose, "{string}");
        }
    }
}
