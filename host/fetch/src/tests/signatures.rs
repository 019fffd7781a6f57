//! Signatures in registries, which list them in different ways, or do not list them.

use super::*;

fn index(manifests: &[Value]) -> Vec<u8> {
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests });
    index.to_string().into_bytes()
}

/// A registry with the component, a signature of it, and lists of referrers by their paths, which may name it.
async fn signed(
    subject: Digest,
    lists: impl Fn(Value) -> Vec<(String, Vec<u8>)>,
) -> Result<Fetched, String> {
    let text = b"untrusted comment: a signature";
    let signature = Descriptor::of(layout::SIGNATURE, text);
    let of = Descriptor {
        digest: subject,
        ..Descriptor::of(MANIFEST, &manifest(&layer()))
    };
    let config = Descriptor::of(layout::EMPTY_CONFIG, b"{}");
    let referrer = json!({
        "schemaVersion": 2, "config": config, "layers": [signature], "subject": of,
        "artifactType": layout::SIGNATURE,
    });
    let referrer = referrer.to_string();
    let listed = Descriptor {
        artifact_type: Some(layout::SIGNATURE.to_owned()),
        ..Descriptor::of(MANIFEST, referrer.as_bytes())
    };
    let path = |rest: String| format!("/v2/org/it/{rest}");
    let answers = |_: &str| {
        let manifest = manifest(&layer());
        let mut answers = Answers::from([
            (path("manifests/1".to_owned()), answer(200, &[], &manifest)),
            (
                path(format!("blobs/{}", layer().digest)),
                answer(200, &[], COMPONENT_BYTES),
            ),
            (
                path(format!("manifests/{}", listed.digest)),
                answer(200, &[], referrer.as_bytes()),
            ),
            (
                path(format!("blobs/{}", signature.digest)),
                answer(200, &[], text),
            ),
        ]);
        let lists = lists(json!(listed)).into_iter();
        answers.extend(lists.map(|(rest, list)| (path(rest), list)));
        answers
    };
    Server::start(answers, false).await.fetch(":1").await
}

#[tokio::test]
async fn signatures_are_found_by_the_api_and_by_the_tag() {
    let subject = Digest::of(&manifest(&layer()));
    let tag = registry::tag_of(&subject);
    for index_at in [format!("referrers/{subject}"), format!("manifests/{tag}")] {
        let lists = |listed| {
            let other = json!(Descriptor::of(MANIFEST, b"an SBOM"));
            let list = answer(200, &[], &index(&[other, listed]));
            vec![(index_at.clone(), list)]
        };
        let fetched = signed(subject, lists).await.unwrap();
        assert_eq!(
            fetched.signatures,
            ["untrusted comment: a signature"],
            "{index_at}"
        );
        // A signature of another artifact is ignored.
        let fetched = signed(Digest::of(b"something else"), lists).await.unwrap();
        assert!(fetched.signatures.is_empty());
    }
}

#[tokio::test]
async fn a_list_of_referrers_is_read_to_its_end_and_of_the_same_server() {
    let subject = Digest::of(&manifest(&layer()));
    let first = format!("referrers/{subject}");
    let more = format!("{first}?last=1");
    let lists = |link: String| {
        let (first, more) = (first.clone(), more.clone());
        move |listed: Value| {
            // A referrer may have a digest of another algorithm.
            let other = json!({ "mediaType": MANIFEST, "digest": "sha512:00", "size": 2 });
            let linked = answer(200, &[("Link", &link)], &index(&[other]));
            let last = answer(200, &[], &index(&[listed]));
            vec![(first.clone(), linked), (more.clone(), last)]
        }
    };
    let next = format!(r#"</v2/org/it/{first}>; rel="first", </v2/org/it/{more}>; rel="next""#);
    let fetched = signed(subject, lists(next)).await.unwrap();
    assert_eq!(fetched.signatures, ["untrusted comment: a signature"]);
    let elsewhere = r#"<https://example.invalid/list>; rel="next""#.to_owned();
    let endless = format!(r#"</v2/org/it/{first}>; rel="next""#);
    for (link, says) in [
        (elsewhere, "is on another server"),
        (endless, "does not end"),
    ] {
        let fetched = signed(subject, lists(link)).await.unwrap();
        assert!(fetched.signatures.is_empty());
        let told = fetched.unread_signatures();
        assert!(told.contains(says), "{told}");
    }
}

#[tokio::test]
async fn where_referrers_cannot_be_listed_no_signature_is_found() {
    let subject = Digest::of(&manifest(&layer()));
    let (api, tag) = (
        format!("referrers/{subject}"),
        format!("manifests/{}", registry::tag_of(&subject)),
    );
    let page = b"<!DOCTYPE html><title>Sign in</title>";
    for (at, list, says) in [
        (&api, answer(404, &[], b""), None),
        (&api, answer(405, &[], b""), None),
        (
            &api,
            answer(200, &[], br#"{"schemaVersion":2,"manifests":null}"#),
            None,
        ),
        (&api, answer(200, &[], br#"{"schemaVersion":2}"#), None),
        (&api, answer(200, &[], b"{}"), None),
        (&api, answer(406, &[], b""), Some("answers 406")),
        (&api, answer(400, &[], b""), Some("answers 400")),
        (&api, answer(403, &[], b""), Some("answers 403")),
        (&api, answer(500, &[], b""), Some("answers 500")),
        (
            &api,
            answer(200, &[], page),
            Some("does not follow the specification"),
        ),
        (
            &api,
            answer(200, &[], b""),
            Some("does not follow the specification"),
        ),
        // A registry may take the tag for the digest.
        (&tag, answer(200, &[], &manifest(&layer())), None),
        (&tag, answer(406, &[], b""), Some("answers 406")),
        (
            &tag,
            answer(200, &[], page),
            Some("does not follow the specification"),
        ),
    ] {
        let lists = |_| vec![(at.clone(), list.clone())];
        let fetched = signed(subject, lists).await.unwrap();
        assert!(fetched.signatures.is_empty());
        let told = fetched.unread.unwrap_or_default();
        let is_told = says.map_or(told.is_empty(), |says| told.contains(says));
        assert!(is_told, "{at}: {told}");
    }
    // Other registries have the list under a tag.
    let lists = |listed| {
        vec![
            (api.clone(), answer(406, &[], b"")),
            (tag.clone(), answer(200, &[], &index(&[listed]))),
        ]
    };
    let fetched = signed(subject, lists).await.unwrap();
    assert_eq!(fetched.signatures, ["untrusted comment: a signature"]);
    assert_eq!(fetched.unread, None);
    // A busy registry is an error: the user may retry.
    let lists = |_| vec![(api.clone(), answer(502, &[], b""))];
    let told = signed(subject, lists).await.unwrap_err();
    assert!(told.contains("answers 502"), "{told}");
}

#[tokio::test]
async fn a_missing_signature_does_not_hide_others() {
    let subject = Digest::of(&manifest(&layer()));
    let lists = |listed: Value| {
        let mut missing = listed.clone();
        missing["digest"] = json!(Digest::of(b"one that was removed"));
        let list = answer(200, &[], &index(&[missing, listed]));
        vec![(format!("referrers/{subject}"), list)]
    };
    let fetched = signed(subject, lists).await.unwrap();
    assert_eq!(fetched.signatures, ["untrusted comment: a signature"]);
    let told = fetched.unread_signatures();
    assert!(told.contains("; its signatures cannot be read: ") && told.contains("404"));
}
