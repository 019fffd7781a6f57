//! A network between programs and a socket of this machine, which a test stalls, cuts and mends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How many bytes are carried at once.
const PART: usize = 8 * 1024;

/// The network: an address of this machine, which leads to the socket.
pub struct Link {
    address: SocketAddr,
    condition: watch::Sender<Condition>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Whole,
    /// Nothing arrives, and neither end is told.
    Stalled,
    /// All connections end, also new ones.
    Cut,
}

impl Link {
    /// A network to this socket. Must be called on a runtime, which carries what is sent.
    ///
    /// # Panics
    /// If there is no free port.
    pub async fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (condition, seen) = watch::channel(Condition::Whole);
        let accepting = tokio::spawn(accept(listener, socket, seen));
        Self {
            address,
            condition,
            accepting,
        }
    }

    /// Where it begins.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on nothing arrives. Connections stay open.
    pub fn stall(&self) {
        self.condition.send_replace(Condition::Stalled);
    }

    /// Ends all connections, and new ones as soon as they begin.
    pub fn cut(&self) {
        self.condition.send_replace(Condition::Cut);
    }

    /// What was on its way arrives, and new connections stay.
    pub fn mend(&self) {
        self.condition.send_replace(Condition::Whole);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, socket: PathBuf, condition: watch::Receiver<Condition>) {
    while let Ok((client, _)) = listener.accept().await {
        let (socket, condition) = (socket.clone(), condition.clone());
        tokio::spawn(async move {
            // The server may have ended.
            if let Ok(server) = UnixStream::connect(socket).await {
                carry(client, server, condition).await;
            }
        });
    }
}

/// Carries what both ends send, until one of them ends or the network is cut.
async fn carry(client: TcpStream, server: UnixStream, mut condition: watch::Receiver<Condition>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let there = copy(from_client, to_server, condition.clone());
    let back = copy(from_server, to_client, condition.clone());
    tokio::select! {
        _ = there => {}
        _ = back => {}
        _ = condition.wait_for(|condition| *condition == Condition::Cut) => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut condition: watch::Receiver<Condition>,
) -> io::Result<()> {
    let mut part = vec![0; PART];
    loop {
        let read = from.read(&mut part).await?;
        let goes_on = condition.wait_for(|condition| *condition != Condition::Stalled);
        if read == 0 || goes_on.await.is_err() {
            return Ok(());
        }
        to.write_all(&part[..read]).await?;
    }
}
