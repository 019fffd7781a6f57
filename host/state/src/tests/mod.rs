//! The promises of the database. What needs a process of its own runs in this test binary again.

mod damage;
mod model;
mod processes;
mod protocol;
#[cfg(feature = "replicas")]
mod transfer;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use acp_chain_channel::limits::{
    STORED_BYTES, STORED_FOR, STORED_FOR_USER, STORED_IN_ALL, STORED_KEY, STORED_OF_USER,
    STORED_VALUE, STORED_VALUES,
};

use super::*;
use crate::limits::NAME;
use crate::values::size;

/// The path of a database in a folder; its own folder is missing.
fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("state/state.db")
}

/// A database that survives the end of processes, and not of the system, which takes longer.
fn open(path: &Path) -> Database {
    let database = Database::open(path).unwrap();
    let hasty = "PRAGMA synchronous = OFF";
    database.connection.execute_batch(hasty).unwrap();
    database
}

fn database() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&path(&folder));
    (folder, database)
}

fn of(extension: &str) -> Namespace {
    Namespace {
        extension: extension.to_owned(),
        source: "built-in".to_owned(),
        user: None,
        project: None,
    }
}

impl Database {
    /// Stores a value over whatever there is. Returns its version.
    fn put(&mut self, namespace: &Namespace, key: &str, value: Option<&str>) -> u64 {
        let version = self.load(namespace, key).unwrap().version;
        stored(self.store(namespace, key, version, value))
    }

    fn get(&self, namespace: &Namespace, key: &str) -> Option<String> {
        self.load(namespace, key).unwrap().value
    }

    /// The limit that keeps a new value from being stored.
    fn exceeds(&mut self, namespace: &Namespace, key: &str, value: &str) -> LimitError {
        match self.store(namespace, key, 0, Some(value)) {
            Err(StateError::Limit(limit)) => limit,
            other => panic!("{other:?}"),
        }
    }
}

