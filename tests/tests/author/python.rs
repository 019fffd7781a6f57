//! The SDK for Python: its parts with a host that is played, and in the real one a component with a case for each of
//! its promises, and the proxy that other SDKs are compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_tests::host;
use tokio::process::Command;

use super::project::{NAME, Project};

/// A project in Python that is built of the files of this name in the folder `python`.
async fn built(name: &str) -> Project {
    let project = Project::new("python", "tools").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/author/python");
    let copy = |extension: &str, to: &str| {
        fs::copy(folder.join(format!("{name}.{extension}")), project.path(to)).unwrap();
    };
    copy("py", "src/proxy.py");
    copy("toml", "pyproject.toml");
    fs::remove_dir_all(project.path("tests")).unwrap();
    fs::create_dir(project.path("tests")).unwrap();
    copy("transcript", "tests/it.transcript");
    if name == "cases" {
        copy("schema.json", "config.schema.json");
    }
    project.build().await;
    project
}

#[tokio::test]
async fn the_sdk_keeps_its_promises_in_the_host() {
    let project = built("cases").await;
    project.passes_its_tests().await;

    // What `on_start` raises is told, with its place, and the proxy does not start.
    let component = project.path(&format!("build/{NAME}.wasm"));
    let component = component.display();
    let head = format!("[[proxy]]\npath = '{component}'\nconfig = {{ fail = 'luck' }}\n---\n");
    fs::write(project.path("tests/it.transcript"), head).unwrap();
    let said = project.acp_chain(&["test"], ".").await;
    let place = "ValueError: no luck (proxy.py:31, in fail)";
    assert!(!said.is_success && said.err.contains(place), "{said:?}");
}

#[tokio::test]
async fn the_reference_proxy_remembers_over_a_restart() {
    built("reference").await.passes_its_tests().await;
}

#[tokio::test]
async fn what_is_raised_while_a_module_is_loaded_is_shown_whole() {
    let project = Project::new("python", "prompt").await;
    let source = project.path("src/proxy.py");
    fs::write(
        &source,
        "def load():\n    raise ValueError('no luck')\n\n\nload()\n",
    )
    .unwrap();
    let said = project.refused().await;
    for expected in [
        "proxy.py\", line 5, in <module>\n    load()\n",
        "proxy.py\", line 2, in load\n    raise ValueError('no luck')\n",
        "ValueError: no luck\n",
    ] {
        assert!(said.contains(expected), "{said}\nlacks\n{expected}");
    }
    assert!(!said.contains("Stack backtrace"), "{said}");

    let tools =
        "from acp_chain import Proxy\n\nproxy = Proxy()\n\n\n@proxy.tool\ndef it():\n    pass\n";
    fs::write(&source, tools).unwrap();
    let said = project.refused().await;
    let expected = "TypeError: a proxy with tools includes `tool-proxy` in wit/world.wit";
    assert!(said.contains(expected), "{said}");
}

#[tokio::test]
async fn the_parts_of_the_sdk_pass_their_tests() {
    let folder = tempfile::tempdir().unwrap();
    let bindings = folder.path().join("bindings");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(host::toolchain("python/bin/componentize-py"));
    command.arg("--wit-path").arg(root.join("wit"));
    command.args(["--world", "tool-proxy", "bindings"]);
    succeeds(command.arg(&bindings)).await;

    let sdk = root.join("author/sdk/python");
    let found: [PathBuf; 2] = [bindings, sdk.clone()];
    let mut command = Command::new("python3");
    command.args(["-m", "unittest", "discover", "--start-directory"]);
    command.arg(sdk.join("tests"));
    command.env("PYTHONPATH", std::env::join_paths(found).unwrap());
    succeeds(command.env("PYTHONDONTWRITEBYTECODE", "1")).await;
}

async fn succeeds(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}
