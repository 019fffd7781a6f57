//! Secrets in what a report shows, and the markers by which `redact` shows what it has found.

use std::collections::BTreeMap;

use acp_chain_rpc::untrusted::quote;
use acp_chain_secrets::{Detector, Effort, Marker, defaults};

/// The longest name of a kind of secrets, in bytes.
const LONGEST_NAME: usize = 100;

/// The longest text that is looked through for a report, in bytes.
const LONGEST: usize = 64 << 10;

/// The longest text in a report, in bytes.
const SHOWN: usize = 300;

/// Takes secrets out of what is shown.
pub struct Masks(Option<Detector>);

impl Default for Masks {
    fn default() -> Self {
        Self(Detector::new(defaults().copied()).ok())
    }
}

impl Masks {
    /// A text from a recording for a report: its beginning, without the secrets that the default rules find, and
    /// without control characters.
    pub fn shown(&self, text: &str) -> String {
        let start = &text[..text.floor_char_boundary(LONGEST)];
        let masked = self.0.as_ref().map(|detector| {
            let marking = detector.marking(Marker::Redacted);
            marking.redact(start, &mut Effort::default())
        });
        match masked {
            Some(Ok(Some(masked))) => quote(&masked.text, SHOWN),
            Some(Ok(None)) => quote(start, SHOWN),
            Some(Err(_)) | None => "(not shown)".to_owned(),
        }
    }
}

/// How many markers for withheld secrets a text has more than another, by kind.
pub(crate) fn new_markers(before: &str, after: &str) -> BTreeMap<String, u64> {
    let mut new = BTreeMap::new();
    let known = markers(before);
    for (name, count) in markers(after) {
        let more = count - known.get(name).copied().unwrap_or_default().min(count);
        if more > 0 {
            new.insert(name.to_owned(), more);
        }
    }
    new
}

fn markers(text: &str) -> BTreeMap<&str, u64> {
    let mut found = BTreeMap::new();
    for part in text.split(Marker::Redacted.begin()).skip(1) {
        let name = part.split(']').next().unwrap_or_default();
        if name.len() < part.len() && name.len() <= LONGEST_NAME {
            *found.entry(name).or_default() += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_that_were_there_before_are_not_new() {
        let before = "[redacted: aws] and [redacted: it";
        let after = "[redacted: aws] and [redacted: aws] and [redacted: github] and [redacted: it";
        let expected = [("aws".to_owned(), 1), ("github".to_owned(), 1)];
        assert_eq!(new_markers(before, after), BTreeMap::from(expected));
    }

    #[test]
    fn what_is_shown_has_no_secrets_and_no_line_breaks() {
        let masks = Masks::default();
        let shown = masks.shown("aws --key AKIAIOSFODNN7EXAMPLQ\nls");
        assert!(
            shown.contains("[redacted: ") && !shown.contains("AKIA"),
            "{shown}"
        );
        assert!(!shown.contains('\n'), "{shown}");
        let long = masks.shown(&"ä".repeat(10_000));
        assert!(long.len() < 400, "{long}");
    }
}
