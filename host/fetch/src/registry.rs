//! OCI registries, by the distribution specification, version 1.1. Many do not support referrers, in different ways:
//! then no signature is found, and [`Fetched::unread`] has the reason.

use std::path::PathBuf;
use std::sync::OnceLock;

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, LINK};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use super::credentials::Authorization;
use super::layout::{self, DOCKER_MANIFEST, Descriptor, INDEX, List, MANIFEST, Manifest};
use super::{Cause, FetchError, Fetched, ProgressCallback, Web, passwords};
use acp_chain_channel::limits::{COMPONENT, REGISTRY_ANSWER, SIGNATURE, SIGNATURES};
use acp_chain_extension::{Digest, Reference};

/// The usual name of Docker's registry, and its host.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// The actions of a token that may read a repository.
pub const PULL: &str = "pull";
pub const PUSH: &str = "pull,push";

/// The maximum number of pages of a list.
const PAGES: usize = 32;

/// A repository of a registry.
pub struct Registry<'w> {
    pub(super) web: &'w Web,
    /// The host, with its port.
    pub(super) name: String,
    pub(super) repository: String,
    pub(super) base: Url,
    /// The actions that a token must allow.
    pub(super) actions: &'static str,
    /// The header that answers the registry's challenge; `None` before one.
    pub(super) authorization: Mutex<Option<HeaderValue>>,
    /// The files that may contain the user's password.
    pub(super) files: Vec<PathBuf>,
    /// Why the user's password cannot be used.
    pub(super) unusable: OnceLock<String>,
}

