//! The markers of secrets in a text.

use std::ops::Range;

use acp_chain_secrets::Marker;
use memchr::memmem;

/// The beginning of a marker in a text for the agent.
const BEGIN: &str = Marker::Redacted.begin();

/// The maximum length of a rule's name in a marker.
const LONGEST_NAME: usize = 256;

/// The ranges of the markers in a text, including those that the proxy did not write.
pub(crate) fn markers(text: &str) -> impl Iterator<Item = Range<usize>> {
    memmem::find_iter(text.as_bytes(), BEGIN).filter_map(|start| {
        let name = &text.as_bytes()[start + BEGIN.len()..];
        let name = &name[..name.len().min(LONGEST_NAME)];
        let end = name.iter().position(|byte| b"[]\n".contains(byte))?;
        (name[end] == b']').then_some(start..start + BEGIN.len() + end + 1)
    })
}

/// The name in a marker.
pub(crate) fn name(marker: &str) -> &str {
    marker
        .strip_prefix(BEGIN)
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or_default()
}
