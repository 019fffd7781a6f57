//! The texts of the demo. The token is the example in its vendor's manual. So is the key but for its end: a key that
//! ends in `EXAMPLE` is not taken for one.

use serde_json::Value;

/// The project's `AGENTS.md`.
pub const RULES: &str = "# House rules\n- Answer in one sentence.\n- Never push to main.\n";

/// The secret that slipped into the first prompt.
pub const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// The token that the agent streams, in the pieces in which it does so.
pub const TOKEN: [&str; 3] = ["ghp_16C7e4", "2F292c6912E7710c", "838347Ae178B4a"];

/// The second prompt.
pub const CLEAN: &str = "Clean up, please.";

/// The title of the agent's edit in the first turn.
pub const EDIT: &str = "Edit src/upload.rs";

/// The agent's command in the second turn.
pub const COMMAND: &str = "rm -rf .";

/// The chain.
pub const MANIFEST: &str = r#"[[proxy]]
use = "rules"

[[proxy]]
use = "permissions"

[[proxy.config.rules]]
decision = "allow"
kind = "edit"
path = "./src/**"

[[proxy.config.rules]]
decision = "deny"
command = "rm *"

[[proxy]]
use = "redact"
"#;

/// The first prompt.
pub fn prompt() -> String {
    format!("Why does the upload fail? I use the key {KEY}.")
}

/// Whether the content of a prompt is [`CLEAN`].
pub fn is_clean(prompt: &Value) -> bool {
    prompt[0]["text"] == CLEAN
}

/// The chunks in which the agent leaks the token.
pub fn leak() -> [String; 3] {
    let [one, two, three] = TOKEN;
    [
        format!("The upload sends {one}"),
        two.to_owned(),
        format!("{three}, which has expired."),
    ]
}
