//! OCI registries, by the distribution specification, version 1.1.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, LINK};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use super::layout::{self, DOCKER_MANIFEST, Descriptor, INDEX, Index, MANIFEST, Manifest};
use super::{FetchError, Fetched, Seen, Web};
use crate::extension::{Digest, Reference};
use crate::limits::{COMPONENT, REGISTRY_ANSWER, SIGNATURE, SIGNATURES};

/// The usual name of Docker's registry, and its host.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// The action needed to read a repository.
pub const PULL: &str = "pull";
pub const PUSH: &str = "pull,push";

/// The most pages of a list that are read.
const PAGES: usize = 32;

/// A repository of a registry.
pub struct Registry<'w> {
    pub(super) web: &'w Web,
    /// The host, with its port.
    pub(super) name: String,
    repository: String,
    pub(super) base: Url,
    /// The actions that we need there.
    actions: &'static str,
    /// The authorization, once the registry has asked for it.
    authorization: Mutex<Option<HeaderValue>>,
}

impl<'w> Registry<'w> {
    /// The repository of an artifact. Only this machine is contacted without encryption.
    pub fn new(
        web: &'w Web,
        reference: &Reference,
        actions: &'static str,
    ) -> Result<Self, FetchError> {
        let name = match reference.registry.as_str() {
            name if name == DOCKER_HUB.0 => DOCKER_HUB.1,
            name => name,
        };
        let scheme = if reference.is_local() {
            "http"
        } else {
            "https"
        };
        let repository = &reference.repository;
        let base = Url::parse(&format!("{scheme}://{name}/v2/{repository}/"));
        let base = base.map_err(|_| FetchError::Malformed {
            what: name.to_owned(),
            wrong: "it is not a host",
        })?;
        Ok(Self {
            web,
            name: name.to_owned(),
            repository: repository.clone(),
            base,
            actions,
            authorization: Mutex::default(),
        })
    }

    /// The component of a reference.
    pub async fn fetch(
        &self,
        reference: &Reference,
        seen: Seen<'_>,
    ) -> Result<Fetched, FetchError> {
        let what = reference.to_string();
        let text = self.manifest(&reference.version()).await?;
        let digest = Digest::of(&text);
        if let Some(expected) = reference.digest {
            check(&what, expected, digest)?;
        }
        let manifest: Manifest = self.parse(&text).map_err(|_| FetchError::Layout {
            what: what.clone(),
            found: "no manifest of a single artifact".to_owned(),
        })?;
        let layer = manifest
            .component()
            .map_err(|found| FetchError::Layout { what, found })?;
        let component = self.blob(layer, COMPONENT, seen).await?;
        Ok(Fetched {
            digest: layer.digest,
            component,
            manifest: Some(digest),
            signatures: self.signatures(&digest).await?,
        })
    }

    /// The signatures of the artifact whose manifest has this digest.
    async fn signatures(&self, subject: &Digest) -> Result<Vec<String>, FetchError> {
        let referrers = self.referrers(subject).await?;
        let kind = Some(layout::SIGNATURE);
        let ours = referrers
            .into_iter()
            .filter_map(|found| serde_json::from_value::<Descriptor>(found).ok())
            .filter(|found| found.artifact_type.as_deref() == kind);
        let mut signatures = Vec::new();
        for found in ours.take(SIGNATURES) {
            let text = self.manifest(&found.digest.to_string()).await?;
            check(&self.name, found.digest, Digest::of(&text))?;
            let manifest: Manifest = self.parse(&text)?;
            // The index itself proves nothing.
            let is_of = manifest.subject.is_some_and(|of| of.digest == *subject);
            if let (true, [layer]) = (is_of, &manifest.layers[..]) {
                let text = self.blob(layer, SIGNATURE, &|_, _| {}).await?;
                signatures.push(String::from_utf8_lossy(&text).into_owned());
            }
        }
        Ok(signatures)
    }

    /// The referrers of a manifest. Registries before version 1.1 have a tag instead.
    pub(super) async fn referrers(&self, subject: &Digest) -> Result<Vec<Value>, FetchError> {
        let mut url = self.url(&format!("referrers/{subject}"))?;
        let mut answer = match self.ask(&url, INDEX).await {
            Err(FetchError::Refused {
                status: 404 | 405, ..
            }) => {
                url = self.url(&format!("manifests/{}", tag_of(subject)))?;
                match self.ask(&url, INDEX).await {
                    Err(FetchError::Refused { status: 404, .. }) => return Ok(Vec::new()),
                    other => other?,
                }
            }
            other => other?,
        };
        let mut referrers = Vec::new();
        for _ in 0..PAGES {
            let next = next(&url, answer.headers());
            let page: Index = self.parse(&self.text(&url, answer).await?)?;
            referrers.extend(page.manifests);
            let Some(next) = next else {
                return Ok(referrers);
            };
            // We would send it our password.
            if next.origin() != url.origin() {
                return Err(
                    self.malformed("a page of what refers to the artifact is on another server")
                );
            }
            answer = self.ask(&next, INDEX).await?;
            url = next;
        }
        Err(self.malformed("its list of what refers to the artifact does not end"))
    }

