//! What a component built with WASI can reach: only what the user gives it.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};
use tempfile::TempDir;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A chain with one proxy, which makes attempts on the system on request.
struct Attempts {
    client: Process,
    folder: TempDir,
}

impl Attempts {
    /// A proxy with these directories in its grant, in a folder with `given/file` and, outside of `given`, `secret`.
    async fn with(directories: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let given = folder.path().join("given");
        fs::create_dir(&given).unwrap();
        fs::write(given.join("file"), "inside").unwrap();
        fs::write(folder.path().join("secret"), "outside").unwrap();
        symlink("../secret", given.join("relative")).unwrap();
        symlink(folder.path().join("secret"), given.join("absolute")).unwrap();
        symlink("..", given.join("up")).unwrap();
        let manifest = folder.path().join("acp-chain.toml");
        let text = format!(
            "[[proxy]]\nid = 'files'\npath = '{}'\n\
             methods = {{ 'test/files' = ['read', 'answer'] }}\ndirectories = {directories}\n",
            host::component("files").display()
        );
        fs::write(&manifest, text).unwrap();
        let mut program = host::run(Some(&manifest), [AGENT]);
        program.env("A_SECRET", "of the environment");
        let mut client = Process::start("client", &Transcript::new(), program).unwrap();
        client.initialize().await;
        Self { client, folder }
    }

    async fn try_to(&mut self, attempt: Value) -> Value {
        let answer = self
            .client
            .wire
            .request("test/files", &attempt.to_string())
            .await;
        serde_json::from_str(&answer.result.expect("a result")).unwrap()
    }

    async fn fails(&mut self, attempt: Value) {
        let came = self.try_to(attempt.clone()).await;
        assert!(came["failed"].is_string(), "{attempt}: {came}");
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }
}

fn read(path: &str) -> Value {
    json!({ "try": "read", "path": path })
}

fn write(path: &str) -> Value {
    json!({ "try": "write", "path": path, "text": "changed" })
}

#[tokio::test]
async fn without_a_grant_there_is_nothing_but_time() {
    let mut system = Attempts::with("[]").await;
    let file = system.path("given/file").display().to_string();
    for path in [&file, "given/file", "/etc/passwd", ".", "/"] {
        system.fails(read(path)).await;
        system.fails(write(path)).await;
        system.fails(json!({ "try": "list", "path": path })).await;
    }
    for what in ["environment", "arguments"] {
        let came = system.try_to(json!({ "try": what })).await;
        assert_eq!(came, json!({ "done": [] }), "{what}");
    }
    for address in ["127.0.0.1:1", "localhost:1", "[::1]:1"] {
        system
            .fails(json!({ "try": "connect", "address": address }))
            .await;
        system
            .fails(json!({ "try": "bind", "address": address }))
            .await;
    }
    let came = system.try_to(json!({ "try": "clock" })).await;
    assert!(came["done"].is_number(), "{came}");
}

#[tokio::test]
async fn a_directory_that_is_given_is_the_only_one() {
    let mut system = Attempts::with("[{ path = 'given', name = '/notes' }]").await;
    assert_eq!(system.try_to(read("/notes/file")).await["done"], "inside");
    for path in [
        "/notes/relative",
        "/notes/absolute",
        "/notes/up/secret",
        "/notes/../secret",
        "/notes/up/given/file",
        "/secret",
        "/etc/passwd",
    ] {
        system.fails(read(path)).await;
        system.fails(write(path)).await;
    }
    assert_eq!(
        fs::read_to_string(system.path("secret")).unwrap(),
        "outside"
    );
}

/// Each of these would block for ever, or have effects, if it were opened like a file.
#[tokio::test]
async fn what_is_neither_a_file_nor_a_directory_is_refused_without_waiting() {
    for directories in [
        "[{ path = 'given', name = '/notes' }]",
        "[{ path = 'given', name = '/notes', write = true }]",
    ] {
        let mut system = Attempts::with(directories).await;
        let given = system.path("given");
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, given.join("pipe"), FileType::Fifo, mode, 0).unwrap();
        let _socket = UnixListener::bind(given.join("socket")).unwrap();
        symlink("pipe", given.join("link")).unwrap();
        // Each attempt holds a thread of the host if it blocks; there are 512.
        for _ in 0..200 {
            for name in ["pipe", "socket", "link"] {
                let path = format!("/notes/{name}");
                system.fails(read(&path)).await;
                system.fails(write(&path)).await;
            }
        }
        assert_eq!(system.try_to(read("/notes/file")).await["done"], "inside");
        let threads = fs::read_dir(format!("/proc/{}/task", system.client.id().unwrap()));
        assert!(threads.unwrap().count() < 50);
    }
}