fn stored(outcome: Result<StoreOutcome, StateError>) -> u64 {
    match outcome {
        Ok(StoreOutcome::Stored { version }) => version,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_is_stored_only_over_the_version_that_is_known() {
    let (_folder, mut database) = database();
    let one = of("one");
    assert_eq!(database.load(&one, "k").unwrap(), Loaded::default());
    let first = stored(database.store(&one, "k", 0, Some("first")));
    assert!(first > 0);
    let found = database.load(&one, "k").unwrap();
    let since = found.since;
    assert_eq!(
        (found.value.as_deref(), found.version),
        (Some("first"), first)
    );
    let conflict = StoreOutcome::Conflict(found);
    for version in [0, first - 1, first + 1, u64::MAX] {
        let outcome = database.store(&one, "k", version, Some("other")).unwrap();
        assert_eq!(outcome, conflict);
        let outcome = database.store(&one, "k", version, None).unwrap();
        assert_eq!(outcome, conflict);
    }
    let second = stored(database.store(&one, "k", first, Some("second")));
    assert!(second > first);
    let loaded = database.load(&one, "k").unwrap();
    assert_eq!(loaded.value.as_deref(), Some("second"));
    assert_eq!(loaded.version, second);
    let missing = database.store(&one, "other", second, Some("")).unwrap();
    let nothing = Loaded {
        since,
        ..Loaded::default()
    };
    assert_eq!(missing, StoreOutcome::Conflict(nothing));
    // There is nothing to remove, and no trace of it.
    assert_eq!(stored(database.store(&of("two"), "k", 0, None)), 0);
    assert_eq!(database.namespaces().unwrap().len(), 1);
}

#[test]
fn a_version_never_comes_back() {
    let (folder, mut database) = database();
    let one = of("one");
    let mut last = database.put(&one, "k", Some("1"));
    assert_eq!(database.put(&one, "k", None), 0);
    assert_eq!(database.get(&one, "k"), None);
    for value in ["2", "3"] {
        let version = database.put(&one, "k", Some(value));
        assert!(version > last);
        last = version;
    }
    // Neither after the user has removed all, also in another process.
    open(&path(&folder)).wipe(&Filter::default()).unwrap();
    let outcome = database.store(&one, "k", last, Some("4")).unwrap();
    assert_eq!(outcome, StoreOutcome::Conflict(Loaded::default()));
    assert!(database.put(&one, "k", Some("4")) > last);
}

#[test]
fn namespaces_have_nothing_in_common() {
    let (_folder, mut database) = database();
    let mut all = vec![of("one"), of("two")];
    all.push(Namespace {
        source: "ghcr.io/one/one".to_owned(),
        ..of("one")
    });
    for user in [None, Some(""), Some("ann")] {
        for project in [None, Some("/"), Some("/ann")] {
            all.push(Namespace {
                user: user.map(str::to_owned),
                project: project.map(PathBuf::from),
                ..of("three")
            });
        }
    }
    for (number, namespace) in all.iter().enumerate() {
        assert_eq!(database.load(namespace, "k").unwrap(), Loaded::default());
        database.put(namespace, "k", Some(&number.to_string()));
    }
    for (number, namespace) in all.iter().enumerate() {
        assert_eq!(database.get(namespace, "k"), Some(number.to_string()));
    }
    let summaries = database.namespaces().unwrap().into_iter();
    let found: Vec<_> = summaries.map(|summary| summary.namespace).collect();
    all.sort();
    assert_eq!(found, all);
}

#[test]
fn a_proxy_sees_since_when_it_has_stored_and_that_somebody_has_removed_all() {
    let (_folder, mut database) = database();
    let one = of("one");
    let before = SystemTime::now();
    assert_eq!(database.load(&one, "k").unwrap().since, None);
    database.put(&one, "k", Some("1"));
    let since = database.load(&one, "other").unwrap().since.unwrap();
    // It has no more than microseconds.
    assert!(since <= SystemTime::now());
    let early = before.duration_since(since).unwrap_or_default();
    assert_eq!(early.as_micros(), 0);
    database.put(&one, "k", Some("2"));
    database.put(&one, "k", None);
    assert_eq!(database.load(&one, "k").unwrap().since, Some(since));
    database.wipe(&Filter::default()).unwrap();
    assert_eq!(database.load(&one, "k").unwrap(), Loaded::default());
}

#[test]
fn what_is_removed_is_what_the_filter_says() {
    let (_folder, mut database) = database();
    let work = PathBuf::from("/work");
    let in_work = |extension| Namespace {
        project: Some(work.clone()),
        ..of(extension)
    };
    let all = [of("one"), in_work("one"), of("two"), in_work("two")];
    for namespace in &all {
        database.put(namespace, "k", Some("v"));
        database.put(namespace, "other", Some("v"));
    }
    let mut left = all.len();
    let mut wipes = |extension: Option<&str>, project: Option<&str>, gone: &[usize]| {
        let filter = Filter {
            extension: extension.map(str::to_owned),
            project: project.map(PathBuf::from),
            ..Filter::default()
        };
        assert_eq!(database.chosen(&filter).unwrap().len(), gone.len());
        let removed = database.wipe(&filter).unwrap();
        let count = gone.len() as u64;
        let expected = Removed {
            namespaces: count,
            values: 2 * count,
        };
        assert_eq!(removed, expected);
        for at in gone {
            assert_eq!(database.get(&all[*at], "k"), None);
        }
        left -= gone.len();
        assert_eq!(database.namespaces().unwrap().len(), left);
    };
    wipes(Some("three"), None, &[]);
    wipes(None, Some("/work/inner"), &[]);
    wipes(Some("one"), Some("/work"), &[1]);
    wipes(None, Some("/work"), &[3]);
    wipes(Some("two"), None, &[2]);
    wipes(None, None, &[0]);
}

#[test]
fn a_removed_value_is_no_longer_in_the_file() {
    let (folder, mut database) = database();
    let secret = "a text that is nowhere else";
    let contains = || {
        let bytes = fs::read(path(&folder)).unwrap();
        let mut windows = bytes.windows(secret.len());
        windows.any(|window| window == secret.as_bytes())
    };
    database.put(&of("one"), "k", Some(&secret.repeat(1000)));
    assert!(contains());
    database.put(&of("one"), "k", None);
    assert!(!contains());
    database.put(&of("one"), "k", Some(secret));
    database.wipe(&Filter::default()).unwrap();
    assert!(!contains());
}

#[test]
fn a_text_that_is_too_long_is_an_error_of_its_own() {
    let (_folder, mut database) = database();
    let one = of("one");
    let long = |bytes: usize| "ä".repeat(bytes / 2) + "xx";
    let key = &long(STORED_KEY)[2..];
    let value = &long(STORED_VALUE)[2..];
    database.put(&one, key, Some(value));
    assert_eq!(database.get(&one, key).as_deref(), Some(value));
    let too_long = database.exceeds(&one, &long(STORED_KEY), "v");
    assert_eq!(too_long, LimitError::Key);
    let too_long = database.exceeds(&one, "k", &long(STORED_VALUE));
    assert_eq!(too_long, LimitError::Value);
    let named = of(&"x".repeat(NAME + 1));
    assert_eq!(database.exceeds(&named, "k", "v"), LimitError::Name);
    assert_eq!(database.namespaces().unwrap().len(), 1);
    assert!(database.load(&one, &long(STORED_KEY)).is_err());
}

#[test]
fn a_project_whose_path_is_no_text_is_not_mistaken_for_another() {
    use std::os::unix::ffi::OsStringExt;
    let (_folder, mut database) = database();
    let folder = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff]));
    let named = Namespace {
        project: Some(folder.clone()),
        ..of("one")
    };
    assert_eq!(database.exceeds(&named, "k", "v"), LimitError::Folder);
    database.put(&of("one"), "k", Some("v"));
    let filter = Filter {
        project: Some(folder),
        ..Filter::default()
    };
    assert!(database.wipe(&filter).is_err());
    assert_eq!(database.get(&of("one"), "k").as_deref(), Some("v"));
}

