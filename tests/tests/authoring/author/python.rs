//! The SDK for Python: its parts with a simulated host; and in the real host, a component with a case for each feature,
//! and the proxy that other SDKs are compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_author::TEMPLATES;
use acp_chain_tests::host;
use tempfile::TempDir;
use tokio::process::Command;

use super::project::{NAME, Project};

/// A built Python project with the files of this name in the folder `python`.
async fn built(name: &str) -> Project {
    let project = of_files(name).await;
    project.build().await;
    project
}

/// The same, not built yet.
async fn of_files(name: &str) -> Project {
    let project = Project::new("python", "tools").await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/authoring/author/python");
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
    project
}

#[tokio::test]
async fn the_sdk_keeps_its_promises_in_the_host() {
    let project = built("cases").await;
    project.passes_its_tests().await;

    // An exception of `on_start` is reported with its location, and the proxy does not start.
    let component = project.path(&format!("build/{NAME}.wasm"));
    let component = component.display();
    let head = format!("[[proxy]]\npath = '{component}'\nconfig = {{ fail = 'luck' }}\n---\n");
    fs::write(project.path("tests/it.transcript"), head).unwrap();
    let said = project.acp_chain(&["test"], ".").await;
    let place = "ValueError: no luck (proxy.py:33, in fail)";
    assert!(!said.is_success && said.err.contains(place), "{said:?}");
}

#[tokio::test]
async fn the_reference_proxy_remembers_over_a_restart() {
    built("reference").await.passes_its_tests().await;
}

#[tokio::test]
async fn resources_prompts_and_completion_are_served() {
    let project = of_files("offers").await;
    project.serves(&["resource-proxy", "prompt-proxy", "completion-proxy"]);
    project.build().await;
    project.passes_its_tests().await;
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
    let sdk = checkout("host/author/sdk/python");
    let found = [
        bindings("tool-proxy", &checkout("wit"), &folder).await,
        sdk.clone(),
    ];
    let mut command = Command::new("python3");
    command.args(["-m", "unittest", "discover", "--start-directory"]);
    command.arg(sdk.join("tests"));
    command.env("PYTHONPATH", std::env::join_paths(found).unwrap());
    succeeds(command.env("PYTHONDONTWRITEBYTECODE", "1")).await;
}

#[tokio::test]
async fn the_sdk_and_what_is_written_with_it_are_of_their_types() {
    let project = of_files("offers").await;
    project.serves(&[
        "tool-proxy",
        "resource-proxy",
        "prompt-proxy",
        "completion-proxy",
    ]);
    let folder = tempfile::tempdir().unwrap();
    let all = bindings("extension", &project.path("wit"), &folder).await;
    let bare = bindings("proxy", &checkout("wit"), &folder).await;
    let cost = checkout("examples/cost/src/proxy.py");
    for bindings in [&all, &bare] {
        let sources = [checkout("host/author/sdk/python/acp_chain"), cost.clone()];
        mypy(bindings, &folder, &[], &sources).await;
    }

    // Types are optional, and these sources have none.
    let untyped = [
        "--allow-untyped-defs",
        "--allow-incomplete-defs",
        "--allow-untyped-calls",
    ];
    let mut sources = vec![project.path("src/proxy.py")];
    for template in TEMPLATES {
        let source = checkout(&format!(
            "host/author/templates/python/{template}/src/proxy.py"
        ));
        let copy = project.path("src").join(format!("{template}.py"));
        fs::copy(source, &copy).unwrap();
        sources.push(copy);
    }
    mypy(&all, &folder, &untyped, &sources).await;
}

/// Type-checks sources and their imports.
async fn mypy(bindings: &Path, cache: &TempDir, options: &[&str], sources: &[PathBuf]) {
    let mut command = Command::new(host::toolchain("python/bin/mypy"));
    command.arg("--strict").args(options).args(sources);
    command.arg("--cache-dir").arg(cache.path().join("cache"));
    let found = [bindings.to_owned(), checkout("host/author/sdk/python")];
    command.env("MYPYPATH", std::env::join_paths(found).unwrap());
    succeeds(command.current_dir(cache.path())).await;
}

/// The bindings that componentize-py generates for a world.
async fn bindings(world: &str, wit: &Path, folder: &TempDir) -> PathBuf {
    let bindings = folder.path().join(world);
    let mut command = Command::new(host::toolchain("python/bin/componentize-py"));
    command.arg("--wit-path").arg(wit);
    command.args(["--world", world, "bindings"]);
    succeeds(command.arg(&bindings)).await;
    bindings
}

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

async fn succeeds(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}
