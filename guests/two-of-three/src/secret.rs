//! Secrets in a body, and the marks by which `redact` replaces them.

use acp_chain_proxy::{Step, Strings};
use acp_chain_secrets::{Detector, Effort, Marker, defaults};

/// Members that may have encoded images and sounds.
const CODED: [&str; 2] = ["blob", "data"];

/// The shortest text that is taken for one of these, in bytes: what is shorter may be a key.
const SHORTEST: usize = 512;

pub(crate) struct Secrets(Detector);

impl Secrets {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self(Detector::new(defaults().copied())?))
    }

    /// The kind of a secret in the strings of a body; one that cannot be read has some. With `finds`, secrets count,
    /// otherwise only marks.
    pub(crate) fn find(&self, body: &str, finds: bool) -> Option<&'static str> {
        let mut effort = Effort::default();
        let mut strings = Strings::of(body);
        loop {
            match strings.next() {
                Ok(Some(string)) => {
                    let text = string.decoded();
                    let is_coded = strings.path().last().is_some_and(is_coded) && is_base64(&text);
                    if has_mark(&text) {
                        return Some("a secret that redact has marked");
                    }
                    if finds && !is_coded {
                        match self.0.find(&text, &mut effort) {
                            Ok(found) if found.is_empty() => {}
                            Ok(found) => {
                                let mut names = found.iter().filter_map(|secret| secret.name);
                                return Some(names.next().unwrap_or("a secret"));
                            }
                            Err(_) => return Some("a text that cannot be searched"),
                        }
                    }
                }
                Ok(None) => return None,
                Err(_) => return Some("a text that cannot be read"),
            }
        }
    }
}

fn is_coded(step: &Step) -> bool {
    match step {
        Step::Member(name) => CODED.iter().any(|coded| name.is(coded)),
        Step::Item(_) => false,
    }
}

/// Whether a text is Base64 and nothing else (RFC 4648 §4 and §5), and long.
fn is_base64(text: &str) -> bool {
    let mut letters = text.trim_end_matches('=').bytes();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    text.len() >= SHORTEST && letters.all(is_letter)
}

fn has_mark(text: &str) -> bool {
    let markers = [Marker::Redacted, Marker::Hidden];
    markers.iter().any(|marker| text.contains(marker.begin()))
}
