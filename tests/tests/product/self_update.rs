//! The program replaces itself by a release that the expected key has signed, and by nothing else. The new programs are
//! scripts that report a version.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use acp_chain::extension::Digest;
use acp_chain_tests::host::{executable, program};
use acp_chain_tests::output::CommandOutput;
use serde_json::json;
use tempfile::TempDir;

use crate::agents::served::Server;
use crate::agents::world::tar_gz;
use crate::http_proxy::HttpProxy;
use crate::install::signed::Keys;
use crate::install::world::World;

/// The path of the archive on the server.
const ARCHIVE: &str = "/releases/acp-chain-new.tar.gz";

/// The program without debug information, which is faster to copy.
static STRIPPED: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = program().with_file_name("../tmp/self-update");
    fs::create_dir_all(&folder).unwrap();
    let stripped = folder.canonicalize().unwrap().join("acp-chain");
    let mut strip = Command::new("strip");
    let done = strip.arg("-o").arg(&stripped).arg(program()).status();
    assert!(done.unwrap().success());
    stripped
});

/// A program that reports a version.
fn script(version: &str) -> String {
    format!("#!/bin/sh\necho acp-chain {version}\n")
}

/// A user who has the program in `bin` of a folder, and the channel with its releases.
struct User {
    world: World,
    folder: TempDir,
    server: Server,
    keys: Keys,
}

impl User {
    /// A user whose settings name the channel and its key.
    fn new() -> Self {
        let mut world = World::new();
        let folder = tempfile::tempdir_in(STRIPPED.parent().unwrap()).unwrap();
        world.program = folder.path().join("bin/acp-chain");
        fs::create_dir(folder.path().join("bin")).unwrap();
        // A program that this process has written could not be started while others are forked.
        fs::hard_link(&*STRIPPED, &world.program).unwrap();
        let keys = Keys::new(&world, "ours");
        let server = Server::start();
        let user = Self {
            world,
            folder,
            server,
            keys,
        };
        let (channel, key) = (user.server.url("/releases/"), user.keys.public());
        user.configure(&format!(
            "[updates]\nchannel = \"{channel}\"\nkey = \"{key}\"\n"
        ));
        user
    }