impl<'w> Registry<'w> {
    /// The repository of an artifact. Only local registries are contacted without encryption.
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
        let base = base.map_err(|_| Cause::Malformed("it is not a host").of(name))?;
        Ok(Self {
            web,
            name: name.to_owned(),
            repository: repository.clone(),
            base,
            actions,
            authorization: Mutex::default(),
            files: passwords::files(),
            unusable: OnceLock::new(),
        })
    }

    /// Fetches the component of a reference, and its signatures.
    pub async fn fetch(
        &self,
        reference: &Reference,
        seen: ProgressCallback<'_>,
    ) -> Result<Fetched, FetchError> {
        let what = reference.to_string();
        let text = self.manifest(&reference.version()).await?;
        let digest = Digest::of(&text);
        if let Some(expected) = reference.digest {
            check(&what, expected, digest)?;
        }
        let layout = |found| Cause::Layout(found).of(&what);
        let manifest: Manifest = self
            .parse(&text)
            .map_err(|_| layout("no manifest of a single artifact".to_owned()))?;
        let layer = manifest.component().map_err(layout)?;
        let component = self.blob(layer, COMPONENT, seen).await?;
        let mut fetched = Fetched {
            digest: layer.digest,
            component,
            manifest: Some(digest),
            signatures: Vec::new(),
            unread: None,
        };
        self.read_signatures(&digest, &mut fetched).await?;
        Ok(fetched)
    }

    /// Reads the signatures of an artifact whose manifest has this digest.
    async fn read_signatures(
        &self,
        subject: &Digest,
        fetched: &mut Fetched,
    ) -> Result<(), FetchError> {
        let referrers = match self.referrers(subject).await {
            Err(error) if error.is_final() => {
                fetched.unread = Some(error.to_string());
                return Ok(());
            }
            referrers => referrers?,
        };
        let kind = Some(layout::SIGNATURE);
        let ours = referrers
            .into_iter()
            .filter_map(|found| serde_json::from_value::<Descriptor>(found).ok())
            .filter(|found| found.artifact_type.as_deref() == kind);
        for found in ours.take(SIGNATURES) {
            match self.signature(&found, subject).await {
                Err(error) if error.is_final() => fetched.unread = Some(error.to_string()),
                signature => fetched.signatures.extend(signature?),
            }
        }
        Ok(())
    }

    /// Fetches a signature; `None` if it is not one of this artifact.
    async fn signature(
        &self,
        found: &Descriptor,
        subject: &Digest,
    ) -> Result<Option<String>, FetchError> {
        let text = self.manifest(&found.digest.to_string()).await?;
        check(&self.name, found.digest, Digest::of(&text))?;
        let manifest: Manifest = self.parse(&text)?;
        // An index may list signatures of other artifacts.
        let is_of = manifest.subject.is_some_and(|of| of.digest == *subject);
        let (true, [layer]) = (is_of, &manifest.layers[..]) else {
            return Ok(None);
        };
        let text = self.blob(layer, SIGNATURE, &|_, _| {}).await?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// The referrers of a manifest: from the registry's API, or else from a tag.
    async fn referrers(&self, subject: &Digest) -> Result<Vec<Value>, FetchError> {
        match self.list(&format!("referrers/{subject}")).await {
            Err(error) if error.is_final() => {
                let tagged = self.tagged(subject).await?;
                let is_usual = matches!(error.status(), Some(404 | 405));
                if tagged.is_empty() && !is_usual {
                    Err(error)
                } else {
                    Ok(tagged)
                }
            }
            listed => listed,
        }
    }

    /// The referrers that a tag lists. Clients maintain that tag in registries before version 1.1.
    pub(super) async fn tagged(&self, subject: &Digest) -> Result<Vec<Value>, FetchError> {
        match self.list(&format!("manifests/{}", tag_of(subject))).await {
            Err(error) if error.status() == Some(404) => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// All pages of a list of manifests.
    async fn list(&self, path: &str) -> Result<Vec<Value>, FetchError> {
        let mut url = self.url(path)?;
        let mut listed = Vec::new();
        for _ in 0..PAGES {
            let answer = self.ask(&url, INDEX).await?;
            let next = next(&url, answer.headers());
            let page: List = self.parse(&self.text(&url, answer).await?)?;
            listed.extend(page.manifests.into_iter().flatten());
            let Some(next) = next else { return Ok(listed) };
            // The request for the next page would have the user's password.
            if next.origin() != url.origin() {
                return Err(self.malformed("a page of its list of referrers is on another server"));
            }
            url = next;
        }
        Err(self.malformed("its list of referrers does not end"))
    }

    async fn manifest(&self, version: &str) -> Result<Vec<u8>, FetchError> {
        let kinds = [MANIFEST, DOCKER_MANIFEST, INDEX].join(", ");
        self.get(&format!("manifests/{version}"), &kinds).await
    }

    /// Fetches a text at a path of the repository.
    async fn get(&self, path: &str, kinds: &str) -> Result<Vec<u8>, FetchError> {
        let url = self.url(path)?;
        let answer = self.ask(&url, kinds).await?;
        self.text(&url, answer).await
    }

    /// Requests a text of these media types.
    async fn ask(&self, url: &Url, kinds: &str) -> Result<Response, FetchError> {
        let client = &self.web.client;
        let answer = self
            .send(|| client.get(url.clone()).header(ACCEPT, kinds))
            .await?;
        self.accept(url.as_str(), answer).await
    }

    /// The answer, if it is not an error.
    pub(super) async fn accept(
        &self,
        what: &str,
        answer: Response,
    ) -> Result<Response, FetchError> {
        let accepted = self.web.accept(what, answer).await;
        accepted.map_err(|error| self.explained(error))
    }

    /// Reads the text of an answer.
    async fn text(&self, url: &Url, answer: Response) -> Result<Vec<u8>, FetchError> {
        let most = REGISTRY_ANSWER as u64;
        self.web.body(url.as_str(), answer, most, &|_, _| {}).await
    }

    /// Fetches a blob, and checks its size and digest.
    pub(super) async fn blob(
        &self,
        blob: &Descriptor,
        most: usize,
        seen: ProgressCallback<'_>,
    ) -> Result<Vec<u8>, FetchError> {
        let url = self.url(&format!("blobs/{}", blob.digest))?;
        let what = url.as_str();
        let most = most as u64;
        if blob.size > most {
            return Err(Cause::TooLarge(most).of(what));
        }
        let answer = self.send(|| self.web.client.get(url.clone())).await?;
        let answer = self.accept(what, answer).await?;
        let bytes = self.web.body(what, answer, blob.size, seen).await?;
        check(what, blob.digest, Digest::of(&bytes))?;
        Ok(bytes)
    }

    /// The URL of a path in the repository.
    pub(super) fn url(&self, path: &str) -> Result<Url, FetchError> {
        let url = self.base.join(path);
        url.map_err(|_| self.malformed("its answer is not part of a URL"))
    }

    /// Sends a request, and repeats it with an answer to the registry's challenge: with the user's password, or else
    /// without.
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
        let Some(ours) = self.authorize(first.headers()).await? else {
            return Ok(first);
        };
        let Authorization { header, is_of_user } = ours;
        let header = authorization.insert(header);
        let second = self.web.send(&self.name, request(), Some(header)).await?;
        // The password may be for another repository, and this one may be public.
        let is_refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
        if !is_of_user || self.actions != PULL || !is_refused.contains(&second.status()) {
            return Ok(second);
        }
        let Some(anonymous) = self.anonymous(first.headers()).await? else {
            return Ok(second);
        };
        let status = second.status().as_u16();
        self.record_unusable(format!("with it, the server answers {status}"));
        let header = authorization.insert(anonymous.header);
        self.web.send(&self.name, request(), Some(header)).await
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, text: &[u8]) -> Result<T, FetchError> {
        let parsed = serde_json::from_slice(text);
        parsed.map_err(|_| self.malformed("its answer does not follow the specification"))
    }

    pub(super) fn malformed(&self, wrong: &'static str) -> FetchError {
        Cause::Malformed(wrong).of(&self.name)
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

/// Whether content has the expected digest.
pub fn check(what: &str, expected: Digest, actual: Digest) -> Result<(), FetchError> {
    if expected == actual {
        Ok(())
    } else {
        Err(Cause::OtherDigest { expected, actual }.of(what))
    }
}
