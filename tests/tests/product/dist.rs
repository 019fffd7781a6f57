//! The packages that `cargo xtask dist` makes: each is installed from its file, without a network, and what it installs
//! runs, with the extensions in it. They are packages of the program that the tests run, or those in the folder that
//! `cargo xtask release-check` names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use acp_chain_tests::host::{component, peer, program};
use acp_chain_tests::output::CommandOutput;
use serde_json::Value;
use toml::Table;

use crate::agents::served::Server;
use crate::install::signed::Keys;
use crate::install::world::{World, digest};

/// The extensions in the packed program.
const CARRIED: [&str; 2] = ["rules", "redact"];

/// The packages of a program without debug information, whose packing would take half of the time.
static PACKAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(packed) = env::var_os("ACP_CHAIN_PACKAGES") {
        return packed.into();
    }
    let folder = program().with_file_name("../tmp/dist");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let (stripped, bundled) = (folder.join("stripped"), folder.join("bundled"));
    done(
        Command::new("strip")
            .arg("-o")
            .arg(&stripped)
            .arg(program()),
    );
    let mut bundle = Command::new(&stripped);
    bundle.arg("bundle").args(CARRIED.map(component));
    done(bundle.arg("--output").arg(&bundled));
    let mut dist = Command::new(program().with_file_name("xtask-dist"));
    dist.arg("pack").arg(&bundled);
    done(dist.arg("--out").arg(folder.join("packages")));
    folder.join("packages")
});

/// The output of a command, which must succeed.
fn done(command: &mut Command) -> String {
    let output = command.output();
    let Output {
        status,
        stdout,
        stderr,
    } = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?} ended with {status}: {told}");
    String::from_utf8(stdout).unwrap()
}

/// The package whose name begins and ends with these texts.
fn package(begins: &str, ends: &str) -> PathBuf {
    let files = fs::read_dir(&*PACKAGES)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(begins) && name.ends_with(ends)
    });
    files
        .next()
        .unwrap_or_else(|| panic!("no package {begins}…{ends}"))
}

/// Checks that an installed program is the packed one.
fn check(installed: &mut Command) {
    let listed = done(installed.args(["list", "--available"]));
    for name in CARRIED {
        assert!(listed.contains(&format!("{name} ")), "{listed}");
    }
}

/// Checks that an installed program leaves its updates to the package manager that has installed it.
fn check_managed(program: PathBuf, kind: &str) {
    let mut world = World::new();
    world.program = program;
    let told = world.run_own(&["self-update", "--yes"]);
    let told = told.of_failure(&["self-update", "--yes"]);
    let expected = format!("was installed by {kind}, which updates it: ");
    assert!(told.contains(&expected), "{told}");
}

/// Checks that manual pages and completions are in these folders.
fn check_beside(root: &Path, files: &[&str]) {
    for file in files {
        let length = fs::metadata(root.join(file)).map(|about| about.len());
        assert!(length.is_ok_and(|length| length > 100), "{file}");
    }
}

#[test]
fn all_packages_have_the_checksums_that_are_written_beside_them() {
    let mut check = Command::new("sha256sum");
    check
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&*PACKAGES);
    let checked = done(&mut check);
    assert_eq!(
        checked.lines().count(),
        fs::read_dir(&*PACKAGES).unwrap().count() - 1
    );
}

#[test]
fn the_archive_has_the_program_with_its_licences_manuals_and_completions() {
    let folder = tempfile::tempdir().unwrap();
    let archive = package("acp-chain-", ".tar.gz");
    let mut tar = Command::new("tar");
    done(
        tar.arg("xzf")
            .arg(&archive)
            .arg("--directory")
            .arg(folder.path()),
    );
    let name = archive.file_name().unwrap().to_str().unwrap();
    let root = folder.path().join(name.trim_end_matches(".tar.gz"));
    check(&mut Command::new(root.join("acp-chain")));
    check_beside(
        &root,
        &[
            "LICENSE-APACHE",
            "LICENSE-MIT",
            "README.md",
            "man/man1/acp-chain.1",
            "man/man1/acp-chain-run.1",
            "completions/acp-chain",
            "completions/_acp-chain",
            "completions/acp-chain.fish",
            "completions/acp-chain.ps1",
        ],
    );
}

