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
const SCRAPERS: usize = 32;

/// A listener that serves metrics: `GET /metrics`, besides `/healthz` and `/readyz`.
#[derive(Debug)]
pub struct Metrics {
    listener: TcpListener,
    address: SocketAddr,
}

/// The sources of the page.
struct Sources {
    stopper: Stopper,
    sources: Vec<Source>,
}

impl Metrics {
    /// Binds the address.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"))
        })?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
        })
    }

    /// The URL for scrapers.
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Serves the metrics of a server and of these further sources, until the future is dropped.
    ///
    /// # Errors
    /// If the runtime cannot register the listener.
    pub async fn serve(self, server: Stopper, mut sources: Vec<Source>) -> io::Result<()> {
        let registry = server.0.clone();
        sources.insert(0, Box::new(move |page| registry.write(page)));
        let all = Arc::new(Sources {
            stopper: server,
            sources,
        });
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let mut connections = Connections::new(SCRAPERS);
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let all = all.clone();
            let room = |count| (count < SCRAPERS).then_some(());
            // An idle connection is evicted for another one.
            let welcomed = connections.welcome(None, room, async move |visitor, ()| {
                let answer = |request| {
                    let answer = all.answer(&request);
                    async { answer }
                };
                serve(stream, &visitor, TERMS, std::future::pending(), answer).await;
            });
            welcomed.await;
        }
    }
}

impl Sources {
    fn answer(&self, request: &Request<Incoming>) -> Answer {
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/metrics") => {
                let mut page = Page::default();
                for source in &self.sources {
                    source(&mut page);
                }
                typed(StatusCode::OK, Page::MEDIA_TYPE, page.into_text())
            }
            (&Method::GET, "/healthz") => plain(StatusCode::OK, "the server is running"),
            (&Method::GET, "/readyz") => readiness(self.stopper.is_draining()),
            _ => bare(StatusCode::NOT_FOUND),
        }
    }
}
