//! Where a client is received before there is a chain: nothing but `initialize` gets past, or a
//! parent's `proxy/initialize`.

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::lost::read;
use super::start::{Reader, Role};
use crate::channel::{Peer, WORDS, quote};
use crate::rpc::{Error, Id, Kind, Message, Outbox, code};

/// Where a client is received before there is a chain.
pub struct Lobby {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub outbox: Outbox,
}

impl Lobby {
    /// Waits for what begins a role; refuses everything else. `None` if the client leaves.
    pub async fn wait(&mut self, reader: &mut Reader) -> Option<(Role, Message)> {
        let mut more = true;
        loop {
            while let Some(frame) = reader.next_frame() {
                match read(frame) {
                    Ok(message) if message.kind() == Kind::Request => {
                        if let Some(role) = Role::of(message.method()) {
                            return Some((role, message));
                        }
                        let text = format!("{} came before initialize", message.method());
                        let id = message.id().unwrap_or_else(Id::null);
                        self.tell(&id, &Error::new(code::INVALID_REQUEST, text))
                            .await;
                    }
                    Ok(message) => {
                        let method = quote(message.method(), WORDS);
                        tracing::warn!("dropped a message before initialize: {method}");
                    }
                    Err(lost) => {
                        tracing::warn!("{}", lost.report("client"));
                        let id = lost.id_for_sender(Peer::Client).unwrap_or_else(Id::null);
                        self.tell(&id, &lost.error).await;
                    }
                }
            }
            if !more {
                return None;
            }
            more = reader.fill().await.unwrap_or(false);
        }
    }

    pub async fn tell(&mut self, id: &Id, error: &Error) {
        Message::error(error).write(Some(id.as_str()), &mut self.outbox);
        // A client that cannot be written to will not be read from for long.
        let _ = self.input.write_all_buf(&mut self.outbox).await;
        let _ = self.input.flush().await;
    }
}