#[test]
fn one_proxy_cannot_store_more_than_its_share() {
    let (_folder, mut database) = database();
    let one = of("one");
    for number in 0..STORED_VALUES {
        database.put(&one, &number.to_string(), Some(""));
    }
    assert_eq!(database.exceeds(&one, "more", ""), LimitError::Values);
    database.put(&one, "0", Some("instead"));
    database.put(&one, "1", None);
    database.put(&one, "more", Some(""));
    let two = of("two");
    let value = "x".repeat(STORED_VALUE);
    let most = STORED_BYTES / size("00", &value);
    for number in 0..most {
        database.put(&two, &format!("{number:02}"), Some(&value));
    }
    assert_eq!(database.exceeds(&two, "more", &value), LimitError::Bytes);
    // A value may become shorter, and then there is space.
    database.put(&two, "00", Some(""));
    database.put(&two, "more", Some(&value));
    let summary = &database.namespaces().unwrap()[1];
    assert_eq!(summary.count, most + 1);
    assert!(summary.bytes <= STORED_BYTES);
}

#[test]
fn all_proxies_together_are_bounded() {
    let (_folder, mut database) = database();
    let (one, two) = (of("one"), of("two"));
    database.put(&one, "k", Some("v"));
    let full = "UPDATE namespaces SET bytes = ?1";
    let updated = database.connection.execute(full, (STORED_IN_ALL,));
    assert_eq!(updated.unwrap(), 1);
    assert_eq!(database.exceeds(&two, "k", ""), LimitError::All);
    database.wipe(&Filter::default()).unwrap();
    database.put(&two, "k", Some(""));
    let many =
        "WITH RECURSIVE number (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
        INSERT INTO namespaces (extension, source, since, changed, version, count, bytes)
        SELECT n, '', 0, 0, 0, 1, 0 FROM number";
    database.connection.execute(many, (STORED_FOR,)).unwrap();
    assert_eq!(database.exceeds(&one, "k", ""), LimitError::Namespaces);
    database.put(&two, "k", Some("v"));
}

/// A namespace of a user of a server.
fn of_user(extension: &str, user: &str) -> Namespace {
    Namespace {
        user: Some(user.to_owned()),
        ..of(extension)
    }
}

