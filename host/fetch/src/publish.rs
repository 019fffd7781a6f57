//! Uploads an extension and its signature to a registry, in the layout of `wkg oci push`.

use std::collections::BTreeMap;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use serde_json::json;

use super::layout::{
    self, Descriptor, EMPTY_CONFIG, INDEX, Index, MANIFEST, Manifest, WASM_CONFIG, WASM_LAYER,
};
use super::registry::{PUSH, Registry, tag_of};
use super::{FetchError, Fetcher};
use acp_chain_extension::{Digest, Reference};

/// An extension to publish.
#[derive(Clone, Debug, Default)]
pub struct Artifact {
    /// The component.
    pub component: Vec<u8>,
    /// The interfaces that it imports.
    pub imports: Vec<String>,
    /// The interfaces that it exports.
    pub exports: Vec<String>,
    /// The OCI annotations, by name.
    pub annotations: BTreeMap<String, String>,
    /// A minisign signature of the component.
    pub signature: Option<String>,
}

/// A published extension.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The digest of the component.
    pub component: Digest,
}

impl Fetcher {
    /// Uploads an artifact to a registry. Equal artifacts have the same digest.
    pub async fn publish(
        &self,
        reference: &Reference,
        artifact: &Artifact,
    ) -> Result<Published, FetchError> {
        let registry = Registry::new(self.web(reference)?, reference, PUSH)?;
        let component = Digest::of(&artifact.component);
        let config = json!({
            // A constant date, so that equal artifacts have the same digest.
            "created": "1970-01-01T00:00:00Z",
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [component],
            "component": { "imports": artifact.imports, "exports": artifact.exports },
        });
        let config = registry
            .push(WASM_CONFIG, config.to_string().as_bytes())
            .await?;
        let layer = registry.push(WASM_LAYER, &artifact.component).await?;
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: None,
            config,
            layers: vec![layer],
            subject: None,
            annotations: artifact.annotations.clone(),
        };
        let published = registry
            .put(&reference.version(), MANIFEST, &manifest)
            .await?
            .0;
        if let Some(signature) = &artifact.signature {
            registry.sign(&published, signature).await?;
        }
        Ok(Published {
            manifest: published.digest,
            component,
        })
    }
}

impl Registry<'_> {
    /// Uploads a signature that refers to a manifest.
    async fn sign(&self, subject: &Descriptor, signature: &str) -> Result<(), FetchError> {
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(layout::SIGNATURE.to_owned()),
            config: self.push(EMPTY_CONFIG, b"{}").await?,
            layers: vec![self.push(layout::SIGNATURE, signature.as_bytes()).await?],
            subject: Some(subject.clone()),
            annotations: BTreeMap::new(),
        };
        let digest = Digest::of(&text(&manifest));
        let (mut referrer, lists) = self.put(&digest.to_string(), MANIFEST, &manifest).await?;
        if lists {
            return Ok(());
        }
        // The registry does not list referrers, so the client updates the tag.
        referrer.artifact_type = manifest.artifact_type;
        let mut manifests = self.tagged(&subject.digest).await?;
        let digest = json!(referrer.digest);
        if manifests
            .iter()
            .any(|known| known.get("digest") == Some(&digest))
        {
            return Ok(());
        }
        manifests.push(json!(referrer));
        let index = Index {
            schema_version: 2,
            media_type: Some(INDEX.to_owned()),
            manifests,
        };
        self.put(&tag_of(&subject.digest), INDEX, &index).await?;
        Ok(())
    }

    /// Uploads a blob, unless the repository has it.
    async fn push(&self, media_type: &str, bytes: &[u8]) -> Result<Descriptor, FetchError> {
        let descriptor = Descriptor::of(media_type, bytes);
        let digest = descriptor.digest.to_string();
        let client = &self.web.client;
        let there = self.url(&format!("blobs/{digest}"))?;
        if self.send(|| client.head(there.clone())).await?.status() == StatusCode::OK {
            return Ok(descriptor);
        }
        let uploads = self.url("blobs/uploads/")?;
        let start = || client.post(uploads.clone()).header(CONTENT_LENGTH, 0);
        let begun = self
            .accept(uploads.as_str(), self.send(start).await?)
            .await?;
        let location = begun
            .headers()
            .get(LOCATION)
            .and_then(|place| place.to_str().ok());
        let place = location.and_then(|place| uploads.join(place).ok());
        // The request has the user's password, so it must go to the same host.
        let place = place.filter(|place| place.origin() == uploads.origin());
        let mut place =
            place.ok_or_else(|| self.malformed("its answer has no address for the upload"))?;
        place.query_pairs_mut().append_pair("digest", &digest);
        let body = bytes.to_vec();
        let put = || {
            let put = self.web.upload.put(place.clone());
            let put = put.body(body.clone());
            put.header(CONTENT_TYPE, "application/octet-stream")
        };
        self.accept(there.as_str(), self.send(put).await?).await?;
        Ok(descriptor)
    }

    /// Uploads a manifest; returns whether the registry lists referrers.
    async fn put<T: serde::Serialize>(
        &self,
        version: &str,
        media_type: &str,
        manifest: &T,
    ) -> Result<(Descriptor, bool), FetchError> {
        let text = text(manifest);
        let url = self.url(&format!("manifests/{version}"))?;
        let put = || {
            let put = self.web.client.put(url.clone()).body(text.clone());
            put.header(CONTENT_TYPE, media_type)
        };
        let answer = self.accept(url.as_str(), self.send(put).await?).await?;
        let lists = answer.headers().contains_key("oci-subject");
        Ok((Descriptor::of(media_type, &text), lists))
    }
}

fn text(manifest: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(manifest).unwrap_or_default()
}
