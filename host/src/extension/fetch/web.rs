//! Requests to web servers.
//!
//! Connecting, each read and the whole request have time limits; that of a download, which shows its progress, is a
//! day. An upload has none for reads: while it lasts, the server says nothing. Redirects are followed without
//! passwords, and never from an encrypted connection to an open one.

use std::error::Error as _;
use std::io::Write;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url};

use super::{FetchError, Seen};

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// How long a download may go on arriving.
const DOWNLOAD: Duration = Duration::from_hours(24);

/// How long a server may ask us to wait before the same request; longer waits are errors.
const PAUSE: Duration = Duration::from_secs(10);

/// The wait for a server with too many requests that does not say how long.
const SHORT_PAUSE: Duration = Duration::from_secs(1);

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
    /// One that waits as long for an answer as the whole request may take.
    upload: Client,
}

impl Web {
    /// Certificates are trusted that the system trusts, or the file that `SSL_CERT_FILE` names.
    pub fn new(patience: Patience) -> Result<Self, FetchError> {
        // An existing provider is fine.
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
            client.build().map_err(|error| FetchError::Web {
                what: "the network".to_owned(),
                why: cause(error),
            })
        };
        let silence = patience.silence;
        Ok(Self {
            client: build(client(Policy::custom(follow)).read_timeout(silence))?,
            direct: build(client(Policy::none()).read_timeout(silence))?,
            upload: build(client(Policy::custom(follow)))?,
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

    /// The one for uploads.
    pub fn upload(&self) -> &Client {
        &self.upload
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

    /// Sends a request, and returns any answer. If the server asks for a short wait, the request is repeated once.
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

    /// The answer, if it is not an error.
    pub async fn accept(&self, what: &str, answer: Response) -> Result<Response, FetchError> {
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status().as_u16();
        let wait = wait(answer.status(), answer.headers(), SystemTime::now());
        // Nobody reads a long one.
        let said = self
            .body(what, answer, SAID, &|_, _| {})
            .await
            .unwrap_or_default();
        Err(FetchError::Refused {
            what: what.to_owned(),
            status,
            wait,
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
        // However slow: it may be large, and it shows its progress.
        let request = self.client.get(url).timeout(DOWNLOAD);
        let answer = self.send(url, request, None).await?;
        let answer = self.accept(url, answer).await?;
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
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host.trim_end_matches('.') == "localhost",
    }
}

/// Whether a server may send us from one address to another: to this machine only from there, and else to a connection
/// that is safe.
pub fn may_lead(from: &Url, to: &Url) -> bool {
    is_safe(to) && (is_local(from) || !is_local(to))
}

fn follow(attempt: Attempt) -> reqwest::redirect::Action {
    let is_safe = |from| may_lead(from, attempt.url());
    let is_safe = attempt.previous().first().is_some_and(is_safe);
    match attempt.previous().len() {
        _ if !is_safe => {
            attempt.error("it sends us to an address without encryption, or to this machine")
        }
        many if many > REDIRECTS => attempt.error("it sends us from one address to the next"),
        _ => attempt.follow(),
    }
}

/// How long a server asks us to wait, in seconds or until a time by its own clock.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_in_either_way_how_long_to_wait() {
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
            // Its clock differs from ours.
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
    fn only_this_machine_leads_to_itself_and_nobody_to_an_open_connection() {
        let url = |url: &str| Url::parse(url).unwrap();
        let [other, here] = ["https://example.com/a", "http://127.0.0.1:5000/a"].map(url);
        for safe in ["https://example.com/b", "https://example.org"] {
            assert!(may_lead(&other, &url(safe)) && may_lead(&here, &url(safe)));
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
            assert!(!may_lead(&other, &url(local)), "{local}");
            assert!(may_lead(&here, &url(local)), "{local}");
        }
        for open in ["http://example.com/b", "ftp://example.com"] {
            assert!(!may_lead(&other, &url(open)) && !may_lead(&here, &url(open)));
        }
    }
}
