//! Where proxies store values, and why they cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use acp_chain_state::{Database, Namespace};

use crate::doctor::user::{User, snapshot};

const FOLDER: &str = ".local/share/acp-chain/state";

/// The place of the version of the tables in the header of a database.
const VERSION: usize = 63;

/// A user of whom a proxy has stored a value, and the path of the database.
fn stored() -> (User, PathBuf) {
    let user = User::new();
    let path = user.path(FOLDER).join("state.db");
    let namespace = Namespace {
        extension: "one".to_owned(),
        source: "built-in".to_owned(),
        user: None,
        project: None,
    };
    let mut database = Database::open(&path).unwrap();
    database.store(&namespace, "k", 0, Some("v")).unwrap();
    (user, path)
}

#[test]
fn it_is_told_where_values_are_and_how_many_and_they_stay() {
    let user = User::new();
    let path = user.path(FOLDER).join("state.db");
    let told = user.does(&["doctor"]);
    let expected = format!(
        "nothing is stored yet; the first value creates {}\n",
        path.display()
    );
    assert!(told.contains(&expected), "{told}");
    assert!(!path.exists());

    let (user, path) = stored();
    let before = snapshot(&user.path(FOLDER));
    let told = user.does(&["doctor"]);
    let expected = format!(
        "values of proxies: 1, 66 B, in {}, intact\n",
        path.display()
    );
    assert!(told.contains(&expected), "{told}");
    assert_eq!(snapshot(&user.path(FOLDER)), before);
}

#[test]
fn a_database_that_is_damaged_or_newer_is_told_with_what_replaces_it() {
    let (user, path) = stored();
    let mut newer = fs::read(&path).unwrap();
    newer[VERSION] += 1;
    fs::write(&path, newer).unwrap();
    let remedy = user.doctor(&[]).only("values", "is of a newer acp-chain");
    assert!(
        remedy.starts_with("use the acp-chain that wrote it"),
        "{remedy}"
    );
    fs::write(&path, "damaged").unwrap();
    let remedy = user.doctor(&[]).only("values", "state.db is damaged");
    assert_eq!(remedy, "acp-chain state wipe --all");
    user.follows(&format!("{remedy} --yes"));
    assert_eq!(user.doctor(&[]).unwell().len(), 0);
}

#[test]
fn a_database_that_others_can_change_is_told() {
    let (user, path) = stored();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let remedy = user
        .doctor(&[])
        .only("values", "stored values are not safe");
    assert!(remedy.starts_with("make it yours alone"), "{remedy}");
}

#[test]
fn a_folder_that_cannot_be_is_told() {
    let user = User::new();
    user.write(FOLDER, "");
    let says = format!("{} is not a folder", user.path(FOLDER).display());
    let remedy = user.doctor(&[]).only("values", &says);
    assert!(remedy.contains("XDG_DATA_HOME"), "{remedy}");
}

#[test]
fn an_interrupted_change_is_left_to_the_next_use() {
    let (user, path) = stored();
    fs::write(path.with_file_name("state.db-journal"), "").unwrap();
    let before = snapshot(&user.path(FOLDER));
    let found = user.doctor(&[]);
    let [note] = &found.unwell()[..] else {
        panic!("one note: {found:#?}")
    };
    let says = note["says"].as_str().unwrap();
    assert_eq!((&note["area"], found.code), (&"values".into(), Some(0)));
    assert!(says.contains("was not examined"), "{says}");
    assert_eq!(snapshot(&user.path(FOLDER)), before);
}
