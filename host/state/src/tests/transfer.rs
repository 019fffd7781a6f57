//! Moving values of a server's users into the store that replicas share.

use std::time::{Duration, UNIX_EPOCH};

use acp_chain_store::Embedded;

use super::*;

/// The values that are in the store, by their users and keys.
async fn shared_values(
    to: &mut Shared<Embedded>,
    of: &[(&Namespace, &str)],
) -> Vec<Option<String>> {
    let mut values = Vec::new();
    for (namespace, key) in of {
        values.push(to.load_value(namespace, key).await.unwrap().value);
    }
    values
}

/// A store of replicas in a folder.
fn shared(folder: &TempDir) -> Shared<Embedded> {
    Shared::new(Embedded::open(&folder.path().join("store/serve.db")).unwrap())
}

#[tokio::test]
async fn values_of_users_are_moved_once_and_nothing_in_the_store_is_replaced() {
    let (folder, mut database) = database();
    let mut to = shared(&folder);
    let (ann, bob) = (of_user("one", "ann"), of_user("one", "bob"));
    let own = of("one");
    let in_project = Namespace {
        project: Some("/w\\ork".into()),
        ..ann.clone()
    };
    database.put(&ann, "day", Some("of ann"));
    database.put(&ann, "other\0", Some("\\0"));
    database.put(&in_project, "project", Some("of a project"));
    database.put(&bob, "day", Some("of bob"));
    database.put(&own, "day", Some("mine"));
    // A replica has counted for bob already.
    let outcome = to.store_value(&bob, "day", 0, Some("newer")).await;
    stored(outcome);
    let old = "UPDATE namespaces SET since = 1000000";
    database.connection.execute(old, ()).unwrap();
    let mut moved = Moved::default();
    move_values(&mut database, &mut to, &mut moved)
        .await
        .unwrap();
    assert_eq!(
        (moved.added, moved.known, moved.refused, moved.own),
        (3, 0, 1, 1)
    );
    let refusal = &moved.refusals[0];
    assert_eq!((&refusal.namespace, &*refusal.key), (&bob, "day"));
    assert_eq!(refusal.why, RefusalReason::Differs);
    let all = [
        (&ann, "day"),
        (&ann, "other\0"),
        (&in_project, "project"),
        (&bob, "day"),
        (&own, "day"),
    ];
    let expected = [
        Some("of ann"),
        Some("\\0"),
        Some("of a project"),
        Some("newer"),
        None,
    ];
    let found = shared_values(&mut to, &all).await;
    assert_eq!(found, expected.map(|value| value.map(str::to_owned)));
    // Proxies are told since when there are values, as before.
    let loaded = to.load_value(&ann, "day").await.unwrap();
    assert_eq!(loaded.since, Some(UNIX_EPOCH + Duration::from_secs(1)));
    let summaries = database.namespaces().unwrap();
    let left: Vec<_> = summaries
        .iter()
        .map(|one| (&one.namespace, one.count))
        .collect();
    assert_eq!(left, [(&own, 1), (&bob, 1)]);
    // Again, nothing is left to move.
    let mut again = Moved::default();
    move_values(&mut database, &mut to, &mut again)
        .await
        .unwrap();
    assert_eq!((again.added, again.known), (0, 0));
    assert_eq!((again.refused, again.own), (1, 1));
}

#[tokio::test]
async fn a_move_that_was_interrupted_goes_on() {
    let (folder, mut database) = database();
    let mut to = shared(&folder);
    let ann = of_user("one", "ann");
    let version = database.put(&ann, "day", Some("of ann"));
    // It is in the store, and was not removed here.
    stored(to.store_value(&ann, "day", 0, Some("of ann")).await);
    let mut moved = Moved::default();
    move_values(&mut database, &mut to, &mut moved)
        .await
        .unwrap();
    assert_eq!((moved.added, moved.known, moved.refused), (0, 1, 0));
    assert!(database.namespaces().unwrap().is_empty());
    // Versions of what was moved do not come back.
    assert!(database.put(&ann, "day", Some("again")) > version);
}

#[tokio::test]
async fn what_exceeds_a_limit_of_the_store_stays() {
    let (folder, mut database) = database();
    let mut to = shared(&folder);
    let ann = of_user("one", "ann");
    let value = "x".repeat(STORED_VALUE);
    let most = STORED_BYTES / size("00", &value);
    for number in 0..most {
        let key = format!("{number:02}");
        stored(to.store_value(&ann, &key, 0, Some(&value)).await);
    }
    database.put(&ann, "k", Some(&value));
    let mut moved = Moved::default();
    move_values(&mut database, &mut to, &mut moved)
        .await
        .unwrap();
    assert_eq!((moved.added, moved.refused), (0, 1));
    let why = moved.refusals[0].why;
    assert_eq!(why, RefusalReason::Limit(LimitError::Bytes));
    assert_eq!(database.get(&ann, "k"), Some(value));
}
