//! The texts in a result. Other texts can take their places, and everything else keeps its bytes: an agent accepts a
//! changed result only in the form of the original.

use acp_chain_rpc::{edit_at_once, well_formed};
use serde_json::Value;

/// Members whose words are not what a tool printed or read, but say what the rest is. The plugins have the same.
const STRUCTURE: &[&str] = &["type", "mimeType", "mime_type", "mediaType", "media_type"];

/// The longest of these words, in bytes.
const LONGEST_WORD: usize = 32;

/// Whether a text can be such a word: `text`, `image/png`. Any other reaches the model as a text like all, and may have
/// a secret.
fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || b"/_.+-".contains(&byte);
    text.len() <= LONGEST_WORD && text.bytes().all(fits)
}

/// The texts in a JSON text, in order, without those of images, which no proxy reads.
#[derive(Default)]
pub(crate) struct Texts {
    /// The pointer of each, and its content. Half of a surrogate pair, which is no character, is U+FFFD.
    all: Vec<(String, String)>,
    has_images: bool,
}

impl Texts {
    /// Those of JSON text; `None` if it cannot be read.
    pub(crate) fn of(json: &str) -> Option<Self> {
        let value = serde_json::from_slice(&well_formed(json.as_bytes())).ok()?;
        let mut texts = Self::default();
        texts.collect(value, &mut String::new());
        Some(texts)
    }

    pub(crate) fn contents(self) -> Vec<String> {
        self.all.into_iter().map(|(_, text)| text).collect()
    }

    fn collect(&mut self, value: Value, pointer: &mut String) {
        match value {
            Value::String(text) => self.all.push((pointer.clone(), text)),
            Value::Array(values) => {
                for (index, value) in values.into_iter().enumerate() {
                    below(pointer, &index.to_string(), |pointer| {
                        self.collect(value, pointer);
                    });
                }
            }
            Value::Object(members) => {
                let is_image = members.get("type").is_some_and(|kind| kind == "image");
                self.has_images |= is_image;
                for (name, value) in members {
                    let is_data = is_image && matches!(&*name, "data" | "base64" | "source");
                    let is_structure =
                        STRUCTURE.contains(&&*name) && value.as_str().is_some_and(is_word);
                    if !is_data && !is_structure {
                        let token = name.replace('~', "~0").replace('/', "~1");
                        below(pointer, &token, |pointer| self.collect(value, pointer));
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The texts of a result (JSON text), in order, as an event has them; `None` if it cannot be read.
pub fn texts(result: &str) -> Option<Vec<String>> {
    Texts::of(result).map(Texts::contents)
}

fn below(pointer: &mut String, token: &str, then: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(token);
    then(pointer);
    pointer.truncate(length);
}

/// JSON text with other texts in the places of its own; `None` if there are not as many.
pub(crate) fn with_texts(json: &str, new: &[String]) -> Option<String> {
    let old = Texts::of(json)?.all;
    if old.len() != new.len() {
        return None;
    }
    let changed = old.iter().zip(new).filter(|((_, old), new)| old != *new);
    let changed =
        changed.map(|((pointer, _), new)| Some((pointer, serde_json::to_string(new).ok()?)));
    let changed: Vec<_> = changed.collect::<Option<_>>()?;
    if changed.is_empty() {
        return Some(json.to_owned());
    }
    let edits = changed
        .iter()
        .map(|(pointer, new)| (pointer.as_str(), Some(new.as_str())));
    let edits: Vec<_> = edits.collect();
    let json = String::from_utf8(well_formed(json.as_bytes())).ok()?;
    edit_at_once(&json, &edits).ok()?
}

/// JSON text with `reason` in the place of each text; `None` if something would be left: there is no text, or an image.
pub(crate) fn withheld(json: &str, reason: &str) -> Option<String> {
    let texts = Texts::of(json)?;
    if texts.all.is_empty() || texts.has_images {
        return None;
    }
    with_texts(json, &vec![reason.to_owned(); texts.all.len()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents(json: &str) -> Option<Vec<String>> {
        Texts::of(json).map(Texts::contents)
    }

    #[test]
    fn a_text_with_half_of_a_pair_is_read_and_changed_like_any_other() {
        let json = r#"{"a":"key\ud83d","b":["\udc00\ud83d\ude00","\\ud83d"],"n":1e40}"#;
        let read = ["key\u{fffd}", "\u{fffd}😀", "\\ud83d"].map(str::to_owned);
        assert_eq!(contents(json), Some(read.to_vec()));
        let mut new = read.to_vec();
        new[0] = "-".to_owned();
        let changed = r#"{"a":"-","b":["\ufffd\ud83d\ude00","\\ud83d"],"n":1e40}"#;
        assert_eq!(with_texts(json, &new).as_deref(), Some(changed));
    }

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(contents(r#"{"a":"#), None);
        assert_eq!(contents("\"\\\u{e9}"), None);
    }

    #[test]
    fn only_words_say_what_the_rest_is() {
        for (json, expected) in [
            (
                r#"{"type":"text","mimeType":"image/svg+xml","text":"b"}"#,
                &["b"][..],
            ),
            (r#"{"type":"","media_type":"x-y_z.a"}"#, &[]),
            (r#"{"mimeType":{"token":"a"},"text":"b"}"#, &["a", "b"]),
            (
                r#"{"mimeType":"AKIAIOSFODNN","text":"b"}"#,
                &["AKIAIOSFODNN", "b"],
            ),
            (r#"{"mime_type":"a/b; key=c"}"#, &["a/b; key=c"]),
            (r#"{"mediaType":"a1"}"#, &["a1"]),
            (
                r#"{"type":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#,
                &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
            ),
        ] {
            let expected: Vec<_> = expected.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(contents(json), Some(expected), "{json}");
        }
    }

    #[test]
    fn nothing_is_left_of_what_is_withheld() {
        assert_eq!(
            withheld(r#"{"a":["b",{"c":"d"}]}"#, "no").unwrap(),
            r#"{"a":["no",{"c":"no"}]}"#
        );
        for json in [
            "{}",
            "7",
            r#"{"type":"image","data":"aaaa"}"#,
            r#"[{"type":"image","data":"aaaa"},{"text":"b"}]"#,
        ] {
            assert_eq!(withheld(json, "no"), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_escapes_become_readable(units: Vec<u16>) {
            let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{}\"", escapes.concat());
            prop_assert_eq!(contents(&json), Some(vec![String::from_utf16_lossy(&units)]));
        }
    }
}
