//! The SDK for Python: its parts with a simulated host; and in the real host, a proxy with a case for each feature, and
//! the one that other SDKs are compared with. They are in one component, with the proxies of the templates.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_author::TEMPLATES;
use acp_chain_package::Package;
use acp_chain_tests::host;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::project::{NAME, Project};

/// A built Python project with the proxy of this name in the folder `python`, and its transcript.
async fn built(name: &str) -> Project {
    let project = Project::new("python", "tools").await;
    fs::remove_dir_all(project.path("tests")).unwrap();
    fs::create_dir(project.path("tests")).unwrap();
    let transcript = ours(&format!("{name}.transcript"));
    fs::copy(transcript, project.path("tests/it.transcript")).unwrap();
    build_as(&project, name).await;
    project
}

/// Builds a project with the proxy of this name, a template or one of the folder `python`: its component has all of
/// them, and the configuration in the project's chain and transcripts names this one.
pub async fn build_as(project: &Project, name: &str) -> PathBuf {
    let edit = |path: &Path, edit: &dyn Fn(&str) -> String| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, edit(&text)).unwrap();
    };
    let config = format!("[proxy.config]\nproxy = '{name}'\n");
    edit(&project.path("chain.toml"), &|chain| {
        format!("{chain}\n{config}")
    });
    let head = format!("[[proxy]]\npath = '../build/{NAME}.wasm'\n{config}---\n");
    for transcript in fs::read_dir(project.path("tests")).unwrap() {
        let transcript = transcript.unwrap().path();
        edit(&transcript, &|text| format!("{head}{text}"));
    }
    let component = project.path(&format!("build/{NAME}.wasm"));
    fs::create_dir_all(project.path("build")).unwrap();
    let all = all().await;
    // Only a package says that its component is a guard.
    let written = (name == "guard").then(|| {
        let mut package = Package::read(Cursor::new(all)).unwrap();
        package.asks.guard = true;
        package.write(all).unwrap()
    });
    fs::write(&component, written.as_deref().unwrap_or(all)).unwrap();
    component
}

/// The component with all proxies of these tests, built and compiled once: each build takes ten seconds of a processor,
/// and as many again to compile the interpreter in it.
async fn all() -> &'static [u8] {
    static ALL: OnceCell<Vec<u8>> = OnceCell::const_new();
    let build = async || {
        let project = Project::new("python", "tools").await;
        for template in TEMPLATES {
            let source = project.path("src").join(template).with_extension("py");
            fs::copy(of_template(template), source).unwrap();
        }
        for (file, folder) in [
            ("proxy.py", "src"),
            ("cases.py", "src"),
            ("offers.py", "src"),
            ("reference.py", "src"),
            ("pyproject.toml", ""),
            ("config.schema.json", ""),
        ] {
            fs::copy(ours(file), project.path(folder).join(file)).unwrap();
        }
        project.serves(&[
            "tool-proxy",
            "resource-proxy",
            "prompt-proxy",
            "completion-proxy",
        ]);
        let component = project.build().await;
        // The tests that wait for it begin at the same time, and each would compile it.
        host::compile(&component);
        fs::read(component).unwrap()
    };
    ALL.get_or_init(build).await
}

/// A file of the folder `python`.
fn ours(file: &str) -> PathBuf {
    checkout("tests/tests/authoring/author/python").join(file)
}

/// The source of a template.
fn of_template(template: &str) -> PathBuf {
    checkout(&format!(
        "host/author/templates/python/{template}/src/proxy.py"
    ))
}

#[tokio::test]
async fn the_sdk_keeps_its_promises_in_the_host() {
    let project = built("cases").await;
    project.passes_its_tests().await;

    // An exception of `on_start` is reported with its location, and the proxy does not start.
    let component = project.path(&format!("build/{NAME}.wasm"));
    let component = component.display();
    let config = "{ proxy = 'cases', fail = 'luck' }";
    let head = format!("[[proxy]]\npath = '{component}'\nconfig = {config}\n---\n");
    fs::write(project.path("tests/it.transcript"), head).unwrap();
    let said = project.acp_chain(&["test"], ".").await;
    let place = "ValueError: no luck (cases.py:33, in fail)";
    assert!(!said.is_success && said.err.contains(place), "{said:?}");
}

#[tokio::test]
async fn the_reference_proxy_remembers_over_a_restart() {
    built("reference").await.passes_its_tests().await;
}

#[tokio::test]
async fn resources_prompts_and_completion_are_served() {
    built("offers").await.passes_its_tests().await;
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

    // By the bindings alone: another build would show no more.
    let tools =
        "from acp_chain import Proxy\n\nproxy = Proxy()\n\n\n@proxy.tool\ndef it():\n    pass\n";
    let folder = tempfile::tempdir().unwrap();
    let bindings = bindings("extension", &project.path("wit"), &folder).await;
    let mut python = python(&bindings, &project.path("sdk"));
    let output = python.args(["-c", tools]).output().await.unwrap();
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "TypeError: a proxy with tools includes `tool-proxy` in wit/world.wit";
    assert!(said.contains(expected), "{said}");
}

#[tokio::test]
async fn the_parts_of_the_sdk_pass_their_tests() {
    let folder = tempfile::tempdir().unwrap();
    let sdk = checkout("host/author/sdk/python");
    let bindings = bindings("tool-proxy", &checkout("wit"), &folder).await;
    let mut command = python(&bindings, &sdk);
    command.args(["-m", "unittest", "discover", "--start-directory"]);
    succeeds(command.arg(sdk.join("tests"))).await;
}

/// Python, which finds bindings and the SDK in these folders.
fn python(bindings: &Path, sdk: &Path) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", std::env::join_paths([bindings, sdk]).unwrap());
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

#[tokio::test]
async fn the_sdk_and_what_is_written_with_it_are_of_their_types() {
    let project = Project::new("python", "tools").await;
    fs::copy(ours("offers.py"), project.path("src/proxy.py")).unwrap();
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
        let copy = project.path("src").join(format!("{template}.py"));
        fs::copy(of_template(template), &copy).unwrap();
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
