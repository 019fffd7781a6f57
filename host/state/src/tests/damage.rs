//! Files that are not as they were written.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

const KEYS: usize = 8;

/// The file of a database with values in two namespaces, short ones and long ones.
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (folder, mut database) = database();
    for extension in ["one", "two"] {
        for number in 0..KEYS {
            let value = "v".repeat(number * number * 150);
            database.put(&of(extension), &number.to_string(), Some(&value));
        }
    }
    drop(database);
    fs::read(path(&folder)).unwrap()
});

/// A database with these bytes.
fn with(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = path(&folder);
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Checks that a database is refused with these words, that it stays as it is, and that it can be reset.
fn is_refused(path: &Path, words: &str) {
    let before = fs::read(path).ok();
    for _ in 0..2 {
        let error = Database::open(path).unwrap_err();
        assert!(error.needs_reset(), "{error:?}");
        let text = error.to_string();
        assert!(text.starts_with(path.to_str().unwrap()), "{text}");
        for words in [words, "`acp-chain state wipe --all`"] {
            assert!(text.contains(words), "{text}\nlacks\n{words}");
        }
        assert_eq!(fs::read(path).ok(), before);
    }
    Database::reset(path).unwrap();
    let mut database = open(path);
    assert!(database.namespaces().unwrap().is_empty());
    database.put(&of("one"), "k", Some("v"));
    assert_eq!(database.get(&of("one"), "k").as_deref(), Some("v"));
}

#[test]
fn a_damaged_file_is_an_error_until_it_is_reset() {
    let whole = &*FILE;
    let mut garbage: Vec<u8> = (0..=250).cycle().take(whole.len()).collect();
    let mut damaged = vec![
        Vec::new(),
        whole[..1].to_vec(),
        whole[..100].to_vec(),
        whole[..whole.len() / 2].to_vec(),
        garbage.clone(),
    ];
    // Only its beginning is right.
    garbage[..100].copy_from_slice(&whole[..100]);
    damaged.push(garbage);
    for page in 1..whole.len() / 4096 {
        let mut one = whole.clone();
        one[page * 4096..][..8].fill(0xff);
        damaged.push(one);
    }
    for bytes in damaged {
        let (_folder, path) = with(&bytes);
        is_refused(&path, "is damaged");
    }
}

#[test]
fn a_file_of_another_program_is_an_error() {
    let (folder, path) = with(&FILE);
    let other = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    let tables = "CREATE TABLE namespaces (id)";
    connection.execute_batch(tables).unwrap();
    connection.close().unwrap();
    fs::rename(&other, &path).unwrap();
    is_refused(&path, "it is not a database of acp-chain");
}

#[test]
fn a_database_of_a_newer_version_is_an_error() {
    let (folder, database) = database();
    let newer = "PRAGMA user_version = 2";
    database.connection.execute_batch(newer).unwrap();
    drop(database);
    is_refused(&path(&folder), "is of a newer acp-chain");
}

#[test]
fn a_database_of_which_only_the_journal_is_left_is_an_error() {
    let (folder, database) = database();
    drop(database);
    let path = path(&folder);
    fs::rename(&path, path.with_file_name("state.db-journal")).unwrap();
    is_refused(&path, "only its journal is left");
}

#[test]
fn a_database_can_be_reset_while_others_use_it() {
    let (folder, mut database) = database();
    let version = database.put(&of("one"), "k", Some("v"));
    Database::reset(&path(&folder)).unwrap();
    assert!(database.is_current());
    assert_eq!(database.load(&of("one"), "k").unwrap(), Loaded::default());
    assert!(database.put(&of("one"), "k", Some("v")) > version);
}

#[test]
fn a_table_that_is_missing_is_an_error_that_names_the_file() {
    let (folder, mut database) = database();
    let other = open(&path(&folder));
    let change = "DROP TABLE entries";
    other.connection.execute_batch(change).unwrap();
    let error = database.store(&of("one"), "k", 0, Some("v")).unwrap_err();
    assert!(error.needs_reset(), "{error:?}");
}

#[test]
fn removing_the_file_is_noticed() {
    let (folder, database) = database();
    assert!(database.is_current());
    fs::remove_file(path(&folder)).unwrap();
    assert!(!database.is_current());
    open(&path(&folder));
    assert!(!database.is_current());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No value is lost without an error, as far as pages and their entries are concerned: the text of a value may be
    /// another.
    #[test]
    fn any_damage_is_an_error_or_leaves_every_key(
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..8),
        cut in proptest::option::of(any::<Index>()),
    ) {
        let mut bytes = FILE.clone();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let (_folder, path) = with(&bytes);
        if let Ok(database) = Database::open(&path) {
            for extension in ["one", "two"] {
                for number in 0..KEYS {
                    let loaded = database.load(&of(extension), &number.to_string());
                    let is_lost = matches!(loaded, Ok(Loaded { value: None, .. }));
                    prop_assert!(!is_lost, "{extension} {number}");
                }
            }
        }
        Database::reset(&path).unwrap();
        prop_assert!(open(&path).namespaces().unwrap().is_empty());
    }
}
