//! The standard error of a child process: always read, kept in part, shown only if the process fails.

use std::collections::VecDeque;
use std::sync::Arc;

use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_secrets::masked;

/// How many bytes of the end are shown.
const SHOWN: usize = 16 * 1024;

/// How many bytes of the end are kept: more, so that no secret at the beginning of what is shown is cut.
const KEPT: usize = 2 * SHOWN;

/// The end of a process's output.
#[derive(Clone, Debug, Default)]
pub struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Takes output of the process of this name.
    pub fn take(&self, name: &str, printed: &[u8]) {
        for line in String::from_utf8_lossy(printed).lines() {
            tracing::debug!(target: "stderr", "{name}: {}", quote(&masked(line), MAX_QUOTE));
        }
        let mut kept = self.0.lock();
        kept.extend(printed);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }

    /// The end of the output, as text, without the secrets that are found in it: it reaches clients and reports, and
    /// no proxy sees it before.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = {
            let kept = self.0.lock();
            kept.iter().copied().collect()
        };
        let text = String::from_utf8_lossy(&bytes);
        let shown = masked(&text);
        let first = shown.ceil_char_boundary(shown.len().saturating_sub(SHOWN));
        shown[first..].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_output_is_shown_without_its_secrets() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let tail = Tail::default();
        tail.take("agent", format!("using {}", &token[..20]).as_bytes());
        tail.take("agent", format!("{}\nFATAL: no\n", &token[20..]).as_bytes());
        let text = tail.text();
        assert!(text.starts_with("using [redacted: "), "{text}");
        assert!(text.ends_with("\nFATAL: no"), "{text}");
        // Wherever the output is cut, no part of a secret is left.
        for more in [SHOWN - 30, SHOWN, KEPT - 30, KEPT - 10, KEPT] {
            let tail = Tail::default();
            let after = "x ".repeat(more / 2);
            tail.take("agent", format!("{token} {after}").as_bytes());
            let text = tail.text();
            assert!(!text.contains("178B4a"), "{more}");
            assert!(text.len() <= SHOWN, "{more}");
        }
    }
}
