//! Connections from programs of the same user: a named pipe.
//!
//! Other users cannot have created the pipe, and cannot create more instances. By default they can open it for reading,
//! but not for writing, and other machines not at all; so they receive nothing from a server that first requires them
//! to write. The pipe is removed when its last end is closed.

use std::io;
use std::mem;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use tokio::net::windows::named_pipe::{
    ClientOptions, NamedPipeClient, NamedPipeServer, ServerOptions,
};
use tokio::time::{sleep, timeout};

use super::blocking::{BUSY, PATIENCE, PAUSE};
use super::supervisor::Supervisor;
use acp_chain_rpc::untrusted::Untrusted;

/// The prefix of our pipes' paths.
const PIPES: &str = r"\\.\pipe\acp-chain-";

/// An open pipe.
#[derive(Debug)]
pub struct Endpoint(Listener);

/// The side that accepts connections.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
    /// An instance that waits for the next client: without one, the pipe would not exist.
    next: NamedPipeServer,
}

#[derive(Debug)]
pub struct Address(PathBuf);

/// The process that has made a connection: nothing is asked about it here.
#[derive(Debug)]
pub struct Peer(());

impl Peer {
    pub fn of(_: &NamedPipeServer) -> Self {
        Self(())
    }

    /// Its id, if the system tells.
    pub fn id(&self) -> Option<u32> {
        None
    }

    /// Whether it has ended, as far as the system tells.
    pub fn has_ended(&self) -> bool {
        false
    }
}

impl Address {
    /// Whether addresses have a [`folder`](Self::folder) on this system.
    pub const HAS_FOLDER: bool = false;

    /// The argument of [`connect`].
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A pipe is in no folder.
    pub fn folder(&self) -> Option<&Path> {
        None
    }

    /// Does nothing: pipes leave nothing behind.
    pub fn clear(&self) -> impl Future<Output = ()> + Send + use<> {
        std::future::ready(())
    }
}

impl Endpoint {
    /// Opens a pipe at an address that contains `random`, which must be short and unique. Must be called within the
    /// tokio runtime that accepts connections.
    pub fn open(random: &str, by: Option<&Supervisor>) -> io::Result<(Address, Self)> {
        let (address, listener) = Listener::open(random, by)?;
        Ok((address, Self(listener)))
    }

    /// Accepts connections from now on.
    pub fn listen(self) -> io::Result<Listener> {
        Ok(self.0)
    }
}

impl Listener {
    /// Listens at an address that contains `random`, which must be short and unique. Must be called within a tokio
    /// runtime.
    pub fn open(random: &str, _: Option<&Supervisor>) -> io::Result<(Address, Self)> {
        let path = PathBuf::from(format!("{PIPES}{random}"));
        let next = ServerOptions::new()
            .first_pipe_instance(true)
            .create(&path)
            .map_err(|error| {
                let path = Untrusted::new(path.display());
                let why = format!("cannot create the pipe for MCP clients, {path}: {error}");
                io::Error::new(error.kind(), why)
            })?;
        Ok((Address(path.clone()), Self { path, next }))
    }

    /// The next connection; `None` if it is from another user. Cancel safe.
    pub async fn accept(&mut self) -> io::Result<Option<NamedPipeServer>> {
        let connected = self.next.connect().await;
        let next = connected.and_then(|()| ServerOptions::new().create(&self.path));
        let next = next.inspect_err(|_| {
            // Resets the instance for the next client.
            let _ = self.next.disconnect();
        })?;
        Ok(Some(mem::replace(&mut self.next, next)))
    }
}

/// What is kept for as long as a port is open.
#[derive(Debug)]
pub struct Lifeline(());

/// A port on the loopback interface, chosen by the system.
pub fn port(_: Option<&Supervisor>) -> io::Result<(TcpListener, Lifeline)> {
    Ok((TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, Lifeline(())))
}

/// Directories for the socket: a pipe needs none.
pub fn places() -> Vec<PathBuf> {
    Vec::new()
}

/// Connects to a listener.
pub async fn connect(path: &str) -> io::Result<NamedPipeClient> {
    let connected = async {
        loop {
            match ClientOptions::new().open(path) {
                Err(error) if error.raw_os_error() == Some(BUSY) => sleep(PAUSE).await,
                other => break other,
            }
        }
    };
    timeout(PATIENCE, connected).await?
}
