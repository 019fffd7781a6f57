//! Registries that require a token, and passwords that are wrong or cannot be read.

use super::*;

#[tokio::test]
async fn no_password_goes_where_a_token_service_has_no_encryption() {
    let challenge = r#"Bearer realm="http://192.0.2.1/token",service="it""#;
    let asked = answer(401, &[("WWW-Authenticate", challenge)], b"");
    let answers = |_: &str| Answers::from([("/v2/org/it/manifests/1".to_owned(), asked.clone())]);
    let told = Server::start(answers, false)
        .await
        .fetch(":1")
        .await
        .unwrap_err();
    assert!(told.contains("it names no `https:` address"), "{told}");
}

#[tokio::test]
async fn a_registry_may_require_a_token() {
    let answers = |address: &str| {
        let realm = format!(r#"Bearer realm="http://{address}/token",service="a b""#);
        let asked = answer(401, &[("WWW-Authenticate", &realm)], b"");
        let token = answer(200, &[], br#"{"token":"t0ken","expires_in":300}"#);
        let path = "/token?service=a+b&scope=repository%3Aorg%2Fit%3Apull";
        Answers::from([
            ("/v2/org/it/manifests/1".to_owned(), asked),
            (path.to_owned(), token),
        ])
    };
    let server = Server::start(answers, false).await;
    server.fetch(":1").await.unwrap_err();
    let heads = server.requests();
    assert_eq!(heads.len(), 3, "{heads:?}");
    assert!(
        heads[2].contains("authorization: Bearer t0ken"),
        "{}",
        heads[2]
    );
}

#[tokio::test]
async fn a_request_for_a_token_follows_no_redirect() {
    let answers = |address: &str| {
        let realm = format!(r#"Bearer realm="http://{address}/token",service="it""#);
        let asked = answer(401, &[("WWW-Authenticate", &realm)], b"");
        let path = "/token?service=it&scope=repository%3Aorg%2Fit%3Apull";
        let elsewhere = answer(307, &[("Location", "/elsewhere")], b"");
        Answers::from([
            ("/v2/org/it/manifests/1".to_owned(), asked),
            (path.to_owned(), elsewhere),
        ])
    };
    let server = Server::start(answers, false).await;
    server.fetch(":1").await.unwrap_err();
    let heads = server.requests();
    assert_eq!(heads.len(), 2, "{heads:?}");
}

/// Fetches from a registry that requires a token, with this file of passwords. The tokens are those that its service
/// gives to `me:secret` and without a password, and the one that the registry accepts; `None` is an error.
async fn with_password(
    file: &str,
    of_user: Option<&str>,
    anonymous: Option<&str>,
    needed: &str,
) -> Result<Fetched, String> {
    let token = |token: Option<&str>| match token {
        Some(token) => answer(200, &[], json!({ "token": token }).to_string().as_bytes()),
        None => answer(401, &[], b"no token"),
    };
    let answers = |address: &str| {
        let realm = format!(r#"Bearer realm="http://{address}/token",service="it""#);
        let manifest_path = "/v2/org/it/manifests/1";
        let service = "/token?service=it&scope=repository%3Aorg%2Fit%3Apull";
        let asked = answer(401, &[("WWW-Authenticate", &realm)], b"");
        let given = answer(200, &[], &manifest(&layer()));
        Answers::from([
            (manifest_path.to_owned(), asked),
            (format!("Bearer {needed} {manifest_path}"), given),
            (service.to_owned(), token(anonymous)),
            (format!("Basic bWU6c2VjcmV0 {service}"), token(of_user)),
            (
                format!("/v2/org/it/blobs/{}", layer().digest),
                answer(200, &[], COMPONENT_BYTES),
            ),
        ])
    };
    let server = Server::start(answers, false).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, file.replace("REGISTRY", &server.address)).unwrap();
    let web = fetcher().web.unwrap();
    let reference: Reference = format!("{}/org/it:1", server.address).parse().unwrap();
    let mut registry = Registry::new(&web, &reference, PULL).unwrap();
    registry.files = vec![path];
    let fetched = registry.fetch(&reference, &|_, _| {}).await;
    fetched.map_err(|error| error.to_string())
}

/// Files of passwords, and the error for each.
const PASSWORDS: [(&str, &str); 4] = [
    (
        r#"{"credsStore":"acp-chain-missing"}"#,
        "config.json: the helper `docker-credential-acp-chain-missing` cannot be run",
    ),
    ("{\"auths\":", "config.json: EOF while parsing"),
    (
        r#"{"auths":{"REGISTRY":{"auth":"bWU="}}}"#,
        "config.json: Unable to decode credential",
    ),
    // The password in this file has expired.
    (
        r#"{"auths":{"REGISTRY":{"auth":"bWU6c2VjcmV0"}}}"#,
        "the server answers 401 (no token)",
    ),
];

#[tokio::test]
async fn a_public_repository_is_read_even_if_the_password_is_wrong() {
    for (file, _) in PASSWORDS {
        let fetched = with_password(file, None, Some("anybody"), "anybody").await;
        assert_eq!(fetched.unwrap().component, COMPONENT_BYTES, "{file}");
    }
    // The password in this file is for other repositories.
    let (good, _) = PASSWORDS[3];
    let fetched = with_password(good, Some("user"), Some("anybody"), "anybody").await;
    assert_eq!(fetched.unwrap().component, COMPONENT_BYTES);
    let fetched = with_password(good, Some("user"), Some("anybody"), "user").await;
    assert_eq!(fetched.unwrap().component, COMPONENT_BYTES);
}

#[tokio::test]
async fn an_error_of_the_server_says_what_is_wrong_with_the_password() {
    for (file, says) in PASSWORDS {
        for anonymous in [None, Some("anybody")] {
            let told = with_password(file, None, anonymous, "nobody").await;
            let told = told.unwrap_err();
            assert!(told.contains("the server answers 401"), "{told}");
            let (_, why) = told.split_once("No password was used: ").unwrap();
            assert!(why.contains(says), "{why}\nlacks\n{says}");
        }
    }
    let told = with_password("{}", None, None, "nobody").await.unwrap_err();
    assert!(!told.contains("No password was used"), "{told}");
}
