//! Text in a body encoded as Base64, such as the output of terminals in version 2. It need not be UTF-8, and may be cut
//! within a character: so every byte is read as the character with its number, and written back as that byte. Rules
//! look for ASCII, which is the same in both.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

/// Accepts everything that any decoder may accept.
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
    /// As Base64.
    Base64,
}

impl Coding {
    /// The text in a string; `None` if it cannot be decoded.
    #[must_use]
    pub fn decoded(self, string: Cow<'_, str>) -> Option<Cow<'_, str>> {
        match self {
            Self::Text => Some(string),
            Self::Base64 => {
                let visible = string.bytes().filter(|byte| !byte.is_ascii_whitespace());
                let bytes = BASE64.decode(visible.collect::<Vec<_>>()).ok()?;
                Some(bytes.into_iter().map(char::from).collect())
            }
        }
    }

    /// The string for a text.
    #[must_use]
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
