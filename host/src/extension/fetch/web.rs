//! Requests to web servers.
//!
//! Connecting, each read and the whole request have time limits. Redirects are followed without passwords, and never
//! from an encrypted connection to an open one.

use std::error::Error as _;
use std::io::Write;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, Url};

use super::{FetchError, Seen};

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// How many bytes of an error's text are kept.
const SAID: u64 = 4 << 10;

/// The timeouts for a server.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the connection.
    pub connect: Duration,
    /// For the next bytes.
    pub silence: Duration,
    /// For the whole answer.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(30),
            whole: Duration::from_mins(10),
        }
    }
}

/// An HTTP client.
#[derive(Clone, Debug)]
pub struct Web {
    client: Client,
    /// One that follows no redirects, for requests that carry a secret in their body.
    direct: Client,
}

impl Web {
    /// Certificates are trusted that the system trusts, or the file that `SSL_CERT_FILE` names.
    pub fn new(patience: Patience) -> Result<Self, FetchError> {
        // An existing provider is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |redirects| {
            let client = Client::builder()
                .user_agent(concat!("acp-chain/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(patience.connect)
                .read_timeout(patience.silence)
                .timeout(patience.whole)
                .redirect(redirects)
                .referer(false)
                .build();
            client.map_err(|error| FetchError::Web {
                what: "the network".to_owned(),
                why: cause(error),
            })
        };
        Ok(Self {
            client: client(Policy::custom(follow))?,
            direct: client(Policy::none())?,
        })
    }

    /// The underlying client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The one that follows no redirects.
    pub fn direct(&self) -> &Client {
        &self.direct
    }

    /// Sends a GET request. An error unless the answer has content.
    pub async fn get(&self, url: &str) -> Result<Response, FetchError> {
        let answer = self.send(url, self.client.get(url), None).await?;
        self.accept(url, answer).await
    }

    /// The whole content at an address, up to this size.
    pub async fn whole(&self, url: &str, most: usize) -> Result<Vec<u8>, FetchError> {
        let answer = self.get(url).await?;
        self.body(url, answer, most as u64, &|_, _| {}).await
    }

    /// Sends a request, and returns any answer.
    pub async fn send(
        &self,
        what: &str,
        request: RequestBuilder,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response, FetchError> {
        let request = match authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        };
        request.send().await.map_err(|error| broken(what, error))
    }

    /// The answer, if it is not an error.
    pub async fn accept(&self, what: &str, answer: Response) -> Result<Response, FetchError> {
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status().as_u16();
        // Nobody reads a long one.
        let said = self
            .body(what, answer, SAID, &|_, _| {})
            .await
            .unwrap_or_default();
        Err(FetchError::Refused {
            what: what.to_owned(),
            status,
            said: String::from_utf8_lossy(&said).trim().to_owned(),
        })
    }

    /// Writes the content at an address, up to this size, over a safe connection.
    pub async fn download(
        &self,
        url: &str,
        most: u64,
        into: &mut dyn Write,
        seen: Seen<'_>,
    ) -> Result<(), FetchError> {
        if !Url::parse(url).is_ok_and(|url| is_safe(&url)) {
            return Err(FetchError::Open(url.to_owned()));
        }
        let answer = self.get(url).await?;
        self.pass(url, answer, most, into, seen).await
    }

    /// The body of an answer, up to this size.
    pub async fn body(
        &self,
        what: &str,
        answer: Response,
        most: u64,
        seen: Seen<'_>,
    ) -> Result<Vec<u8>, FetchError> {
        let mut body = Vec::new();
        self.pass(what, answer, most, &mut body, seen).await?;
        Ok(body)
    }

    /// Copies the body of an answer.
    async fn pass(
        &self,
        what: &str,
        mut answer: Response,
        most: u64,
        into: &mut dyn Write,
        seen: Seen<'_>,
    ) -> Result<(), FetchError> {
        let too_large = || FetchError::TooLarge {
            what: what.to_owned(),
            most,
        };
        let expected = answer.content_length();
        if expected.is_some_and(|expected| expected > most) {
            return Err(too_large());
        }
        let mut there = 0;
        while let Some(part) = answer.chunk().await.map_err(|error| broken(what, error))? {
            there += part.len() as u64;
            if there > most {
                return Err(too_large());
            }
            into.write_all(&part).map_err(|error| FetchError::Disk {
                what: what.to_owned(),
                error,
            })?;
            seen(there, expected);
        }
        Ok(())
    }
}

/// Whether a connection is safe from eavesdroppers.
pub fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || is_local(url)
}

/// Whether it is of this machine.
pub fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

fn follow(attempt: Attempt) -> reqwest::redirect::Action {
    // A connection in use is safe. Nobody else may redirect us to services of this machine.
    let is_from_here = attempt.previous().first().is_some_and(is_local);
    let is_safe = attempt.url().scheme() == "https" || is_from_here && is_local(attempt.url());
    match attempt.previous().len() {
        _ if !is_safe => attempt.error("it sends us to an address without encryption"),
        many if many > REDIRECTS => attempt.error("it sends us from one address to the next"),
        _ => attempt.follow(),
    }
}

fn broken(what: &str, error: reqwest::Error) -> FetchError {
    FetchError::Web {
        what: what.to_owned(),
        why: cause(error),
    }
}

/// The cause of an error, without addresses, which may contain secrets.
fn cause(error: reqwest::Error) -> String {
    let said = match (error.is_timeout(), error.is_connect()) {
        (true, true) => "nobody answers",
        (true, false) => "the server has stopped sending",
        (false, true) => "there is no connection",
        (false, false) => "the connection broke",
    };
    let error = error.without_url();
    let mut last: &dyn std::error::Error = &error;
    while let Some(source) = last.source() {
        last = source;
    }
    match error.source() {
        Some(_) if !error.is_timeout() => format!("{said}: {last}"),
        _ => said.to_owned(),
    }
}
