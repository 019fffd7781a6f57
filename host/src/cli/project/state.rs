//! How a project stands just now, and what the user is told of it.

use std::path::Path;

use super::shell;
use crate::extension::{Carried, Digest};
use crate::project::{Content, Keep, MANIFEST, Records, Standing};
use crate::untrusted::{MAX_QUOTE, Untrusted, quote};

/// How a project stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The user agreed to just this.
    Trusted(Digest),
    /// The user agreed to what it was.
    Changed,
    /// The user has said nothing.
    Unknown,
    /// The user wants nothing of it.
    Denied,
    /// It cannot be used as it is.
    Wrong(String),
    /// It has no manifest any more.
    Gone,
}

impl State {
    /// Looks at the project with this root.
    pub fn of(root: &Path, records: &Records, carried: &Carried) -> Self {
        if root.join(MANIFEST).symlink_metadata().is_err() {
            return Self::Gone;
        }
        let content = Content::read(root, carried, Keep::Digests);
        let key = content.as_ref().map(Content::key);
        // What the user denied need not be right.
        let any = Digest::of(b"");
        match records.standing(root, key.as_ref().map_or(any, |key| *key)) {
            Ok(Standing::Denied(_)) => Self::Denied,
            Err(error) => Self::Wrong(error.to_string()),
            Ok(standing) => match (standing, key) {
                (_, Err(error)) => Self::Wrong(error.to_string()),
                (Standing::Trusted(_), Ok(key)) => Self::Trusted(key),
                (Standing::Changed(_), Ok(_)) => Self::Changed,
                (Standing::Unknown | Standing::Denied(_), Ok(_)) => Self::Unknown,
            },
        }
    }

    /// What the user is told when a project stands so that stood otherwise, or was not known. `goes_on` is whether
    /// new sessions have what the user agreed to before.
    pub fn told(&self, before: Option<&Self>, root: &Path, goes_on: bool) -> Option<String> {
        let project = format!("the project {}", Untrusted::new(root.display()));
        let command = format!("`acp-chain trust {}`", shell::word(root));
        let was_trusted = matches!(before, Some(Self::Trusted(_)));
        let until_then = match goes_on {
            true => "New sessions have the proxies that you agreed to before",
            false => "Its proxies do not run",
        };
        Some(match self {
            Self::Trusted(_) if was_trusted => format!(
                "{project} has changed, and you agreed to that: new sessions have its proxies as they are now"
            ),
            Self::Trusted(_) if before.is_some() => {
                format!("{project} is trusted now: new sessions have its proxies")
            }
            Self::Changed => format!(
                "{project} has changed since you agreed to its proxies. {until_then}; {command} shows what is \
                 different, and asks you"
            ),
            Self::Unknown if was_trusted => {
                format!("{project} is not trusted any more: new sessions have none of its proxies")
            }
            Self::Unknown => format!(
                "{project} has proxies of its own, which do not run, for you have not agreed to them: {command} \
                 shows them, and asks you"
            ),
            Self::Wrong(error) => format!(
                "{project} cannot be used as it is: {}. {until_then}",
                quote(error, MAX_QUOTE)
            ),
            Self::Denied | Self::Gone if was_trusted => {
                format!("new sessions in {project} have none of its proxies any more")
            }
            Self::Trusted(_) | Self::Denied | Self::Gone => return None,
        })
    }
}
