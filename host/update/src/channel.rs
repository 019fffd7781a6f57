//! Where releases are, and the key that signs them.

use acp_chain_extension::Signer;

use crate::error::UpdateError;

/// The folder of the project's releases on the web. Nothing is published yet.
const CHANNEL: Option<&str> = None;

/// The key that signs them, as in the second line of `minisign.pub`. The first release brings it.
const KEY: Option<&str> = None;

/// A folder of a web server with releases.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Without a slash at the end.
    url: String,
    /// The key that must have signed the releases.
    pub key: Signer,
}

impl Channel {
    /// The channel of these settings. What they do not have is that of the project.
    pub fn new(url: Option<&str>, key: Option<&Signer>) -> Result<Self, UpdateError> {
        let url = url.or(CHANNEL).ok_or(UpdateError::NoChannel)?;
        let ours = || KEY.and_then(|key| key.parse::<Signer>().ok());
        let key = key.cloned().or_else(ours).ok_or(UpdateError::NoKey)?;
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            key,
        })
    }

    /// The URL of a file.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";

    #[test]
    fn a_missing_channel_or_key_is_named() {
        let other = OTHER.parse().unwrap();
        let channel = Channel::new(Some("https://example.com/releases/"), Some(&other)).unwrap();
        assert_eq!(channel.file("a"), "https://example.com/releases/a");
        if CHANNEL.is_none() {
            let error = Channel::new(None, Some(&other)).unwrap_err();
            assert!(error.to_string().contains("no release channel"), "{error}");
        }
        if KEY.is_none() {
            let error = Channel::new(Some("https://example.com"), None).unwrap_err();
            assert!(error.to_string().contains("no key"), "{error}");
        }
    }

    #[test]
    fn the_key_of_the_project_is_a_key() {
        assert!(KEY.is_none_or(|key| key.parse::<Signer>().is_ok()));
    }
}
