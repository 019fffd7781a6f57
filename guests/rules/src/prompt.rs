//! Prompts, with the rules after the user's words: agents name a session after its first words.

use acp_chain_proxy::{Action, Edit, Head, Json};
use serde_json::{Value, json};

use crate::files::File;
use crate::mark;

/// The maximum length of an examined prompt, in bytes. A longer one would not fit into this proxy's memory.
const LONGEST: u64 = 16 * 1024 * 1024;

/// What the rules follow.
pub(crate) enum Words {
    Blocks,
    /// A text without a block, which some clients send, and some agents take.
    Text(String),
}

/// The user's words; `None` if the rules have to wait for another prompt: they cannot follow this one, or it may be a
/// slash command, whose arguments are all of the following text.
pub(crate) fn words(head: &Head) -> Option<Words> {
    if head.size > LONGEST {
        return None;
    }
    // A block with an image may be long, so the text and the type of the first one are read alone.
    let first = head.read::<String>("/prompt/0/text");
    let words = if first.is_some() || head.read::<String>("/prompt/0/type").is_some() {
        Words::Blocks
    } else {
        without_block(&head.read("/prompt")?)?
    };
    let text = match &words {
        Words::Blocks => first.as_deref(),
        Words::Text(text) => Some(&**text),
    };
    let is_command = text.is_some_and(|text| text.trim_start().starts_with('/'));
    (!is_command).then_some(words)
}

/// The words of a prompt that does not begin with a block.
fn without_block(prompt: &Json) -> Option<Words> {
    if prompt.spelling().starts_with('[') {
        return Some(Words::Blocks);
    }
    prompt.parse().ok().map(Words::Text)
}

/// The prompt followed by the rules, in a block for the model alone.
pub(crate) fn with_rules(words: &Words, files: &[File], embedded: bool) -> Action {
    if files.is_empty() {
        return Action::Forward;
    }
    let files: Vec<String> = files.iter().map(shown).collect();
    let text = mark::marked(&files.join("\n\n"));
    let edit = match words {
        Words::Blocks => Edit::set("/prompt/-", block(&text, embedded)),
        Words::Text(words) => Edit::set("/prompt", &*format!("{words}\n\n{text}")),
    };
    Action::Edit(vec![edit])
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
