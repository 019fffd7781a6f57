//! Requests to a remote agent.
//!
//! Invariants: the token is sent only to its own address, so no redirection is followed. Cookies that the server sets
//! are sent with all later requests of the connection.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, innermost};
use httpdate::parse_http_date;
use reqwest::header::{
    AUTHORIZATION, COOKIE, DATE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, SET_COOKIE,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode};

use super::error::{Cause, RemoteError, cause};
use super::target::{Target, Token};
use acp_chain_address::Address;
use acp_chain_http::HEARTBEAT;

/// How long connecting to a server may take.
const CONNECT: Duration = Duration::from_secs(15);

/// How long an idle connection is kept. Servers close theirs after 5 seconds or more; a request that coincides with
/// that may be lost, and not every server allows a retry.
const IDLE: Duration = Duration::from_secs(4);

/// How many cookies are kept, and how long each may be, in bytes.
const COOKIES: usize = 64;
const COOKIE_LEN: usize = 4096;

/// How many bytes of a server's explanation of an error are read.
const EXPLANATION: usize = 4 << 10;

/// Makes requests to one address.
#[derive(Debug)]
pub struct Web {
    client: Client,
    address: Address,
    token: Option<Token>,
    cookies: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Web {
    /// Trusts the servers that the system trusts, or the file that `SSL_CERT_FILE` names.
    pub fn new(target: &Target) -> Result<Self, RemoteError> {
        let address = &target.address;
        let wrong = |why| RemoteError::new(&address.to_string(), why);
        if target.token.is_some() && !address.is_private() {
            return Err(wrong(Cause::OpenToken));
        }
        // A provider that is installed already is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("acp-chain/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .redirect(Policy::none())
            .referer(false)
            .pool_idle_timeout(IDLE)
            .tcp_keepalive(HEARTBEAT)
            .http2_keep_alive_interval(HEARTBEAT)
            .http2_keep_alive_timeout(2 * HEARTBEAT)
            .http2_adaptive_window(true);
        // A server that vanished is noticed when it does not acknowledge sent data.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            builder = builder.tcp_user_timeout(3 * HEARTBEAT);
        }
        if address.is_websocket() {
            builder = builder.http1_only();
        }
        if let Some(path) = &target.ca {
            let shown = Untrusted::new(path.display());
            let unreadable =
                |error: String| wrong(Cause::Certificates(format!("{shown}: {error}")));
            let pem = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
            let all = Certificate::from_pem_bundle(&pem);
            let all = all.map_err(|error| unreadable(error.to_string()))?;
            if all.is_empty() {
                return Err(unreadable("there is no certificate in it".to_owned()));
            }
            builder = builder.tls_certs_merge(all);
        }
        let client = builder.build();
        let client =
            client.map_err(|error| wrong(Cause::NoNetwork(innermost(&error).to_string())))?;
        Ok(Self {
            client,
            address: address.clone(),
            token: target.token.clone(),
            cookies: Mutex::default(),
        })
    }

    /// Makes a request, and returns any answer.
    pub async fn send(
        &self,
        method: Method,
        more: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> reqwest::Result<Response> {
        let mut request = self.client.request(method, self.address.url().clone());
        if let Some(Token(value)) = &self.token {
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(cookies) = self.cookies() {
            request = request.header(COOKIE, cookies);
        }
        let answer = more(request).send().await?;
        self.keep_cookies(answer.headers());
        Ok(answer)
    }

    /// An error that names the address.
    pub fn error(&self, why: Cause) -> RemoteError {
        RemoteError::new(&self.address.to_string(), why)
    }

    /// The error of a request without a complete answer.
    pub fn broken(&self, error: &reqwest::Error) -> RemoteError {
        self.error(cause(error))
    }

    /// The error of a request with this answer.
    pub async fn refused(&self, answer: Response) -> RemoteError {
        let status = answer.status();
        let explanation = explanation(answer).await;
        self.error(Cause::Status {
            status,
            with_token: self.token.is_some(),
            explanation,
        })
    }

    fn cookies(&self) -> Option<HeaderValue> {
        let cookies = self.cookies.lock();
        let pairs = cookies
            .iter()
            .map(|(name, value)| [name, &b"="[..], value].concat());
        let pairs: Vec<_> = pairs.collect();
        let value = HeaderValue::from_bytes(&pairs.join(&b"; "[..])).ok();
        value.filter(|_| !pairs.is_empty())
    }

    fn keep_cookies(&self, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock();
        for value in headers.get_all(SET_COOKIE) {
            let pair = value.as_bytes().split(|byte| *byte == b';').next();
            let pair = pair.unwrap_or_default();
            let Some(equals) = memchr::memchr(b'=', pair).filter(|at| *at > 0) else {
                continue;
            };
            let name = pair[..equals].trim_ascii().to_vec();
            let has_room = cookies.len() < COOKIES || cookies.contains_key(&name);
            if pair.len() <= COOKIE_LEN && has_room {
                cookies.insert(name, pair[equals + 1..].trim_ascii().to_vec());
            }
        }
    }
}

/// The beginning of a server's explanation of an error; of a redirect, where it leads.
pub async fn explanation(mut answer: Response) -> String {
    let location = answer.headers().get(LOCATION);
    if let Some(location) = location.filter(|_| answer.status().is_redirection()) {
        let location = String::from_utf8_lossy(location.as_bytes());
        return Untrusted::within(&location, MAX_QUOTE).to_string();
    }
    let mut text = Vec::new();
    while let Ok(Some(part)) = answer.chunk().await {
        text.extend_from_slice(&part[..part.len().min(EXPLANATION - text.len())]);
        if text.len() == EXPLANATION {
            break;
        }
    }
    Untrusted::within(String::from_utf8_lossy(&text).trim(), MAX_QUOTE).to_string()
}

/// The pause that an overloaded server requests.
pub fn requested_pause(answer: &Response) -> Option<Duration> {
    let is_full = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    let text = |name| answer.headers().get(name)?.to_str().ok();
    let after = text(RETRY_AFTER).filter(|_| is_full.contains(&answer.status()))?;
    let date = text(DATE).and_then(|date| parse_http_date(date).ok());
    pause_until(after, date.unwrap_or_else(SystemTime::now))
}

/// Parses a pause in seconds or as a date (RFC 9110, 10.2.3). The time is the server's: its clock may differ from
/// ours.
fn pause_until(after: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = after.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = parse_http_date(after.trim()).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Whether a status comes from an intermediary, which may reach the server again.
pub fn is_of_gateway(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_in_seconds_or_a_date() {
        let now = parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (after, seconds) in [
            ("5", Some(5)),
            (" 0 ", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sunday, 06-Nov-94 08:49:38 GMT", Some(1)),
            // It is in the past.
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("soon", None),
            ("-1", None),
            ("", None),
        ] {
            let pause = pause_until(after, now);
            assert_eq!(pause, seconds.map(Duration::from_secs), "{after}");
        }
    }
}
