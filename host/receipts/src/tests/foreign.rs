//! Code of others for the same formats: ports of Go's `sumdb/note` and `sumdb/tlog`, of which c2sp.org has the formats.

use signed_note::{Note, StandardVerifier, VerifierList};

use crate::Checkpoint;
use crate::merkle::{Hash, leaf};
use crate::note::Signer;

/// The text of a note, if the other code accepts it by this key.
fn opened(text: &str, key: &str) -> Option<Vec<u8>> {
    let verifier = StandardVerifier::new(key).ok()?;
    let note = Note::from_bytes(text.as_bytes()).ok()?;
    note.verify(&VerifierList::new(vec![Box::new(verifier)]))
        .ok()?;
    Some(note.text().to_vec())
}

fn theirs(hash: &Hash) -> tlog_tiles::Hash {
    tlog_tiles::Hash(*hash)
}

#[test]
fn others_read_a_checkpoint_and_none_that_was_changed() {
    let signer = |seed: u8| Signer::new("acp-chain/receipts/5f1c", &[seed; 32]).unwrap();
    let (own, key) = (signer(1), signer(1).verifier().to_string());
    let checkpoint = Checkpoint {
        origin: own.verifier().name().to_owned(),
        size: 1234,
        root: leaf(b"a record"),
    };
    let note = checkpoint.sign(&own);
    let text = opened(&note, &key).expect("a note");
    let read = tlog_tiles::Checkpoint::from_bytes(&text).expect("a checkpoint");
    assert_eq!(read.origin(), checkpoint.origin);
    assert_eq!(read.size(), checkpoint.size);
    assert_eq!(*read.hash(), theirs(&checkpoint.root));
    assert_eq!(read.extension(), "");
    let larger = Checkpoint {
        size: 1235,
        ..checkpoint.clone()
    };
    let other = Checkpoint {
        root: leaf(b"another record"),
        ..checkpoint.clone()
    };
    let (_, signature) = note.split_once("\n\n").expect("a signature");
    for changed in [larger, other] {
        let other_note = changed.sign(&own);
        let (body, _) = other_note.split_once("\n\n").expect("a text");
        assert_eq!(opened(&format!("{body}\n\n{signature}"), &key), None);
    }
    assert_eq!(opened(&checkpoint.sign(&signer(2)), &key), None);
}
