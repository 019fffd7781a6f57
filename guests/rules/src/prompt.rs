//! Prompts, with the rules after the user's words: agents name a session after its first words.

use acp_chain_proxy::{Action, Edit, Head};
use serde_json::{Value, json};

use crate::files::File;
use crate::mark;

/// The maximum length of an examined prompt, in bytes. A longer one would not fit into this proxy's memory.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Whether a prompt may be a slash command, whose arguments are all of the following text. The rules wait for another
/// prompt.
pub(crate) fn has_to_be_alone(head: &Head) -> bool {
    let text = || head.read::<String>("/prompt/0/text");
    head.size > LONGEST || text().is_some_and(|text| text.trim_start().starts_with('/'))
}

/// The prompt followed by the rules, in a block for the model alone.
pub(crate) fn with_rules(files: &[File], embedded: bool) -> Action {
    if files.is_empty() {
        return Action::Forward;
    }
    let files: Vec<String> = files.iter().map(shown).collect();
    let text = mark::marked(&files.join("\n\n"));
    Action::Edit(vec![Edit::set("/prompt/-", block(&text, embedded))])
}

/// As a resource, if the agent accepts those.
fn block(text: &str, embedded: bool) -> Value {
    let annotations = json!({ "audience": ["assistant"] });
    if embedded {
        let uri = mark::uri();
        let resource = json!({ "uri": uri, "mimeType": "text/markdown", "text": text });
        return json!({ "type": "resource", "resource": resource, "annotations": annotations });
    }
    // Some agents put nothing between two blocks.
    let text = format!("\n\n{text}");
    json!({ "type": "text", "text": text, "annotations": annotations })
}

fn shown(file: &File) -> String {
    let File { name, text, size } = file;
    let text = text.trim_end();
    let end = if text.len() < *size && file.text.len() < *size {
        format!(
            "(`{name}` is cut here: it has {size} bytes, of which {} are shown.)",
            text.len()
        )
    } else {
        format!("(End of `{name}`.)")
    };
    format!("The rules of this project, from its file `{name}`:\n\n{text}\n\n{end}")
}
