//! The powers of proxies: one table of powers, described for users, and grants made of them; and what happens when a
//! proxy breaks.
//!
//! A [`Power`] covers messages by direction, kind and method, and lists the permitted actions, down to the places in
//! their bodies that may change. A proxy receives only messages that a power covers. Methods outside the table can be
//! granted by name ([`Grant::new`]). The documentation, `acp-chain check` and the host's checks all use this table.

#![forbid(unsafe_code)]

mod actions;
mod failure;
mod grant;
mod json;
mod least;
mod markdown;
mod message;
mod pattern;
mod places;
mod power;
mod protocol;
mod subscription;
mod table;

pub use actions::Actions;
pub use failure::FailurePolicy;
pub use grant::{Grant, GrantError, NamedMethods, Sight, lacking};
pub use least::least;
pub use markdown::markdown;
pub use message::{Kind, Kinds, Peer, Subject};
pub use pattern::{LONGEST_METHOD, Pattern, PatternError};
pub use places::{Change, MASK, Mismatch, Places};
pub use power::{Cover, Danger, Power, Updates};
pub use protocol::{fold, is_like_member, is_like_one_of_protocol, is_of_protocol};
pub use subscription::Subscription;
pub use table::{FIXED, Fixed, TABLE};
