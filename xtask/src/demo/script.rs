//! The texts of the demo. The token is the example in its vendor's manual. So is the key but for its end: a key that
//! ends in `EXAMPLE` is not taken for one.

/// The project's `AGENTS.md`.
pub const RULES: &str = "# House rules\n- Answer in one sentence.\n- Never push to main.\n";

/// The user's prompt: a question, and a secret that slipped in.
pub const QUESTION: &str = "Why does the upload fail?";
pub const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// A token that the agent streams in three chunks.
pub const TOKEN: [&str; 3] = ["ghp_16C7e4", "2F292c6912E7710c", "838347Ae178B4a"];

/// The agent's text when its edit is allowed.
pub const ALLOWED: &str = "I was allowed to edit src/upload.rs.";

/// The whole prompt.
pub fn prompt() -> String {
    format!("{QUESTION} I use the key {KEY}.")
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

/// The chain of the demo.
pub const MANIFEST: &str = r#"[[proxy]]
use = "rules"

[[proxy]]
use = "permissions"

[[proxy.config.rules]]
decision = "allow"
kind = "edit"
path = "./src/**"

[[proxy]]
use = "redact"
"#;
