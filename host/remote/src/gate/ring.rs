//! Verifies signatures of JWTs with ring, which encrypts our connections, too. Nothing is signed here.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature as rings;

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes jsonwebtoken use ring.
pub fn install() {
    // Fails if it is installed already.
    let _ = PROVIDER.install_default();
}

/// A key, and its algorithm.
struct Ring {
    algorithm: Algorithm,
    key: PublicKey,
}

enum PublicKey {
    /// RSA: its numbers have no leading zeros.
    Rsa(
        &'static rings::RsaParameters,
        rings::RsaPublicKeyComponents<Vec<u8>>,
    ),
    /// A point on a curve.
    Point(rings::UnparsedPublicKey<Vec<u8>>),
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "providers have this shape"
)]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    // A public key is never a secret for HMAC, whatever the token claims (RFC 8725, 2.1).
    if algorithm.family() != key.family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let key = match rsa(*algorithm) {
        Some(parameters) => {
            let DecodingKeyKind::RsaModulusExponent { n, e } = key.kind() else {
                return Err(ErrorKind::InvalidKeyFormat.into());
            };
            let (n, e) = (without_zeros(n).to_vec(), without_zeros(e).to_vec());
            PublicKey::Rsa(parameters, rings::RsaPublicKeyComponents { n, e })
        }
        None => {
            let verifies: &'static dyn rings::VerificationAlgorithm = match algorithm {
                Algorithm::ES256 => &rings::ECDSA_P256_SHA256_FIXED,
                Algorithm::ES384 => &rings::ECDSA_P384_SHA384_FIXED,
                Algorithm::EdDSA => &rings::ED25519,
                _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
            };
            let point = key.try_get_as_bytes()?.to_vec();
            PublicKey::Point(rings::UnparsedPublicKey::new(verifies, point))
        }
    };
    Ok(Box::new(Ring {
        algorithm: *algorithm,
        key,
    }))
}

/// All of them reject keys of less than 2048 bits.
fn rsa(algorithm: Algorithm) -> Option<&'static rings::RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&rings::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&rings::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&rings::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&rings::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&rings::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&rings::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

/// The number of significant bits.
pub fn bits(number: &[u8]) -> usize {
    let number = without_zeros(number);
    let zeros = number.first().map_or(0, |first| first.leading_zeros());
    number.len() * 8 - zeros as usize
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let start = number.iter().position(|byte| *byte != 0);
    &number[start.unwrap_or(number.len())..]
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match &self.key {
            PublicKey::Rsa(parameters, key) => key.verify(parameters, message, signature),
            PublicKey::Point(key) => key.verify(message, signature),
        };
        verified.map_err(|_| signature::Error::new())
    }
}