/// The path is a file in one moment, and a pipe in the next.
#[tokio::test]
async fn nor_does_it_wait_for_what_takes_the_place_of_a_file() {
    let mut system = Attempts::with("[{ path = 'given', name = '/notes' }]").await;
    let given = system.path("given");
    let mode = Mode::from_raw_mode(0o600);
    mknodat(CWD, given.join("pipe"), FileType::Fifo, mode, 0).unwrap();
    let (stop, stopped) = (Arc::new(AtomicBool::new(false)), given.clone());
    let swaps = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                let [file, pipe] = ["file", "pipe"].map(|name| stopped.join(name));
                renameat_with(CWD, file, CWD, pipe, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut found = [0; 2];
    for _ in 0..500 {
        let came = system.try_to(read("/notes/file")).await;
        found[usize::from(came["done"] == "inside")] += 1;
    }
    stop.store(true, Ordering::Relaxed);
    swaps.join().unwrap();
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}

#[tokio::test]
async fn a_directory_is_written_to_only_if_that_is_given() {
    let directory =
        |write: bool| format!("[{{ path = 'given', name = '/notes', write = {write} }}]");
    let changes = [
        write("/notes/file"),
        write("/notes/new"),
        json!({ "try": "link", "from": "/notes/file", "to": "/notes/linked" }),
        json!({ "try": "remove", "path": "/notes/file" }),
    ];
    let names = |folder: &Path| {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let mut reads = Attempts::with(&directory(false)).await;
    for change in &changes {
        reads.fails(change.clone()).await;
    }
    let given = reads.path("given");
    assert_eq!(fs::read_to_string(given.join("file")).unwrap(), "inside");
    assert_eq!(names(&given), ["absolute", "file", "relative", "up"]);

    let mut writes = Attempts::with(&directory(true)).await;
    for change in changes {
        let came = writes.try_to(change.clone()).await;
        assert!(came.get("done").is_some(), "{change}: {came}");
    }
    let given = writes.path("given");
    assert_eq!(fs::read_to_string(given.join("new")).unwrap(), "changed");
    assert_eq!(
        names(&given),
        ["absolute", "linked", "new", "relative", "up"]
    );
}

/// The error of `initialize` when a proxy with such a directory cannot start, and whether `check` accepts the
/// manifest.
async fn refused(folder: &TempDir, directory: &str) -> (String, bool) {
    let manifest = folder.path().join("acp-chain.toml");
    let text = format!(
        "[[proxy]]\nid = 'files'\npath = '{}'\ndirectories = [{{ {directory} }}]\n",
        host::component("files").display()
    );
    fs::write(&manifest, text).unwrap();
    let program = host::run(Some(&manifest), [AGENT]);
    let mut client = Process::start("client", &Transcript::new(), program).unwrap();
    let answer = client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    let error = answer.error.expect("an error");
    assert!(error.contains("proxy `files`"), "{error}");
    let checked = host::check(&manifest).output().await.unwrap();
    (error, checked.status.success())
}

#[tokio::test]
async fn a_directory_that_is_not_there_keeps_the_chain_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let (error, _) = refused(&folder, "path = 'nowhere', name = '/notes'").await;
    let nowhere = folder.path().join("nowhere");
    let expected = format!("its directory {} cannot be opened", nowhere.display());
    assert!(error.contains(&expected), "{error}");
}

#[tokio::test]
async fn no_directory_is_written_to_where_it_is_decided_what_proxies_may_do() {
    let folder = tempfile::tempdir().unwrap();
    let components = host::component("files");
    for given in [folder.path(), components.parent().unwrap()] {
        let given = given.display();
        let directory = format!("path = '{given}', name = '/x', write = true");
        let (error, accepted) = refused(&folder, &directory).await;
        assert!(error.contains("it may write to"), "{error}");
        assert!(!accepted);
    }
}

#[tokio::test]
async fn nor_where_the_users_own_file_would_be_behind_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (home, link) = (folder.path().join("home"), folder.path().join("link"));
    let manifest = folder.path().join("project").join("acp-chain.toml");
    for made in [&home, manifest.parent().unwrap()] {
        fs::create_dir(made).unwrap();
    }
    symlink(&home, &link).unwrap();
    let text = format!(
        "[[proxy]]\nid = 'files'\npath = '{}'\n\
         directories = [{{ path = '{}', name = '/x', write = true }}]\n",
        host::component("files").display(),
        home.display()
    );
    fs::write(&manifest, text).unwrap();
    let mut check = host::check(&manifest);
    let checked = check.env("XDG_CONFIG_HOME", &link).output().await.unwrap();
    let error = String::from_utf8_lossy(&checked.stderr);
    assert!(error.contains("it may write to"), "{error}");
    assert!(!checked.status.success());
}
