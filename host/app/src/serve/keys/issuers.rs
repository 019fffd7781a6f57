//! Fetches the keys of issuers, each in a separate task, so that a slow issuer delays no other.

use std::future::pending;
use std::time::Duration;

use acp_chain_remote::gate::{Jwks, JwksSource};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, sleep_until};

use super::{KeySources, LONGEST};
use acp_chain_fetch::{Patience, Web};
use acp_chain_rpc::untrusted::Untrusted;

/// How often keys are fetched.
const FETCH: Duration = Duration::from_mins(10);

/// The minimum time between two requested fetches.
const PAUSE: Duration = Duration::from_secs(10);

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(5),
    silence: Duration::from_secs(5),
    whole: Duration::from_secs(8),
};

/// The keys of an issuer; `None` after an error, which has been reported.
pub type IssuerKeys = (String, Option<Jwks>);

/// The issuers whose keys are fetched.
pub struct Issuers {
    fetched: mpsc::Receiver<IssuerKeys>,
    /// The number of issuers.
    pub count: usize,
}

impl Issuers {
    /// Starts to fetch the keys: regularly, and at each request in `asks`. Call it in a `LocalSet`.
    pub fn follow(watched: &KeySources, asks: &watch::Receiver<()>) -> Self {
        let web = Web::new(PATIENCE);
        let web = web.inspect_err(|error| tracing::error!("keys cannot be fetched: {error}"));
        let (tell, fetched) = mpsc::channel(1);
        let mut count = 0;
        for (issuer, source) in &watched.issuers {
            if let (JwksSource::Url(url), Ok(web)) = (source, &web) {
                let issuer = Issuer {
                    web: web.clone(),
                    name: issuer.clone(),
                    url: url.clone(),
                };
                spawn_local(issuer.follow(asks.clone(), tell.clone()));
                count += 1;
            }
        }
        Self { fetched, count }
    }

    /// The next result of any of them.
    pub async fn next(&mut self) -> IssuerKeys {
        match self.fetched.recv().await {
            Some(fetched) => fetched,
            // There are no issuers.
            None => pending().await,
        }
    }
}

struct Issuer {
    web: Web,
    name: String,
    url: String,
}

impl Issuer {
    async fn follow(self, mut asks: watch::Receiver<()>, tell: mpsc::Sender<IssuerKeys>) {
        // The first request after [`PAUSE`] fetches at once.
        let mut asked: Option<Instant> = None;
        loop {
            let fetched = (self.name.clone(), self.fetch().await);
            if tell.send(fetched).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(FETCH) => {}
                ask = asks.changed() => {
                    if ask.is_err() {
                        return;
                    }
                    if let Some(asked) = asked {
                        sleep_until(asked + PAUSE).await;
                        asks.mark_unchanged();
                    }
                    asked = Some(Instant::now());
                }
            }
        }
    }

    async fn fetch(&self) -> Option<Jwks> {
        let read = match self.web.whole(&self.url, LONGEST).await {
            Ok(document) => Jwks::read(&document).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        read.inspect_err(|error| {
            let (url, error) = (Untrusted::new(&self.url), Untrusted::new(error));
            tracing::error!("the keys at {url}: {error}; the previous ones stay valid");
        })
        .ok()
    }
}
