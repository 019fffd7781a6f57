//! The address and the credentials.

use std::path::PathBuf;
use std::str::FromStr;

use reqwest::header::HeaderValue;

use acp_chain_address::Address;

/// A remote agent.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    /// The token for authentication.
    pub token: Option<Token>,
    /// A file with certificates, as PEM, that are trusted besides those of the system.
    pub ca: Option<PathBuf>,
}

/// A bearer token for authentication. No error and no log shows it.
#[derive(Clone, Debug)]
pub struct Token(pub(super) HeaderValue);

/// A token has a character that is invalid in a header.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the token has invalid characters; a token is one line of letters, digits and signs")]
pub struct InvalidToken;

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let value = is_plain.then(|| HeaderValue::from_str(&format!("Bearer {text}")));
        let mut value = value.and_then(Result::ok).ok_or(InvalidToken)?;
        // Then it is neither shown, nor kept in HTTP/2 tables.
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token: Token = "s3cret".parse().unwrap();
        assert!(!format!("{token:?}").contains("s3cret"));
        for wrong in ["", "two words", "a\nb", "ä"] {
            assert!(wrong.parse::<Token>().is_err(), "{wrong}");
        }
    }
}
