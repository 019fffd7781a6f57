//! The keys of issuers that are fetched, each by a task of its own: one that is slow keeps nobody waiting.

use std::future::pending;
use std::time::Duration;

use acp_chain_remote::gate::{Jwks, JwksSource};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, sleep_until};

use super::{LONGEST, Watched};
use crate::extension::fetch::{Patience, Web};
use crate::untrusted::Untrusted;

/// How often keys are fetched.
const FETCH: Duration = Duration::from_mins(10);

/// No sooner are they fetched once more, whoever asks.
const PAUSE: Duration = Duration::from_secs(10);

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(5),
    silence: Duration::from_secs(5),
    whole: Duration::from_secs(8),
};

/// What came of an issuer: none if nothing did, which was told.
pub type Fetched = (String, Option<Jwks>);

/// Issuers that are asked for their keys.
pub struct Issuers {
    fetched: mpsc::Receiver<Fetched>,
    count: usize,
}

impl Issuers {
    /// Asks them from now on: now and then, and whenever somebody `asks`. Call it in a `LocalSet`.
    pub fn follow(watched: &Watched, asks: &watch::Receiver<()>) -> Self {
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

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What comes of one of them next.
    pub async fn next(&mut self) -> Fetched {
        match self.fetched.recv().await {
            Some(fetched) => fetched,
            // There are none.
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
    async fn follow(self, mut asks: watch::Receiver<()>, tell: mpsc::Sender<Fetched>) {
        // Who asks after a while is answered at once.
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
            tracing::error!("the keys at {url}: {error}; those of before hold");
        })
        .ok()
    }
}
