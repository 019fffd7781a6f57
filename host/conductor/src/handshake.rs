//! Receives a client before there is a chain: accepts only `initialize`, or a parent's `proxy/initialize`.

use super::start::Role;
use acp_chain_channel::Peer;
use acp_chain_router::Place;
use acp_chain_router::losses::{Loss, Losses};
use acp_chain_rpc::transport::{Outbox, Transport};
use acp_chain_rpc::{Error, Id, Kind, Message, code, read};

pub struct Handshake {
    pub client: Transport,
    pub outbox: Outbox,
    /// What was dropped before `initialize`.
    pub losses: Losses,
}

impl Handshake {
    /// Waits for a request that begins a role; rejects everything else. `None` if the client disconnects.
    pub async fn wait(&mut self) -> Option<(Role, Message)> {
        let client = Place::Edge(Peer::Client);
        let mut more = true;
        loop {
            while let Some(frame) = self.client.incoming.next_frame() {
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
                        let method = message.method();
                        let why = format_args!("dropped a message before initialize: {method}");
                        self.losses.note(Loss::Early, client, &why);
                    }
                    Err(malformed) => {
                        let why = malformed.report("client");
                        self.losses.note(Loss::Refused, client, &why);
                        let id = malformed
                            .id_for_sender(Peer::Client)
                            .unwrap_or_else(Id::null);
                        self.tell(&id, &malformed.error).await;
                    }
                }
            }
            if !more {
                return None;
            }
            more = self.client.incoming.read().await.unwrap_or(false);
        }
    }

    pub async fn tell(&mut self, id: &Id, error: &Error) {
        Message::error(error).write(Some(id.as_str()), &mut self.outbox);
        // If the client cannot be written to, reading from it soon fails, too.
        let _ = self.client.outgoing.write_all(&mut self.outbox).await;
    }
}
