//! Oddities of real registries, archives and packages. Such an agent is installed, or refused by `add` rather than when
//! an editor launches it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use acp_chain_tests::host::{self, peer};
use serde_json::{Value, json};
use tar::EntryType;

use super::kinds::turn;
use super::world::{World, entry, tar_gz, zip};

const SCRIPT: &[u8] = b"#!/bin/sh\n";

/// A program's output, one line.
fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The path of this machine's Node.
fn node() -> String {
    said("node", &["-p", "process.execPath"])
}

fn add<'a>(name: &'a str, registry: &'a str) -> [&'a str; 6] {
    ["agent", "add", name, "--registry", registry, "--yes"]
}

#[test]
fn an_archive_with_links_to_nothing_is_installed_without_them() {
    let world = World::new();
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    for (name, kind, to) in [
        (
            "jre/lib/security/cacerts",
            EntryType::Symlink,
            "/etc/ssl/certs/java/cacerts",
        ),
        (
            "node_modules/.bin/tsc",
            EntryType::Symlink,
            "../typescript/bin/tsc",
        ),
        ("out", EntryType::Symlink, "../.."),
        ("bin/also", EntryType::Link, "bin/run"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        archive.append_link(&mut header, name, to).unwrap();
    }
    for content in [&b"#!/bin/sh\necho old\n"[..], SCRIPT] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        archive
            .append_data(&mut header, "bin/run", content)
            .unwrap();
    }
    let archive = archive.into_inner().unwrap().finish().unwrap();
    world.server.put("/it.tar.gz", archive);
    let more = json!({ "cmd": "./bin/run" });
    let registry = world.registry(&[world.binary("it", "1.0.0", "/it.tar.gz", more)]);
    let shown = world.does(&add("it", &registry));
    for note in [
        "! left out: `jre/lib/security/cacerts` in it is a link out of its folder",
        "! left out: `node_modules/.bin/tsc` in it is a link to nothing in its folder",
        "! left out: `out` in it is a link to nothing in its folder",
    ] {
        assert!(shown.contains(note), "{shown}");
    }
    let folder = world.versions("it").remove(0);
    for name in ["bin/run", "bin/also"] {
        assert_eq!(fs::read(folder.join(name)).unwrap(), SCRIPT, "{name}");
    }
    assert!(folder.join("out").symlink_metadata().is_err());
}

#[test]
fn a_registry_that_windows_and_git_have_touched_is_read() {
    let world = World::new();
    // Packed on Windows, with a helper that the program starts.
    let archive = zip(&[
        ("agent\\run".to_owned(), "#!/bin/sh\n".to_owned()),
        ("agent\\tools\\helper".to_owned(), "#!/bin/sh\n".to_owned()),
    ]);
    world.server.put("/it.zip", archive);
    let mut agent = world.binary(
        "it",
        "v2.1.0",
        "/it.zip",
        json!({ "cmd": "./agent/run", "args": null }),
    );
    agent["authors"] = json!([{ "name": "Somebody Else" }]);
    let text = json!({ "agents": [agent] }).to_string();
    let file = world.path("registry.json");
    fs::write(&file, format!("\u{feff}{text}")).unwrap();
    let shown = world.does(&add("it", file.to_str().unwrap()));
    assert!(
        shown.contains("An agent 2.1.0 (it)") && shown.contains("Somebody Else"),
        "{shown}"
    );
    let helper = world.versions("it")[0].join("agent/tools/helper");
    assert_ne!(helper.metadata().unwrap().permissions().mode() & 0o111, 0);
}

