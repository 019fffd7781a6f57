//! The packages that `cargo xtask dist` makes: each is installed from its file, without a network, and what it installs
//! runs, with the extensions in it. They are packages of the program that the tests run, or those in the folder that
//! `cargo xtask release-check` names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use acp_chain_tests::host::{component, program};

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
    let mut dist = Command::new(program().with_file_name("xtask-make"));
    dist.args(["dist", "--from"]).arg(&bundled);
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
}

#[test]
fn what_is_no_program_is_not_packed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "no program").unwrap();
    let mut dist = Command::new(program().with_file_name("xtask-make"));
    dist.args(["dist", "--from"])
        .arg(&text)
        .arg("--out")
        .arg(folder.path());
    let output = dist.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        told.contains("notes.txt cannot be packed: it is not a program"),
        "{told}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
