//! `acp-chain serve-token`: a token for somebody who is to come in.

use std::io::Write;
use std::path::PathBuf;

use acp_chain_remote::gate::tokens::Token;

use crate::system::files;
use crate::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain serve-token alice --group staff --file tokens
  acp-chain serve-token build-server")]
pub struct ServeToken {
    /// Who gets it
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
    /// The token is printed, and is nowhere else; the file has its hash.
    pub fn main(self) -> Result<(), String> {
        let made = Token::make(&self.name, self.group);
        let (token, secret) = made.map_err(|error| error.to_string())?;
        match &self.file {
            None => eprintln!("the line for the file of `serve --tokens`: {token}"),
            Some(path) => {
                let shown = Untrusted::new(path.display());
                let wrong = |error| format!("{shown} cannot be written: {error}");
                let mut file = files::append_private(path).map_err(wrong)?;
                file.write_all(format!("{token}\n").as_bytes())
                    .and_then(|()| file.sync_all())
                    .map_err(wrong)?;
                eprintln!(
                    "{shown} lets in `{}` by this token, which is shown this once:",
                    self.name
                );
            }
        }
        say!("{secret}");
        Ok(())
    }
}
