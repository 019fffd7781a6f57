//! `acp-chain serve-token`: makes a token for a user.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::Result;
use acp_chain_remote::gate::tokens::{self, Token};

use acp_chain_app::serve::keys::LONGEST;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain serve-token alice --group staff --file tokens
  acp-chain serve-token build-server")]
pub struct ServeToken {
    /// The user of the token
    #[arg(value_name = "NAME")]
    name: String,
    /// A group that the user is of
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
    /// Append the line of the token to this file, for `serve --tokens`; without it, the line is printed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl ServeToken {
    /// Prints the token, and stores only its hash, in the file.
    pub fn main(self) -> Result<()> {
        let made = Token::make(&self.name, self.group);
        let (token, secret) = made?;
        match &self.file {
            None => tell!("the line for the file of `serve --tokens`: {token}"),
            Some(path) => {
                let shown = Untrusted::new(path.display());
                append(path, &token).map_err(|error| wrong!("{shown}: {error}"))?;
                tell!(
                    "{shown} admits `{}` by this token, which is shown only once:",
                    self.name
                );
            }
        }
        say!("{secret}");
        Ok(())
    }
}

/// Appends a line, whole or not at all; concurrent processes wait for each other.
fn append(path: &Path, token: &Token) -> Result<()> {
    let cannot = |error| format!("it cannot be written: {error}");
    let mut file = files::append_shared(path).map_err(cannot)?;
    // Some file systems have no locks. Then two lines may lack the break between them, and `serve` reports that.
    let _ = file.lock();
    let text = io::read_to_string((&file).take(LONGEST as u64 + 1));
    let text = text.map_err(|error| wrong!("it cannot be read: {error}"))?;
    if text.len() > LONGEST {
        return Err(wrong!(
            "it has more than {LONGEST} bytes, which no server reads"
        ));
    }
    // With a malformed line in it, the server would accept no line of it.
    tokens::read(&text)?;
    let begin = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    file.seek(SeekFrom::End(0)).map_err(cannot)?;
    let written = file.write_all(format!("{begin}{token}\n").as_bytes());
    written
        .and_then(|()| file.sync_all())
        .inspect_err(|_| {
            // A partial line would be malformed.
            let _ = file.set_len(text.len() as u64);
        })
        .map_err(cannot)?;
    Ok(())
}
