//! The process that stands in for an MCP server of a chain: agents start it, and it only copies bytes between its
//! standard streams and the host.

use std::env;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::Error;
use acp_chain_bridge::pipe::{self, SECRET, SOCKET};
use acp_chain_system::local;

/// How many bytes are copied at once.
const BUFFER: usize = 64 * 1024;

/// Serves until one side disconnects, and returns which.
pub async fn serve() -> Result<&'static str, Error> {
    let variable = |name: &'static str| env::var(name).map_err(|_| Error::NotOfAgent(name));
    let (socket, secret) = (variable(SOCKET)?, variable(SECRET)?);
    let mut host = match local::connect(&socket).await {
        Ok(host) => host,
        Err(error) => return Err(Error::NoHost(socket, error)),
    };
    if let Err(error) = pipe::enter(&mut host, &secret).await {
        return Err(Error::Rejected(socket, error));
    }
    let (mut input, mut output) = crate::streams()?;
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
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Broken(error)),
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
