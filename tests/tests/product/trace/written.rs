//! The content of a trace.

use std::fs;

use acp_chain_trace::{Decision, Role, VERSION, kept};

use super::{lines, stage, traced, turn};

#[tokio::test]
async fn each_line_has_what_the_schema_says() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    turn(&manifest, &trace, "hi").await;
    let (lines, cut) = lines(&trace);
    assert_eq!(cut, 0);
    let first = &lines[0];
    assert_eq!(
        (first.version, first.role),
        (Some(VERSION), Some(Role::Agent))
    );
    let proxies = first.proxies.as_ref().unwrap();
    assert_eq!(proxies, &["first", "second"]);
    assert_eq!(first.connection.len(), 8);
    for line in &lines {
        assert_eq!(line.connection, first.connection);
        assert!(!line.time.is_empty());
        if let Some((_, to, _)) = line.crossed() {
            let said = line.body().unwrap().len() as u64;
            assert!(line.size.unwrap() > said, "the envelope counts: {line:?}");
            let is_proxy = proxies.iter().any(|proxy| proxy == to);
            assert_eq!(line.waited.is_some(), is_proxy, "{line:?}");
        } else if line.decided().is_some() {
            assert!(line.worked.is_some(), "{line:?}");
        }
    }
    // The body before and after the proxy that changed it.
    let body = |from| {
        let mut legs = lines.iter();
        let leg = legs.find(|line| {
            line.from.as_deref() == Some(from) && line.method.as_deref() == Some("session/prompt")
        });
        leg.unwrap().body().unwrap().to_owned()
    };
    assert!(body("first").contains("\"hi\"") && body("second").contains("\"HI\""));
    let mut decided = lines.iter().filter_map(|line| line.decided());
    assert!(decided.any(|decided| decided == ("second", Decision::Change)));
}

#[tokio::test]
async fn two_hosts_with_one_trace_write_whole_lines_that_are_told_apart() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    let mut clients = [traced(&manifest, &trace), traced(&manifest, &trace)];
    for client in &mut clients {
        client.initialize().await;
    }
    for said in ["echo one", "echo two", "echo three"] {
        for client in &mut clients {
            client.turn(said).await;
        }
    }
    for client in clients {
        assert!(client.finish().await.unwrap().status.success());
    }
    let (lines, cut) = lines(&trace);
    assert_eq!(cut, 0);
    let begun = lines.iter().filter(|line| line.version.is_some());
    let connections: Vec<_> = begun.map(|line| &line.connection).collect();
    assert!(connections.len() == 2 && connections[0] != connections[1]);
    let of = |connection| {
        lines
            .iter()
            .filter(|line| &line.connection == connection)
            .count()
    };
    assert_eq!(of(connections[0]), of(connections[1]));
}

#[tokio::test]
async fn a_trace_that_grew_too_long_begins_anew_and_what_stood_in_it_is_kept() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    let length = (64 << 20) + 1;
    let before = fs::File::create(&trace).unwrap();
    before.set_len(length).unwrap();
    turn(&manifest, &trace, "hi").await;
    assert_eq!(fs::metadata(kept(&trace)).unwrap().len(), length);
    let (lines, cut) = lines(&trace);
    assert_eq!(cut, 0);
    assert_eq!(lines[0].version, Some(VERSION));
}
