//! What holds for values of proxies wherever they are: in a user's database, or in the store of replicas; and what only
//! replicas show.

use std::path::{Path, PathBuf};

use acp_chain::limits::{
    STORED_BYTES, STORED_FOR, STORED_IN_ALL, STORED_KEY, STORED_VALUE, STORED_VALUES,
};
use acp_chain_state::{
    Database, Filter, LimitError, Loaded, Moved, Namespace, PAGE, Removed, Selection, Shared,
    Shelf, StateError, StoreOutcome, Totals, move_values,
};
use acp_chain_store::{Embedded, Postgres};
use acp_chain_tests::postgres::start_postgres;
use futures_util::future::{join, join_all};

use super::database::connect;
use super::{embedded, postgres, unprepared};

/// How many replicas ask at the same time.
const MANY: usize = 16;

/// The values of a user of the server.
fn of(extension: &str, user: Option<&str>) -> Namespace {
    Namespace {
        extension: extension.to_owned(),
        source: "built-in".to_owned(),
        user: user.map(str::to_owned),
        project: None,
    }
}

/// Plays all scenes in a place that has no values.
async fn play(shelf: &mut impl Shelf) {
    a_value_is_stored_only_over_the_version_that_is_known(shelf).await;
    namespaces_have_nothing_in_common(shelf).await;
    a_version_never_comes_back(shelf).await;
    any_text_is_loaded_as_it_was_stored(shelf).await;
    what_is_removed_is_what_the_filter_says(shelf).await;
    any_number_of_them_is_removed(shelf).await;
    one_proxy_cannot_store_more_than_its_share(shelf).await;
    what_is_kept_is_counted_and_selected_in_parts(shelf).await;
}

#[tokio::test]
async fn in_the_database_of_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("state/state.db")).unwrap();
    play(&mut database).await;
}

#[tokio::test]
async fn in_a_store_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store: Embedded = embedded(folder.path());
    play(&mut Shared::new(store)).await;
}

#[tokio::test]
async fn in_a_store_in_postgres() {
    let server = start_postgres();
    play(&mut Shared::new(postgres(&server.url()).await)).await;
}

/// The version of a value that was stored.
fn stored(outcome: Result<StoreOutcome, StateError>) -> u64 {
    match outcome {
        Ok(StoreOutcome::Stored { version }) => version,
        other => panic!("{other:?}"),
    }
}

/// Stores a value over whatever there is. Returns its version.
async fn put(shelf: &mut impl Shelf, of: &Namespace, key: &str, value: Option<&str>) -> u64 {
    let version = shelf.load_value(of, key).await.unwrap().version;
    stored(shelf.store_value(of, key, version, value).await)
}

async fn get(shelf: &mut impl Shelf, of: &Namespace, key: &str) -> Option<String> {
    shelf.load_value(of, key).await.unwrap().value
}

/// The limit that keeps a new value from being stored.
async fn exceeds(shelf: &mut impl Shelf, of: &Namespace, key: &str, value: &str) -> LimitError {
    match shelf.store_value(of, key, 0, Some(value)).await {
        Err(StateError::Limit(limit)) => limit,
        other => panic!("{other:?}"),
    }
}

/// Removes all, for the next scene.
async fn clear(shelf: &mut impl Shelf) {
    shelf.remove(&Filter::default()).await.unwrap();
    assert!(shelf.list(&Filter::default()).await.unwrap().is_empty());
}

async fn a_value_is_stored_only_over_the_version_that_is_known(shelf: &mut impl Shelf) {
    let one = of("one", Some("ann"));
    let nothing = shelf.load_value(&one, "k").await.unwrap();
    assert_eq!(nothing, Loaded::default());
    // There is nothing to remove, and no trace of it.
    let removed = shelf.store_value(&one, "k", 0, None).await;
    assert_eq!(stored(removed), 0);
    assert!(shelf.list(&Filter::default()).await.unwrap().is_empty());
    let first = stored(shelf.store_value(&one, "k", 0, Some("first")).await);
    assert!(first > 0);
    let found = shelf.load_value(&one, "k").await.unwrap();
    assert_eq!(found.value.as_deref(), Some("first"));
    assert_eq!(found.version, first);
    assert!(found.since.is_some());
    let conflict = StoreOutcome::Conflict(found.clone());
    for version in [0, first - 1, first + 1, u64::MAX] {
        for value in [Some("other"), None] {
            let outcome = shelf.store_value(&one, "k", version, value).await;
            assert_eq!(outcome.unwrap(), conflict);
        }
    }
    let second = stored(shelf.store_value(&one, "k", first, Some("second")).await);
    assert!(second > first);
    let loaded = shelf.load_value(&one, "k").await.unwrap();
    assert_eq!(loaded.value.as_deref(), Some("second"));
    assert_eq!((loaded.version, loaded.since), (second, found.since));
    // Of a key without a value, too, it is known since when there are others.
    let other = Loaded {
        since: found.since,
        ..Loaded::default()
    };
    let missing = shelf.store_value(&one, "other", second, Some("")).await;
    assert_eq!(missing.unwrap(), StoreOutcome::Conflict(other));
    clear(shelf).await;
    assert_eq!(
        shelf.load_value(&one, "k").await.unwrap(),
        Loaded::default()
    );
}

