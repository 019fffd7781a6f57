//! What people may see of text that no proxy sees: the output of programs, their arguments, lost lines.

use std::borrow::Cow;

use crate::detector::{Detector, Marker};
use crate::effort::Effort;
use crate::rules::defaults;

thread_local! {
    /// It takes some megabytes, so it is made when it is first needed.
    static DETECTOR: Option<Detector> = Detector::new(defaults().copied()).ok();
}

/// A text with markers in place of the secrets that the default rules find. It should be longer than what is shown of
/// it: the half of a secret is not found.
pub fn masked(text: &str) -> Cow<'_, str> {
    let found = DETECTOR.with(|detector| {
        let marking = detector.as_ref()?.marking(Marker::Redacted);
        marking.redact(text, &mut Effort::default()).ok()
    });
    match found {
        Some(Some(redacted)) => redacted.text.into(),
        Some(None) => text.into(),
        None => "(not shown: it could not be searched for secrets)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown_and_all_else_is() {
        let line = "  \"env\": { \"KEY\": \"AKIAIOSFODNN7EXAMPLQ\", \"ä\": 1 },";
        assert_eq!(
            masked(line),
            "  \"env\": { \"KEY\": \"[redacted: aws-access-token]\", \"ä\": 1 },"
        );
        assert_eq!(masked("\"args\": []"), "\"args\": []");
    }
}
