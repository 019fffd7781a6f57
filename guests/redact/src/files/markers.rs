//! The markers of secrets in a text.

use acp_chain_secrets::MARKER;
use std::ops::Range;

use memchr::memmem;

/// The maximum length of a rule's name in a marker.
const LONGEST_NAME: usize = 256;

/// The ranges of the markers in a text, whoever wrote them.
pub(super) fn markers(text: &str) -> impl Iterator<Item = Range<usize>> {
    memmem::find_iter(text.as_bytes(), MARKER).filter_map(|start| {
        let name = &text.as_bytes()[start + MARKER.len()..];
        let name = &name[..name.len().min(LONGEST_NAME)];
        let end = name.iter().position(|byte| b"[]\n".contains(byte))?;
        (name[end] == b']').then_some(start..start + MARKER.len() + end + 1)
    })
}

/// The name in a marker.
pub(super) fn name(marker: &str) -> &str {
    marker
        .strip_prefix(MARKER)
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or_default()
}
