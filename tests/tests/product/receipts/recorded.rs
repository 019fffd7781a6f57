//! What a run leaves, and what the commands say about it.

use std::ffi::OsStr;
use std::fs;

use serde_json::Value;
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::{Checkpoint, Error, Hash, HashReader, stored_hashes, tree_hash};

use super::{asked, begin, exported, finish, receipts, segments, stage, turn_recorded, verify};

#[tokio::test]
async fn a_turn_leaves_who_decided_what_and_nothing_of_what_was_said() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    let ended = asked(&mut client, "Write hunter2", "reject-once").await;
    assert!(ended.result.is_some());
    // The turn has ended, so its records are on disk, and a checkpoint covers them.
    let (code, said) = verify(&log, &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let records = exported(&log).await;
    let find = |what: &str, method: &str, from: &str| {
        let mut found = records
            .iter()
            .filter(|one| one["what"] == what && one["method"] == method && one["from"] == from);
        found
            .next()
            .unwrap_or_else(|| panic!("{what} {method}: {records:#?}"))
    };
    let chain = &records[0];
    assert_eq!(
        (&chain["what"], &chain["role"]),
        (&"chain".into(), &"agent".into())
    );
    assert_eq!(chain["chain"]["agreed"]["by"], "user");
    let ids = chain["chain"]["proxies"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|proxy| proxy["id"].clone()).collect();
    assert_eq!(ids, ["first", "second"]);
    let digest = chain["chain"]["proxies"][0]["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:"), "{digest}");
    let question = find("request", super::PERMISSION, "agent");
    assert_eq!(
        (&question["call"], &question["kind"]),
        (&"call-1".into(), &"edit".into())
    );
    let answer = find("answer", super::PERMISSION, "client");
    assert_eq!(answer["outcome"], "reject_once");
    assert_eq!(
        find("answer", "session/prompt", "agent")["outcome"],
        "end_turn"
    );
    let changed = records.iter().find(|one| one["decision"] == "change");
    let changed = changed.unwrap_or_else(|| panic!("{records:#?}"));
    assert_eq!(changed["proxy"], "second");
    assert_ne!(changed["before"], changed["after"]);
    let text = fs::read_to_string(&segments(&log)[0]).unwrap();
    assert!(
        !text.contains("hunter2") && !text.contains("/work/file"),
        "{text}"
    );
    finish(client).await;
    assert_eq!(exported(&log).await.last().unwrap()["what"], "end");
}

#[tokio::test]
async fn the_line_that_is_printed_and_the_checkpoint_are_witnesses() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    let kept = folder.path().join("kept");
    fs::copy(log.join("checkpoint"), &kept).unwrap();
    let printed = finish(client).await;
    let line = folder.path().join("line");
    fs::write(&line, format!("other text\n{printed}\n")).unwrap();
    let client = begin(&manifest, &log, &[]).await;
    finish(client).await;
    let witness: &OsStr = "--witness".as_ref();
    let witnesses = [witness, kept.as_os_str(), witness, line.as_os_str()];
    let (code, said) = verify(&log, &witnesses).await;
    assert!(code == Some(0) && said.contains("2 checkpoints"), "{said}");

    // The first record is changed, and the log is written anew from there, with its own keys.
    let new = folder.path().join("new");
    fs::create_dir(&new).unwrap();
    for name in ["keys.json", "verifier", "lock"] {
        fs::copy(log.join(name), new.join(name)).unwrap();
    }
    let mut client = begin(&manifest, &new, &[]).await;
    client.turn("hi").await;
    client.turn("hi").await;
    finish(client).await;
    assert_eq!(verify(&new, &[]).await.0, Some(0));
    for one in [&kept, &line] {
        let (code, said) = verify(&new, &[witness, one.as_os_str()]).await;
        assert!(code == Some(1) && said.contains("written anew"), "{said}");
    }
}