#[test]
fn no_user_of_a_server_keeps_others_from_storing_values() {
    let (_folder, mut database) = database();
    let (ann, two_of_ann) = (of_user("one", "ann"), of_user("two", "ann"));
    let value = "x".repeat(STORED_VALUE);
    let each = STORED_BYTES / size("00", &value);
    // Namespaces of a user that are full, until the user is.
    let mut refused = None;
    for project in 0..=STORED_OF_USER / STORED_BYTES {
        let namespace = Namespace {
            project: Some(format!("/{project}").into()),
            ..ann.clone()
        };
        for number in 0..each {
            let key = format!("{number:02}");
            let outcome = database.store(&namespace, &key, 0, Some(&value));
            refused = refused.or(outcome.err());
        }
    }
    let refused = refused.expect("there is a bound");
    let told = refused.to_string();
    assert!(
        matches!(refused, StateError::Limit(LimitError::AllOfUser)),
        "{told}"
    );
    assert!(told.contains("more than 8 MiB"), "{told}");
    let of_ann = database.count(Some("ann")).unwrap();
    assert!(of_ann.bytes <= STORED_OF_USER, "{of_ann:?}");
    // Guards of others store what they have to, and so do those of the user who runs the server.
    for namespace in [of_user("one", "bob"), of("one")] {
        database.put(&namespace, "k", Some(&value));
    }
    // A value may become shorter, and then there is space.
    let first = Namespace {
        project: Some("/0".into()),
        ..ann.clone()
    };
    database.put(&first, "00", Some(""));
    database.put(&two_of_ann, "k", Some("v"));
}

#[test]
fn no_user_of_a_server_takes_the_places_of_others() {
    let (_folder, mut database) = database();
    database.put(&of_user("one", "ann"), "k", Some("v"));
    let many =
        "WITH RECURSIVE number (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
        INSERT INTO namespaces (extension, source, user, since, changed, version, count, bytes)
        SELECT n, '', 'ann', 0, 0, 0, 1, 0 FROM number";
    let added = database.connection.execute(many, (STORED_FOR_USER,));
    assert_eq!(added.unwrap() as u64, STORED_FOR_USER - 1);
    let too_many = database.exceeds(&of_user("two", "ann"), "k", "v");
    assert_eq!(too_many, LimitError::NamespacesOfUser);
    database.put(&of_user("one", "ann"), "k", Some("instead"));
    database.put(&of_user("two", "bob"), "k", Some("v"));
    // A proxy that has removed all of its values makes room for another one.
    let last = database.put(&of_user("one", "ann"), "k", Some("again"));
    database.put(&of_user("one", "ann"), "k", None);
    database.put(&of_user("two", "ann"), "k", Some("v"));
    assert_eq!(database.get(&of_user("one", "ann"), "k"), None);
    database.put(&of_user("two", "ann"), "k", None);
    assert!(database.put(&of_user("one", "ann"), "k", Some("v")) > last);
    // Who runs the server makes room for one user.
    let filter = Filter {
        user: Some("ann".to_owned()),
        ..Filter::default()
    };
    assert_eq!(database.wipe(&filter).unwrap().namespaces, STORED_FOR_USER);
    database.put(&of_user("two", "ann"), "k", Some("v"));
    assert_eq!(
        database.get(&of_user("two", "bob"), "k").as_deref(),
        Some("v")
    );
}

#[test]
fn what_there_is_is_counted_and_listed_in_parts() {
    let (_folder, mut database) = database();
    let users = PAGE as u64 + 10;
    for number in 0..users {
        let user = format!("user-{number:03}");
        database.put(&of_user("one", &user), "k", Some("v"));
    }
    database.put(&of("one"), "k", Some("v"));
    database.put(&of_user("two", "user-000"), "k", Some("v"));
    database.put(&of_user("one", "user-000"), "other", Some("v"));
    let all = database.count(None).unwrap();
    let values = users + 3;
    assert_eq!(
        (all.namespaces, all.users, all.values),
        (users + 2, users, values)
    );
    assert_eq!(database.of_users().unwrap().values, values - 1);
    let one = database.count(Some("user-000")).unwrap();
    assert_eq!((one.namespaces, one.users, one.values), (2, 1, 3));
    assert_eq!(database.first(None).unwrap().len(), PAGE);
    assert_eq!(database.first(Some("user-000")).unwrap().len(), 2);
    let mut selection = Selection {
        extension: "one",
        key: "k",
        user: None,
        longest: 1,
    };
    let mut after = String::new();
    let mut found = Vec::new();
    loop {
        let page = database.page(&selection, &after).unwrap();
        assert!(page.values.len() <= PAGE);
        let Some(next) = page.next else { break };
        found.extend(page.values.into_iter().map(|one| one.namespace));
        after = next;
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len() as u64, users + 1);
    selection.user = Some("user-001");
    assert_eq!(database.page(&selection, "").unwrap().values.len(), 1);
    selection.longest = 0;
    assert!(database.page(&selection, "").unwrap().values.is_empty());
}

