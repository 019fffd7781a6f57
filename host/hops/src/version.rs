//! Numbers of a proxy's versions, and of the messages that they see.
//!
//! Invariant: each version has its own numbers, so a number shows its version.

use acp_chain_channel::MessageId;

/// The number of replacements before this version.
pub type Version = u32;

/// The first number of a version. It has more than it can ever use.
#[inline]
pub fn first_of(version: Version) -> MessageId {
    (MessageId::from(version) << 32) + 1
}

/// The version that gave a number.
#[inline]
pub fn version_of(id: MessageId) -> Version {
    Version::try_from(id >> 32).unwrap_or(Version::MAX)
}
