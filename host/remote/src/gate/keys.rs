//! The keys that verify clients. They change at run time, and come from another process, as a serving process may not
//! open files.

use std::collections::{BTreeMap, HashMap};

use jsonwebtoken::jwk::Jwk;
use serde::{Deserialize, Serialize};

use super::admissions::{Proof, ProofSource};
use super::jwt::{Issuer, Key};
use super::tokens::Token;
use super::{Digest, User};

/// How many keys of an issuer are used: a token without one of their names has them all tried.
const KEYS: usize = 32;

/// All keys that verify users, and the server's own certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// The lines of the file of tokens.
    #[serde(default)]
    pub tokens: Vec<Token>,
    /// The keys of the issuers, by their names.
    #[serde(default)]
    pub jwks: BTreeMap<String, Jwks>,
    /// The server's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PemPair>,
}

/// A certificate and its private key: PEM texts.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PemPair {
    /// The certificate and its chain.
    pub cert: String,
    /// The private key.
    pub key: String,
}

impl std::fmt::Debug for PemPair {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("PemPair")
    }
}

/// The usable keys of an issuer (RFC 7517).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Jwks(Vec<Jwk>);

/// Why a document has no usable keys.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// The document is not a JWK set.
    #[error("this is not a JWK set: {0}")]
    Syntax(#[from] serde_json::Error),
    /// The set has no usable key.
    #[error(
        "none of its {0} keys can be used: expected RSA of 2048 bits or more, EC on P-256 or P-384, or Ed25519"
    )]
    Empty(usize),
}

impl Jwks {
    /// Reads a document, and leaves out unusable keys.
    pub fn read(document: &[u8]) -> Result<Self, JwksError> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<serde_json::Value>,
        }
        let document: Document = serde_json::from_slice(document)?;
        let count = document.keys.len();
        // Unsupported keys are skipped.
        let keys = document.keys.into_iter();
        let keys = keys.filter_map(|key| serde_json::from_value(key).ok());
        let keys: Vec<Jwk> = keys
            .filter(|jwk| Key::new(jwk).is_some())
            .take(KEYS)
            .collect();
        if keys.is_empty() {
            Err(JwksError::Empty(count))
        } else {
            Ok(Self(keys))
        }
    }
}

/// Keys, prepared for lookup.
#[derive(Debug, Default)]
pub struct KeyIndex {
    /// By the hashes of tokens. To learn from timing, an attacker would have to choose tokens by their hashes.
    tokens: HashMap<Digest, User>,
    /// In the order of the issuers.
    pub keys: Vec<Vec<Key>>,
}

impl KeyIndex {
    pub fn new(mut keys: Keys, issuers: &[Issuer]) -> Self {
        let tokens = keys.tokens.into_iter().map(Token::into_entry);
        let keys = issuers.iter().map(|issuer| {
            let Jwks(jwks) = keys.jwks.remove(&issuer.issuer).unwrap_or(Jwks(Vec::new()));
            jwks.iter().filter_map(Key::new).collect()
        });
        Self {
            tokens: tokens.collect(),
            keys: keys.collect(),
        }
    }

    /// The proof of a token, by its hash.
    pub fn token(&self, digest: Digest) -> Option<Proof> {
        let user = self.tokens.get(&digest)?.clone();
        Some(Proof {
            digest,
            user,
            until: None,
            by: ProofSource::Token,
        })
    }

    /// Whether what verifies a proof still exists, unchanged.
    pub fn has(&self, proof: &Proof) -> bool {
        match &proof.by {
            ProofSource::Token => self.tokens.get(&proof.digest) == Some(&proof.user),
            ProofSource::Key(issuer, jwk) => {
                let keys = self.keys.get(*issuer);
                keys.is_some_and(|keys| keys.iter().any(|key| key.jwk == *jwk))
            }
            ProofSource::Authority => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_keys_are_skipped() {
        let read = |text: &str| Jwks::read(text.as_bytes()).map(|Jwks(keys)| keys.len());
        let key =
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let others = [
            r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"x"}"#,
            r#"{"kty":"OKP","crv":"X25519","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}"#,
            r#"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#,
            r#"{"kty":"oct","k":"AAAA"}"#,
            r#"{"kid":7}"#,
            r#"{"kty":"OKP","crv":"Ed25519","use":"enc","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            "null",
        ];
        let all = others.join(",");
        assert_eq!(read(&format!(r#"{{"keys":[{all},{key}]}}"#)).unwrap(), 1);
        let many = [key; 100].join(",");
        assert_eq!(read(&format!(r#"{{"keys":[{many}]}}"#)).unwrap(), KEYS);
        for (nothing, expected) in [
            (format!(r#"{{"keys":[{all}]}}"#), "none of its 7 keys"),
            (r#"{"keys":[]}"#.to_owned(), "none of its 0 keys"),
            ("{}".to_owned(), "not a JWK set"),
            ("<html>".to_owned(), "not a JWK set"),
        ] {
            let error = read(&nothing).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn keys_cross_a_pipe_on_one_line_and_show_no_secret_in_a_log() {
        let (token, secret) = Token::make("alice", vec!["staff".to_owned()]).unwrap();
        let document = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let keys = Keys {
            tokens: vec![token],
            jwks: BTreeMap::from([("i".to_owned(), Jwks::read(document.as_bytes()).unwrap())]),
            certificate: Some(PemPair {
                cert: "a\nb\n".to_owned(),
                key: "hunter2".to_owned(),
            }),
        };
        let line = serde_json::to_string(&keys).unwrap();
        assert!(!line.contains('\n') && !line.contains(&secret));
        assert_eq!(serde_json::from_str::<Keys>(&line).unwrap(), keys);
        assert!(!format!("{keys:?}").contains("hunter2"));
    }
}
