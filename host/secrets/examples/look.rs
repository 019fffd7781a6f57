//! Reads a JSON array of texts from standard input, and writes each as the default rules redact it, with the names
//! of its secrets. `cargo xtask secrets` measures with it.

use std::io::{Error, read_to_string, stdin, stdout};

use acp_chain_secrets::{Detector, Effort, Marker, defaults};

#[expect(clippy::disallowed_methods, reason = "programs read it")]
fn main() -> Result<(), Error> {
    let texts: Vec<String> = serde_json::from_str(&read_to_string(stdin())?)?;
    let detector = Detector::new(defaults().copied()).map_err(Error::other)?;
    let look = |text: &String| {
        let redacted = detector
            .marking(Marker::Redacted)
            .redact(text, &mut Effort::default())?;
        Ok(redacted.map_or_else(
            || (text.clone(), Vec::new()),
            |redacted| (redacted.text, redacted.names),
        ))
    };
    let looked: Result<Vec<_>, String> = texts.iter().map(look).collect();
    serde_json::to_writer(stdout(), &looked.map_err(Error::other)?)?;
    Ok(())
}