#[test]
fn dpkg_installs_the_package_for_debian() {
    let root = tempfile::tempdir().unwrap();
    let known = root.path().join("var/lib/dpkg");
    for folder in ["info", "updates"] {
        fs::create_dir_all(known.join(folder)).unwrap();
    }
    fs::write(known.join("status"), "").unwrap();
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(format!("--root={}", root.path().display()));
    // The C library is not installed there.
    dpkg.args(["--force-not-root", "--force-depends", "--install"]);
    done(dpkg.arg(package("acp-chain_", ".deb")));
    check(&mut Command::new(root.path().join("usr/bin/acp-chain")));
    check_managed(root.path().join("usr/bin/acp-chain"), "deb");
    check_beside(
        &root.path().join("usr/share"),
        &[
            "doc/acp-chain/copyright",
            "man/man1/acp-chain-run.1.gz",
            "bash-completion/completions/acp-chain",
            "zsh/vendor-completions/_acp-chain",
            "fish/vendor_completions.d/acp-chain.fish",
        ],
    );
}

/// `rpm` with its own root, in which it may do what root may.
fn rpm(root: &Path) -> Command {
    let mut rpm = Command::new("unshare");
    rpm.args(["--user", "--map-root-user"])
        .arg(peer("bin/rpm"))
        .env("RPM_CONFIGDIR", peer("debian/rpm/root/usr/lib/rpm"))
        .arg("--root")
        .arg(root);
    rpm
}

/// The same for a command that would look for the C library, which is not installed there.
fn rpm_alone(root: &Path) -> Command {
    let mut rpm = rpm(root);
    rpm.arg("--nodeps");
    rpm
}

#[test]
fn rpm_installs_verifies_and_removes_the_package() {
    let root = tempfile::tempdir().unwrap();
    let file = package("acp-chain-", ".rpm");
    done(rpm_alone(root.path()).arg("--install").arg(&file));
    check(&mut Command::new(root.path().join("usr/bin/acp-chain")));
    check_managed(root.path().join("usr/bin/acp-chain"), "rpm");
    check_beside(
        &root.path().join("usr/share"),
        &[
            "licenses/acp-chain/LICENSE-MIT",
            "man/man1/acp-chain-run.1.gz",
            "bash-completion/completions/acp-chain",
            "zsh/site-functions/_acp-chain",
            "fish/vendor_completions.d/acp-chain.fish",
        ],
    );
    let verify = ["--verify", "acp-chain"];
    assert_eq!(done(rpm_alone(root.path()).args(verify)), "");
    let query = ["--query", "--requires", "acp-chain"];
    assert!(done(rpm(root.path()).args(query)).starts_with("glibc >= 2."));
    let marker = root.path().join("usr/lib/acp-chain/installed-by");
    fs::write(&marker, "cpm\n").unwrap();
    let changed = rpm_alone(root.path()).args(verify).output().unwrap();
    let changed = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert!(changed.contains("installed-by"), "{changed}");
    done(rpm_alone(root.path()).args(["--erase", "acp-chain"]));
    assert!(!root.path().join("usr/bin/acp-chain").exists());
    assert!(!root.path().join("usr/lib/acp-chain").exists());

    // A byte of the payload is changed.
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    let broken = root.path().join("broken.rpm");
    fs::write(&broken, bytes).unwrap();
    let refused = rpm_alone(root.path())
        .arg("--install")
        .arg(&broken)
        .output();
    let refused = CommandOutput::from(refused.unwrap()).of_failure(&["--install"]);
    assert!(
        refused.contains("Payload SHA256") && refused.contains("BAD"),
        "{refused}"
    );
}

#[test]
fn npm_installs_the_program_for_this_platform_and_npx_runs_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
    ]);
    npm.arg(package("acp-chain-0", ".tgz"))
        .arg(package("acp-chain-linux-", ".tgz"));
    done(npm.current_dir(&folder));
    let mut npx = Command::new("npx");
    check(npx.args(["--offline", "acp-chain"]).current_dir(&folder));
    // The launcher exits with the program's exit code.
    let mut launcher = Command::new(folder.path().join("node_modules/.bin/acp-chain"));
    let status = launcher.arg("nothing").output().unwrap().status;
    assert_eq!(status.code(), Some(2));
    check_managed(folder.path().join("node_modules/.bin/acp-chain"), "npm");
}