#[tokio::test]
async fn a_changed_record_is_found_and_the_log_is_not_continued() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    asked(&mut client, "Write", "reject-once").await;
    finish(client).await;
    let segment = &segments(&log)[0];
    let text = fs::read_to_string(segment).unwrap();
    fs::write(segment, text.replacen("reject_once", "allow_once", 1)).unwrap();
    let (code, said) = verify(&log, &[]).await;
    assert!(
        code == Some(1) && said.contains("not those that were written"),
        "{said}"
    );
    let options = [
        OsStr::new("--manifest"),
        manifest.as_os_str(),
        OsStr::new("--receipts"),
        log.as_os_str(),
    ];
    let mut command = acp_chain_tests::host::run_with(options, [super::AGENT]);
    let refused = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && said.contains("a new log begins"),
        "{said}"
    );
    // It may be written.
    assert!(!said.contains("that you may write to"), "{said}");
}

#[tokio::test]
async fn records_are_shown_and_exported_as_asked_for() {
    let (folder, log) = turn_recorded().await;
    let count = exported(&log).await.len();
    let show: [&OsStr; 4] = [
        "show".as_ref(),
        log.as_os_str(),
        "--proxy".as_ref(),
        "second".as_ref(),
    ];
    let (code, output) = receipts(&show).await;
    assert_eq!(code, Some(0));
    assert!(!output.out.is_empty() && output.out.lines().all(|line| line.contains("second")));
    let csv: [&OsStr; 4] = [
        "export".as_ref(),
        log.as_os_str(),
        "--to".as_ref(),
        "csv".as_ref(),
    ];
    let (code, output) = receipts(&csv).await;
    assert_eq!(code, Some(0));
    assert!(
        output.out.starts_with("\"number\",\"time\",\"what\","),
        "{output:?}"
    );
    assert_eq!(output.out.lines().count(), count + 1);
    let nowhere = folder.path().join("nowhere");
    assert_eq!(verify(&nowhere, &[]).await.0, Some(2));
}

#[tokio::test]
async fn a_chain_whose_proxies_only_would_do_something_is_recorded_as_such() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    for (options, is_dry) in [(&["--dry-run"][..], true), (&[][..], false)] {
        let mut client = begin(&manifest, &log, options).await;
        client.turn("hi").await;
        finish(client).await;
        let records = exported(&log).await;
        let begun = records.iter().rfind(|one| one["what"] == "chain").unwrap();
        assert_eq!(begun["chain"]["dry-run"] == true, is_dry, "{begun}");
    }
}