async fn namespaces_have_nothing_in_common(shelf: &mut impl Shelf) {
    let mut all = vec![of("one", None), of("two", None)];
    all.push(Namespace {
        source: "ghcr.io/one/one".to_owned(),
        ..of("one", None)
    });
    for user in [None, Some(""), Some("ann")] {
        for project in [None, Some("/"), Some("/ann")] {
            all.push(Namespace {
                project: project.map(PathBuf::from),
                ..of("three", user)
            });
        }
    }
    for (number, namespace) in all.iter().enumerate() {
        assert_eq!(get(shelf, namespace, "k").await, None);
        put(shelf, namespace, "k", Some(&number.to_string())).await;
    }
    for (number, namespace) in all.iter().enumerate() {
        let expected = Some(number.to_string());
        assert_eq!(get(shelf, namespace, "k").await, expected);
    }
    let summaries = shelf.list(&Filter::default()).await.unwrap();
    let found: Vec<_> = summaries.into_iter().map(|one| one.namespace).collect();
    all.sort();
    assert_eq!(found, all);
    clear(shelf).await;
}

async fn a_version_never_comes_back(shelf: &mut impl Shelf) {
    let one = of("one", Some("ann"));
    let mut last = put(shelf, &one, "k", Some("1")).await;
    assert_eq!(put(shelf, &one, "k", None).await, 0);
    assert_eq!(get(shelf, &one, "k").await, None);
    for value in ["2", "3"] {
        let version = put(shelf, &one, "k", Some(value)).await;
        assert!(version > last);
        last = version;
    }
    // Neither after all was removed.
    clear(shelf).await;
    let outcome = shelf.store_value(&one, "k", last, Some("4")).await;
    assert_eq!(outcome.unwrap(), StoreOutcome::Conflict(Loaded::default()));
    assert!(put(shelf, &one, "k", Some("4")).await > last);
    clear(shelf).await;
}

async fn any_text_is_loaded_as_it_was_stored(shelf: &mut impl Shelf) {
    let namespace = Namespace {
        project: Some("/w\0\\0\\".into()),
        ..of("a\\\0\"ä", Some("\\\0'; DROP"))
    };
    let texts = ["\0", "\\", "\\0", "\0\\\u{1}\n\"'ä𝄞", ""];
    for text in texts {
        put(shelf, &namespace, text, Some(text)).await;
    }
    for text in texts {
        assert_eq!(get(shelf, &namespace, text).await.as_deref(), Some(text));
    }
    let summaries = shelf.list(&Filter::default()).await.unwrap();
    assert_eq!(summaries[0].namespace, namespace);
    assert_eq!(summaries[0].count, texts.len() as u64);
    clear(shelf).await;
}

