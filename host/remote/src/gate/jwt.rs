//! Bearer tokens signed by an identity provider (RFC 7519), verified by the keys that it publishes (RFC 7517).
//!
//! Invariants (RFC 8725): the operator, not the token, decides which algorithms an issuer signs with; the issuer, the
//! audience and an expiry are required; a key verifies only signatures of its own kind.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use acp_chain_rpc::untrusted::Untrusted;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{AlgorithmFamily, DecodingKey, DecodingKeyKind, Validation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::admissions::{Proof, ProofSource};
use super::{User, can_be_name, digest, ring};

/// The maximum difference between clocks.
const LEEWAY: Duration = Duration::from_mins(1);

/// The longest token, in bytes.
const LONGEST: usize = 16 << 10;

/// The maximum number of groups of a user.
const GROUPS: usize = 256;

/// The namespace of users with certificates, so not allowed for an issuer.
pub(super) const CERTIFICATE: &str = "certificate";

/// An issuer whose signed tokens are accepted, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// The required `iss`: users are called `ISSUER#NAME`.
    pub issuer: String,
    /// The required `aud`, possibly among others: this server.
    pub audience: String,
    /// The algorithms of the issuer.
    pub algorithms: Vec<Algorithm>,
    /// Where its keys are.
    pub jwks: JwksSource,
    /// The claim with the user's name.
    pub name_claim: String,
    /// The claim with the user's groups.
    pub groups_claim: String,
}

/// Where the keys of an issuer are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JwksSource {
    /// An address: `https:`, except on this machine.
    Url(String),
    /// A file.
    File(PathBuf),
}

/// A signature algorithm: only asymmetric ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm(jsonwebtoken::Algorithm);

impl Algorithm {
    /// The default of an issuer.
    pub const DEFAULT: [Self; 3] = [
        Self(jsonwebtoken::Algorithm::RS256),
        Self(jsonwebtoken::Algorithm::ES256),
        Self(jsonwebtoken::Algorithm::EdDSA),
    ];
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = name.parse().ok().map(Self);
        known
            .filter(|Self(algorithm)| algorithm.family() != AlgorithmFamily::Hmac)
            .ok_or_else(|| {
                format!(
                    "{name:?} cannot be used: expected an asymmetric algorithm, one of RS256, RS384, RS512, PS256, \
                     PS384, PS512, ES256, ES384 and EdDSA"
                )
            })
    }
}

impl Issuer {
    /// An error unless users of this issuer are distinguishable from all others.
    pub fn check_name(issuer: &str) -> Result<(), &'static str> {
        match issuer {
            CERTIFICATE => {
                Err("`certificate` is the issuer of users with certificates; use the issuer's URL")
            }
            _ if issuer.contains('#') => Err("the name of an issuer has no `#`"),
            _ if !can_be_name(issuer) => Err("an issuer has a name, of at most 256 bytes"),
            _ => Ok(()),
        }
    }
}

/// A key for verification.
#[derive(Debug)]
pub struct Key {
    pub jwk: Arc<Jwk>,
    decoding: DecodingKey,
}

impl Key {
    /// `None` if the key is not for signatures, or too weak.
    pub fn new(jwk: &Jwk) -> Option<Self> {
        use AlgorithmParameters::{EllipticCurve as Ec, OctetKeyPair, RSA};
        let common = &jwk.common;
        let to_verify = [
            common
                .public_key_use
                .as_ref()
                .is_none_or(|usage| *usage == PublicKeyUse::Signature),
            common
                .key_operations
                .as_ref()
                .is_none_or(|all| all.contains(&KeyOperations::Verify)),
            match &jwk.algorithm {
                RSA(_) => true,
                Ec(key) => matches!(key.curve, EllipticCurve::P256 | EllipticCurve::P384),
                OctetKeyPair(key) => key.curve == EllipticCurve::Ed25519,
                _ => false,
            },
        ];
        let decoding = DecodingKey::from_jwk(jwk).ok()?;
        let is_strong = match decoding.kind() {
            DecodingKeyKind::RsaModulusExponent { n, .. } => ring::bits(n) >= 2048,
            DecodingKeyKind::SecretOrDer(_) => true,
        };
        let is_fit = is_strong && to_verify.iter().all(|fits| *fits);
        is_fit.then(|| Self {
            jwk: Arc::new(jwk.clone()),
            decoding,
        })
    }

    /// Whether the key can have signed tokens with this algorithm and key name.
    fn fits(&self, algorithm: jsonwebtoken::Algorithm, name: Option<&str>) -> bool {
        let common = &self.jwk.common;
        let is_named = name.is_none_or(|name| common.key_id.as_deref() == Some(name));
        let own = common.key_algorithm;
        let signs = own.is_none_or(|own| own == algorithm.into());
        is_named && signs && self.decoding.family() == algorithm.family()
    }
}