#[test]
fn pip_installs_the_wheel() {
    let folder = tempfile::tempdir().unwrap();
    let mut venv = Command::new("python3");
    done(venv.args(["-m", "venv"]).arg(folder.path()));
    let mut pip = Command::new(folder.path().join("bin/pip"));
    pip.args(["install", "--no-index", "--disable-pip-version-check"]);
    done(pip.arg(package("acp_chain-", ".whl")));
    check(&mut Command::new(folder.path().join("bin/acp-chain")));
    check_managed(folder.path().join("bin/acp-chain"), "pip");
}

/// The names of the components of a list.
fn names(list: &Value) -> Vec<&str> {
    let components = list["components"].as_array().unwrap().iter();
    let names = components.map(|component| component["name"].as_str().unwrap());
    names.collect()
}

#[test]
fn the_list_of_what_is_in_the_program_follows_its_schema_and_has_what_is_linked() {
    let file = package("acp-chain-", ".cdx.json");
    done(Command::new(peer("bin/sbom-check")).arg(&file));
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let linked = names(&list);
    for there in ["std", "serde", "wasmtime", "ring", "acp-chain-router"] {
        assert!(linked.contains(&there), "{there} is not listed");
    }
    // Macros, what builds them, and what only the tests use.
    for other in ["serde_derive", "cc", "proptest", "acp-chain-tests"] {
        assert!(!linked.contains(&other), "{other} is listed");
    }
    let extension = |name: &str| {
        let components = list["components"].as_array().unwrap().iter();
        let mut components =
            components.filter(|component| component["bom-ref"] == format!("extension:{name}"));
        components.next()
    };
    for name in CARRIED {
        let carried = extension(name).unwrap_or_else(|| panic!("{name} is not listed"));
        assert!(names(carried).contains(&"acp-chain-proxy"), "{carried}");
        let digest = digest(&component(name)).hex();
        assert_eq!(carried["hashes"][0]["content"], digest, "{name}");
    }
    // Of what is not in this program, nothing is listed.
    if env::var_os("ACP_CHAIN_PACKAGES").is_none() {
        assert!(extension("todo").is_none());
    }
}

/// A folder with the archive, and what stands for those for these other targets, in which `cargo xtask release-files`
/// has run.
fn release_files(more: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let archive = package("acp-chain-", ".tar.gz");
    let name = archive.file_name().unwrap().to_str().unwrap();
    fs::copy(&archive, folder.path().join(name)).unwrap();
    let version = version();
    for triple in more {
        let name = format!("acp-chain-{version}-{triple}.tar.gz");
        fs::write(folder.path().join(name), triple).unwrap();
    }
    let mut dist = Command::new(program().with_file_name("xtask-dist"));
    dist.args(["release-files", "--url", "https://example.com/r/"]);
    done(dist.arg(folder.path()));
    folder
}

/// The version of the packed program.
fn version() -> String {
    let said = done(Command::new(program()).arg("--version"));
    said.trim().strip_prefix("acp-chain ").unwrap().to_owned()
}

/// The errors of Ruby's parser.
fn errors_of_ruby(formula: &Path) -> String {
    let mut ruby = Command::new(peer("bin/npm-ruby"));
    let output = ruby.stdin(fs::File::open(formula).unwrap()).output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        String::new()
    } else {
        told
    }
}

