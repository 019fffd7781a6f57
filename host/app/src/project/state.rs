//! The current state of a project, and the notices about it.

use std::path::Path;

use crate::shell::trust;
use crate::{Error, home};
use acp_chain_extension::{Carried, Digest};
use acp_chain_project::{Agreed, Content, Keep, MANIFEST, Records, Standing, is_signed, vouched};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The state of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The user agreed to exactly this content.
    Trusted(Digest),
    /// The user agreed to other content.
    Changed,
    /// The user has not decided.
    Unknown,
    /// The user denied the project.
    Denied,
    /// The project cannot be used, for this reason.
    Wrong(String),
    /// The project has no manifest.
    Gone,
}

impl State {
    /// Determines the state of the project with this root.
    pub fn of(root: &Path, records: &Records, carried: &Carried) -> Self {
        match Self::look(root, records, carried) {
            // A user may have agreed even to a project without a manifest.
            Ok(state @ Self::Trusted(_)) => state,
            _ if root.join(MANIFEST).symlink_metadata().is_err() => Self::Gone,
            looked => looked.unwrap_or_else(|error| Self::Wrong(error.to_string())),
        }
    }

    fn look(root: &Path, records: &Records, carried: &Carried) -> Result<Self, Error> {
        let content = Content::read(root, carried, Keep::Digests);
        // A denied project need not be valid.
        let standing = records.standing(root, content.as_ref().ok())?;
        if let Standing::Denied(_) = standing {
            return Ok(Self::Denied);
        }
        let content = content?;
        if let Standing::Trusted(_) = standing {
            return Ok(Self::Trusted(content.key()));
        }
        let user = home::user()?;
        // Only content signed by a trusted signer is examined.
        if is_signed(&content, &user.signers) {
            let installed = home::installed(&user)?;
            let kept = Content::read(root, carried, Keep::Components)?;
            let manifest = kept.manifest(&user, &installed)?;
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

    /// Whether the user has decided about the present content: agreed to it, or denied the project.
    pub fn is_decided(&self) -> bool {
        matches!(self, Self::Trusted(_) | Self::Denied)
    }

    /// Why a session in the project with this root must not begin.
    pub fn refusal(&self, root: &Path) -> String {
        let project = format!("the project {}", Untrusted::new(root.display()));
        let command = trust(root);
        let why = match self {
            Self::Changed => "has changed since you agreed to its proxies".to_owned(),
            Self::Gone => "has lost its manifest since you agreed to its proxies".to_owned(),
            Self::Wrong(error) => format!("cannot be used as it is: {}", quote(error, MAX_QUOTE)),
            Self::Unknown | Self::Trusted(_) | Self::Denied => "is not trusted".to_owned(),
        };
        format!(
            "{project} {why}, and the `untrusted = \"refuse\"` of your config.toml rejects sessions there: \
             {command} shows what it asks for, and asks you"
        )
    }

    /// The notice for the user when a project's state has changed, or was unknown. `is_in_force` says whether new
    /// sessions still get the content that the user agreed to before.
    pub fn notice(&self, before: Option<&Self>, root: &Path, is_in_force: bool) -> Option<String> {
        let project = format!("the project {}", Untrusted::new(root.display()));
        let command = trust(root);
        let was_trusted = matches!(before, Some(Self::Trusted(_)));
        let until_then = if is_in_force {
            "New sessions have the proxies that you agreed to before"
        } else {
            "Its proxies do not run"
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
            Self::Gone if is_in_force => format!(
                "{project} has lost its manifest since you agreed to its proxies. {until_then}; {command} asks you \
                 whether to go without, and `acp-chain trust --revoke` forgets it"
            ),
            Self::Unknown if was_trusted => {
                format!("{project} is no longer trusted: new sessions have none of its proxies")
            }
            Self::Unknown => format!(
                "{project} has proxies of its own, which do not run: you have not agreed to them; {command} shows \
                 them, and asks you"
            ),
            Self::Wrong(error) => format!(
                "{project} cannot be used as it is: {}. {until_then}; once that is mended, {command} asks you",
                quote(error, MAX_QUOTE)
            ),
            Self::Denied | Self::Gone if was_trusted => {
                format!("new sessions in {project} no longer have its proxies")
            }
            Self::Trusted(_) | Self::Denied | Self::Gone => return None,
        })
    }
}
