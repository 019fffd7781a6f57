//! Unguessable random texts that are never logged: the secrets of the bridge, and the `requestState` of calls that wait
//! for their client.

use std::fmt;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// A random text of 256 bits, in letters, digits, `-` and `_`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Box<str>);

impl Secret {
    /// An error if the system provides no randomness.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            io::Error::other(format!("the system gives no random bytes: {error}"))
        })?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes).into()))
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time: timing reveals only the length.
    pub fn is(&self, offered: &str) -> bool {
        self.0.as_bytes().ct_eq(offered.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_equals_only_itself_and_is_never_shown() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert!(one.is(one.reveal()));
        assert!(!one.is(other.reveal()));
        assert!(!one.is("") && !one.is(&one.reveal()[1..]));
        assert_eq!(one.reveal().len(), 43);
        assert_eq!(format!("{one:?}"), "Secret");
    }
}
