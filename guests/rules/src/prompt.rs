//! Prompts, and the rules before them.

use acp_chain_proxy::{Action, Edit, Head, Json};
use serde_json::json;

use crate::files::File;

/// Whether a prompt is a slash command, which agents know only at the very beginning. The rules
/// wait for a prompt that is not.
pub(crate) fn is_command(head: &Head) -> bool {
    head.read::<String>("/prompt/0/text")
        .is_some_and(|text| text.trim_start().starts_with('/'))
}

/// The prompt with a block of text for every file before it. Its own blocks keep their spelling.
pub(crate) fn with_rules(head: &Head, files: &[File]) -> Action {
    let blocks = head.read::<Json>("/prompt").map(String::from);
    let Some(rest) = blocks
        .as_deref()
        .and_then(|blocks| blocks.strip_prefix('['))
    else {
        return Action::Forward;
    };
    if files.is_empty() {
        return Action::Forward;
    }
    let rules: Vec<String> = files.iter().map(|file| block(file).to_string()).collect();
    let comma = if rest.trim_start().starts_with(']') {
        ""
    } else {
        ","
    };
    let blocks = format!("[{}{comma}{rest}", rules.join(","));
    match Json::try_from(blocks) {
        Ok(blocks) => Action::Edit(vec![Edit::set("/prompt", blocks)]),
        Err(_) => Action::Forward,
    }
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