async fn what_is_removed_is_what_the_filter_says(shelf: &mut impl Shelf) {
    let in_work = |extension| Namespace {
        project: Some("/work".into()),
        ..of(extension, Some("ann"))
    };
    let all = [
        of("one", Some("bob")),
        in_work("one"),
        of("two", None),
        in_work("two"),
    ];
    for namespace in &all {
        put(shelf, namespace, "k", Some("v")).await;
        put(shelf, namespace, "other", Some("v")).await;
    }
    let by = |extension: Option<&str>, user: Option<&str>, project: Option<&str>| Filter {
        extension: extension.map(str::to_owned),
        user: user.map(str::to_owned),
        project: project.map(PathBuf::from),
    };
    let scenes: [(Filter, &[usize]); 8] = [
        (by(Some("three"), None, None), &[]),
        (by(None, None, Some("/work/inner")), &[]),
        (by(Some("two"), Some("bob"), None), &[]),
        (by(None, Some("bob"), Some("/work")), &[]),
        (by(Some("one"), None, Some("/work")), &[1]),
        (by(None, Some("ann"), Some("/work")), &[3]),
        (by(None, Some("bob"), None), &[0]),
        (by(None, None, None), &[2]),
    ];
    for (filter, gone) in scenes {
        let listed = shelf.list(&filter).await.unwrap();
        assert_eq!(listed.len(), gone.len());
        for at in gone {
            assert!(listed.iter().any(|one| one.namespace == all[*at]));
        }
        let count = gone.len() as u64;
        let expected = Removed {
            namespaces: count,
            values: 2 * count,
        };
        assert_eq!(shelf.remove(&filter).await.unwrap(), expected);
        for at in gone {
            assert_eq!(get(shelf, &all[*at], "k").await, None);
        }
    }
    clear(shelf).await;
}

async fn any_number_of_them_is_removed(shelf: &mut impl Shelf) {
    const MANY: u64 = 40;
    for number in 0..MANY {
        let user = number.to_string();
        put(shelf, &of("one", Some(&user)), "k", Some("v")).await;
    }
    put(shelf, &of("two", None), "k", Some("v")).await;
    let filter = Filter {
        extension: Some("one".to_owned()),
        ..Filter::default()
    };
    let expected = Removed {
        namespaces: MANY,
        values: MANY,
    };
    assert_eq!(shelf.remove(&filter).await.unwrap(), expected);
    assert_eq!(shelf.list(&Filter::default()).await.unwrap().len(), 1);
    clear(shelf).await;
}

async fn one_proxy_cannot_store_more_than_its_share(shelf: &mut impl Shelf) {
    let one = of("one", Some("ann"));
    let long = |bytes| "\\".repeat(bytes);
    let (key, value) = (long(STORED_KEY), long(STORED_VALUE));
    put(shelf, &one, &key, Some(&value)).await;
    assert_eq!(get(shelf, &one, &key).await.as_deref(), Some(&*value));
    let too_long = exceeds(shelf, &one, &long(STORED_KEY + 1), "v").await;
    assert_eq!(too_long, LimitError::Key);
    let too_long = exceeds(shelf, &one, "k", &long(STORED_VALUE + 1)).await;
    assert_eq!(too_long, LimitError::Value);
    let named = of(&long(4097), None);
    let too_long = exceeds(shelf, &named, "k", "v").await;
    assert_eq!(too_long, LimitError::Name);
    let row = (64 + 2 + STORED_VALUE) as u64;
    let most = STORED_BYTES / row;
    let two = of("two", Some("ann"));
    for number in 0..most {
        put(shelf, &two, &format!("{number:02}"), Some(&value)).await;
    }
    let too_much = exceeds(shelf, &two, "more", &value).await;
    assert_eq!(too_much, LimitError::Bytes);
    // A value may become shorter, and then there is space.
    put(shelf, &two, "00", Some("")).await;
    put(shelf, &two, "more", Some(&value)).await;
    let summary = &shelf.list(&Filter::default()).await.unwrap()[1];
    assert_eq!(summary.count, most + 1);
    assert!(summary.bytes <= STORED_BYTES);
    clear(shelf).await;
}

