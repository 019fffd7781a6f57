use hyper::Request;
use proptest::prelude::*;
use rcgen::DnType;
use serde_json::json;

use super::jwt::tests::{ISSUER, Signer, claims, issuer, jwks, now};
use super::tokens::Token;
use super::*;

const HOST: (&str, &str) = ("host", "localhost:80");

fn gate(settings: GateSettings) -> Gate {
    Gate::new(settings, "127.0.0.1:80".parse().unwrap())
}

fn by_tokens() -> GateSettings {
    GateSettings {
        tokens: Some("tokens".into()),
        ..GateSettings::default()
    }
}

fn by_jwt() -> GateSettings {
    GateSettings {
        issuers: vec![issuer()],
        ..GateSettings::default()
    }
}

fn by_certificates() -> GateSettings {
    GateSettings {
        tls: Some(TlsFiles {
            cert: "cert".into(),
            key: "key".into(),
            client_ca: Some("ca".into()),
        }),
        ..GateSettings::default()
    }
}

fn peer() -> Peer {
    Peer {
        address: "127.0.0.1:9".parse().unwrap(),
        certificate: None,
        is_encrypted: false,
    }
}

fn head(target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn admit(gate: &Gate, headers: &[(&str, &str)]) -> Result<AdmittedUser, Rejection> {
    let headers = [&[HOST], headers].concat();
    gate.pass(&head("/acp", &headers), &peer())
}

fn admit_by(gate: &Gate, token: &str) -> Result<AdmittedUser, Rejection> {
    admit(gate, &[("authorization", &format!("Bearer {token}"))])
}

fn with_tokens(tokens: &[&Token]) -> Keys {
    Keys {
        tokens: tokens.iter().copied().cloned().collect(),
        ..Keys::default()
    }
}

fn with_signers(signers: &[&Signer]) -> Keys {
    Keys {
        jwks: [(ISSUER.to_owned(), jwks(signers))].into(),
        ..Keys::default()
    }
}

#[test]
fn without_authentication_all_but_web_pages_are_admitted() {
    let gate = gate(GateSettings::default());
    let admitted = admit(&gate, &[("authorization", "Basic eA==")]).unwrap();
    assert_eq!(*admitted.user, User::default());
    let refused = admit(&gate, &[("origin", "https://evil.example")]).unwrap_err();
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let renamed = gate.pass(&head("/acp", &[("host", "evil.example")]), &peer());
    assert_eq!(renamed.unwrap_err().status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn only_a_valid_token_admits_its_user() {
    let gate = gate(by_tokens());
    let (alice, secret) = Token::make("alice", vec!["staff".to_owned()]).unwrap();
    assert_eq!(admit_by(&gate, &secret).unwrap_err(), Rejection::UNKNOWN);
    gate.update(with_tokens(&[&alice]));
    for scheme in ["Bearer", "bearer", "BEARER "] {
        let admitted = admit(&gate, &[("authorization", &format!("{scheme} {secret}"))]).unwrap();
        assert_eq!(*admitted.user, *alice.user());
    }
    let hash = alice.to_string().split(' ').nth(1).unwrap().to_owned();
    for shown in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer acp_",
        &format!("Bearer {}", secret.to_uppercase()),
        &format!("Bearer {}", &secret[..secret.len() - 1]),
        &format!("Bearer {secret}x"),
        &format!("Bearer {hash}"),
        &format!("Bearer {}", &secret[4..]),
        &format!("Basic {secret}"),
        &secret,
    ] {
        let refused = admit(&gate, &[("authorization", shown)]).unwrap_err();
        assert_eq!(refused, Rejection::UNKNOWN, "{shown}");
        assert_eq!(refused.challenge().unwrap(), "Bearer");
    }
    let bearer = ("authorization", &*format!("Bearer {secret}"));
    assert_eq!(admit(&gate, &[]).unwrap_err(), Rejection::UNKNOWN);
    assert_eq!(
        admit(&gate, &[bearer, bearer]).unwrap_err(),
        Rejection::UNKNOWN
    );
    for query in ["?ticket=", "?access_token=", "?token="] {
        let head = head(
            &format!("/acp{query}{secret}"),
            &[HOST, ("upgrade", "websocket")],
        );
        assert_eq!(
            gate.pass(&head, &peer()).unwrap_err(),
            Rejection::UNKNOWN,
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_foreign_page_learns_nothing_of_tokens() {
    let gate = gate(by_tokens());
    let (alice, secret) = Token::make("alice", Vec::new()).unwrap();
    gate.update(with_tokens(&[&alice]));
    let bearer = ("authorization", &*format!("Bearer {secret}"));
    for headers in [&[("origin", "null")][..], &[("origin", "null"), bearer]] {
        assert_eq!(
            admit(&gate, headers).unwrap_err().status,
            StatusCode::FORBIDDEN
        );
    }
    let renamed = [("host", "evil.example"), bearer];
    let refused = gate.pass(&head("/acp", &renamed), &peer()).unwrap_err();
    assert_eq!(
        (refused.status, refused.challenge()),
        (StatusCode::MISDIRECTED_REQUEST, None)
    );
}

#[tokio::test]
async fn admissions_end_when_their_token_is_revoked_or_changed() {
    let gate = gate(by_tokens());
    let (alice, hers) = Token::make("alice", vec!["staff".to_owned()]).unwrap();
    let (bob, his) = Token::make("bob", Vec::new()).unwrap();
    gate.update(with_tokens(&[&alice, &bob]));
    let (one, two) = (
        admit_by(&gate, &hers).unwrap(),
        admit_by(&gate, &hers).unwrap(),
    );
    let mut other = admit_by(&gate, &his).unwrap();
    let ticket = gate.ticket(&one).unwrap();
    // The same keys again end nothing.
    gate.update(with_tokens(&[&bob, &alice]));
    assert!(!*one.is_over.borrow());
    let promoted: Token = alice
        .to_string()
        .replace(" staff", " staff admin")
        .parse()
        .unwrap();
    gate.update(with_tokens(&[&promoted, &bob]));
    assert!(*one.is_over.borrow() && *two.is_over.borrow() && !*other.is_over.borrow());
    let opens = head(
        &format!("/acp?ticket={}", ticket.reveal()),
        &[HOST, ("upgrade", "websocket")],
    );
    assert_eq!(gate.pass(&opens, &peer()).unwrap_err(), Rejection::UNKNOWN);
    let again = admit_by(&gate, &hers).unwrap();
    assert_eq!(again.user.groups, ["staff", "admin"]);
    gate.update(with_tokens(&[&promoted]));
    other.is_over.wait_for(|over| *over).await.unwrap();
    assert_eq!(admit_by(&gate, &his).unwrap_err(), Rejection::UNKNOWN);
    assert!(!*again.is_over.borrow());
}

#[tokio::test]
async fn a_jwt_is_valid_until_it_expires_or_its_key_is_removed() {
    let gate = gate(by_jwt());
    let (old, new) = (Signer::ed(Some("old")), Signer::ed(Some("new")));
    gate.update(with_signers(&[&old, &new]));
    // It has expired, but within the leeway.
    let mut short = admit_by(&gate, &old.token(&claims(json!({"exp": now() - 58})))).unwrap();
    let by_old = admit_by(&gate, &old.token(&claims(json!({})))).unwrap();
    let by_new = admit_by(&gate, &new.token(&claims(json!({})))).unwrap();
    assert_eq!(by_new.user.name, format!("{ISSUER}#alice"));
    short.is_over.wait_for(|over| *over).await.unwrap();
    assert!(!*by_old.is_over.borrow() && !*by_new.is_over.borrow());
    gate.update(with_signers(&[&new]));
    assert!(*by_old.is_over.borrow() && !*by_new.is_over.borrow());
}

#[tokio::test]
async fn a_jwt_by_an_unknown_key_requests_new_keys() {
    let gate = gate(by_jwt());
    let (old, new) = (Signer::ed(Some("old")), Signer::ed(Some("new")));
    gate.update(with_signers(&[&old]));
    let token = new.token(&claims(json!({})));
    assert_eq!(admit_by(&gate, &token).unwrap_err(), Rejection::UNKNOWN);
    gate.lacks_keys().await;
    gate.update(with_signers(&[&old, &new]));
    assert!(admit_by(&gate, &token).is_ok());
}

#[tokio::test]
async fn a_certificate_admits_its_user_where_certificates_are_enabled() {
    let alice: Arc<[u8]> = certificates::tests::certificate(
        &[(DnType::CommonName, "alice")],
        Vec::new(),
        (2049, 1, 1),
    )
    .into();
    let old: Arc<[u8]> = certificates::tests::certificate(
        &[(DnType::CommonName, "alice")],
        Vec::new(),
        (2020, 1, 1),
    )
    .into();
    let with = |certificate: &Arc<[u8]>| Peer {
        certificate: Some(Arc::clone(certificate)),
        is_encrypted: true,
        ..peer()
    };
    let certified = gate(by_certificates());
    let plain = head("/acp", &[HOST]);
    let admitted = certified.pass(&plain, &with(&alice)).unwrap();
    assert_eq!(admitted.user.name, "certificate#alice");
    assert_eq!(
        certified.pass(&plain, &with(&old)).unwrap_err(),
        Rejection::UNKNOWN
    );
    assert_eq!(
        certified.pass(&plain, &peer()).unwrap_err(),
        Rejection::UNKNOWN
    );
    // A client with an invalid token is rejected, whatever its certificate.
    let wrong = head("/acp", &[HOST, ("authorization", "Bearer acp_x")]);
    assert_eq!(
        certified.pass(&wrong, &with(&alice)).unwrap_err(),
        Rejection::UNKNOWN
    );
    let by_tokens = gate(by_tokens());
    assert_eq!(
        by_tokens.pass(&plain, &with(&alice)).unwrap_err(),
        Rejection::UNKNOWN
    );
    // New keys do not affect it.
    certified.update(Keys::default());
    assert!(!*admitted.is_over.borrow());
}

#[tokio::test]
async fn a_ticket_opens_one_websocket_for_its_user() {
    let gate = gate(by_tokens());
    let (alice, secret) = Token::make("alice", Vec::new()).unwrap();
    gate.update(with_tokens(&[&alice]));
    let admitted = admit_by(&gate, &secret).unwrap();
    let ticket = gate.ticket(&admitted).unwrap();
    let target = format!("/acp?ticket={}", ticket.reveal());
    let opens = head(&target, &[HOST, ("upgrade", "websocket")]);
    // A request that opens no WebSocket uses up no ticket.
    assert_eq!(
        gate.pass(&head(&target, &[HOST]), &peer()).unwrap_err(),
        Rejection::UNKNOWN
    );
    let foreign = head(
        &target,
        &[HOST, ("upgrade", "websocket"), ("origin", "null")],
    );
    assert_eq!(
        gate.pass(&foreign, &peer()).unwrap_err().status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(*gate.pass(&opens, &peer()).unwrap().user, *alice.user());
    assert_eq!(gate.pass(&opens, &peer()).unwrap_err(), Rejection::UNKNOWN);
    // A ticket admits as its owner, whatever other credentials there are.
    let other = gate.ticket(&admitted).unwrap();
    let opens = format!("/acp?ticket=x{}", other.reveal());
    let bearer = format!("Bearer {secret}");
    let both = head(
        &opens,
        &[HOST, ("upgrade", "websocket"), ("authorization", &bearer)],
    );
    assert_eq!(gate.pass(&both, &peer()).unwrap_err(), Rejection::UNKNOWN);
    assert!(!format!("{other:?} {gate:?}").contains(other.reveal()));
}

#[tokio::test]
async fn a_sealed_token_admits_as_long_as_it_is_valid() {
    let (one, other) = (gate(by_tokens()), gate(by_tokens()));
    let (alice, secret) = Token::make("alice", Vec::new()).unwrap();
    one.update(with_tokens(&[&alice]));
    let bearer = format!("Bearer {secret}");
    let asks = head("/acp/ticket", &[HOST, ("authorization", &bearer)]);
    let sealed = SealedTicket::new(one.token(&asks).unwrap()).unwrap();
    let admit = |gate: &Gate| gate.unseal(sealed.ticket.reveal(), Some(&sealed.sealed));
    // Another replica may not know the token yet.
    assert_eq!(admit(&other).unwrap_err(), Rejection::UNKNOWN);
    other.update(with_tokens(&[&alice]));
    let admitted = admit(&other).unwrap();
    assert_eq!(*admitted.user, *alice.user());
    other.update(Keys::default());
    assert!(*admitted.is_over.borrow());
    assert_eq!(admit(&other).unwrap_err(), Rejection::UNKNOWN);
    let unknown = one.unseal(sealed.ticket.reveal(), None);
    assert_eq!(unknown.unwrap_err(), Rejection::UNKNOWN);
}

proptest! {
    #[test]
    fn requests_with_arbitrary_bytes_are_rejected(
        authorization in proptest::collection::vec(any::<u8>(), 0..60),
        token in "\\PC{0,40}",
        query in "[!-~]{0,60}",
    ) {
        let gate = gate(GateSettings { issuers: vec![issuer()], ..by_tokens() });
        let (alice, _) = Token::make("alice", Vec::new()).unwrap();
        gate.update(with_tokens(&[&alice]));
        let mut head = head("/acp", &[HOST, ("upgrade", "websocket")]);
        if let Ok(uri) = format!("/acp?{query}").parse() {
            head.uri = uri;
        }
        for shown in [authorization, format!("Bearer {token}").into_bytes(), format!("Bearer acp_{token}").into_bytes()] {
            if let Ok(value) = shown.try_into() {
                head.headers.insert(hyper::header::AUTHORIZATION, value);
            }
            prop_assert_eq!(gate.pass(&head, &peer()).unwrap_err(), Rejection::UNKNOWN);
        }
    }
}
