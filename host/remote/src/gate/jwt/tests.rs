use std::time::UNIX_EPOCH;

use ::ring::hmac;
use ::ring::rand::SystemRandom;
use ::ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::json;

use super::super::keys::Jwks;
use super::*;

/// Verifies a token now.
fn verify(token: &str, issuers: &[Issuer], keys: &[Vec<Key>]) -> Result<Proof, JwtError> {
    super::verify(token, issuers, keys, SystemTime::now())
}

pub const ISSUER: &str = "https://idp.example";

/// A key of an identity provider.
pub struct Signer {
    pub kid: Option<&'static str>,
    key: PrivateKey,
}

enum PrivateKey {
    Ed(Ed25519KeyPair),
    Ec(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    pub fn ed(kid: Option<&'static str>) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = PrivateKey::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap());
        Self { kid, key }
    }

    fn ec(kid: Option<&'static str>) -> Self {
        let (curve, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(curve, document.as_ref(), &random).unwrap();
        Self {
            kid,
            key: PrivateKey::Ec(key),
        }
    }

    fn rsa(kid: Option<&'static str>) -> Self {
        let key = RsaKeyPair::from_pkcs8(include_bytes!("rsa-2048.pk8")).unwrap();
        Self {
            kid,
            key: PrivateKey::Rsa(Box::new(key)),
        }
    }

    fn algorithm(&self) -> &'static str {
        match self.key {
            PrivateKey::Ed(_) => "EdDSA",
            PrivateKey::Ec(_) => "ES256",
            PrivateKey::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            PrivateKey::Ed(key) => key.sign(message).as_ref().to_vec(),
            PrivateKey::Ec(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            PrivateKey::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }

    /// The key as its issuer publishes it.
    pub fn jwk(&self) -> Value {
        let mut jwk = match &self.key {
            PrivateKey::Ed(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64(key.public_key())})
            }
            PrivateKey::Ec(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": base64(x), "y": base64(y)})
            }
            PrivateKey::Rsa(key) => {
                let public = ::ring::rsa::PublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({"kty": "RSA", "n": base64(public.n), "e": base64(public.e)})
            }
        };
        if let Some(kid) = self.kid {
            jwk["kid"] = kid.into();
        }
        jwk
    }

    /// A token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        let mut header = json!({"alg": self.algorithm(), "typ": "JWT"});
        if let Some(kid) = self.kid {
            header["kid"] = kid.into();
        }
        self.token_with(&header, claims)
    }

    fn token_with(&self, header: &Value, claims: &Value) -> String {
        let message = unsigned(header, claims);
        let signature = base64(self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        base64(header.to_string()),
        base64(claims.to_string())
    )
}

pub fn jwks(signers: &[&Signer]) -> Jwks {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    Jwks::read(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn keys(signers: &[&Signer]) -> Vec<Vec<Key>> {
    let own = signers
        .iter()
        .map(|signer| serde_json::from_value(signer.jwk()).unwrap());
    vec![own.map(|jwk: Jwk| Key::new(&jwk).unwrap()).collect()]
}

pub fn issuer() -> Issuer {
    Issuer {
        issuer: ISSUER.to_owned(),
        audience: "acp".to_owned(),
        algorithms: Algorithm::DEFAULT.to_vec(),
        jwks: JwksSource::File("jwks.json".into()),
        name_claim: "sub".to_owned(),
        groups_claim: "groups".to_owned(),
    }
}

pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// The claims of a valid token, with these changes; null removes one.
pub fn claims(other: Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER, "aud": "acp", "sub": "alice", "exp": now() + 300, "groups": ["staff", "ops"],
    });
    for (key, value) in other.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(key),
            value => claims
                .as_object_mut()
                .unwrap()
                .insert(key.clone(), value.clone()),
        };
    }
    claims
}