    fn configure(&self, settings: &str) {
        let file = self.world.path(".config/acp-chain/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, settings).unwrap();
    }

    /// Publishes this program as a version, signed by these keys.
    fn publish_by(&self, keys: Option<&Keys>, version: &str, program: &str) {
        let archive = tar_gz(&[
            ("acp-chain-new/README.md", &b"It is new."[..]),
            ("acp-chain-new/acp-chain", program.as_bytes()),
        ]);
        let description = json!({
            "version": version,
            "platform": format!("{OS}-{ARCH}"),
            "archive": "acp-chain-new.tar.gz",
            "size": archive.len(),
            "digest": Digest::of(&archive).to_string(),
            "program": "acp-chain-new/acp-chain",
        });
        self.server.put(ARCHIVE, archive);
        self.describe(keys, &description.to_string());
    }

    /// Publishes a description.
    fn describe(&self, keys: Option<&Keys>, description: &str) {
        let path = format!("/releases/release-{OS}-{ARCH}.json");
        let file = self.world.path("release.json");
        fs::write(&file, description).unwrap();
        self.server.put(&path, description);
        match keys {
            Some(keys) => {
                keys.sign(&self.world, &file);
                let signature = fs::read(self.world.path("release.json.minisig")).unwrap();
                self.server.put(&format!("{path}.minisig"), signature);
            }
            None => self.server.remove(&format!("{path}.minisig")),
        }
    }

    /// Publishes a release as it should be.
    fn publish(&self, version: &str) {
        self.publish_by(Some(&self.keys), version, &script(version));
    }

    fn run(&self, options: &[&str]) -> CommandOutput {
        let args: Vec<_> = ["self-update"].iter().chain(options).copied().collect();
        self.world.run_own(&args)
    }

    /// The error of an update, which must fail and change nothing.
    #[track_caller]
    fn fails(&self, options: &[&str]) -> String {
        let told = self.run(options).of_failure(options);
        assert!(self.is_old(), "{told}");
        told
    }

    /// Whether the folder has the first program, and nothing else.
    fn is_old(&self) -> bool {
        let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
        let is_same = size(&self.world.program) == size(&STRIPPED);
        let entries = fs::read_dir(self.folder.path().join("bin")).unwrap();
        is_same && entries.count() == 1
    }

    /// What a program in `bin` reports.
    fn reports(&self, name: &str) -> String {
        let program = self.folder.path().join("bin").join(name);
        let output = self.world.command(&program).arg("--version").output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

#[test]
fn a_signed_release_takes_the_place_of_the_program_which_is_kept() {
    let user = User::new();
    let old = user.reports("acp-chain");
    user.publish("9.0.0");
    let checked = user.run(&["--check"]).of_success(&["--check"]);
    assert!(
        checked.starts_with("The channel has acp-chain 9.0.0, which is newer"),
        "{checked}"
    );
    let unasked = user.fails(&[]);
    assert!(
        unasked.contains("there is no terminal to ask on"),
        "{unasked}"
    );
    let done = user.run(&["--yes"]).of_success(&["--yes"]);
    assert!(done.contains(&user.keys.public()), "{done}");
    assert!(
        done.contains("acp-chain 9.0.0 is installed; running chains keep "),
        "{done}"
    );
    assert_eq!(user.reports("acp-chain"), "acp-chain 9.0.0\n");
    assert_eq!(user.reports("acp-chain.previous"), old);
    let entries = fs::read_dir(user.folder.path().join("bin")).unwrap();
    assert_eq!(entries.count(), 2);
}

#[test]
fn the_replaced_program_is_put_back() {
    let user = User::new();
    let told = user.fails(&["--rollback", "--yes"]);
    assert!(
        told.contains("there is no earlier program to put back"),
        "{told}"
    );
    let current = user.reports("acp-chain");
    let previous = user.folder.path().join("bin/acp-chain.previous");
    executable(&previous, script("0.0.9")).unwrap();
    let done = user.run(&["--rollback", "--yes"]);
    let done = done.of_success(&["--rollback", "--yes"]);
    assert_eq!(done, "acp-chain 0.0.9 is put back.\n");
    assert_eq!(user.reports("acp-chain"), "acp-chain 0.0.9\n");
    assert_eq!(user.reports("acp-chain.previous"), current);
}

#[test]
fn the_version_that_runs_is_not_fetched_again() {
    let user = User::new();
    let old = user.reports("acp-chain");
    let version = old.trim().strip_prefix("acp-chain ").unwrap();
    user.publish(version);
    user.server.remove(ARCHIVE);
    let done = user.run(&["--yes"]).of_success(&["--yes"]);
    assert_eq!(
        done,
        format!("acp-chain {version} is the newest release.\n")
    );
    assert!(user.is_old());
}

#[test]
fn a_release_that_another_key_or_none_has_signed_is_refused() {
    let user = User::new();
    let other = Keys::new(&user.world, "other");
    let (ours, theirs) = (user.keys.public(), other.public());
    user.publish_by(Some(&other), "9.0.0", &script("9.0.0"));
    let told = user.fails(&["--yes"]);
    assert!(
        told.contains(&format!("signed by {theirs}, but must be signed by {ours}")),
        "{told}"
    );
    user.publish_by(None, "9.0.0", &script("9.0.0"));
    let told = user.fails(&["--yes"]);
    assert!(
        told.contains(&format!("it is not signed, and must be signed by {ours}")),
        "{told}"
    );
    // A description that was changed after it was signed.
    user.publish("9.0.0");
    let path = format!("/releases/release-{OS}-{ARCH}.json");
    let changed = user.server.get(&path).replace("9.0.0", "9.0.1");
    user.server.put(&path, changed);
    let told = user.fails(&["--check"]);
    assert!(
        told.contains("the signature does not match this file"),
        "{told}"
    );
}

#[test]
fn an_older_release_is_refused_unless_it_is_wanted() {
    let user = User::new();
    user.publish("0.0.1");
    let told = user.fails(&["--yes"]);
    assert!(
        told.contains("the channel has 0.0.1, which is older") && told.contains("`--downgrade`"),
        "{told}"
    );
    let done = user.run(&["--yes", "--downgrade"]);
    assert!(done.is_success, "{done:?}");
    assert_eq!(user.reports("acp-chain"), "acp-chain 0.0.1\n");
}

#[test]
fn an_archive_that_is_not_the_described_one_is_refused() {
    let user = User::new();
    user.publish("9.0.0");
    let archive = tar_gz(&[("acp-chain-new/acp-chain", script("9.0.0").as_bytes())]);
    user.server.put(ARCHIVE, archive);
    let told = user.fails(&["--yes"]);
    assert!(
        told.contains("it is not the archive that the signed description names"),
        "{told}"
    );
    // A larger one is not read to its end.
    user.server.put(ARCHIVE, vec![0; 1 << 20]);
    let told = user.fails(&["--yes"]);
    assert!(told.contains("it is larger than "), "{told}");
    user.server.remove(ARCHIVE);
    let told = user.fails(&["--yes"]);
    assert!(told.contains("the server answers 404"), "{told}");
}

#[test]
fn a_download_that_breaks_off_changes_nothing() {
    let user = User::new();
    user.publish("9.0.0");
    user.server.cut_halfway(ARCHIVE);
    let told = user.fails(&["--yes"]);
    assert!(
        told.contains("the connection broke") && told.contains("try again later"),
        "{told}"
    );
}

#[test]
fn a_program_that_does_not_run_here_or_is_another_version_replaces_nothing() {
    let user = User::new();
    let keys = Some(&user.keys);
    for program in ["#!/nowhere/sh\n", "#!/bin/sh\nexit 3\n", &script("8.0.0")] {
        user.publish_by(keys, "9.0.0", program);
        let told = user.fails(&["--yes"]);
        assert!(
            told.contains("the new program does not run here: "),
            "{told}"
        );
    }
}

#[test]
fn a_description_for_another_platform_or_of_another_folder_is_refused() {
    let user = User::new();
    user.publish("9.0.0");
    let path = format!("/releases/release-{OS}-{ARCH}.json");
    let right = user.server.get(&path);
    let here = format!("{OS}-{ARCH}");
    for (from, to, expected) in [
        (
            &*here,
            "plan9-mips",
            "it describes a release for plan9-mips, and this is ",
        ),
        (
            "\"acp-chain-new.tar.gz\"",
            "\"../acp-chain-new.tar.gz\"",
            "is not the name of a file in the channel",
        ),
        ("\"9.0.0\"", "9", "invalid type: integer `9`"),
    ] {
        user.describe(Some(&user.keys), &right.replace(from, to));
        let told = user.fails(&["--yes"]);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_read_only_folder_is_named() {
    // Has the program on a read-only file system.
    const READ_ONLY: &str = r#"
        bin="$0"
        cp "$bin/acp-chain" "$bin/../saved" || exit 99
        mount -t tmpfs -o mode=755 none "$bin" || exit 99
        cp "$bin/../saved" "$bin/acp-chain" || exit 99
        mount -o remount,ro "$bin" || exit 99
        exec "$bin/acp-chain" "$@"
    "#;
    let user = User::new();
    user.publish("9.0.0");
    let mut unshare = user.world.command("unshare".as_ref());
    unshare
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(READ_ONLY)
        .arg(user.folder.path().join("bin"))
        .args(["self-update", "--yes"]);
    let told = CommandOutput::from(unshare.output().unwrap()).of_failure(&["--yes"]);
    let expected = format!("{}: it cannot be written: ", user.world.program.display());
    assert!(
        told.contains(&expected) && told.contains("install acp-chain into a folder of your own"),
        "{told}"
    );
}

#[test]
fn what_a_package_manager_has_installed_is_left_to_it() {
    let user = User::new();
    user.publish("9.0.0");
    let library = user.folder.path().join("lib/acp-chain");
    fs::create_dir_all(&library).unwrap();
    for (word, command) in [
        ("deb", "apt-get install ./acp-chain_"),
        ("rpm", "dnf install ./acp-chain-"),
        ("pip", "pip install --upgrade ./acp_chain-"),
    ] {
        fs::write(library.join("installed-by"), word).unwrap();
        for options in [&["--yes"][..], &["--rollback", "--yes"]] {
            let told = user.fails(options);
            let expected = format!("was installed by {word}, which updates it: {command}");
            assert!(told.contains(&expected), "{told}");
        }
        let checked = user.run(&["--check"]).of_success(&["--check"]);
        assert!(checked.contains("9.0.0, which is newer"), "{checked}");
        assert!(checked.contains(command), "{checked}");
    }
}

#[test]
fn a_channel_is_reached_through_the_proxy_that_the_environment_names() {
    let mut user = User::new();
    let key = user.keys.public();
    user.configure(&format!(
        "[updates]\nchannel = \"https://releases.example/\"\nkey = \"{key}\"\n"
    ));
    let proxy = HttpProxy::start();
    user.world.set("HTTPS_PROXY", proxy.url());
    let told = user.fails(&["--check"]);
    assert!(told.contains("https://releases.example/"), "{told}");
    assert_eq!(proxy.asked(), "CONNECT releases.example:443 HTTP/1.1\r\n");
}

#[test]
fn without_a_channel_or_a_key_it_says_so() {
    let user = User::new();
    user.configure("");
    let told = user.fails(&["--check"]);
    assert!(
        told.contains("there is no release channel") && told.contains("`[updates]`"),
        "{told}"
    );
    user.configure(&format!(
        "[updates]\nchannel = \"{}\"\n",
        user.server.url("/releases")
    ));
    let told = user.fails(&["--check"]);
    assert!(
        told.contains("there is no key that releases must be signed by"),
        "{told}"
    );
    // Others on the way could change what is fetched.
    let key = user.keys.public();
    user.configure(&format!(
        "[updates]\nchannel = \"http://example.com\"\nkey = \"{key}\"\n"
    ));
    let told = user.fails(&["--check"]);
    assert!(told.contains("it is not an `https:` address"), "{told}");
}
