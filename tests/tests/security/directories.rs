//! The directories of proxies: each stays the one that the user named, and nothing that decides over proxies
//! is in a directory that they may write to.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use acp_chain_tests::chain::MANIFEST;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A folder with `given`, and a manifest beside it.
struct Project(TempDir);

impl Project {
    /// A project with one proxy, `files`, with these keys.
    fn new(terms: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(project.path("given")).unwrap();
        fs::create_dir_all(project.path("own")).unwrap();
        project.writes(terms);
        project
    }

    /// A project with one proxy that may write to `given`, followed by these lines.
    fn writing(more: &str) -> Self {
        let given = "directories = [{ path = '../given', name = '/x', write = true }]";
        Self::new(&format!("{given}\n{more}"))
    }

    fn writes(&self, terms: &str) {
        let component = host::component("files");
        let component = component.display();
        let text = format!("[[proxy]]\nid = 'files'\npath = '{component}'\n{terms}\n");
        fs::write(self.manifest(), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(name)
    }

    fn manifest(&self) -> PathBuf {
        self.path("own").join(MANIFEST)
    }

    fn check(&self) -> Command {
        host::check(&self.manifest())
    }

    /// Expects `check` to refuse the manifest with these words.
    async fn is_refused(&self, words: &[&str]) {
        refuses(self.check(), words).await;
    }

    /// The error of `initialize`, in front of this agent, with these options.
    async fn error(&self, options: &[&str], agent: &[&str]) -> String {
        let manifest = self.manifest();
        let own = ["--manifest", manifest.to_str().unwrap()];
        let mut client = client(host::run_with(own.iter().chain(options), agent));
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.expect("an error");
        client.finish().await.unwrap();
        error
    }
}

fn client(command: Command) -> Process {
    Process::start("client", &Transcript::new(), command).unwrap()
}

async fn printed(mut command: Command) -> (bool, String) {
    let output = command.output().await.unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

async fn refuses(command: Command, words: &[&str]) {
    let (accepted, printed) = printed(command).await;
    assert!(!accepted, "{printed}");
    for words in words {
        assert!(printed.contains(words), "{printed}\nlacks\n{words}");
    }
}

async fn ask(client: &mut Process, attempt: Value) -> Value {
    let answer = client
        .wire
        .request("test/files", &attempt.to_string())
        .await;
    let text = answer.result.or(answer.error).expect("an answer");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_directory_that_is_swapped_for_a_link_leads_nowhere_else_after_a_restart() {
    let project = Project::new(
        "on-failure = 'restart'\n\
         methods = { 'test/files' = ['read', 'answer'] }\ndirectories = [{ path = '../given', name = '/x' }]",
    );
    fs::write(project.path("given/file"), "inside").unwrap();
    fs::create_dir(project.path("outside")).unwrap();
    fs::write(project.path("outside/file"), "outside").unwrap();
    let mut client = client(host::run(Some(&project.manifest()), [AGENT]));
    client.initialize().await;
    let read = json!({ "try": "read", "path": "/x/file" });
    assert_eq!(ask(&mut client, read.clone()).await["done"], "inside");
    fs::rename(project.path("given"), project.path("moved")).unwrap();
    symlink(project.path("outside"), project.path("given")).unwrap();
    let broke = ask(&mut client, json!({ "try": "break" })).await;
    assert!(broke["message"].is_string(), "{broke}");
    assert_eq!(ask(&mut client, read).await["done"], "inside");
}

#[tokio::test]
async fn a_link_in_the_place_of_a_directory_is_refused_and_what_it_points_to_is_said() {
    // A slash or a dot at the end of the path would follow the link.
    for end in ["", "/", "/."] {
        let project = Project::new(&format!(
            "directories = [{{ path = '../link{end}', name = '/x' }}]"
        ));
        symlink("given", project.path("link")).unwrap();
        let expected = format!(
            "it is a link to {0}, and a link may lead elsewhere tomorrow; write {0} in its place",
            project.path("given").display()
        );
        project.is_refused(&["proxy `files`", &expected]).await;
        let error = project.error(&[], &[AGENT]).await;
        assert!(error.contains(&expected), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_directory_of_files_is_refused_with_the_reason() {
    for (path, why) in [
        (
            "../nowhere",
            "it does not exist; create it, or write another path",
        ),
        (
            "acp-chain.toml",
            "it is not a directory; grant the directory that contains it",
        ),
        (
            "/proc/sys",
            "/proc (proc) has no files, but shows processes",
        ),
        ("/", " has no files, but shows processes"),
    ] {
        let grant = format!("directories = [{{ path = '{path}', name = '/x' }}]");
        Project::new(&grant)
            .is_refused(&["proxy `files`", why])
            .await;
    }
}

#[tokio::test]
async fn check_shows_where_a_directory_really_is() {
    let project = Project::new("directories = [{ path = '../link/../given/inner', name = '/x' }]");
    fs::create_dir(project.path("given/inner")).unwrap();
    symlink("own", project.path("link")).unwrap();
    let (accepted, printed) = printed(project.check()).await;
    let shown = format!(
        "! it can read in {}, as",
        project.path("given/inner").display()
    );
    assert!(
        accepted && printed.contains(&shown),
        "{printed}\nlacks\n{shown}"
    );
}

#[tokio::test]
async fn nothing_that_is_run_is_where_a_proxy_writes() {
    let shell = "#!/usr/bin/env sh\nexit\n";
    for (name, agent) in [
        ("agent", "[agent]\ncommand = '../given/agent'"),
        (
            "agent.py",
            "[agent]\ncommand = 'sh'\nargs = ['-x', '@/agent.py']",
        ),
        (
            "agent.py",
            "[agent]\ncommand = 'sh'\nargs = ['--script=@/agent.py']",
        ),
        ("proxy", "[[proxy]]\nid = 'n'\ncommand = '../given/proxy'"),
        (
            "proxy.py",
            "[[proxy]]\nid = 'n'\ncommand = 'sh'\nargs = ['@/proxy.py']",
        ),
        (
            "env",
            "[[proxy]]\nid = 'n'\ncommand = 'sh'\nenv = { LD_PRELOAD = '@/env' }",
        ),
        (
            "any",
            "[[proxy]]\nid = 'n'\ncommand = 'sh'\nenv = { PATH = '/bin:@' }",
        ),
        (
            "other.wasm",
            "[[proxy]]\nid = 'n'\npath = '../given/other.wasm'",
        ),
    ] {
        let project = Project::writing("");
        let given = project.path("given");
        fs::write(given.join(name), shell).unwrap();
        fs::set_permissions(given.join(name), Permissions::from_mode(0o755)).unwrap();
        let agent = agent.replace('@', given.to_str().unwrap());
        let is_agent = agent.starts_with("[agent]");
        let manifest = fs::read_to_string(project.manifest()).unwrap();
        let text = if is_agent {
            format!("{agent}\n{manifest}")
        } else {
            format!("{manifest}\n{agent}\n")
        };
        fs::write(project.manifest(), text).unwrap();
        let named = given.display().to_string();
        project.is_refused(&["it may write to", &named]).await;
    }
}

#[tokio::test]
async fn nor_what_runs_a_script() {
    let project = Project::writing("");
    let script = project.path("own/agent");
    let interpreter = project.path("given/python");
    fs::write(&script, format!("#! {} -u\n", interpreter.display())).unwrap();
    let error = project.error(&[], &[script.to_str().unwrap()]).await;
    assert!(error.contains("what runs the agent"), "{error}");
}

#[tokio::test]
async fn nor_the_agent_and_the_files_that_the_command_line_names() {
    let project = Project::writing("");
    let file = project.path("given/file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for (options, agent) in [
        (&[][..], &[file][..]),
        (&[], &["sh", file]),
        (&["--trace", file], &[AGENT]),
        (&["--log-file", file], &[AGENT]),
    ] {
        let error = project.error(options, agent).await;
        assert!(
            error.contains("it may write to") && error.contains(file),
            "{error}"
        );
    }
}

#[tokio::test]
async fn nor_the_files_of_a_server() {
    let project = Project::writing("");
    let of = |path: &str| project.path(path).to_str().unwrap().to_owned();
    host::token(&project.path("given/tokens"), "ann", &[]).await;
    host::token(&project.path("own/tokens"), "ann", &[]).await;
    let manifest = project.manifest();
    for (options, what) in [
        (["--tokens", &of("given/tokens")], "the tokens of users"),
        (["--access-log", &of("given/access")], "the access log"),
    ] {
        let mut serve = host::acp_chain("serve");
        serve
            .args(["--listen", "127.0.0.1:0", "--manifest"])
            .arg(&manifest);
        serve.args(options).args(["--", AGENT]);
        refuses(serve, &["it may write to", &format!("and so to {what}")]).await;
    }
    let routes = format!(
        "[serve]\ntokens = '{}'\n[[serve.route]]\nusers = ['ann']\nmanifest = '{}'\n",
        of("own/tokens"),
        of("given/other.toml"),
    );
    fs::write(project.path("given/other.toml"), "").unwrap();
    fs::create_dir_all(project.path("config/acp-chain")).unwrap();
    fs::write(project.path("config/acp-chain/config.toml"), routes).unwrap();
    let mut serve = host::acp_chain("serve");
    serve
        .args(["--listen", "127.0.0.1:0", "--manifest"])
        .arg(&manifest);
    serve
        .args(["--", AGENT])
        .env("XDG_CONFIG_HOME", project.path("config"));
    refuses(
        serve,
        &["it may write to", "and so to the manifest of other users"],
    )
    .await;
}

#[tokio::test]
async fn nor_what_is_named_in_the_midst_of_what_starts_the_agent() {
    let project = Project::writing("");
    let given = project.path("given/agent.py").display().to_string();
    let script = project.path("own/agent");
    fs::write(&script, format!("#!/usr/bin/env -S python3 {given}\n")).unwrap();
    for agent in [
        &["sh", "-c", &format!("exec python3 {given}")][..],
        &["node", &format!("-r{given}")],
        &[script.to_str().unwrap()],
    ] {
        let error = project.error(&[], agent).await;
        assert!(
            error.contains("which is named in what starts the agent"),
            "{error}"
        );
    }
    let mut check = project.check();
    check.env("PYTHONPATH", project.path("given"));
    let manifest = fs::read_to_string(project.path("own/acp-chain.toml")).unwrap();
    let agent = format!("agent = {{ command = '{AGENT}' }}\n{manifest}");
    fs::write(project.path("own/acp-chain.toml"), agent).unwrap();
    refuses(
        check,
        &["it may write to", "named in what starts the agent"],
    )
    .await;
}

#[tokio::test]
async fn nor_what_belongs_to_this_program() {
    for (variable, what) in [
        ("XDG_CONFIG_HOME", "your config.toml"),
        ("XDG_CACHE_HOME", "compiled code"),
        ("XDG_STATE_HOME", "the log"),
        ("XDG_RUNTIME_DIR", "the sockets for MCP clients"),
    ] {
        let project = Project::writing("");
        let mut check = project.check();
        check.env(variable, project.path("given"));
        refuses(check, &["it may write to", what]).await;
    }
}

#[tokio::test]
async fn nor_anything_by_way_of_a_link_or_under_another_name() {
    // The path to the manifest goes through a link in the directory.
    let project = Project::writing("");
    symlink("../own", project.path("given/way")).unwrap();
    let way = project.path("given/way").join(MANIFEST);
    refuses(host::check(&way), &["by way of", "given/way"]).await;
    // The manifest has another name in the directory, a hard link.
    let project = Project::writing("");
    fs::hard_link(project.manifest(), project.path("given/another")).unwrap();
    project
        .is_refused(&["the manifest", "given/another too"])
        .await;
}

#[tokio::test]
async fn nor_a_directory_that_is_given_to_anybody() {
    let component = host::component("files");
    let other = format!(
        "[[proxy]]\nid = 'reads'\npath = '{}'\n\
         directories = [{{ path = '../given/a/b', name = '/y' }}]",
        component.display()
    );
    let project = Project::writing(&other);
    fs::create_dir_all(project.path("given/a/b")).unwrap();
    project
        .is_refused(&["what the proxy `reads` is given", "given/a/b"])
        .await;
    // Several proxies may have the same directory.
    let project = Project::writing(&other.replace("/a/b", ""));
    let (accepted, printed) = printed(project.check()).await;
    assert!(accepted, "{printed}");
}

#[tokio::test]
async fn what_others_may_change_keeps_the_chain_from_starting_and_the_error_has_the_command() {
    for (variable, place) in [
        ("XDG_CONFIG_HOME", "home/acp-chain/config.toml"),
        ("XDG_CONFIG_HOME", "home/acp-chain/config.lock"),
        ("XDG_CONFIG_HOME", "home/acp-chain"),
        ("XDG_CACHE_HOME", "home/acp-chain/compiled"),
        ("XDG_STATE_HOME", "home"),
        ("XDG_RUNTIME_DIR", "home"),
    ] {
        let project = Project::new("");
        let (home, place) = (project.path("home"), project.path(place));
        fs::create_dir_all(home.join("acp-chain/compiled")).unwrap();
        fs::write(home.join("acp-chain/config.toml"), "").unwrap();
        fs::write(home.join("acp-chain/config.lock"), "version = 1\n").unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o777)).unwrap();
        let mends = format!("`chmod go-w '{}'` ends that", place.display());
        let mut check = project.check();
        check.env(variable, &home);
        refuses(check, &[&mends, variable]).await;
        let mut run = host::run(Some(&project.manifest()), [AGENT]);
        let mut client = client(std::mem::replace(
            run.env(variable, &home),
            Command::new("sh"),
        ));
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.expect("an error");
        assert!(error.contains(&mends), "{error}");
        let exit = client.finish().await.unwrap();
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(1), ""));
        assert!(!is_logged(&home), "a log in {}", place.display());
    }
}

/// Whether a home for logs contains a log.
fn is_logged(home: &Path) -> bool {
    home.join("acp-chain/acp-chain.log").exists()
}

#[tokio::test]
async fn a_home_that_depends_on_where_one_is_is_none() {
    for homes in [
        &[("HOME", "home")][..],
        &[
            ("HOME", "home"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_STATE_HOME", "state"),
        ],
    ] {
        let project = Project::new("");
        let mut check = project.check();
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            check.env_remove(variable);
        }
        check
            .envs(homes.iter().copied())
            .current_dir(project.0.path());
        let (accepted, printed) = printed(check).await;
        assert!(accepted, "{printed}");
        let mut names: Vec<_> = fs::read_dir(project.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["given", "own"], "{homes:?}");
    }
}