#[test]
fn a_registry_that_others_can_change_is_marked_in_the_question() {
    let world = World::new();
    world.server.put("/it.tgz", tar_gz(&[("run", SCRIPT)]));
    let agent = world.binary("it", "1.0.0", "/it.tgz", json!({ "cmd": "run" }));
    let file = world.path("registry.json");
    fs::write(&file, json!({ "agents": [agent] }).to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let shown = world.does(&add("it", file.to_str().unwrap()));
    let mark = "! the registry is not yours alone: others may write to ";
    assert!(shown.contains(mark), "{shown}");
}

#[test]
fn variables_that_load_code_are_marked_in_the_question() {
    let world = World::new();
    world.server.put("/it.tgz", tar_gz(&[("run", SCRIPT)]));
    let steering = [
        "LD_PRELOAD",
        "NODE_OPTIONS",
        "ld_preload",
        "DYLD_INSERT_LIBRARIES",
        "PERL5OPT",
        "PATH",
        "BASH_ENV",
        "JAVA_TOOL_OPTIONS",
        "GIT_SSH_COMMAND",
        "HTTPS_PROXY",
        "ANTHROPIC_BASE_URL",
        "NODE_TLS_REJECT_UNAUTHORIZED",
        "HOME",
        "XDG_CONFIG_HOME",
        "CLAUDE_CONFIG_DIR",
        "OPENCODE_CONFIG_CONTENT",
        "CODEX_HOME",
        "OLLAMA_HOST",
        "ANTHROPIC_API_KEY",
        "ACP_CHAIN_X",
    ];
    let harmless = ["LOG_LEVEL", "AGENT_MODE", "PATHS", "BUILD_ENV"];
    let all = steering.iter().chain(&harmless);
    let env: Value = all
        .map(|key| (key.to_string(), json!("x")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let more = json!({ "cmd": "run", "env": env });
    let registry = world.registry(&[world.binary("it", "1.0.0", "/it.tgz", more)]);
    let shown = world.does(&add("it", &registry));
    let line = |key: &str| {
        let part = format!(" {key}=x");
        shown.lines().find(|line| line.contains(&part)).unwrap()
    };
    for key in steering {
        assert!(line(key).contains("=x  ! this variable"), "{key}: {shown}");
    }
    for key in harmless {
        assert!(line(key).ends_with("=x"), "{key}: {shown}");
    }
}

#[test]
fn python_is_recorded_and_not_what_a_version_manager_has_in_its_place() {
    let mut world = World::new();
    let python = said(
        "python3",
        &["-I", "-c", "import sys; print(sys.executable)"],
    );
    let stand_in = format!("#!/bin/sh\nexec '{python}' \"$@\"\n");
    world.put_first(&[("python3", &stand_in)]);
    host::executable(&world.path("agent.py"), "#!/usr/bin/env python3\n").unwrap();
    for (name, words) in [
        ("script", &["./agent.py"][..]),
        ("own", &["python3", "agent.py"]),
    ] {
        let shown = world.does(&[&["agent", "add", name, "--"], words].concat());
        let expected = format!("`{name}` launches {python} ");
        assert!(shown.contains(&expected), "{shown}\nlacks\n{expected}");
    }
}

#[tokio::test]
async fn node_is_recorded_and_not_what_a_version_manager_has_in_its_place() {
    let mut world = World::new();
    // Like asdf's shim, which starts another version in each folder.
    let stand_in = format!(
        "#!/usr/bin/env bash\n[ -e .tool-versions ] && {{ echo 'No version is set for command node' >&2; exit 126; }}\n\
         exec '{}' \"$@\"\n",
        node()
    );
    world.put_first(&[("node", &stand_in)]);
    let package = world.npm_agent("1.0.0");
    let latest = entry(
        "npm-agent",
        "1.0.0",
        json!({ "npx": { "package": package } }),
    );
    let registry = world.registry(&[latest]);
    let shown = world.does(&add("npm-agent", &registry));
    let note =
        format!("scripts that run when a package is installed were not run: those of `{package}`");
    assert!(shown.contains(&note), "{shown}");
    let own = world.does(&["agent", "add", "own", "--", "node", "agent.mjs"]);
    assert!(
        own.contains(&format!("launches {} agent.mjs", node())),
        "{own}"
    );
    fs::write(world.path(".tool-versions"), "nodejs 1.2.3\n").unwrap();
    assert!(turn(&world, &["npm-agent"]).await.contains("how are you"));
    fs::remove_file(world.path(".tool-versions")).unwrap();

    // That version is removed.
    let file = world.agents().join("npm-agent/agent.toml");
    let record = world.record("npm-agent");
    let gone = world.path("removed/node").display().to_string();
    fs::write(
        &file,
        record.replace(&format!("\"{}\"", node()), &format!("\"{gone}\"")),
    )
    .unwrap();
    let told = world.run(&["doctor"]).out;
    assert!(
        told.contains(&format!("{gone} is missing")) && told.contains("agent update npm-agent"),
        "{told}"
    );
    world.does(&["agent", "update", "npm-agent", "--yes"]);
    assert!(world.record("npm-agent").contains(&node()));
}

#[test]
fn a_program_that_fnm_links_for_a_shell_is_recorded_where_it_stays() {
    let mut world = World::new();
    let stays = world.path("node-versions/v20/bin");
    fs::create_dir_all(&stays).unwrap();
    host::executable(&stays.join("agent"), SCRIPT).unwrap();
    let shell = world.path("fnm_multishells/4711_1");
    fs::create_dir_all(shell.parent().unwrap()).unwrap();
    symlink(stays.parent().unwrap(), &shell).unwrap();
    world.set_path(&[shell.join("bin").as_os_str(), OsStr::new("/bin")]);
    let said = world.does(&["agent", "add", "mine", "--", "agent"]);
    assert!(
        said.contains(&format!("launches {}", stays.join("agent").display())),
        "{said}"
    );
}

#[test]
fn what_runs_a_script_of_the_users_own_is_recorded() {
    let mut world = World::new();
    let bin = world.path("own-bin");
    fs::create_dir_all(&bin).unwrap();
    host::executable(&bin.join("agent"), "#!/usr/bin/env acp-chain-tool -x\n").unwrap();
    world.set_path(&[bin.as_os_str(), OsStr::new("/bin")]);
    let add = ["agent", "add", "mine", "--", "agent", "--acp"];
    let told = world.fails(&add);
    assert!(
        told.contains("`acp-chain-tool` is not in PATH, and this agent needs it"),
        "{told}"
    );
    host::executable(&bin.join("acp-chain-tool"), SCRIPT).unwrap();
    let said = world.does(&add);
    let bin = bin.display();
    let launches = format!("launches {bin}/acp-chain-tool -x {bin}/agent --acp.");
    assert!(said.contains(&launches), "{said}\nlacks\n{launches}");
}

/// Serves an npm package whose program begins with this line. Returns the registry.
fn with_first_line(world: &World, line: &str) -> String {
    let agent = fs::read_to_string(peer("npm/agent.mjs")).unwrap();
    let agent = format!(
        "#!{line}\n{}",
        agent
            .strip_prefix("#!/usr/bin/env node\n")
            .unwrap_or(&agent)
    );
    let package = json!({
        "name": "@acp-chain-tests/lined", "version": "1.0.0", "type": "module", "bin": "agent.mjs",
        "dependencies": { "@agentclientprotocol/sdk": "2.4.0" },
    });
    world.npm_package(package, &[("agent.mjs", agent.as_bytes())]);
    let distribution = json!({ "npx": { "package": "@acp-chain-tests/lined@1.0.0" } });
    world.registry(&[entry("lined", "1.0.0", distribution)])
}

#[tokio::test]
async fn options_in_the_first_line_of_a_program_are_used() {
    let world = World::new();
    let registry = with_first_line(
        &world,
        "/usr/bin/env -S NODE_NO_WARNINGS=1 node --max-old-space-size=8192",
    );
    let shown = world.does(&add("lined", &registry));
    assert!(
        shown.contains("env NODE_NO_WARNINGS=1 ")
            && shown.contains("node --max-old-space-size=8192 /"),
        "{shown}"
    );
    assert!(turn(&world, &["lined"]).await.contains("how are you"));
    let same = world.does(&["agent", "update"]);
    assert!(same.contains("`lined` is up to date"), "{same}");
}

#[tokio::test]
async fn what_runs_a_program_is_looked_up_when_it_is_added() {
    let mut world = World::new();
    world.only(&["node", "npm"]);
    for (line, says) in [
        (
            "/usr/bin/env bun",
            "`bun` is not in PATH, and this agent needs it: install Bun from https://bun.sh",
        ),
        (
            "/usr/bin/env -S deno run -A",
            "`deno` is not in PATH, and this agent needs it: install Deno",
        ),
        ("/opt/acp-chain-missing/tool", "`tool` is not in PATH"),
    ] {
        let registry = with_first_line(&world, line);
        let told = world.fails(&add("lined", &registry));
        assert!(told.contains(says), "{told}");
        assert!(world.versions("lined").is_empty());
    }
    let registry = with_first_line(&world, "/usr/bin/env bun");
    world.put_first(&[("bun", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", node()))]);
    world.does(&add("lined", &registry));
    let bun = world.path("bin/bun").display().to_string();
    assert!(
        world.record("lined").contains(&bun),
        "{}",
        world.record("lined")
    );
    assert!(turn(&world, &["lined"]).await.contains("how are you"));
}

#[test]
fn a_program_that_an_install_script_makes_is_told_at_once() {
    let world = World::new();
    // A stub without a `#!` line, which the script replaces.
    let installer: &[u8] = b"";
    let stub: &[u8] = b"echo \"native binary not installed\" >&2\nexit 1\n";
    for (files, how) in [
        (
            &[("bin/agent.exe", stub)][..],
            "is neither a program nor a script",
        ),
        (&[("install.cjs", installer)][..], "is not in it"),
    ] {
        let package = json!({
            "name": "@acp-chain-tests/made", "version": "1.0.0", "bin": { "made": "bin/agent.exe" },
            "scripts": { "postinstall": "node install.cjs" },
        });
        world.npm_package(package, files);
        let distribution = json!({ "npx": { "package": "@acp-chain-tests/made@1.0.0" } });
        let registry = world.registry(&[entry("made", "1.0.0", distribution)]);
        let told = world.fails(&add("made", &registry));
        let says = format!(
            "its program `bin/agent.exe` {how}. It may be built by the package's script `postinstall` (`node install.cjs`)"
        );
        assert!(
            told.contains(&says) && told.contains("-- COMMAND"),
            "{told}"
        );
        assert!(world.versions("made").is_empty());
    }
}

/// A Python that is too old for the package, with pip's error.
const OLD_PYTHON: &str = r#"#!/bin/sh
for environment; do :; done
/bin/mkdir -p "$environment/bin"
{
    echo '#!/bin/sh'
    echo 'echo "ERROR: Ignored the following versions that require a different python version: 1.0.0 Requires-Python >=3.12" >&2'
    echo 'echo "ERROR: No matching distribution found for acp-chain-tests-echo-agent==1.0.0" >&2'
    echo 'exit 1'
} > "$environment/bin/python"
/bin/chmod +x "$environment/bin/python"
"#;

/// A registry with a Python agent.
fn python_registry(world: &World) -> String {
    let package = format!("{}==1.0.0", world.python_agent());
    world.registry(&[entry(
        "echo",
        "1.0.0",
        json!({ "uvx": { "package": package } }),
    )])
}

#[tokio::test]
async fn a_newer_python_is_found_in_path_or_among_those_of_uv() {
    let python = said("python3", &["-c", "import sys; print(sys.executable)"]);
    let new = format!("#!/bin/sh\nexec '{python}' \"$@\"\n");
    for is_of_uv in [false, true] {
        let mut world = World::new();
        world.put_first(&[("python3", OLD_PYTHON)]);
        let kept = world.path("uv/python/cpython-3.13/bin");
        fs::create_dir_all(&kept).unwrap();
        host::executable(&kept.join("python3.13"), &new).unwrap();
        let bin = world.path("bin");
        if is_of_uv {
            let list =
                json!([{ "version": "3.13.0", "path": kept.join("python3.13") }, { "path": null }]);
            world.put_first(&[("uv", &format!("#!/bin/sh\necho '{list}'\n"))]);
            world.set_path(&[bin.as_os_str()]);
        } else {
            world.set_path(&[bin.as_os_str(), kept.as_os_str()]);
        }
        let registry = python_registry(&world);
        world.does(&add("echo", &registry));
        assert!(turn(&world, &["echo"]).await.contains("how are you"));
        // The Python of its environment is removed.
        let link = world.versions("echo")[0].join("venv/bin/python");
        fs::remove_file(&link).unwrap();
        let listed = world.does(&["agent", "list"]);
        assert!(
            listed.contains("  ! the agent `echo` is broken")
                && listed.contains("venv/bin/python is missing"),
            "{listed}"
        );
    }
}

#[test]
fn where_no_python_is_new_enough_what_to_install_is_told() {
    let mut world = World::new();
    world.put_first(&[("python3", OLD_PYTHON)]);
    let bin = world.path("bin");
    world.set_path(&[bin.as_os_str()]);
    let registry = python_registry(&world);
    let told = world.fails(&add("echo", &registry));
    let says = "it needs Python >=3.12, and none is in PATH; ";
    assert!(
        told.contains(&format!("{says}install Python from https://www.python.org")),
        "{told}"
    );
    world.put_first(&[("uv", "#!/bin/sh\necho '[]'\n")]);
    world.set_path(&[bin.as_os_str()]);
    let told = world.fails(&add("echo", &registry));
    assert!(
        told.contains(&format!("{says}`uv python install 3.12` installs one")),
        "{told}"
    );
    assert!(world.versions("echo").is_empty());
}
