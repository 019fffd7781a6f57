//! The current state of a project, and the notices about it.

use std::path::Path;

use super::shell;
use crate::extension::{Carried, Digest};
use crate::project::{Agreed, Content, Keep, MANIFEST, Records, Standing, is_signed, vouched};
use crate::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The state of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The user agreed to exactly this content.
    Trusted(Digest),
    /// The user agreed to other content.
    Changed,
    /// The user has not decided.
    Unknown,
    /// The user denied it.
    Denied,
    /// It cannot be used.
    Wrong(String),
    /// It no longer has a manifest.
    Gone,
}

impl State {
    /// Determines the state of the project with this root.
    pub fn of(root: &Path, records: &Records, carried: &Carried) -> Self {
        if root.join(MANIFEST).symlink_metadata().is_err() {
            return Self::Gone;
        }
        Self::look(root, records, carried).unwrap_or_else(Self::Wrong)
    }

    fn look(root: &Path, records: &Records, carried: &Carried) -> Result<Self, String> {
        let content = Content::read(root, carried, Keep::Digests);
        // A denied project need not be valid.
        let key = content
            .as_ref()
            .map_or_else(|_| Digest::of(b""), Content::key);
        let standing = records.standing(root, key);
        let standing = standing.map_err(|error| error.to_string())?;
        if let Standing::Denied(_) = standing {
            return Ok(Self::Denied);
        }
        let content = content.map_err(|error| error.to_string())?;
        if let Standing::Trusted(_) = standing {
            return Ok(Self::Trusted(key));
        }
        let user = crate::cli::user().map_err(|error| error.to_string())?;
        // Only content signed by a trusted signer is examined.
        if is_signed(&content, &user.signers) {
            let installed = crate::cli::installed(&user)?;
            let kept = Content::read(root, carried, Keep::Components);
            let kept = kept.map_err(|error| error.to_string())?;
            let manifest = kept.manifest(&user, &installed);
            let manifest = manifest.map_err(|error| error.to_string())?;
            let agreed = Agreed::of(&manifest, &kept);
            if vouched(&kept, &agreed, &user.signers).is_some() {
                return Ok(Self::Trusted(kept.key()));
            }
        }
        Ok(match standing {
            Standing::Changed(_) => Self::Changed,
            _ => Self::Unknown,
        })
    }

    /// The notice for the user when a project's state has changed, or was unknown. `goes_on` says whether new sessions
    /// still get what the user agreed to before.
    pub fn notice(&self, before: Option<&Self>, root: &Path, goes_on: bool) -> Option<String> {
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
                format!("{project} is no longer trusted: new sessions have none of its proxies")
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
                format!("new sessions in {project} no longer have its proxies")
            }
            Self::Trusted(_) | Self::Denied | Self::Gone => return None,
        })
    }
}
