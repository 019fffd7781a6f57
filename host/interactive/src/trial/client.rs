//! The client of a trial. While it waits for an answer, it serves the agent.

use std::io;

use crate::{Error, Result, Screen};
use acp_chain_ends::client::Services;
use acp_chain_ends::{Arrival, End, Outcome};
use serde_json::Value;
use tokio::io::DuplexStream;

use crate::typed::wire::Wire;

pub struct Client {
    wire: Wire,
    end: End,
    services: Services,
}

impl Client {
    pub fn new(stream: DuplexStream, services: Services, screen: &'static dyn Screen) -> Self {
        Self {
            wire: Wire::new(stream, screen),
            end: End::default(),
            services,
        }
    }

    /// Sends a request, and serves incoming messages until it is answered by a result or an error. Fails if the chain
    /// has ended.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Outcome> {
        let answered = self.answered(method, params).await;
        answered.map_err(Error::io("the chain has ended"))
    }

    async fn answered(&mut self, method: &str, params: Value) -> io::Result<Outcome> {
        self.wire
            .send(&self.end.request(method, params, ()))
            .await?;
        while let Some(message) = self.wire.receive().await? {
            match self.end.take(message) {
                Arrival::Answer((), outcome) => return Ok(outcome),
                Arrival::Request(request) => self.wire.send(&self.services.serve(&request)).await?,
                Arrival::Notification(..) | Arrival::Stray(_) => {}
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
