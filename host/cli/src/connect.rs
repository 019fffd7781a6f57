//! `acp-chain connect`: stands in for a remote agent. Also the options that say how one is reached.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::Result;
use crate::path::path;
use acp_chain_app::connect;
use acp_chain_remote::client::{Target, Token};

use crate::run::block_on;
use acp_chain_manifest::Remote;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::{CONNECT_TOKEN as TOKEN, files};

/// The maximum length of the first line of a token file, in bytes.
const TOKEN_LEN: u64 = 64 << 10;

#[derive(Debug, clap::Args)]
pub struct Connect {
    /// Where the agent is: http, https, ws or wss
    #[arg(id = "connect", value_name = "URL")]
    url: String,
    #[command(flatten)]
    way: RemoteArgs,
    /// Serve all streams that are passed over the socket at standard input
    #[arg(long)]
    shared: bool,
}

/// How a remote agent is reached, besides its URL.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RemoteArgs {
    /// Also trust the certificates in this file (PEM) for the agent of `--connect`
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "connect")]
    connect_ca: Option<PathBuf>,
    /// The file with the token for the agent of `--connect`, in its first line; no other user may read the file. By
    /// default, the token is in `ACP_CHAIN_CONNECT_TOKEN`, if set
    #[arg(long, value_name = "FILE", value_parser = path(), requires = "connect")]
    connect_token_file: Option<PathBuf>,
}

impl RemoteArgs {
    /// The agent at this URL.
    pub fn to(&self, url: &str) -> Remote {
        Remote {
            url: url.to_owned(),
            ca: self.connect_ca.clone(),
            token_file: self.connect_token_file.clone(),
        }
    }

    fn token(&self) -> Result<Option<Token>> {
        let (from, token) = match &self.connect_token_file {
            Some(file) => {
                let shown = Untrusted::new(file.display()).to_string();
                let token = read_token(file);
                let unusable = |error| format!("the token in {shown} cannot be used: {error}");
                (shown.clone(), token.map_err(unusable)?)
            }
            None => match std::env::var(TOKEN) {
                Ok(token) if !token.is_empty() => (TOKEN.to_owned(), token),
                Ok(_) | Err(std::env::VarError::NotPresent) => return Ok(None),
                Err(error) => return Err(wrong!("{TOKEN}: {error}")),
            },
        };
        let token = token.trim().parse();
        token.map(Some).map_err(|error| wrong!("{from}: {error}"))
    }
}

fn wrong(error: impl std::fmt::Display) -> String {
    format!("--connect: {error}")
}

/// The first line of a file that only the user may read.
fn read_token(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    files::check_secret(&file, path).map_err(|error| io::Error::other(error.to_string()))?;
    let mut text = String::new();
    file.take(TOKEN_LEN).read_to_string(&mut text)?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

impl Connect {
    pub fn main(self) -> Result<()> {
        let target = Target {
            address: self.url.parse().map_err(wrong)?,
            token: self.way.token()?,
            ca: self.way.connect_ca,
        };
        if self.shared {
            return Ok(connect::serve_all(target)?);
        }
        block_on(async { Ok(connect::serve(&target).await?) })
    }
}
