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

/// The names under which the password of Docker's own registry is stored: that of `docker login`, which helpers know
/// too, and that of other tools.
const DOCKER_HUB: (&str, [&str; 2]) = (
    "registry-1.docker.io",
    ["https://index.docker.io/v1/", "index.docker.io"],
);

/// The schemes that we know, the best one first: a token reveals less than a password.
const SCHEMES: [&str; 2] = ["bearer", "basic"];

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
        let Some(challenge) = &challenge(headers) else {
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
    let mut value = value.map_err(|_| registry.malformed("its token cannot be sent back to it"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The user's credentials for a registry. A helper is a program, and may prompt the user.
async fn credential(registry: &str) -> Result<Option<DockerCredential>, FetchError> {
    let (host, names) = DOCKER_HUB;
    let names = match registry == host {
        true => Vec::from(names.map(str::to_owned)),
        false => vec![registry.to_owned()],
    };
    let stored = move || stored(&names, docker_credential::get_credential);
    let found = tokio::task::spawn_blocking(stored).await;
    let wrong = |why: String| FetchError::Credentials {
        registry: registry.to_owned(),
        why,
    };
    match found.map_err(|error| wrong(error.to_string()))? {
        Ok(credential) => Ok(credential),
        Err(Error::HelperFailure { helper, stderr, .. }) => {
            Err(wrong(format!("`{helper}` failed: {stderr}")))
        }
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// The credentials under the first of these names that has any.
fn stored(
    names: &[String],
    get: impl Fn(&str) -> Result<DockerCredential, Error>,
) -> Result<Option<DockerCredential>, Error> {
    for name in names {
        match get(name) {
            Ok(credential) => return Ok(Some(credential)),
            Err(error) if is_none(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether there are just no credentials.
fn is_none(error: &Error) -> bool {
    match error {
        Error::ConfigNotFound | Error::NoCredentialConfigured | Error::ConfigReadError => true,
        // A helper's answer.
        Error::HelperFailure { stdout, .. } => stdout.contains("credentials not found"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use docker_credential::get_credential_from_reader;

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

    #[test]
    fn the_password_of_docker_hub_is_found_under_each_of_its_names() {
        let names = DOCKER_HUB.1.map(str::to_owned);
        let ours = DockerCredential::UsernamePassword("me".to_owned(), "secret".to_owned());
        for name in [
            "https://index.docker.io/v1/",
            "index.docker.io",
            "docker.io",
            "registry-1.docker.io",
        ] {
            let config = format!(r#"{{"auths":{{"{name}":{{"auth":"bWU6c2VjcmV0"}}}}}}"#);
            let get = |name: &str| get_credential_from_reader(config.as_bytes(), name);
            let found = stored(&names, get).unwrap();
            assert_eq!(found.as_ref(), Some(&ours), "{name}");
        }
        // As of `docker-credential-pass`.
        let helper = |name: &str| match name {
            "https://index.docker.io/v1/" => Ok(DockerCredential::IdentityToken(String::new())),
            _ => Err(Error::HelperFailure {
                helper: "pass".to_owned(),
                stdout: "credentials not found in native keychain\n".to_owned(),
                stderr: String::new(),
            }),
        };
        assert!(stored(&names, helper).unwrap().is_some());
        assert_eq!(stored(&names[1..], helper), Ok(None));
    }
}