#[tokio::test]
async fn whatever_is_in_a_log_is_exported() {
    let (_folder, log) = turn_recorded().await;
    let path = segments(&log).remove(0);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let record = format!(r#"{{"time":"=1+1","what":"chain","chain":{deep}}}"#);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{record}\n")).unwrap();
    for (format, expected) in [("json", &*deep), ("csv", "\"'=1+1\"")] {
        let args: [&OsStr; 4] = [
            "export".as_ref(),
            log.as_os_str(),
            "--to".as_ref(),
            format.as_ref(),
        ];
        let (code, output) = receipts(&args).await;
        assert_eq!(code, Some(0), "{}", output.err);
        assert!(output.out.contains(expected));
    }
}

#[tokio::test]
async fn a_line_that_is_no_record_hides_no_other() {
    let (folder, manifest) = stage();
    let log = folder.path().join("receipts");
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    finish(client).await;
    let count = exported(&log).await.len();
    let path = segments(&log).remove(0);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}no record\n")).unwrap();
    // From now on, it is a part of the log.
    let mut client = begin(&manifest, &log, &[]).await;
    client.turn("hi").await;
    finish(client).await;
    let (code, said) = verify(&log, &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let args: [&OsStr; 4] = [
        "export".as_ref(),
        log.as_os_str(),
        "--to".as_ref(),
        "json".as_ref(),
    ];
    let (code, output) = receipts(&args).await;
    let expected = format!("left out, the first at record {}", count + 1);
    assert!(
        code == Some(2) && output.err.contains(&expected),
        "{output:?}"
    );
    let records: Vec<Value> = serde_json::from_str(&output.out).unwrap();
    assert!(records.len() > count, "{records:#?}");
    assert_eq!(records.last().unwrap()["what"], "end");
}

#[tokio::test]
async fn a_manifest_names_the_folder_and_two_chains_share_a_log() {
    let (folder, manifest) = stage();
    let text = fs::read_to_string(&manifest).unwrap();
    let table = "[receipts]\nfolder = \"log\"\nkeep-days = 1\n\n";
    fs::write(&manifest, format!("{table}{text}")).unwrap();
    let begin = async || {
        let options = [OsStr::new("--manifest"), manifest.as_os_str()];
        let command = acp_chain_tests::host::run_with(options, [super::AGENT]);
        let transcript = acp_chain_tests::transcript::Transcript::new();
        let started = acp_chain_tests::process::Process::start("client", &transcript, command);
        let mut client = started.unwrap();
        client.initialize().await;
        client
    };
    let (mut one, mut two) = (begin().await, begin().await);
    one.turn("hi").await;
    two.turn("hi").await;
    one.turn("hi").await;
    finish(one).await;
    finish(two).await;
    let log = folder.path().join("log");
    let (code, said) = verify(&log, &[]).await;
    assert_eq!(code, Some(0), "{said}");
    let records = exported(&log).await;
    let chains = records.iter().filter(|one| one["what"] == "chain");
    let names: Vec<&Value> = chains.map(|one| &one["connection"]).collect();
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
}

/// The hashes of a log, as the other code stores them.
struct Stored(Vec<Hash>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let stored = |index: &u64| self.0.get(usize::try_from(*index).ok()?).copied();
        let found = indexes.iter().map(stored).collect::<Option<Vec<_>>>();
        found.ok_or(Error::IndexesNotInTree)
    }
}

/// The text of a note, if other code accepts it by this key.
fn opened(text: &str, key: &str) -> Option<Vec<u8>> {
    let verifier = StandardVerifier::new(key).ok()?;
    let note = Note::from_bytes(text.as_bytes()).ok()?;
    note.verify(&VerifierList::new(vec![Box::new(verifier)]))
        .ok()?;
    Some(note.text().to_vec())
}

/// Ports of Go's reference implementations, `sumdb/note` and `sumdb/tlog`.
#[tokio::test]
async fn other_tools_accept_a_checkpoint_of_these_records_and_none_that_was_changed() {
    let (_folder, log) = turn_recorded().await;
    let read = |name: &str| fs::read_to_string(log.join(name)).unwrap();
    let (note, verifier) = (read("checkpoint"), read("verifier"));
    let key = verifier.trim();
    let text = opened(&note, key).expect("a note that the other code accepts");
    let checkpoint = Checkpoint::from_bytes(&text).expect("a checkpoint");
    let files = segments(&log);
    assert_eq!(files.len(), 1);
    let records = fs::read_to_string(&files[0]).unwrap();
    let mut stored = Stored(Vec::new());
    // The first line is no record.
    for (number, record) in (0_u64..).zip(records.lines().skip(1)) {
        let more = stored_hashes(number, record.as_bytes(), &stored).unwrap();
        stored.0.extend(more);
    }
    assert_eq!(
        tree_hash(checkpoint.size(), &stored).unwrap(),
        *checkpoint.hash()
    );
    let size = checkpoint.size();
    let larger = note.replacen(&format!("\n{size}\n"), &format!("\n{}\n", size + 1), 1);
    let renamed = note.replacen("acp-chain", "acp-chair", 1);
    let (before, last) = note.split_at(note.len() - 10);
    let swap = |letter: char| if letter == 'A' { 'B' } else { 'A' };
    let mut letters = last.chars();
    let first = letters.next().map(swap).unwrap();
    let forged = format!("{before}{first}{}", letters.as_str());
    for changed in [larger, renamed, forged] {
        assert_ne!(changed, note);
        assert_eq!(opened(&changed, key), None, "{changed}");
    }
}