#[test]
fn a_release_has_a_formula_for_homebrew_and_a_manifest_for_scoop() {
    let others = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];
    let folder = release_files(&others);
    let path = |name: &str| folder.path().join(name);
    let sums = fs::read_to_string(path("SHA256SUMS")).unwrap();
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "SHA256SUMS"]);
    let checked = done(check.current_dir(folder.path()));
    assert_eq!(
        checked.lines().count(),
        fs::read_dir(folder.path()).unwrap().count() - 1
    );
    let digest_of = |name: &str| {
        let mut lines = sums.lines().filter_map(|line| line.split_once("  "));
        let line = lines.find(|(_, file)| *file == name);
        line.unwrap_or_else(|| panic!("{name} has no checksum")).0
    };

    assert_eq!(errors_of_ruby(&path("acp-chain.rb")), "");
    let formula = fs::read_to_string(path("acp-chain.rb")).unwrap();
    let version = version();
    let archive = |triple: &str| format!("acp-chain-{version}-{triple}.tar.gz");
    let mac = archive("aarch64-apple-darwin");
    let part = format!(
        "  on_macos do\n    on_arm do\n      url \"https://example.com/r/{mac}\"\n      sha256 \"{}\"\n    end\n  end\n",
        digest_of(&mac)
    );
    assert!(formula.contains(&part), "{formula}");
    assert!(formula.contains("  on_linux do\n"), "{formula}");
    assert!(!formula.contains("depends_on"), "{formula}");
    // A formula that is cut off is not one.
    fs::write(path("cut.rb"), &formula[..formula.len() - 5]).unwrap();
    assert_ne!(errors_of_ruby(&path("cut.rb")), "");

    let manifest = fs::read(path("acp-chain.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let windows = archive("x86_64-pc-windows-gnu");
    let expected = serde_json::json!({
        "version": version,
        "description": "Sandboxed WebAssembly proxies between an ACP client and any ACP agent",
        "homepage": "https://example.com/r",
        "license": "Apache-2.0|MIT",
        "architecture": { "64bit": {
            "url": format!("https://example.com/r/{windows}"),
            "hash": digest_of(&windows),
            "extract_dir": windows.trim_end_matches(".tar.gz"),
        } },
        "bin": "acp-chain.exe",
    });
    assert_eq!(manifest, expected);
}

#[test]
fn a_release_for_linux_alone_says_so_in_its_formula() {
    let folder = release_files(&[]);
    let formula = folder.path().join("acp-chain.rb");
    assert_eq!(errors_of_ruby(&formula), "");
    let formula = fs::read_to_string(formula).unwrap();
    assert!(formula.contains("\n  depends_on :linux\n"), "{formula}");
    assert!(!formula.contains("on_macos"), "{formula}");
    assert!(!folder.path().join("acp-chain.json").exists());
}

#[test]
fn the_program_reads_the_signed_description_of_its_release() {
    let folder = release_files(&[]);
    let world = World::new();
    let keys = Keys::new(&world, "ours");
    let (server, mut count) = (Server::start(), 0);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("release-") && path.extension().is_some_and(|kind| kind == "json") {
            keys.sign(&world, &path);
            let signature = fs::read(format!("{}.minisig", path.display())).unwrap();
            server.put(&format!("/{name}.minisig"), signature);
            count += 1;
        }
        server.put(&format!("/{name}"), fs::read(&path).unwrap());
    }
    assert_eq!(count, 1);
    let config = world.path(".config/acp-chain/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let (channel, key) = (server.url("/"), keys.public());
    let updates = format!("[updates]\nchannel = \"{channel}\"\nkey = \"{key}\"\n");
    fs::write(config, updates).unwrap();
    let told = world.run_own(&["self-update", "--check"]);
    let told = told.of_success(&["self-update", "--check"]);
    assert_eq!(
        told,
        format!("acp-chain {} is the newest release.\n", version())
    );
}

#[test]
fn the_archive_is_where_cargo_binstall_looks_for_it() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/cli/Cargo.toml");
    let manifest: Table = fs::read_to_string(file).unwrap().parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let archive = package("acp-chain-", ".tar.gz");
    let file = archive.file_name().unwrap().to_str().unwrap();
    let version = version();
    let beginning = format!("acp-chain-{version}-");
    let target = file.strip_prefix(&beginning).unwrap();
    let target = target.strip_suffix(".tar.gz").unwrap();
    let filled = |key: &str| {
        let mut text = binstall[key].as_str().unwrap().to_owned();
        for (name, value) in [
            ("repo", "https://example.com/acp-chain"),
            ("version", &*version),
            ("target", target),
            ("bin", "acp-chain"),
            ("binary-ext", ""),
        ] {
            text = text.replace(&format!("{{ {name} }}"), value);
        }
        assert!(!text.contains('{'), "{text}");
        text
    };
    let url = format!("https://example.com/acp-chain/releases/download/v{version}/{file}");
    assert_eq!(filled("pkg-url"), url);
    let mut tar = Command::new("tar");
    let listed = done(tar.arg("tzf").arg(&archive));
    let path = filled("bin-dir");
    assert!(listed.lines().any(|line| line == path), "{path}: {listed}");
}

#[test]
fn what_is_no_program_is_not_packed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "no program").unwrap();
    let mut dist = Command::new(program().with_file_name("xtask-dist"));
    dist.arg("pack").arg(&text).arg("--out").arg(folder.path());
    let output = dist.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        told.contains("notes.txt cannot be packed: it is not a program"),
        "{told}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
