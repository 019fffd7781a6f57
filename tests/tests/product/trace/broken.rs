//! Traces that cannot be written, or whose writer is killed.

use std::fs;
use std::path::Path;

use super::{lines, stage, traced, turn};

#[tokio::test]
async fn a_full_disk_ends_the_trace_and_not_the_chain_and_the_user_is_told_once() {
    let (_folder, manifest) = stage();
    let mut client = traced(&manifest, Path::new("/dev/full"));
    client.initialize().await;
    let told = |chunks: Vec<String>| {
        let mut chunks = chunks.into_iter();
        chunks
            .by_ref()
            .filter(|chunk| chunk.contains("The trace cannot be written"))
            .count()
    };
    // The writer notices at its first write, which may take more than a turn.
    while told(client.chunks()) == 0 {
        assert!(client.turn("hi").await.result.is_some());
    }
    assert!(client.turn("hi").await.result.is_some());
    assert_eq!(told(client.chunks()), 1);
    assert!(client.finish().await.unwrap().status.success());
}

#[tokio::test]
async fn what_a_killed_host_wrote_is_read_and_so_is_what_comes_behind_it() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    turn(&manifest, &trace, "hi").await;
    let whole = fs::read(&trace).unwrap();
    // A trace after a kill in the middle of a write.
    fs::write(&trace, &whole[..whole.len() - 20]).unwrap();
    let (before, cut) = lines(&trace);
    assert_eq!(cut, 1);
    turn(&manifest, &trace, "hi").await;
    let (after, cut) = lines(&trace);
    assert_eq!(cut, 1);
    assert_eq!(after.len(), 2 * before.len() + 1);
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_a_trace_to_which_another_can_write() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    let mut client = traced(&manifest, &trace);
    client.initialize().await;
    // The writer may take longer than a turn to begin.
    while fs::metadata(&trace).unwrap().len() == 0 {
        client.turn("hi").await;
    }
    client.kill().await.unwrap();
    turn(&manifest, &trace, "hi").await;
    let (lines, cut) = lines(&trace);
    assert!(cut <= 1);
    let begun = lines.iter().filter(|line| line.version.is_some());
    assert_eq!(begun.count(), 2);
}

#[tokio::test]
async fn no_message_waits_for_a_trace_that_cannot_keep_up_and_what_is_missing_is_counted() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    let mut client = traced(&manifest, &trace);
    client.initialize().await;
    let held = fs::File::open(&trace).unwrap();
    held.lock().unwrap();
    let params = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    // The hops to the agent alone exceed the limit of the queue.
    for _ in 0..20 {
        client.wire.request("_vendor/x", &params).await;
    }
    held.unlock().unwrap();
    assert!(client.finish().await.unwrap().status.success());
    let (lines, cut) = lines(&trace);
    assert_eq!(cut, 0);
    let dropped = lines.iter().filter_map(|line| line.dropped).sum::<u64>();
    let requests = lines
        .iter()
        .filter(|line| line.params.is_some() && line.size > Some(1 << 20));
    assert!(dropped > 0 && requests.count() < 20);
}