async fn what_is_kept_is_counted_and_selected_in_parts(shelf: &mut impl Shelf) {
    assert_eq!(shelf.totals(None).await.unwrap(), Totals::default());
    let users = PAGE as u64 + 4;
    for number in 0..users {
        let user = format!("user-{number:03}");
        put(shelf, &of("one", Some(&user)), "day", Some("\\v")).await;
    }
    put(shelf, &of("one", None), "day", Some("mine")).await;
    put(shelf, &of("two", Some("user-000")), "day", Some("v")).await;
    put(shelf, &of("one", Some("user-000")), "other", Some("v")).await;
    let totals = shelf.totals(None).await.unwrap();
    assert_eq!((totals.namespaces, totals.users), (users + 2, users));
    assert_eq!(totals.values, users + 3);
    let one = shelf.totals(Some("user-000")).await.unwrap();
    assert_eq!((one.namespaces, one.users, one.values), (2, 1, 3));
    assert_eq!(one.bytes, 3 * 64 + 3 + 3 + 5 + 2 + 1 + 1);
    assert_eq!(
        shelf.totals(Some("nobody")).await.unwrap(),
        Totals::default()
    );
    assert_eq!(shelf.list_some(None).await.unwrap().len(), PAGE);
    let listed = shelf.list_some(Some("user-000")).await.unwrap();
    let extensions = listed.iter().map(|one| &*one.namespace.extension);
    assert_eq!(extensions.collect::<Vec<_>>(), ["one", "two"]);
    let mut selection = Selection {
        extension: "one",
        key: "day",
        user: None,
        longest: 2,
    };
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let page = shelf.select(&selection, &after).await.unwrap();
        assert!(page.values.len() <= PAGE);
        found.extend(page.values);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    // One is too long.
    assert_eq!(found.len() as u64, users);
    assert!(found.iter().all(|one| one.value == "\\v"));
    found.sort_by(|one, other| one.namespace.cmp(&other.namespace));
    assert_eq!(found[1].namespace, of("one", Some("user-001")));
    selection.user = Some("user-001");
    let page = shelf.select(&selection, "").await.unwrap();
    assert_eq!(page.values.len(), 1);
    selection.key = "other";
    let page = shelf.select(&selection, "").await.unwrap();
    assert_eq!((page.values.len(), page.next), (0, None));
    clear(shelf).await;
}

#[tokio::test]
async fn rows_that_others_have_written_are_errors_and_stay() {
    let server = start_postgres();
    let url = server.url();
    let mut shelf = Shared::new(postgres(&url).await);
    let one = of("one", Some("ann"));
    let version = put(&mut shelf, &one, "k", Some("v")).await;
    let raw = connect(&url).await;
    raw.batch_execute("UPDATE acp_chain_values SET version = -1")
        .await
        .unwrap();
    let loaded = shelf.load_value(&one, "k").await.unwrap_err();
    assert!(loaded.to_string().contains("below 0"), "{loaded}");
    let refused = shelf.store_value(&one, "k", version, Some("w")).await;
    assert!(refused.unwrap_err().to_string().contains("below 0"));
    let set = format!(
        "UPDATE acp_chain_values SET version = {version}; UPDATE acp_chain_value_owners SET entries = -1"
    );
    raw.batch_execute(&set).await.unwrap();
    let listed = shelf.list(&Filter::default()).await.unwrap_err();
    assert!(listed.to_string().contains("below 0"), "{listed}");
    let refused = shelf.store_value(&one, "k", version, Some("w")).await;
    assert!(refused.unwrap_err().to_string().contains("below 0"));
    raw.batch_execute("UPDATE acp_chain_value_owners SET entries = 1")
        .await
        .unwrap();
    assert_eq!(get(&mut shelf, &one, "k").await.as_deref(), Some("v"));
    // A row of an owner whose texts are not ours is no owner of these values.
    let other = "INSERT INTO acp_chain_value_owners \
                 VALUES ('zz', 'x', 'y', 'ann', 'z', 0, 0, 0, 0)";
    raw.batch_execute(other).await.unwrap();
    let summaries = shelf.list(&Filter::default()).await.unwrap();
    assert_eq!(summaries.len(), 2);
    assert_eq!(summaries.iter().filter(|one| one.count > 0).count(), 1);
}

#[tokio::test]
async fn values_of_a_database_are_moved_once_by_however_many() {
    let server = start_postgres();
    let url = server.url();
    postgres(&url).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/state.db");
    let mut database = Database::open(&path).unwrap();
    let ann = of("brake", Some("ann"));
    for number in 0..MANY {
        put(&mut database, &ann, &number.to_string(), Some("v")).await;
    }
    put(&mut database, &of("brake", None), "day", Some("mine")).await;
    let moves = join_all((0..4).map(|_| {
        let (url, path) = (&url, &path);
        async move {
            let mut database = Database::open(path).unwrap();
            let (mut shelf, mut moved) = (Shared::new(unprepared(url)), Moved::default());
            move_values(&mut database, &mut shelf, &mut moved)
                .await
                .unwrap();
            moved
        }
    }));
    let moves = moves.await;
    let added: u64 = moves.iter().map(|moved| moved.added).sum();
    assert_eq!(added, MANY as u64);
    assert!(moves.iter().all(|moved| moved.refused == 0), "{moves:?}");
    let mut shelf = Shared::new(unprepared(&url));
    let totals = shelf.totals(None).await.unwrap();
    assert_eq!((totals.namespaces, totals.values), (1, MANY as u64));
    let left = database.list(&Filter::default()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].namespace, of("brake", None));
}

