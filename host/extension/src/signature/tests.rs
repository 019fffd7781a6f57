//! Signatures that `minisign` 0.11 made of the text below.

use super::*;

const COMPONENT: &[u8] = b"the component";

const KEY: &str = "RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl";

const OTHER_KEY: &str = "RWQvUcbID3ua7Tp5xkfJdo5AmZowGhj2Iz5U3RDIDb+MXiJtbBGxaTxJ";

/// `minisign -S -t key:…`
const SIGNED: &str = "untrusted comment: signature from minisign secret key
RURUwsTAnYnA+fsT0e4zUyKOj+aaCvslw3srFSeb8ZnLdhDkn89T3j6cmRuSEV14UMFbKLN7JqSmpwsGBQLbfia4TMDPQ4jtgAU=
trusted comment: key:RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl
gp9/DV1HGpXWMOOZJA92zBReYSXDzKvDFlcDFlOH/8SB19/3AdmV9VHKM/jn11sCj3W+7k+qxv2R9QEaJHOyAg==
";

/// `minisign -S`
const NAMELESS: &str = "untrusted comment: signature from minisign secret key
RURUwsTAnYnA+fsT0e4zUyKOj+aaCvslw3srFSeb8ZnLdhDkn89T3j6cmRuSEV14UMFbKLN7JqSmpwsGBQLbfia4TMDPQ4jtgAU=
trusted comment: timestamp:1795375037\tfile:it.wasm\thashed
UgycJe7vwhxxeeKDaXCkWYC4qp3k9qNK3X7gy8SjmV02R6wSx554SQlugoQpG2OUF0yllLdJ9BtPoNgjxtnBAQ==
";

/// Signed with the other key, naming the first.
const STOLEN: &str = "untrusted comment: signature from minisign secret key
RUQvUcbID3ua7cWP/lmrZwFa6tafVScTr3cNgeifbXv67DPNCU+JNh/Wo9f8lCMFauSzSk//fJ5WvXpM9V0wvY+X21bbzeCHSQY=
trusted comment: key:RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl
m3HMf9CZyhsbmJhVSmSQFpnT5WOqsAobzO2ZlBhnPg39SUx9ChU7bbDPTf4iKA9NRzU8ipl19SBa6nY+5JawDQ==
";

/// `minisign -S -l`: the legacy format, without a hash of the file.
const LEGACY: &str = "untrusted comment: signature from minisign secret key
RWRUwsTAnYnA+WMP3G6hspJYmFXZm4JidZaQIZHszcurWdmP2UU9QMFwrLi8lgQOfhrXR6zYtPzQoYGTeczrtK2yNH3h9zEIbwk=
trusted comment: key:RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl
C81ZrSMSrbu4ofW+UU9765wh/Byz7i7pSIvYWlmn93B7ygVnLL9xBcId3rPEehTK/nRnNQV4VXt6t7OYtyJBCA==
";

fn key(text: &str) -> Signer {
    text.parse().unwrap()
}

fn of(signature: &str, wanted: Option<&str>) -> Result<Option<Signer>, String> {
    let wanted = wanted.map(key);
    let signer = signer(COMPONENT, &[signature.to_owned()], wanted.as_ref());
    signer.map_err(|error| error.to_string())
}

#[test]
fn a_valid_signature_names_the_signer() {
    assert_eq!(of(SIGNED, None), Ok(Some(key(KEY))));
    assert_eq!(of(SIGNED, Some(KEY)), Ok(Some(key(KEY))));
    assert_eq!(of(NAMELESS, Some(KEY)), Ok(Some(key(KEY))));
    assert_eq!(signer(COMPONENT, &[], None).unwrap(), None);
}

#[test]
fn a_signature_of_another_file_is_rejected() {
    let wrong = "the signature does not match this file";
    for (component, signature) in [
        (&b"the c0mponent"[..], SIGNED.to_owned()),
        (COMPONENT, STOLEN.to_owned()),
        (COMPONENT, LEGACY.to_owned()),
        // The comment is signed too.
        (COMPONENT, SIGNED.replace(KEY, OTHER_KEY)),
    ] {
        let told = signer(component, &[signature], None)
            .unwrap_err()
            .to_string();
        assert!(told.starts_with(wrong), "{told}");
    }
    assert!(of(STOLEN, Some(KEY)).unwrap_err().starts_with(wrong));
}

#[test]
fn the_error_differs_for_another_signer_and_for_none() {
    let other = of(SIGNED, Some(OTHER_KEY)).unwrap_err();
    assert_eq!(
        other,
        format!("it is signed by {KEY}, but must be signed by {OTHER_KEY}")
    );
    let missing = signer(COMPONENT, &[], Some(&key(KEY)))
        .unwrap_err()
        .to_string();
    assert_eq!(
        missing,
        format!("it is not signed, and must be signed by {KEY}")
    );
    assert!(
        of(NAMELESS, None)
            .unwrap_err()
            .contains("does not name its key; if")
    );
}

#[test]
fn the_earlier_signer_stays_as_long_as_it_signs() {
    let after = |before: Option<&str>, signatures: &[&str]| {
        let signatures: Vec<_> = signatures.iter().map(|text| (*text).to_owned()).collect();
        let before = before.map(key);
        let found = signer_after(before.as_ref(), COMPONENT, &signatures);
        found.map_err(|error| error.to_string())
    };
    assert_eq!(after(Some(KEY), &[NAMELESS]), Ok(Some(key(KEY))));
    assert_eq!(after(Some(OTHER_KEY), &[SIGNED]), Ok(Some(key(KEY))));
    assert_eq!(after(Some(KEY), &[]), Ok(None));
    assert_eq!(after(None, &[SIGNED]), Ok(Some(key(KEY))));
    assert!(after(Some(KEY), &[STOLEN]).is_err());
}

#[test]
fn a_malformed_signature_is_an_error() {
    for text in [
        "",
        "a",
        "\0\n\0\n\0\n\0",
        "untrusted comment: \nRUQ=\ntrusted comment: \nAA==",
    ] {
        let told = of(text, None).unwrap_err();
        assert!(told.starts_with("the signature cannot be read"), "{told}");
    }
}

#[test]
fn a_key_is_one_line_or_its_file() {
    let file = format!("untrusted comment: minisign public key F9C0899DC0C4C254\n{KEY}\n");
    assert_eq!(key(&file), key(KEY));
    for text in [
        "",
        "RW",
        &KEY[1..],
        &format!("{KEY}A"),
        "untrusted comment: no key",
    ] {
        let told = text.parse::<Signer>().unwrap_err().to_string();
        assert!(
            told.contains("is not a minisign public key: expected 56 characters"),
            "{told}"
        );
    }
}
