use std::sync::mpsc::channel;

use super::*;

#[test]
fn nothing_is_kept_of_a_connection_that_ended() {
    let (_, entries) = channel();
    let mut writer = Writer::new(Vec::new(), None, Arc::default(), entries, Arc::default());
    let began = |name: &str| {
        let line = Line {
            connection: name.to_owned(),
            version: Some(1),
            ..Line::default()
        };
        Entry::Began(line.into(), None, Arc::default())
    };
    let mut batch = Batch::default();
    writer.take(began("stays"), &mut batch);
    writer.take(began("goes"), &mut batch);
    writer.take(Entry::Ended("goes".into(), SystemTime::now()), &mut batch);
    writer.settle(&batch.lines);
    let known: Vec<_> = writer.connections.keys().map(|name| &**name).collect();
    assert_eq!((known, writer.kept_back.len()), (vec!["stays"], 1));
}
