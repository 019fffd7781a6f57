//! Answers registries' authentication challenges. If the user's password cannot be used, a public repository is read
//! without one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docker_credential::DockerCredential;
use http_auth::{ChallengeRef, parse_challenges};
use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;

use super::FetchError;
use super::passwords::find;
use super::registry::Registry;
use acp_chain_address::may_redirect;
use acp_chain_channel::limits::REGISTRY_ANSWER;

/// The supported schemes, the preferred one first: a token reveals less than a password.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

/// The answer of a token service.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// The answer to a challenge.
pub struct Authorization {
    pub header: HeaderValue,
    /// Whether it authenticates the user, instead of being anonymous.
    pub is_of_user: bool,
}

impl Registry<'_> {
    /// Answers the challenge in these headers; `None` if the registry names no supported scheme, or a scheme that needs
    /// a password when there is none.
    pub(super) async fn authorize(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Authorization>, FetchError> {
        let Some(challenge) = &challenge(headers) else {
            return Ok(None);
        };
        let found = find(&self.files, &self.name, &self.repository).await;
        let credential = found.unwrap_or_else(|wrong| {
            self.record_unusable(wrong);
            None
        });
        let is_bearer = challenge.scheme.eq_ignore_ascii_case("bearer");
        let header = match credential {
            Some(credential) if is_bearer => match self.token(challenge, Some(credential)).await {
                // The password may have expired.
                Err(refused) if refused.is_final() => {
                    self.record_unusable(refused.to_string());
                    return self.anonymous(headers).await;
                }
                token => token?,
            },
            Some(DockerCredential::UsernamePassword(user, password)) => {
                let encoded = STANDARD.encode(format!("{user}:{password}"));
                header(&format!("Basic {encoded}"), self)?
            }
            None if is_bearer => return self.anonymous(headers).await,
            Some(DockerCredential::IdentityToken(_)) | None => return Ok(None),
        };
        Ok(Some(Authorization {
            header,
            is_of_user: true,
        }))
    }

    /// Answers the challenge in these headers without a password; `None` if that is impossible.
    pub(super) async fn anonymous(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<Authorization>, FetchError> {
        match &challenge(headers) {
            Some(challenge) if challenge.scheme.eq_ignore_ascii_case("bearer") => {
                let token = self.token(challenge, None).await;
                Ok(Some(Authorization {
                    header: token.map_err(|error| self.explained(error))?,
                    is_of_user: false,
                }))
            }
            _ => Ok(None),
        }
    }

    /// Records why the user's password cannot be used.
    pub(super) fn record_unusable(&self, why: String) {
        // The first reason is the cause of later ones.
        let _ = self.unusable.set(why);
    }

    /// Adds to an error of the server why the user's password was not used, if there is a reason.
    pub(super) fn explained(&self, error: FetchError) -> FetchError {
        match self.unusable.get() {
            Some(why) if matches!(error.status(), Some(401 | 403 | 404)) => {
                FetchError::Credentials(error.into(), why.clone())
            }
            _ => error,
        }
    }

    /// Requests a token from the service that the challenge names.
    async fn token(
        &self,
        challenge: &ChallengeRef<'_>,
        credential: Option<DockerCredential>,
    ) -> Result<HeaderValue, FetchError> {
        let of = |name: &str| {
            let mut params = challenge.params.iter();
            let found = params.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_unescaped())
        };
        let url = of("realm")
            .and_then(|realm| Url::parse(&realm).ok())
            .filter(|url| may_redirect(&self.base, url));
        let Some(mut url) = url else {
            return Err(self.malformed("it names no `https:` address of a token service"));
        };
        let service = of("service").unwrap_or_default();
        let scope = &*format!("repository:{}:{}", self.repository, self.actions);
        let what = format!("{} (for {})", url.host_str().unwrap_or_default(), self.name);
        let client = &self.web.direct;
        let request: RequestBuilder = match credential {
            Some(DockerCredential::IdentityToken(token)) => {
                let mut form = url.clone();
                form.query_pairs_mut().clear().extend_pairs([
                    ("grant_type", "refresh_token"),
                    ("service", &service),
                    ("client_id", "acp-chain"),
                    ("scope", scope),
                    ("refresh_token", &token),
                ]);
                let form = form.query().unwrap_or_default().to_owned();
                let of_form = "application/x-www-form-urlencoded";
                client.post(url).header("content-type", of_form).body(form)
            }
            credential => {
                url.query_pairs_mut()
                    .append_pair("service", &service)
                    .append_pair("scope", scope);
                match credential {
                    Some(DockerCredential::UsernamePassword(user, password)) => {
                        client.get(url).basic_auth(user, Some(password))
                    }
                    _ => client.get(url),
                }
            }
        };
        let answer = self.web.send(&what, request, None).await?;
        let answer = self.web.accept(&what, answer).await?;
        let body = self
            .web
            .body(&what, answer, REGISTRY_ANSWER as u64, &|_, _| {})
            .await?;
        let token: Option<Token> = serde_json::from_slice(&body).ok();
        let token = token.and_then(|token| token.token.or(token.access_token));
        let token = token.ok_or_else(|| self.malformed("its token service returns none"))?;
        header(&format!("Bearer {token}"), self)
    }
}

/// The challenge to answer.
fn challenge(headers: &HeaderMap) -> Option<ChallengeRef<'_>> {
    let texts = headers.get_all(WWW_AUTHENTICATE).iter();
    let texts = texts.filter_map(|value| value.to_str().ok());
    let challenges = texts
        .filter_map(|text| parse_challenges(text).ok())
        .flatten();
    let known = challenges.filter(|challenge| rank(challenge).is_some());
    known.min_by_key(rank)
}

fn rank(challenge: &ChallengeRef<'_>) -> Option<usize> {
    let mut schemes = SCHEMES.iter();
    schemes.position(|scheme| challenge.scheme.eq_ignore_ascii_case(scheme))
}

fn header(text: &str, registry: &Registry<'_>) -> Result<HeaderValue, FetchError> {
    let value = HeaderValue::from_str(text);
    let mut value =
        value.map_err(|_| registry.malformed("its token cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_challenge_of_a_known_scheme_is_answered() {
        let best = |texts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for &text in texts {
                headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(text));
            }
            challenge(&headers).map(|challenge| challenge.scheme.to_owned())
        };
        let (basic, bearer) = ("Basic realm=\"it\"", "Bearer realm=\"https://it\"");
        assert_eq!(best(&["Negotiate"]), None);
        assert_eq!(best(&["Negotiate", basic]).as_deref(), Some("Basic"));
        let all = ["Negotiate", basic, bearer];
        assert_eq!(best(&all).as_deref(), Some("Bearer"));
    }
}