#[tokio::test]
async fn of_many_replicas_that_store_over_one_version_one_is_right() {
    let server = start_postgres();
    let url = server.url();
    let mut first = Shared::new(postgres(&url).await);
    let one = of("one", Some("ann"));
    let outcomes = join_all((0..MANY).map(|number| {
        let (url, one) = (&url, &one);
        async move {
            let mut shelf = Shared::new(unprepared(url));
            let value = number.to_string();
            shelf.store_value(one, "k", 0, Some(&value)).await.unwrap()
        }
    }));
    let outcomes = outcomes.await;
    let found = first.load_value(&one, "k").await.unwrap();
    let mut right = 0;
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            StoreOutcome::Stored { version } => {
                right += 1;
                assert_eq!(*version, found.version);
                assert_eq!(found.value, Some(number.to_string()));
            }
            StoreOutcome::Conflict(other) => assert_eq!(*other, found),
        }
    }
    assert_eq!(right, 1);
}

#[tokio::test]
async fn no_replica_loses_what_another_has_counted() {
    for isolation in ["read committed", "serializable"] {
        lose_nothing_that_is_counted(isolation).await;
    }
}

/// Replicas count at once, in a database whose default isolation is this.
async fn lose_nothing_that_is_counted(isolation: &str) {
    let server = start_postgres();
    let url = server.url();
    let mut first = Shared::new(postgres(&url).await);
    let set = format!("ALTER DATABASE postgres SET default_transaction_isolation = '{isolation}'");
    connect(&url).await.batch_execute(&set).await.unwrap();
    let one = of("one", Some("ann"));
    let counts = join_all((0..MANY).map(|_| {
        let (url, one) = (&url, &one);
        async move {
            let mut shelf = Shared::new(unprepared(url));
            for _ in 0..4 {
                count(&mut shelf, one).await;
            }
        }
    }));
    counts.await;
    let counted = get(&mut first, &one, "k").await;
    assert_eq!(counted, Some((4 * MANY).to_string()));
    let summaries = first.list(&Filter::default()).await.unwrap();
    assert_eq!((summaries.len(), summaries[0].count), (1, 1));
}

/// Adds one to a number, as a proxy does.
async fn count(shelf: &mut Shared<Postgres>, of: &Namespace) {
    let mut found = shelf.load_value(of, "k").await.unwrap();
    loop {
        let counted = found.value.map_or(0, |text| text.parse::<u64>().unwrap()) + 1;
        let text = counted.to_string();
        let outcome = shelf.store_value(of, "k", found.version, Some(&text));
        match outcome.await.unwrap() {
            StoreOutcome::Stored { .. } => break,
            StoreOutcome::Conflict(newer) => found = newer,
        }
    }
}

