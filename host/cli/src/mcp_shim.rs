//! `acp-chain mcp-shim`: agents start it as an MCP server that stands for one in the chain. It only copies bytes
//! between its standard streams and the host.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::Result;
use crate::run::block_on;
use acp_chain_bridge::pipe::{self, SECRET, SOCKET};
use acp_chain_system::local;

/// How many bytes are copied at once.
const BUFFER: usize = 64 * 1024;

pub fn main() -> Result<()> {
    let why = block_on(serve())?;
    tell!("acp-chain: the MCP connection ends: {why}");
    Ok(())
}

/// Serves until one side disconnects, and returns which.
async fn serve() -> Result<&'static str> {
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| {
            format!(
                "the variable {name} is not set; `acp-chain mcp-shim` is for agents, for \
                 which a running `acp-chain run` sets it"
            )
        })
    };
    let (socket, secret) = (variable(SOCKET)?, variable(SECRET)?);
    let mut host = local::connect(&socket).await.map_err(|error| {
        format!("{socket} cannot be reached: {error}; its `acp-chain run` may have ended")
    })?;
    pipe::enter(&mut host, &secret)
        .await
        .map_err(|error| wrong!("the host at {socket} rejects the connection: {error}"))?;
    let (mut input, mut output) = acp_chain_app::streams()?;
    let (mut from_host, mut to_host) = tokio::io::split(host);
    // The first side that disconnects ends the other.
    let (ended, why) = tokio::select! {
        ended = copy(&mut input, &mut to_host) => (ended, "the agent closed standard input"),
        ended = copy(&mut from_host, &mut output) => (
            ended,
            "the host closed the connection: the session or `acp-chain run` has ended, or the log of the \
             latter says why",
        ),
    };
    match ended {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(wrong!("the connection broke: {error}"))
        }
        Err(_) => Ok("the other side has disconnected"),
        Ok(()) => Ok(why),
    }
}

async fn copy(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer).await? {
            0 => return Ok(()),
            count => {
                to.write_all(&buffer[..count]).await?;
                // Files are written on another thread.
                to.flush().await?;
            }
        }
    }
}