    async fn manifest(&self, version: &str) -> Result<Vec<u8>, FetchError> {
        let kinds = [MANIFEST, DOCKER_MANIFEST, INDEX].join(", ");
        self.get(&format!("manifests/{version}"), &kinds).await
    }

    /// A text from the registry.
    async fn get(&self, path: &str, kinds: &str) -> Result<Vec<u8>, FetchError> {
        let url = self.url(path)?;
        let answer = self.ask(&url, kinds).await?;
        self.text(&url, answer).await
    }

    /// The answer to a request for a text.
    async fn ask(&self, url: &Url, kinds: &str) -> Result<Response, FetchError> {
        let client = self.web.client();
        let answer = self
            .send(|| client.get(url.clone()).header(ACCEPT, kinds))
            .await?;
        self.web.accept(url.as_str(), answer).await
    }

    /// The text of an answer.
    async fn text(&self, url: &Url, answer: Response) -> Result<Vec<u8>, FetchError> {
        let most = REGISTRY_ANSWER as u64;
        self.web.body(url.as_str(), answer, most, &|_, _| {}).await
    }

    /// A blob, checked against its stated size and digest.
    pub(super) async fn blob(
        &self,
        blob: &Descriptor,
        most: usize,
        seen: Seen<'_>,
    ) -> Result<Vec<u8>, FetchError> {
        let url = self.url(&format!("blobs/{}", blob.digest))?;
        let what = url.as_str();
        let most = most as u64;
        if blob.size > most {
            let what = what.to_owned();
            return Err(FetchError::TooLarge { what, most });
        }
        let answer = self.send(|| self.web.client().get(url.clone())).await?;
        let answer = self.web.accept(what, answer).await?;
        let bytes = self.web.body(what, answer, blob.size, seen).await?;
        check(what, blob.digest, Digest::of(&bytes))?;
        Ok(bytes)
    }

    /// The address of something in the repository.
    pub(super) fn url(&self, path: &str) -> Result<Url, FetchError> {
        let url = self.base.join(path);
        url.map_err(|_| self.malformed("what it sends is not part of an address"))
    }

    /// Sends a request, and repeats it with the authorization that the registry asks for.
    pub(super) async fn send(
        &self,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, FetchError> {
        let mut authorization = self.authorization.lock().await;
        let first = self
            .web
            .send(&self.name, request(), authorization.as_ref())
            .await?;
        if first.status() != StatusCode::UNAUTHORIZED {
            return Ok(first);
        }
        let wanted = self
            .authorize(first.headers(), &self.repository, self.actions)
            .await?;
        match wanted {
            None => Ok(first),
            Some(wanted) => {
                let wanted = authorization.insert(wanted);
                self.web.send(&self.name, request(), Some(wanted)).await
            }
        }
    }

    /// Sets the authorization, as if the registry had asked for it.
    #[cfg(test)]
    pub(super) async fn let_in(&self, authorization: &'static str) {
        *self.authorization.lock().await = Some(HeaderValue::from_static(authorization));
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, FetchError> {
        let parsed = serde_json::from_slice(text);
        parsed.map_err(|_| self.malformed("its answer does not follow the specification"))
    }

    pub(super) fn malformed(&self, wrong: &'static str) -> FetchError {
        FetchError::Malformed {
            what: self.name.clone(),
            wrong,
        }
    }
}

/// The address of the next page of a list.
fn next(page: &Url, headers: &HeaderMap) -> Option<Url> {
    let texts = headers.get_all(LINK).iter();
    let texts = texts.filter_map(|value| value.to_str().ok());
    let mut links = texts
        .flat_map(|text| text.split('<').skip(1))
        .filter_map(|link| link.split_once('>'));
    let is_next = |about: &str| about.replace('"', "").contains("rel=next");
    let (next, _) = links.find(|(_, about)| is_next(about))?;
    page.join(next).ok()
}

/// The tag of a manifest's referrers, in registries before version 1.1.
pub fn tag_of(subject: &Digest) -> String {
    subject.to_string().replace(':', "-")
}

fn check(what: &str, expected: Digest, actual: Digest) -> Result<(), FetchError> {
    match expected == actual {
        true => Ok(()),
        false => Err(FetchError::OtherDigest {
            what: what.to_owned(),
            expected,
            actual,
        }),
    }
}