#[tokio::test]
async fn nothing_is_left_of_what_is_removed_while_replicas_store() {
    let server = start_postgres();
    let url = server.url();
    let mut first = Shared::new(postgres(&url).await);
    let writers = join_all((0..4).map(|number| {
        let url = &url;
        async move {
            let mut shelf = Shared::new(unprepared(url));
            let one = of("one", Some(["ann", "bob"][number % 2]));
            for key in 0..16 {
                // What was loaded may have been removed since.
                let key = format!("{number}-{key}");
                let outcome = shelf.store_value(&one, &key, 0, Some("v")).await;
                stored(outcome);
            }
        }
    }));
    let wiper = async {
        for _ in 0..16 {
            first.remove(&Filter::default()).await.unwrap();
        }
        first
    };
    let (mut last, _) = join(wiper, writers).await;
    let raw = connect(&url).await;
    let values = "SELECT count(*) FROM acp_chain_values";
    let left: i64 = raw.query_one(values, &[]).await.unwrap().get(0);
    let summaries = last.list(&Filter::default()).await.unwrap();
    let counted: u64 = summaries.iter().map(|one| one.count).sum();
    assert_eq!(u64::try_from(left).unwrap(), counted);
    let removed = last.remove(&Filter::default()).await.unwrap();
    assert_eq!(removed.values, counted);
    let left: i64 = raw.query_one(values, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn each_user_of_a_server_has_the_bounds_of_a_database() {
    let server = start_postgres();
    let url = server.url();
    let mut shelf = Shared::new(postgres(&url).await);
    let raw = connect(&url).await;
    let (one, two) = (of("one", Some("ann")), of("two", Some("ann")));
    let bob = of("two", Some("bob"));
    put(&mut shelf, &one, "k", Some("v")).await;
    let full = format!("UPDATE acp_chain_value_owners SET entries = {STORED_VALUES}");
    raw.batch_execute(&full).await.unwrap();
    let too_many = exceeds(&mut shelf, &one, "more", "").await;
    assert_eq!(too_many, LimitError::Values);
    put(&mut shelf, &one, "k", Some("instead")).await;
    let full = format!("UPDATE acp_chain_value_owners SET bytes = {STORED_IN_ALL}");
    raw.batch_execute(&full).await.unwrap();
    let too_much = exceeds(&mut shelf, &two, "k", "").await;
    assert_eq!(too_much, LimitError::All);
    // Others have theirs.
    put(&mut shelf, &bob, "k", Some("v")).await;
    let many = format!(
        "INSERT INTO acp_chain_value_owners (digest, extension, source, owner, project, since, changed, entries, bytes)
        SELECT number::text, '=x', '=', '=ann', '', 0, 0, 0, 0 FROM generate_series(2, {STORED_FOR}) AS number;
        UPDATE acp_chain_value_owners SET bytes = 0"
    );
    raw.batch_execute(&many).await.unwrap();
    let too_many = exceeds(&mut shelf, &two, "k", "").await;
    assert_eq!(too_many, LimitError::Namespaces);
    put(&mut shelf, &one, "k", Some("v")).await;
    // A list has more than the store lists at once.
    let summaries = shelf.list(&Filter::default()).await.unwrap();
    assert_eq!(summaries.len() as u64, STORED_FOR + 1);
}

#[tokio::test]
async fn a_restored_backup_has_its_values_and_takes_no_version_of_later() {
    let mut server = start_postgres();
    let one = of("brake", Some("ann"));
    let mut shelf = Shared::new(postgres(&server.url()).await);
    let before = put(&mut shelf, &one, "day", Some("before")).await;
    drop(shelf);
    server.end();
    server.back_up();
    server.start_again();
    let mut shelf = Shared::new(unprepared(&server.url()));
    let later = put(&mut shelf, &one, "day", Some("later")).await;
    assert!(later > before);
    drop(shelf);
    server.end();
    server.restore();
    server.start_again();
    // A proxy that knows what is lost.
    let mut shelf = Shared::new(unprepared(&server.url()));
    let lost = shelf.store_value(&one, "day", later, Some("stale")).await;
    let told = lost.unwrap_err().to_string();
    assert!(told.contains("has lost what was last written"), "{told}");
    let outcome = shelf.store_value(&one, "day", later, Some("stale")).await;
    let StoreOutcome::Conflict(found) = outcome.unwrap() else {
        panic!("it is stored over another value")
    };
    assert_eq!(found.value.as_deref(), Some("before"));
    assert_eq!(found.version, before);
    stored(shelf.store_value(&one, "day", before, Some("again")).await);
}

#[tokio::test]
async fn a_store_that_is_away_is_an_error_and_goes_on_when_it_is_back() {
    let mut server = start_postgres();
    let mut shelf = Shared::new(postgres(&server.url()).await);
    let one = of("one", Some("ann"));
    let version = put(&mut shelf, &one, "k", Some("v")).await;
    server.end();
    let loaded = shelf.load_value(&one, "k").await;
    let told = loaded.unwrap_err().to_string();
    assert!(told.contains("the database at /"), "{told}");
    let stores = shelf.store_value(&one, "k", version, Some("w")).await;
    stores.unwrap_err();
    server.start_again();
    let next = shelf.store_value(&one, "k", version, Some("w")).await;
    assert!(stored(next) > version);
}

#[tokio::test]
async fn longest_names_are_stored() {
    let server = start_postgres();
    let mut shelf = Shared::new(postgres(&server.url()).await);
    let long = |bytes: usize| "\\".repeat(bytes);
    let named = Namespace {
        extension: long(4096),
        source: long(4096),
        user: Some(long(1024)),
        project: Some(Path::new(&long(4096)).to_owned()),
    };
    put(&mut shelf, &named, &long(STORED_KEY), Some("v")).await;
    let found = &shelf.list(&Filter::default()).await.unwrap()[0].namespace;
    assert_eq!(*found, named);
}