fn verified(token: &str, signers: &[&Signer]) -> Result<User, String> {
    let proof = verify(token, &[issuer()], &keys(signers));
    proof.map(|proof| proof.user).map_err(|wrong| {
        if matches!(wrong, JwtError::Key) {
            format!("new? {wrong}")
        } else {
            wrong.to_string()
        }
    })
}

#[test]
fn a_signed_token_names_a_user_of_its_issuer() {
    let (ed, ec, rsa) = (
        Signer::ed(Some("1")),
        Signer::ec(Some("2")),
        Signer::rsa(Some("3")),
    );
    let all = [&ed, &ec, &rsa];
    for signer in all {
        let user = verified(&signer.token(&claims(json!({}))), &all).unwrap();
        assert_eq!(user.name, "https://idp.example#alice");
        assert_eq!(user.groups, ["staff", "ops"]);
    }
    let with = |other| verified(&ed.token(&claims(other)), &all);
    assert_eq!(with(json!({"groups": "staff"})).unwrap().groups, ["staff"]);
    assert!(with(json!({"groups": {"a": 1}})).unwrap().groups.is_empty());
    assert_eq!(
        with(json!({"groups": ["a", 7, "", "b\n", "c"]}))
            .unwrap()
            .groups,
        ["a", "c"]
    );
    assert!(with(json!({"aud": ["other", "acp"]})).is_ok());
    assert!(
        with(json!({"exp": now() - 30, "nbf": now() + 30})).is_ok(),
        "clocks may be a minute apart"
    );
}

#[test]
fn other_claims_can_name_the_user_and_his_groups() {
    let ed = Signer::ed(None);
    let mut issuer = issuer();
    issuer.name_claim = "email".to_owned();
    issuer.groups_claim = "https://example.com/roles".to_owned();
    let claims = claims(json!({"email": "a@b", "https://example.com/roles": ["r"]}));
    let proof = verify(&ed.token(&claims), &[issuer], &keys(&[&ed])).unwrap();
    assert_eq!(
        (&*proof.user.name, &*proof.user.groups),
        ("https://idp.example#a@b", &["r".to_owned()][..])
    );
}

