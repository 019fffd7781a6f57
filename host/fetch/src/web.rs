//! Requests to web servers.
//!
//! Connecting, each read and the whole request have time limits. That of a download is a day, since the user sees its
//! progress. An upload has no limit for reads: the server sends nothing until its end. Redirects are followed without
//! passwords, and never from an encrypted connection to an unencrypted one.

use std::error::Error as _;
use std::io::Write;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};

use super::{Cause, FetchError, ProgressCallback};
use acp_chain_address::{is_safe, may_redirect};
use acp_chain_rpc::untrusted::innermost;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// The maximum duration of a download.
const DOWNLOAD: Duration = Duration::from_hours(24);

/// The maximum delay that a server may request before a retry. A longer one is an error.
const PAUSE: Duration = Duration::from_secs(10);

/// The delay before a retry if a server with too many requests names none.
const SHORT_PAUSE: Duration = Duration::from_secs(1);

/// The maximum length of an error's text, in bytes.
const ERROR_TEXT: u64 = 4 << 10;

/// The timeouts for a server.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The time limit for connecting.
    pub connect: Duration,
    /// The time limit for each read.
    pub silence: Duration,
    /// The time limit for the whole request.
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
    /// The client for downloads and other requests.
    pub(super) client: Client,
    /// A client that follows no redirects, for requests with a secret in their body.
    pub(super) direct: Client,
    /// A client without a time limit for each read.
    pub(super) upload: Client,
}

impl Web {
    /// A client that trusts the system's certificates, or those in the file that `SSL_CERT_FILE` names.
    pub fn new(patience: Patience) -> Result<Self, FetchError> {
        // This fails if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |redirects| {
            Client::builder()
                .user_agent(concat!("acp-chain/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(patience.connect)
                .timeout(patience.whole)
                .redirect(redirects)
                .referer(false)
        };
        let build = |client: ClientBuilder| {
            let client = client.build();
            client.map_err(|error| broken("the network", error))
        };
        let silence = patience.silence;
        Ok(Self {
            client: build(client(Policy::custom(follow)).read_timeout(silence))?,
            direct: build(client(Policy::none()).read_timeout(silence))?,
            upload: build(client(Policy::custom(follow)))?,
        })
    }

    /// Sends a GET request.
    ///
    /// # Errors
    /// If the status is an error.
    pub async fn get(&self, url: &str) -> Result<Response, FetchError> {
        let answer = self.send(url, self.client.get(url), None).await?;
        self.accept(url, answer).await
    }

    /// Fetches the content at a URL, up to this size in bytes.
    pub async fn whole(&self, url: &str, most: usize) -> Result<Vec<u8>, FetchError> {
        let answer = self.get(url).await?;
        self.body(url, answer, most as u64, &|_, _| {}).await
    }

    /// Sends a request, and returns the answer whatever its status. If the server requests a short delay, the request
    /// is repeated once.
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
        let again = request.try_clone();
        let sent = |request: RequestBuilder| async {
            request.send().await.map_err(|error| broken(what, error))
        };
        let answer = sent(request).await?;
        let wait = wait(answer.status(), answer.headers(), SystemTime::now());
        match (again, wait) {
            (Some(again), Some(wait)) if wait <= PAUSE => {
                tokio::time::sleep(wait).await;
                sent(again).await
            }
            _ => Ok(answer),
        }
    }

    /// The answer; an error if its status is one.
    pub async fn accept(&self, what: &str, answer: Response) -> Result<Response, FetchError> {
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status().as_u16();
        let wait = wait(answer.status(), answer.headers(), SystemTime::now());
        // A long text is truncated.
        let said = self
            .body(what, answer, ERROR_TEXT, &|_, _| {})
            .await
            .unwrap_or_default();
        let refused = Cause::Refused {
            status,
            wait,
            said: String::from_utf8_lossy(&said).trim().to_owned(),
        };
        Err(refused.of(what))
    }

    /// Downloads the content at a URL, up to this size in bytes, over a [safe](is_safe) connection.
    pub async fn download(
        &self,
        url: &str,
        most: u64,
        into: &mut dyn Write,
        seen: ProgressCallback<'_>,
    ) -> Result<(), FetchError> {
        if !Url::parse(url).is_ok_and(|url| is_safe(&url)) {
            return Err(Cause::Open.of(url));
        }
        // A large download may be slow, and the user sees its progress.
        let request = self.client.get(url).timeout(DOWNLOAD);
        let answer = self.send(url, request, None).await?;
        let answer = self.accept(url, answer).await?;
        self.pass(url, answer, most, into, seen).await
    }

