//! Takes a JSON array of texts on standard input, and writes what becomes of each by the default
//! rules: its text, and the names of what was found. `cargo xtask secrets` measures with it.

use std::io::{Error, read_to_string, stdin, stdout};

fn main() -> Result<(), Error> {
    let texts: Vec<String> = serde_json::from_str(&read_to_string(stdin())?)?;
    let looked = redact::look(&texts).map_err(Error::other)?;
    serde_json::to_writer(stdout(), &looked)?;
    Ok(())
}
