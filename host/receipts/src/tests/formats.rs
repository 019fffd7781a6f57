use data_encoding::BASE64;

use crate::Checkpoint;
use crate::note::{NoteError, Signer, Verifier};

/// The example of <https://pkg.go.dev/golang.org/x/mod/sumdb/note>, whose format c2sp.org/signed-note describes.
const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const SECRET: &str = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const TEXT: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const SIGNATURE: &str = "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

/// The example of <https://c2sp.org/tlog-checkpoint>.
const CHECKPOINT: &str =
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

fn signer() -> Signer {
    let typed = BASE64.decode(SECRET.as_bytes()).unwrap();
    Signer::new("PeterNeumann", typed[1..].try_into().unwrap()).unwrap()
}

#[test]
fn notes_are_signed_and_opened_as_the_format_has_them() {
    let note = format!("{TEXT}\n{SIGNATURE}");
    assert_eq!(signer().sign(TEXT), note);
    assert_eq!(signer().verifier().to_string(), KEY);
    let verifier = Verifier::parse(KEY).unwrap();
    assert_eq!(verifier.open(&note), Ok(TEXT));
    // Signatures of other keys are passed over, whatever their types are.
    let other = "\u{2014} somebody/else AAAAAAE=\n";
    assert_eq!(
        verifier.open(&format!("{TEXT}\n{other}{SIGNATURE}")),
        Ok(TEXT)
    );
    assert_eq!(
        verifier.open(&format!("{TEXT}\n{other}")),
        Err(NoteError::Unsigned)
    );
    let changed = note.replace("your problem is", "my problem is");
    assert_eq!(verifier.open(&changed), Err(NoteError::Forged));
    for malformed in [
        TEXT.to_owned(),
        format!("{TEXT}{SIGNATURE}"),
        format!("{TEXT}\n"),
        format!("{TEXT}\n{SIGNATURE}\n"),
        format!("{TEXT}\n{}", SIGNATURE.trim_end()),
        format!("{TEXT}\n{}", SIGNATURE.replace("x08g", "x0.g")),
        format!("\u{7}{TEXT}\n{SIGNATURE}"),
    ] {
        assert_eq!(
            verifier.open(&malformed),
            Err(NoteError::Malformed),
            "{malformed:?}"
        );
    }
}

#[test]
fn a_key_with_any_other_byte_is_none() {
    for at in 0..KEY.len() {
        let mut bytes = KEY.as_bytes().to_vec();
        bytes[at] += 1;
        let text = String::from_utf8(bytes).unwrap();
        assert!(Verifier::parse(&text).is_err(), "{text}");
        assert!(Verifier::parse(&KEY[..at]).is_err());
    }
    assert!(Signer::new("with space", &[0; 32]).is_err());
    assert!(Signer::new("", &[0; 32]).is_err());
}

#[test]
fn checkpoints_have_an_origin_a_size_and_a_hash() {
    let checkpoint: Checkpoint = CHECKPOINT.parse().unwrap();
    assert_eq!(checkpoint.origin, "example.com/behind-the-sofa");
    assert_eq!(checkpoint.size, 20_852_163);
    assert_eq!(
        BASE64.encode(&checkpoint.root),
        "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    );
    // Extensions are passed over.
    assert_eq!(format!("{CHECKPOINT}more\n").parse(), Ok(checkpoint));
    for wrong in [
        CHECKPOINT.trim_end().to_owned(),
        CHECKPOINT.replace("20852163", "020852163"),
        CHECKPOINT.replace("20852163", "+20852163"),
        CHECKPOINT.replace("20852163", "99999999999999999999"),
        CHECKPOINT.replace("q2I=", "q2J="),
        CHECKPOINT.replace("example.com/behind-the-sofa", ""),
        format!("{CHECKPOINT}\n"),
        "example.com/behind-the-sofa\n20852163\n".to_owned(),
    ] {
        assert!(wrong.parse::<Checkpoint>().is_err(), "{wrong:?}");
    }
}

#[test]
fn kept_checkpoints_are_found_in_other_text() {
    let signer = signer();
    let checkpoint = |size| Checkpoint {
        origin: "PeterNeumann".to_owned(),
        size,
        root: [7; 32],
    };
    let foreign = Checkpoint {
        origin: "somebody".to_owned(),
        ..checkpoint(3)
    };
    let note = checkpoint(2).sign(&signer);
    let text = format!(
        "a log\nacp-chain: {}\n{note}\n{foreign}\n{}\nend",
        checkpoint(1),
        note.replace("\n2\n", "\n4\n")
    );
    let kept = Checkpoint::kept(&text, signer.verifier());
    assert_eq!(kept, [checkpoint(1), checkpoint(2)]);
    assert!(Checkpoint::kept("", signer.verifier()).is_empty());
    // Names without notes take no longer than other text.
    let names = "PeterNeumann\n".repeat(100_000);
    assert!(Checkpoint::kept(&names, signer.verifier()).is_empty());
}
