//! Prompts, and the rules before them.

use acp_chain_proxy::{Action, Json};
use serde_json::json;

use crate::files::File;

/// Whether a prompt is a slash command, which agents know only at the very beginning. The rules
/// wait for a prompt that is not.
pub(crate) fn is_command(params: &Json) -> bool {
    params
        .at::<String>("/prompt/0/text")
        .is_some_and(|text| text.trim_start().starts_with('/'))
}

/// The prompt with a block of text for every file before it.
pub(crate) fn with_rules(mut params: Json, files: &[File]) -> Action {
    let blocks = params.at_mut("/prompt").and_then(Json::items_mut);
    let Some(blocks) = blocks.filter(|_| !files.is_empty()) else {
        return Action::Forward;
    };
    blocks.splice(0..0, files.iter().map(block));
    Action::Replace(params)
}

fn block(file: &File) -> Json {
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
    let text = format!("The rules of this project, from its file `{name}`:\n\n{text}\n\n{end}\n\n");
    json!({ "type": "text", "text": text }).into()
}
