//! The texts in a result. Other texts can take their places, and everything else keeps its bytes: an agent accepts a
//! changed result only in the form of the original.

use acp_chain_rpc::edit;
use serde_json::Value;

/// Members whose texts are not what a tool printed or read, but say what the rest is.
const STRUCTURE: &[&str] = &["type", "mimeType", "mime_type", "mediaType", "media_type"];

/// The pointers and contents of all texts in JSON text, in order; without those of images, which no proxy reads.
pub(crate) fn texts(json: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(json) {
        collect(value, &mut String::new(), &mut found);
    }
    found
}

fn collect(value: Value, pointer: &mut String, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((pointer.clone(), text)),
        Value::Array(values) => {
            for (index, value) in values.into_iter().enumerate() {
                below(pointer, &index.to_string(), |pointer| {
                    collect(value, pointer, found);
                });
            }
        }
        Value::Object(members) => {
            let is_image = members.get("type").is_some_and(|kind| kind == "image");
            for (name, value) in members {
                let is_data = is_image && matches!(&*name, "data" | "base64" | "source");
                if !is_data && !STRUCTURE.contains(&&*name) {
                    let token = name.replace('~', "~0").replace('/', "~1");
                    below(pointer, &token, |pointer| collect(value, pointer, found));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
    let old = texts(json);
    if old.len() != new.len() {
        return None;
    }
    let changed = old.iter().zip(new).filter(|((_, old), new)| old != *new);
    changed
        .into_iter()
        .try_fold(json.to_owned(), |json, ((pointer, _), new)| {
            let new = serde_json::to_string(new).ok()?;
            edit(&json, pointer, Some(&new)).ok()
        })
}