    /// Reads the body of an answer, up to this size in bytes.
    pub async fn body(
        &self,
        what: &str,
        answer: Response,
        most: u64,
        seen: ProgressCallback<'_>,
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
        seen: ProgressCallback<'_>,
    ) -> Result<(), FetchError> {
        let too_large = || Cause::TooLarge(most).of(what);
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
            let written = into.write_all(&part);
            written.map_err(|error| Cause::Disk(error).of(what))?;
            seen(there, expected);
        }
        Ok(())
    }
}

fn follow(attempt: Attempt) -> reqwest::redirect::Action {
    let is_safe = |from| may_redirect(from, attempt.url());
    let is_safe = attempt.previous().first().is_some_and(is_safe);
    match attempt.previous().len() {
        _ if !is_safe => {
            attempt.error("it redirects to an unencrypted address, or to this machine")
        }
        many if many > REDIRECTS => attempt.error("it redirects too often"),
        _ => attempt.follow(),
    }
}

/// The delay that a server requests: in seconds, or until a time by the server's clock.
fn wait(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let is_busy = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if !is_busy.contains(&status) {
        return None;
    }
    let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.trim());
    let time = |text: &str| httpdate::parse_http_date(text).ok();
    let said = text(RETRY_AFTER).and_then(|said| match said.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let now = text(DATE).and_then(time).unwrap_or(now);
            Some(time(said)?.duration_since(now).unwrap_or_default())
        }
    });
    let usual = (status == StatusCode::TOO_MANY_REQUESTS).then_some(SHORT_PAUSE);
    said.or(usual)
}

fn broken(what: &str, error: reqwest::Error) -> FetchError {
    Cause::Web(cause(error)).of(what)
}

/// The cause of an error, without addresses, which may contain secrets.
fn cause(error: reqwest::Error) -> String {
    let said = match (error.is_timeout(), error.is_connect()) {
        (true, true) => "the server does not answer",
        (true, false) => "the server has stopped sending",
        (false, true) => "there is no connection",
        (false, false) => "the connection broke",
    };
    let error = error.without_url();
    match error.source() {
        Some(_) if !error.is_timeout() => format!("{said}: {}", innermost(&error)),
        _ => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_requests_a_delay_in_seconds_or_by_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        let (later, earlier) = (
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:00 GMT",
        );
        for (status, headers, expected) in [
            (429, &[("retry-after", "7")][..], Some(7)),
            (429, &[("retry-after", " 0 ")], Some(0)),
            (429, &[("retry-after", later)], Some(7)),
            (429, &[("retry-after", earlier)], Some(0)),
            // The server's clock differs from the local one.
            (429, &[("retry-after", later), ("date", earlier)], Some(37)),
            (429, &[("retry-after", "soon")], Some(1)),
            (429, &[], Some(1)),
            (503, &[("retry-after", "7")], Some(7)),
            (503, &[], None),
            (500, &[("retry-after", "7")], None),
            (200, &[("retry-after", "7")], None),
        ] {
            let headers: HeaderMap = headers
                .iter()
                .map(|(name, value)| {
                    let value = HeaderValue::from_static(value);
                    (HeaderName::from_static(name), value)
                })
                .collect();
            let waits = wait(StatusCode::from_u16(status).unwrap(), &headers, now);
            let expected = expected.map(Duration::from_secs);
            assert_eq!(waits, expected, "{status} {headers:?}");
        }
    }

    #[test]
    fn redirects_to_this_machine_or_unencrypted_ones_are_rejected() {
        let url = |url: &str| Url::parse(url).unwrap();
        let [other, here] = ["https://example.com/a", "http://127.0.0.1:5000/a"].map(url);
        for safe in ["https://example.com/b", "https://example.org"] {
            assert!(may_redirect(&other, &url(safe)) && may_redirect(&here, &url(safe)));
        }
        for local in [
            "http://localhost:5000/b",
            "https://localhost.",
            "https://127.0.0.1",
            "https://127.1.2.3",
            "https://0.0.0.0",
            "https://[::1]",
            "https://[::ffff:127.0.0.1]",
        ] {
            assert!(!may_redirect(&other, &url(local)), "{local}");
            assert!(may_redirect(&here, &url(local)), "{local}");
        }
        for open in ["http://example.com/b", "ftp://example.com"] {
            assert!(!may_redirect(&other, &url(open)) && !may_redirect(&here, &url(open)));
        }
    }
}