#[test]
fn wrong_or_missing_claims_are_rejected() {
    let ed = Signer::ed(Some("1"));
    for other in [
        json!({"iss": "https://evil.example"}),
        json!({"iss": null}),
        json!({"iss": [ISSUER]}),
        json!({"aud": "other"}),
        json!({"aud": ["other"]}),
        json!({"aud": []}),
        json!({"aud": null}),
        json!({"exp": now() - 70}),
        json!({"exp": null}),
        json!({"exp": "never"}),
        json!({"exp": -1}),
        json!({"nbf": now() + 70}),
        json!({"nbf": "now"}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": 7}),
        json!({"sub": "alice\nroot"}),
        json!({"sub": "a".repeat(257)}),
    ] {
        let verified = verified(&ed.token(&claims(other.clone())), &[&ed]);
        assert!(
            verified.is_err_and(|wrong| !wrong.contains("new?")),
            "{other}"
        );
    }
}

#[test]
fn a_changed_token_is_rejected() {
    let ed = Signer::ed(Some("1"));
    let token = ed.token(&claims(json!({})));
    let parts: Vec<_> = token.split('.').collect();
    let root = base64(claims(json!({"sub": "root"})).to_string());
    for changed in [
        format!("{}.{root}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{token}."),
        format!("{token}="),
        format!(".{token}"),
        format!("{}.{}.{}", parts[0], parts[1], base64([0; 64])),
        "..".to_owned(),
        "a".repeat(LONGEST + 1),
    ] {
        assert!(verified(&changed, &[&ed]).is_err(), "{changed}");
    }
    // Another signer's key, with the same name.
    assert!(verified(&token, &[&Signer::ed(Some("1"))]).is_err());
}

#[test]
fn a_token_does_not_choose_how_it_is_verified() {
    let (ed, rsa) = (Signer::ed(Some("1")), Signer::rsa(Some("2")));
    let good = claims(json!({}));
    // No signature at all.
    for none in ["none", "None", "NONE", ""] {
        let message = unsigned(&json!({"alg": none, "kid": "1"}), &good);
        assert!(verified(&format!("{message}."), &[&ed]).is_err());
    }
    // The public key as the secret of HMAC.
    let public: Jwk = serde_json::from_value(rsa.jwk()).unwrap();
    let AlgorithmParameters::RSA(numbers) = public.algorithm else {
        panic!("a key of RSA")
    };
    for secret in [numbers.n.into_bytes(), rsa.jwk().to_string().into_bytes()] {
        let message = unsigned(&json!({"alg": "HS256", "kid": "2"}), &good);
        let tag = hmac::sign(
            &hmac::Key::new(hmac::HMAC_SHA256, &secret),
            message.as_bytes(),
        );
        assert!(verified(&format!("{message}.{}", base64(tag)), &[&rsa]).is_err());
    }
    // The name of a key of another kind.
    let crossed = ed.token_with(&json!({"alg": "EdDSA", "kid": "2"}), &good);
    assert!(verified(&crossed, &[&ed, &rsa]).is_err());
    let renamed = ed.token_with(&json!({"alg": "RS256", "kid": "1"}), &good);
    assert!(verified(&renamed, &[&ed, &rsa]).is_err());
    // Its own key, or a link to one.
    for (claim, value) in [("jwk", ed.jwk()), ("jku", json!("https://evil.example"))] {
        let mut header = json!({"alg": "EdDSA", "kid": "1"});
        header[claim] = value;
        assert!(verified(&ed.token_with(&header, &good), &[&Signer::ed(Some("1"))]).is_err());
    }
    let critical = ed.token_with(&json!({"alg": "EdDSA", "kid": "1", "crit": ["b64"]}), &good);
    assert!(verified(&critical, &[&ed]).unwrap_err().contains("crit"));
}

#[test]
fn only_the_algorithms_of_the_issuer_are_accepted() {
    let ed = Signer::ed(Some("1"));
    let mut issuer = issuer();
    issuer.algorithms = vec!["RS256".parse().unwrap()];
    let wrong = verify(&ed.token(&claims(json!({}))), &[issuer], &keys(&[&ed])).unwrap_err();
    assert!(wrong.to_string().contains("does not sign with"), "{wrong}");
    for never in ["none", "HS256", "HS384", "HS512", "rs256", "RSA1_5", ""] {
        assert!(never.parse::<Algorithm>().is_err(), "{never}");
    }
    for may in [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
    ] {
        assert!(may.parse::<Algorithm>().is_ok(), "{may}");
    }
}

#[test]
fn a_key_is_found_by_its_name_or_tried() {
    let (one, two) = (Signer::ed(Some("1")), Signer::ed(Some("1")));
    let good = claims(json!({}));
    // Two with one name, as some issuers have during a rotation.
    for signer in [&one, &two] {
        assert!(verified(&signer.token(&good), &[&one, &two]).is_ok());
    }
    let (nameless, other) = (Signer::ed(None), Signer::ec(None));
    assert!(verified(&nameless.token(&good), &[&one, &other, &nameless]).is_ok());
    // The key may be new.
    let unknown = Signer::ed(Some("3")).token(&good);
    assert!(verified(&unknown, &[&one]).unwrap_err().contains("new?"));
    assert!(
        verified(&nameless.token(&good), &[&one])
            .unwrap_err()
            .contains("new?")
    );
    assert!(
        verified(&one.token(&good), &[])
            .unwrap_err()
            .contains("new?")
    );
    assert!(
        !verified(&one.token(&good), &[&two])
            .unwrap_err()
            .contains("new?")
    );
}

#[test]
fn a_key_that_is_weak_or_not_for_signatures_is_rejected() {
    let key = |jwk: Value| {
        serde_json::from_value(jwk)
            .ok()
            .and_then(|jwk: Jwk| Key::new(&jwk))
    };
    let rsa = Signer::rsa(None).jwk();
    assert!(key(rsa.clone()).is_some());
    let mut weak = rsa.clone();
    weak["n"] = base64([0xff; 255]).into();
    assert!(key(weak.clone()).is_none());
    // Leading zeros add nothing.
    weak["n"] = base64([&[0; 10][..], &[0xff; 255]].concat()).into();
    assert!(key(weak).is_none());
    for (name, value) in [
        ("use", json!("enc")),
        ("key_ops", json!(["sign"])),
        ("n", json!("=!")),
    ] {
        let mut other = rsa.clone();
        other[name] = value;
        assert!(key(other).is_none(), "{name}");
    }
    // A key with a declared algorithm signs with no other.
    let mut other = Signer::rsa(None).jwk();
    other["alg"] = "RS512".into();
    let key = key(other).unwrap();
    let token = Signer::rsa(None).token(&claims(json!({})));
    assert!(verify(&token, &[issuer()], &[vec![key]]).is_err());
}

#[test]
fn ambiguous_names_of_issuers_are_rejected() {
    assert_eq!(Issuer::check_name("https://idp.example"), Ok(()));
    for wrong in ["", "certificate", "a#b", "a\n"] {
        assert!(Issuer::check_name(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_token_is_valid_from_a_minute_before_nbf_until_a_minute_after_exp() {
    let ed = Signer::ed(None);
    let (nbf, exp) = (1_000_000, 2_000_000);
    let token = ed.token(&claims(json!({"nbf": nbf, "exp": exp})));
    let holds = |seconds: u64, nanos: u32| {
        let now = UNIX_EPOCH + Duration::new(seconds, nanos);
        super::verify(&token, &[issuer()], &keys(&[&ed]), now).is_ok()
    };
    assert!(!holds(nbf - 61, 999_999_999) && holds(nbf - 60, 0));
    assert!(holds(exp + 59, 999_999_999) && !holds(exp + 60, 0));
    // Fractions of seconds are respected.
    let token = ed.token(&claims(json!({"exp": 2_000_000.5})));
    let until = |now| super::verify(&token, &[issuer()], &keys(&[&ed]), now);
    let end = UNIX_EPOCH + Duration::from_millis(2_000_060_500);
    assert_eq!(until(UNIX_EPOCH).unwrap().until, Some(end));
    assert!(until(end).is_err());
}

#[test]
fn a_token_expires_a_minute_after_exp() {
    let ed = Signer::ed(None);
    let exp = now() + 300;
    let until = |exp: Value| {
        let token = ed.token(&claims(json!({ "exp": exp })));
        verify(&token, &[issuer()], &keys(&[&ed])).unwrap().until
    };
    assert_eq!(
        until(json!(exp)),
        Some(UNIX_EPOCH + Duration::from_secs(exp + 60))
    );
    assert_eq!(until(json!(u64::MAX)), None);
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in "[a-zA-Z0-9._-]{0,80}|\\PC{0,40}") {
        let ed = Signer::ed(None);
        let _ = verify(&text, &[issuer()], &keys(&[&ed]));
    }

    #[test]
    fn no_header_and_no_claims_break_it(header in "\\PC{0,30}", claims in "\\PC{0,30}", number: i64) {
        let ed = Signer::ed(None);
        let verify = |header: &str, claims: &str| {
            let message = format!("{}.{}", base64(header), base64(claims));
            let signed = format!("{message}.{}", base64(ed.sign(message.as_bytes())));
            verify(&signed, &[issuer()], &keys(&[&ed])).map(|_| ())
        };
        let _ = verify(&header, &claims);
        let _ = verify(r#"{"alg":"EdDSA"}"#, &claims);
        let numbers = format!(r#"{{"iss":"{ISSUER}","aud":"acp","sub":"a","exp":{number}e9,"nbf":{number}}}"#);
        let _ = verify(r#"{"alg":"EdDSA"}"#, &numbers);
    }
}
