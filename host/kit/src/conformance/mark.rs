//! Marks, by which a check recognizes its messages.

use acp_chain_rpc::member;

/// The member of `_meta` by which a check recognizes its messages.
const MARK: &str = "conformance";

/// Identifies a message of a check: one of the numbered messages of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub session: usize,
    pub number: usize,
}

impl Mark {
    /// The member of a body that contains it.
    pub fn meta(&self) -> String {
        let Self { session, number } = self;
        format!(r#""_meta":{{"{MARK}":"{session}/{number}"}}"#)
    }

    /// From a body.
    pub fn read(body: &str) -> Option<Self> {
        let text = member(member(body, "_meta")?, MARK)?;
        let (session, number) = text.trim_matches('"').split_once('/')?;
        Some(Self {
            session: session.parse().ok()?,
            number: number.parse().ok()?,
        })
    }
}
