//! A file on a disk that becomes full.

use std::fs;
use std::io::ErrorKind;

use acp_chain_store::{Answer, Call, Store};
use acp_chain_tests::disk::{fill, small_disk};

use super::{LONG, done, embedded, leased, name, registered};

#[tokio::test]
async fn a_full_disk_is_an_error_until_there_is_room() {
    let test = "store::disk::a_full_disk_is_an_error_until_there_is_room";
    let Some(folder) = small_disk(test) else {
        return;
    };
    let mut store = embedded(&folder.join("state"));
    let one = registered(&mut store, "one", LONG).await;
    let filler = folder.join("filler");
    assert_eq!(fill(&filler).unwrap_err().kind(), ErrorKind::StorageFull);
    let beat = Call::Beat {
        holder: one.clone(),
        lease: LONG,
        seen: 0,
    };
    // The first ones have room in pages that are there already.
    let error = loop {
        if let Err(error) = store.carry_out(&beat).await {
            break error.to_string();
        }
    };
    assert!(
        error.contains("serve.db: the disk is full; free some space"),
        "{error}"
    );
    fs::remove_file(&filler).unwrap();
    let beaten = done(&mut store, beat).await;
    assert!(matches!(beaten, Answer::Beaten { .. }), "{beaten:?}");
    leased(&mut store, &name("one", "ann"), &one).await;
}
