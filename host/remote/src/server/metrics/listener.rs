//! The metrics listener, at an address of its own: for the operator of the server, not for its clients.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use acp_chain_http::answer::{Answer, bare, plain, typed};
use acp_chain_http::{Connections, PAUSE, serve};
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};

use super::super::reply::readiness;
use super::super::{Stopper, TERMS};
use super::{Page, Source};

/// How many scrapers may connect at once.
const ASKERS: usize = 32;

/// A listener that serves metrics: `GET /metrics`, besides `/healthz` and `/readyz`.
#[derive(Debug)]
pub struct Metrics {
    listener: TcpListener,
    address: SocketAddr,
}

/// The requested page.
struct Asked {
    stopper: Stopper,
    sources: Vec<Source>,
}

impl Metrics {
    /// Listens.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{address} cannot be listened at: {error}"),
            )
        })?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
        })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Answers for a server, with these further sources. It ends when it is dropped.
    ///
    /// # Errors
    /// If the system does not let it accept connections.
    pub async fn serve(self, server: Stopper, mut sources: Vec<Source>) -> io::Result<()> {
        let registry = server.0.clone();
        sources.insert(0, Box::new(move |page| registry.write(page)));
        let asked = Arc::new(Asked {
            stopper: server,
            sources,
        });
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let mut connections = Connections::new(ASKERS);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let asked = asked.clone();
            let room = |count| (count < ASKERS).then_some(());
            // Who only holds a connection makes room for others.
            let welcomed = connections.welcome(None, room, async move |visitor, ()| {
                let answer = |request| {
                    let answer = asked.answer(&request);
                    async { answer }
                };
                serve(stream, &visitor, TERMS, std::future::pending(), answer).await;
            });
            welcomed.await;
        }
    }
}

impl Asked {
    fn answer(&self, request: &Request<Incoming>) -> Answer {
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/metrics") => {
                let mut page = Page::default();
                for source in &self.sources {
                    source(&mut page);
                }
                typed(StatusCode::OK, Page::MEDIA_TYPE, page.into_text())
            }
            (&Method::GET, "/healthz") => plain(StatusCode::OK, "it serves"),
            (&Method::GET, "/readyz") => readiness(self.stopper.is_asked()),
            _ => bare(StatusCode::NOT_FOUND),
        }
    }
}