#[test]
fn what_is_stored_in_a_copy_leaves_the_database_as_it_is() {
    let (folder, mut database) = database();
    let one = of("one");
    database.put(&one, "k", Some("v"));
    let found = database.load(&one, "k").unwrap();
    let aside = tempfile::tempdir().unwrap();
    let copied = Database::copy(&path(&folder), aside.path()).unwrap();
    assert!(copied.starts_with(aside.path()));
    let mut copy = open(&copied);
    assert_eq!(copy.load(&one, "k").unwrap(), found);
    assert!(copy.put(&one, "k", Some("w")) > found.version);
    assert_eq!(database.load(&one, "k").unwrap(), found);
    // Of none, there is no copy, and the first value creates it.
    let empty = tempfile::tempdir().unwrap();
    let none = Database::copy(&path(&empty), aside.path().join("none").as_path());
    assert!(!none.unwrap().exists());
}

#[test]
fn only_its_user_can_read_it() {
    let (folder, mut database) = database();
    let database_path = path(&folder);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&database_path), 0o600);
    assert_eq!(mode(database_path.parent().unwrap()), 0o700);
    let change = "BEGIN IMMEDIATE; INSERT INTO versions VALUES (1)";
    database.connection.execute_batch(change).unwrap();
    let journal = folder.path().join("state/state.db-journal");
    assert_eq!(mode(&journal), 0o600);
    database.connection.execute_batch("ROLLBACK").unwrap();
    database.put(&of("one"), "k", Some("v"));
    // Nothing else is left.
    let entries = fs::read_dir(database_path.parent().unwrap()).unwrap();
    assert_eq!(entries.count(), 1);
}

#[test]
fn a_link_into_a_folder_that_others_can_write_to_is_refused() {
    let (folder, mut database) = database();
    database.put(&of("one"), "k", Some("v"));
    drop(database);
    let (file, shared) = (path(&folder), folder.path().join("shared"));
    fs::create_dir(&shared).unwrap();
    let real = shared.join("state.db");
    fs::rename(&file, &real).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    let set = |mode| fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).unwrap();
    set(0o777);
    let refused = Database::open(&file).unwrap_err();
    assert!(matches!(refused, StateError::Exposed(_)), "{refused}");
    set(0o700);
    Database::open(&file).unwrap();
}

#[test]
fn a_file_or_folder_that_others_can_write_to_is_refused() {
    let (folder, database) = database();
    drop(database);
    let (file, within) = (path(&folder), folder.path().join("state"));
    for (path, usual) in [(&file, 0o600), (&within, 0o700)] {
        let set = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(usual | 0o002);
        let refused = Database::open(&file).unwrap_err();
        assert!(matches!(refused, StateError::Exposed(_)), "{refused}");
        assert!(refused.to_string().contains("`chmod go-w "), "{refused}");
        set(usual);
    }
    Database::open(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&within, open).unwrap();
    assert!(Database::open(&file).is_err());
    assert!(!file.exists());
}

#[test]
fn what_cannot_be_written_can_be_loaded() {
    let (_folder, mut database) = database();
    let one = of("one");
    database.put(&one, "k", Some("v"));
    let only = "PRAGMA query_only = ON";
    database.connection.execute_batch(only).unwrap();
    let refused = database.store(&one, "other", 0, Some("")).unwrap_err();
    assert!(matches!(refused, StateError::ReadOnly { .. }), "{refused}");
    assert_eq!(database.get(&one, "k").as_deref(), Some("v"));
}

#[test]
fn where_no_folder_can_be_made_nothing_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let inside = file.join("state.db");
    for opened in [
        Database::find(&inside).map(drop),
        Database::open(&inside).map(drop),
    ] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StateError::Unreachable { .. }), "{error}");
        let named = format!("{} cannot be reached: ", inside.display());
        assert!(error.to_string().starts_with(&named), "{error}");
    }
}

#[test]
fn looking_for_a_database_creates_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Database::find(&path(&folder)).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
