//! The layouts of extensions in registries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use acp_chain_extension::Digest;

/// The media type of a manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The media type of an index, a list of manifests.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The media type of a manifest before OCI.
pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// The configuration of the CNCF's WebAssembly artifact, and its layer.
pub const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";
pub const WASM_LAYER: &str = "application/wasm";

/// The media types of layers pushed by older instructions for `oras push`.
const OLDER_LAYERS: [&str; 2] = [
    "application/vnd.wasm.content.layer.v1+wasm",
    "application/vnd.module.wasm.content.layer.v1+wasm",
];

/// The artifact type of a signature: its layer is a minisign file of the component.
pub const SIGNATURE: &str = "application/vnd.acp-chain.signature.v1+minisign";

/// The media type of an empty configuration.
pub const EMPTY_CONFIG: &str = "application/vnd.oci.empty.v1+json";

/// The descriptor of a blob or a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub media_type: String,
    pub digest: Digest,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

impl Descriptor {
    /// The descriptor of these bytes.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: Digest::of(bytes),
            size: bytes.len() as u64,
            artifact_type: None,
            annotations: BTreeMap::new(),
        }
    }
}

/// The manifest of an artifact.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub schema_version: u8,
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    pub config: Descriptor,
    pub layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// An index. Its manifests may be other programs', and of any form.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    pub schema_version: u8,
    pub media_type: Option<String>,
    pub manifests: Vec<Value>,
}

/// An index as registries send it: some have `null` or no member for an empty list.
#[derive(Debug, Deserialize)]
pub struct List {
    pub manifests: Option<Vec<Value>>,
}

impl Manifest {
    /// The descriptor of the component.
    ///
    /// # Errors
    /// If the artifact has another layout, which the error describes.
    pub fn component(&self) -> Result<&Descriptor, String> {
        let is_wasm = |layer: &&Descriptor| {
            let kind = layer.media_type.as_str();
            kind == WASM_LAYER || OLDER_LAYERS.contains(&kind)
        };
        match &self.layers[..] {
            [layer] if is_wasm(&layer) => Ok(layer),
            layers => {
                let layers: Vec<_> = layers.iter().map(|layer| &*layer.media_type).collect();
                let config = &self.config.media_type;
                Err(if layers.is_empty() {
                    format!("the configuration `{config}` and no layer")
                } else {
                    let layers = layers.join("`, `");
                    format!("the configuration `{config}` and the layers `{layers}`")
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn manifest(config: &str, layers: &[&str]) -> Manifest {
        let descriptor =
            |kind: &str| format!(r#"{{"mediaType":"{kind}","digest":"{HEX}","size":3}}"#);
        let layers: Vec<_> = layers.iter().map(|layer| descriptor(layer)).collect();
        let text = format!(
            r#"{{"schemaVersion":2,"config":{},"layers":[{}],"unknown":1}}"#,
            descriptor(config),
            layers.join(",")
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn both_common_layouts_are_supported() {
        for (config, layer) in [
            (WASM_CONFIG, WASM_LAYER),
            (EMPTY_CONFIG, WASM_LAYER),
            ("application/vnd.oci.image.config.v1+json", OLDER_LAYERS[0]),
            ("application/vnd.wasm.config.v1+json", OLDER_LAYERS[1]),
        ] {
            let manifest = manifest(config, &[layer]);
            assert_eq!(manifest.component().unwrap().digest.to_string(), HEX);
        }
    }

    #[test]
    fn an_error_describes_another_layout() {
        let image = manifest(
            "application/vnd.oci.image.config.v1+json",
            &["a/b+gzip", "c/d"],
        );
        assert_eq!(
            image.component().unwrap_err(),
            "the configuration `application/vnd.oci.image.config.v1+json` and the layers `a/b+gzip`, \
             `c/d`"
        );
        assert!(
            manifest(WASM_CONFIG, &[])
                .component()
                .unwrap_err()
                .ends_with("no layer")
        );
        assert!(manifest(WASM_CONFIG, &[WASM_LAYER; 2]).component().is_err());
    }
}