/// Why a token is rejected: only for the log.
#[derive(Debug, thiserror::Error)]
pub enum JwtError {
    /// The token is invalid.
    #[error("{0}")]
    Token(&'static str),
    /// No known key verifies it.
    #[error("no key of its issuer verifies it")]
    Key,
    /// An error of jsonwebtoken.
    #[error("{}", Untrusted::within(.0, 200))]
    Other(#[from] jsonwebtoken::errors::Error),
}

/// Verifies a token at this time, with the keys of each issuer, in the same order.
pub fn verify(
    token: &str,
    issuers: &[Issuer],
    keys: &[Vec<Key>],
    now: SystemTime,
) -> Result<Proof, JwtError> {
    /// Only the members that select the keys.
    #[derive(Deserialize)]
    struct UnverifiedClaims {
        iss: String,
    }
    ring::install();
    let wrong = |why| Err(JwtError::Token(why));
    if token.len() > LONGEST {
        return wrong("it is too long");
    }
    let header = jsonwebtoken::decode_header(token)?;
    if header.crit.is_some() {
        return wrong("it requires an unsupported extension (`crit`)");
    }
    let UnverifiedClaims { iss } = jsonwebtoken::dangerous::insecure_decode_claims(token)?;
    let found = issuers.iter().position(|issuer| issuer.issuer == iss);
    let number = found.ok_or(JwtError::Token("its issuer is unknown"))?;
    let issuer = &issuers[number];
    if !issuer.algorithms.contains(&Algorithm(header.alg)) {
        return wrong("its issuer does not sign with its algorithm");
    }
    let mut validation = Validation::new(header.alg);
    // The times are checked below, by one clock.
    validation.validate_exp = false;
    validation.set_issuer(&[&issuer.issuer]);
    validation.set_audience(&[&issuer.audience]);
    validation.set_required_spec_claims(&["exp", "iss", "aud"]);
    let name = header.kid.as_deref();
    let keys = keys.get(number).map_or(&[][..], Vec::as_slice);
    let mut tried = 0;
    for key in keys.iter().filter(|key| key.fits(header.alg, name)) {
        tried += 1;
        let decoded = jsonwebtoken::decode::<Map<String, Value>>(token, &key.decoding, &validation);
        match decoded {
            Ok(decoded) => {
                let by = ProofSource::Key(number, Arc::clone(&key.jwk));
                return proof(token, issuer, &decoded.claims, by, now);
            }
            Err(error) if *error.kind() == ErrorKind::InvalidSignature => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A key with a known name has no newer version.
    match (tried, name) {
        (1.., Some(_)) => wrong("its signature is wrong"),
        _ => Err(JwtError::Key),
    }
}

fn proof(
    token: &str,
    issuer: &Issuer,
    claims: &Map<String, Value>,
    by: ProofSource,
    now: SystemTime,
) -> Result<Proof, JwtError> {
    let until = end(claims.get("exp"))?;
    if until.is_some_and(|until| until <= now) {
        return Err(JwtError::Token("it has expired (`exp`)"));
    }
    if begin(claims.get("nbf"))?.is_some_and(|begin| now < begin) {
        return Err(JwtError::Token("it is not valid yet (`nbf`)"));
    }
    let name = claims.get(&issuer.name_claim).and_then(Value::as_str);
    let name = name.filter(|name| can_be_name(name));
    let wrong = "the claim with the user's name is missing or invalid";
    let name = name.ok_or(JwtError::Token(wrong))?;
    let groups = match claims.get(&issuer.groups_claim) {
        Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(group)) => vec![&**group],
        _ => Vec::new(),
    };
    let groups = groups
        .into_iter()
        .filter(|group| can_be_name(group))
        .take(GROUPS);
    Ok(Proof {
        digest: digest(token.as_bytes()),
        user: User {
            name: format!("{}#{name}", issuer.issuer),
            groups: groups.map(str::to_owned).collect(),
        },
        until,
        by,
    })
}

/// When a token expires, with the leeway. `None` if that is beyond this machine's range.
fn end(exp: Option<&Value>) -> Result<Option<SystemTime>, JwtError> {
    let wrong = || JwtError::Token("its expiry is not a time (`exp`)");
    let exp = exp.and_then(Value::as_f64).filter(|exp| *exp >= 0.0);
    let exp = Duration::try_from_secs_f64(exp.ok_or_else(wrong)?).ok();
    let end = exp.and_then(|exp| exp.checked_add(LEEWAY));
    Ok(end.and_then(|end| SystemTime::UNIX_EPOCH.checked_add(end)))
}

/// When a token becomes valid, with the leeway; `None` without `nbf`.
fn begin(nbf: Option<&Value>) -> Result<Option<SystemTime>, JwtError> {
    let Some(nbf) = nbf else { return Ok(None) };
    let begin = nbf
        .as_f64()
        .and_then(|nbf| Duration::try_from_secs_f64(nbf.max(0.0)).ok())
        .and_then(|nbf| SystemTime::UNIX_EPOCH.checked_add(nbf.saturating_sub(LEEWAY)));
    // A time beyond this machine's range is an error.
    begin
        .map(Some)
        .ok_or(JwtError::Token("its start is not a time (`nbf`)"))
}

#[cfg(test)]
pub mod tests;
