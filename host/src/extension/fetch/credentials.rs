//! Passwords for registries, from Docker's configuration and its helpers, and answers to registries' authentication
//! challenges.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docker_credential::{CredentialRetrievalError as Error, DockerCredential};
use http_auth::{ChallengeRef, parse_challenges};
use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;

use super::web::may_lead;
use super::{FetchError, Registry};
use crate::limits::REGISTRY_ANSWER;

/// The name under which Docker stores the password of its own registry.
const DOCKER_HUB: (&str, &str) = ("registry-1.docker.io", "index.docker.io");

/// The answer of a token service.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Registry<'_> {
    /// The header that authenticates us, after a challenge; `None` if the registry names no usable scheme, or there is
    /// no password.
    pub(super) async fn authorize(
        &self,
        headers: &HeaderMap,
        repository: &str,
        actions: &str,
    ) -> Result<Option<HeaderValue>, FetchError> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter();
        let texts = texts.filter_map(|value| value.to_str().ok());
        let challenges = texts
            .filter_map(|text| parse_challenges(text).ok())
            .flatten();
        let mut challenges: Vec<_> = challenges.collect();
        // A token reveals less than a password.
        challenges.sort_by_key(|challenge| !challenge.scheme.eq_ignore_ascii_case("bearer"));
        let Some(challenge) = challenges.first() else {
            return Ok(None);
        };
        let credential = credential(&self.name).await?;
        match challenge.scheme.to_ascii_lowercase().as_str() {
            "bearer" => {
                let scope = format!("repository:{repository}:{actions}");
                let token = self.token(challenge, &scope, credential).await?;
                Ok(Some(header(&format!("Bearer {token}"), self)?))
            }
            "basic" => match credential {
                Some(DockerCredential::UsernamePassword(user, password)) => {
                    let encoded = STANDARD.encode(format!("{user}:{password}"));
                    Ok(Some(header(&format!("Basic {encoded}"), self)?))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// A token from the service that the registry names.
    async fn token(
        &self,
        challenge: &ChallengeRef<'_>,
        scope: &str,
        credential: Option<DockerCredential>,
    ) -> Result<String, FetchError> {
        let of = |name: &str| {
            let mut params = challenge.params.iter();
            let found = params.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_unescaped())
        };
        let url = of("realm")
            .and_then(|realm| Url::parse(&realm).ok())
            .filter(|url| may_lead(&self.base, url));
        let Some(mut url) = url else {
            return Err(self.malformed("it names no `https:` address at which to ask for a token"));
        };
        let service = of("service").unwrap_or_default();
        let what = format!("{} (for {})", url.host_str().unwrap_or_default(), self.name);
        let client = self.web.direct();
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
        token.ok_or_else(|| self.malformed("its token service returns none"))
    }
}

fn header(text: &str, registry: &Registry<'_>) -> Result<HeaderValue, FetchError> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| registry.malformed("its token cannot be sent back to it"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The user's credentials for a registry. A helper is a program, and may prompt the user.
async fn credential(registry: &str) -> Result<Option<DockerCredential>, FetchError> {
    let (host, key) = DOCKER_HUB;
    let name = if registry == host { key } else { registry }.to_owned();
    let found = tokio::task::spawn_blocking(move || docker_credential::get_credential(&name)).await;
    let wrong = |why: String| FetchError::Credentials {
        registry: registry.to_owned(),
        why,
    };
    match found.map_err(|error| wrong(error.to_string()))? {
        Ok(credential) => Ok(Some(credential)),
        Err(Error::ConfigNotFound | Error::NoCredentialConfigured | Error::ConfigReadError) => {
            Ok(None)
        }
        // A helper's answer if it has no credentials.
        Err(Error::HelperFailure { stdout, .. }) if stdout.contains("credentials not found") => {
            Ok(None)
        }
        Err(Error::HelperFailure { helper, stderr, .. }) => {
            Err(wrong(format!("`{helper}` failed: {stderr}")))
        }
        Err(error) => Err(wrong(error.to_string())),
    }
}
