//! The installed program, with seven built-in extensions, which need no network, no home and no compiler.

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{
    EXTENSIONS, component, installed, peer, program, recorded, script, xtask,
};
use acp_chain_tests::process::Process;
use acp_chain_tests::terminal::Terminal;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::watched;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

const RULE: &str = "Always be kind.";

/// A user with an empty home.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        fs::create_dir(user.home()).unwrap();
        user
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The user's settings.
    fn config(&self, text: &str) {
        let folder = self.home().join(".config/acp-chain");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// The installed program, with nothing in its environment but a home.
    fn installed<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        self.launched(installed(), args)
    }

    /// The same with this program.
    fn launched<A: AsRef<OsStr>>(
        &self,
        program: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .current_dir(self.0.path())
            .kill_on_drop(true);
        command
    }

    /// Whether a command succeeds, and its output.
    async fn output<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> (bool, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = self.installed(args).output().await.unwrap();
        let printed = [stdout, stderr].concat();
        (status.success(), String::from_utf8(printed).unwrap())
    }

    /// A turn of acpx with elizacp through these proxies. Returns the messages that the agent received.
    async fn turn(&self, options: &[&str]) -> String {
        self.turn_as(&[], options).await
    }

    /// The same with these variables in the environment of acp-chain.
    async fn turn_as(&self, environment: &[&str], options: &[&str]) -> String {
        fs::write(self.path("AGENTS.md"), RULE).unwrap();
        let received = self.path("received");
        let eliza = [
            peer("bin").join("elizacp").into_os_string(),
            "--deterministic".into(),
            "acp".into(),
        ];
        let agent = recorded(&received, eliza);
        let options = options.iter().map(AsRef::as_ref);
        let args = [OsStr::new("run")].into_iter().chain(options);
        let args = args
            .chain([OsStr::new("--")])
            .chain(agent.iter().map(AsRef::as_ref));
        let mut launched = Command::new("env");
        launched.args(environment).arg(installed()).args(args);
        let launched = script(self.0.path(), "agent", &launched).unwrap();
        let prompt = format!("Hello, my key is {SECRET}");
        let args = [
            "--format",
            "json",
            "--json-strict",
            "--approve-all",
            "exec",
            &prompt,
        ];
        let mut acpx = Command::new(peer("bin").join("acpx"));
        acpx.arg("--agent")
            .arg(launched)
            .args(args)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .kill_on_drop(true);
        let output = watched(&Transcript::new(), "acpx", acpx.output()).await;
        let output = output.unwrap();
        let wire = String::from_utf8(output.stdout).unwrap();
        let ended = wire.lines().any(|line| {
            let result = Message::parse(line).unwrap().result;
            result.is_some_and(|result| result.contains("end_turn"))
        });
        assert!(output.status.success() && ended, "{wire}");
        fs::read_to_string(received).unwrap()
    }

    /// How many components were compiled.
    fn compiled(&self) -> usize {
        let cache = self.home().join(".cache/acp-chain/compiled");
        let files = fs::read_dir(cache).into_iter().flatten();
        let compiled = files.filter(|file| {
            let path = file.as_ref().unwrap().path();
            path.extension() == Some("compiled".as_ref())
        });
        compiled.count()
    }

    /// Checks that nothing was compiled.
    fn has_compiled_nothing(&self) {
        assert_eq!(self.compiled(), 0);
    }

    /// The message of the error in answer to `initialize`.
    async fn refused(&self, options: &[&str]) -> String {
        let args = ["run"].iter().chain(options).chain(&["--", "cat"]).copied();
        let mut client =
            Process::start("client", &Transcript::new(), self.installed(args)).unwrap();
        let answer = client.wire.request("initialize", "{}").await;
        let error: Value = serde_json::from_str(&answer.error.unwrap()).unwrap();
        error["message"].as_str().unwrap().to_owned()
    }
}

fn is_guarded(received: &str) {
    assert!(received.contains(RULE), "{received}");
    assert!(received.contains("[redacted"), "{received}");
    assert!(!received.contains(SECRET), "{received}");
}

#[tokio::test]
async fn a_turn_passes_two_extensions_that_were_only_named() {
    let user = User::new();
    // Guards stand next to the agent, whatever the order on the command line.
    is_guarded(&user.turn(&["--with", "redact", "--with", "rules"]).await);
    user.has_compiled_nothing();
}

#[tokio::test]
async fn a_chain_of_the_users_own_is_in_force_without_a_manifest() {
    let user = User::new();
    user.config("[[proxy]]\nuse = 'rules'\n\n[[proxy]]\nuse = 'redact'\n");
    is_guarded(&user.turn(&[]).await);
    user.has_compiled_nothing();
}

#[tokio::test]
async fn code_for_any_processor_is_used_and_code_that_does_not_fit_is_compiled_again_and_told() {
    const UNFIT: &str = "the code that the program carries is not for this machine";
    let user = User::new();
    let packed = user.path("packed");
    let target = format!("{ARCH}-unknown-linux-gnu");
    let mut bundle = Command::new(program());
    bundle.args(["bundle", "--target", &target]);
    bundle.arg(component("redact")).arg("--output").arg(&packed);
    assert!(bundle.status().await.unwrap().success());
    let checked = async || {
        let check = ["--log", "info", "check", "--with", "redact"];
        let output = user.launched(&packed, check).output().await.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        told
    };
    let told = checked().await;
    assert!(!told.contains(UNFIT), "{told}");
    user.has_compiled_nothing();

    // A setting that no engine of this machine knows, as if it were of another processor.
    let mut bytes = fs::read(&packed).unwrap();
    let setting = b"enable_compact_unwind_abi";
    let mut places = bytes.windows(setting.len());
    let at = places.rposition(|part| part == setting).unwrap();
    bytes[at] = b'x';
    fs::write(user.path("changed"), bytes).unwrap();
    // Another process, so that no program that starts meanwhile has the file open for writing.
    let mut copy = Command::new("cp");
    copy.arg(user.path("changed")).arg(&packed);
    assert!(copy.status().await.unwrap().success());
    let told = checked().await;
    assert!(told.contains(UNFIT), "{told}");
    assert_eq!(user.compiled(), 1);
    // It is found compiled from then on, and nothing is told again.
    let told = checked().await;
    assert!(!told.contains(UNFIT), "{told}");
    assert_eq!(user.compiled(), 1);
}

#[tokio::test]
async fn a_home_that_cannot_be_written_to_is_enough() {
    let user = User::new();
    // Not even root can make a directory in a file.
    fs::write(user.path("no-home"), "").unwrap();
    let home = format!("HOME={}", user.path("no-home").display());
    is_guarded(
        &user
            .turn_as(&[&home], &["--with", "redact", "--with", "rules"])
            .await,
    );
}

#[tokio::test]
async fn rules_to_which_a_link_leads_out_of_the_project_are_not_read() {
    let user = User::new();
    let others = tempfile::tempdir().unwrap();
    let rules = others.path().join("AGENTS.md");
    std::os::unix::fs::symlink(&rules, user.path("AGENTS.md")).unwrap();
    // The turn writes them through the link.
    let received = user.turn(&["--with", "rules"]).await;
    assert_eq!(fs::read_to_string(rules).unwrap(), RULE);
    assert!(!received.contains(RULE), "{received}");
}

#[tokio::test]
async fn they_ask_for_what_they_need_and_no_more() {
    let user = User::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/acp-chain.toml");
    fs::copy(example, user.path("acp-chain.toml")).unwrap();
    let (valid, printed) = user
        .output(["check", "--start", "--manifest", "acp-chain.toml"])
        .await;
    assert!(valid, "{printed}");
    for name in EXTENSIONS {
        let line = format!("{name}  {name}, which comes with acp-chain");
        assert!(printed.contains(&line), "{printed}\nlacks\n{line}");
    }
    // Of many powers, only those of high danger have a line each.
    for part in [
        "\n  │  In short: 7 of ",
        "\n  │  ! changes, delays or refuses what you write",
    ] {
        assert!(printed.contains(part), "{printed}\nlacks\n{part}");
    }
    assert!(!printed.contains("(files.watch)"), "{printed}");
    for wrong in ["never uses", "does not see it", "powers = "] {
        assert!(!printed.contains(wrong), "{printed}\nhas {wrong}");
    }
    user.has_compiled_nothing();
}

#[tokio::test]
async fn the_powers_that_check_proposes_can_be_pasted() {
    let user = User::new();
    let grant = |powers: &str| {
        let text = format!("[[proxy]]\nuse = 'redact'\npowers = {powers}\n");
        fs::write(user.path("chain.toml"), text).unwrap();
    };
    let check = ["check", "--start", "--manifest", "chain.toml"];
    grant("['prompts.read', 'prompts.change']");
    let (valid, printed) = user.output(check).await;
    assert!(valid && printed.contains("does not see it"), "{printed}");
    let proposed = printed.split_once("needs: powers = ");
    let proposed = proposed.and_then(|(_, behind)| behind.lines().next());
    grant(proposed.unwrap_or_else(|| panic!("{printed}")));
    let (valid, printed) = user.output(check).await;
    assert!(valid && !printed.contains("does not see it"), "{printed}");
}

#[tokio::test]
async fn what_with_adds_can_be_checked_before_it_runs() {
    let user = User::new();
    let (valid, printed) = user
        .output(["check", "--start", "--with", "redact", "--with", "todo"])
        .await;
    assert!(valid, "{printed}");
    let place = |line: &str| {
        let place = printed.find(&format!("\n{line}"));
        place.unwrap_or_else(|| panic!("{printed}\nlacks\n{line}"))
    };
    let (todo, guards) = (
        place("todo  todo, which comes"),
        place("  │  your guards, next to the agent:"),
    );
    let (redact, agent) = (place("redact  redact, which comes"), place("agent  "));
    assert!(
        todo < guards && guards < redact && redact < agent,
        "{printed}"
    );
    let (valid, printed) = user.output(["check", "--with", "redacted"]).await;
    assert!(!valid && printed.contains("--with redacted: "), "{printed}");
}

#[tokio::test]
async fn info_tells_what_an_extension_is() {
    let user = User::new();
    let (told, printed) = user.output(["info", "todo"]).await;
    assert!(told);
    for line in [
        "todo 0.1.0\n  Gives the agent a task list, and shows it to you as a plan\n",
        "  licence: Apache-2.0 OR MIT\n",
        "It asks for\n",
        "  shows you plans (plans.show)\n      its author says: to show you the list as a plan\n",
        "  ! gives the agent tools",
        "  when it breaks: its messages are refused, and it is restarted; when given up, everything is refused \
         (on-failure)\n",
        "It cannot\n  reach files, the network, programs, clocks",
    ] {
        assert!(printed.contains(line), "{printed}\nlacks\n{line}");
    }
    let (told, printed) = user.output(["info", "permissions"]).await;
    let keys = "Its configuration, `[proxy.config]`\n  rules = []\n    In order; the first that matches decides.\n";
    assert!(told && printed.contains(keys), "{printed}");
    assert!(
        printed.contains("\n  rules[].decision (required)\n"),
        "{printed}"
    );
    let (told, printed) = user.output(["info", "--json", "redact"]).await;
    let facts: Value = serde_json::from_str(&printed).unwrap();
    assert!(told);
    assert_eq!(facts["name"], "redact");
    assert_eq!(facts["asks"]["on-failure"], "refuse");
    assert_eq!(facts["imports"][0], "acp-chain:proxy/types@0.1.2");
    assert_eq!(
        facts["size"],
        fs::metadata(component("redact")).unwrap().len()
    );
}

#[tokio::test]
async fn the_example_of_an_extension_is_valid() {
    let user = User::new();
    for name in ["rules", "permissions", "redact", "brake", "two-of-three"] {
        let (told, printed) = user.output(["info", name]).await;
        let example = printed.split_once("\nFor example\n");
        let (_, example) = example.unwrap_or_else(|| panic!("{name}: {printed}"));
        assert!(told && example.contains("proxy.config"), "{example}");
        let lines = example.lines().map(|line| line.trim_start_matches("  "));
        let manifest = user.path("example.toml");
        fs::write(&manifest, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let options = ["check", "--manifest", manifest.to_str().unwrap()];
        let (valid, printed) = user.output(options).await;
        assert!(valid && printed.contains(name), "{name}: {printed}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_an_error_and_what_is_there_is_not_added_again() {
    let user = User::new();
    let error = user.refused(&["--with", "redcat"]).await;
    assert!(
        error.contains("--with redcat: `redcat` is not installed (did you mean `redact`?); there are `rules`, `todo`"),
        "{error}"
    );
    user.config("[[proxy]]\nuse = 'redact'\n");
    let options = ["check", "--with", "todo", "--with", "redact"];
    let (valid, printed) = user.output(options).await;
    let line = "`--with redact` adds nothing: the chain has `redact` already.";
    assert!(valid && printed.contains(line), "{printed}");
    assert_eq!(printed.matches("\nredact  ").count(), 1, "{printed}");
    // The package declares a guard: its place is known without a start.
    let places = ["\ntodo  ", "your guards, next to the agent", "\nredact  "];
    let places = places.map(|part| printed.find(part).unwrap());
    assert!(places.is_sorted(), "{printed}");
    user.config("[[proxy]]\nid = 'redact'\nuse = 'rules'\n");
    let error = user.refused(&["--with", "redact"]).await;
    assert!(
        error.contains("--with redact: the chain has another proxy of that id"),
        "{error}"
    );
    user.config("[[proxy]]\nuse = 'rules'\nconfig.limits = 7\n");
    let error = user.refused(&[]).await;
    assert!(
        error.contains(
            "config.toml:3:8: the config of `rules`: unknown key `limits`; did you mean `limit`?"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_guard_without_the_powers_to_guard_is_no_silent_guard() {
    let user = User::new();
    let entry = "[[proxy]]\nuse = 'redact'\npowers = ['prompts.read']\n";
    user.config(entry);
    let why = "it cannot guard without `prompts.change`: ";
    let (valid, printed) = user.output(["check"]).await;
    assert!(!valid && printed.contains(why), "{printed}");
    let error = user.refused(&[]).await;
    for part in [
        why,
        "add this to the `powers` of its entry",
        "with `on-failure = \"bypass\"` messages that it cannot guard pass",
    ] {
        assert!(error.contains(part), "{error}\nlacks {part}");
    }
    user.config(&format!("{entry}on-failure = 'bypass'\n"));
    let (valid, printed) = user.output(["check"]).await;
    assert!(valid && printed.contains(why), "{printed}");
}

/// A user whose chain has a component with a package that asks for this.
async fn with_package(bare: &str, asks: &str) -> User {
    let user = User::new();
    fs::copy(component(bare), user.path("bare.wasm")).unwrap();
    fs::write(
        user.path("extension.toml"),
        format!("name = 'mine'\nversion = '1.0.0'\n[asks]\n{asks}\n"),
    )
    .unwrap();
    let (made, printed) = user
        .output(["package", "bare.wasm", "--output", "mine.wasm"])
        .await;
    assert!(made, "{printed}");
    let path = user.path("mine.wasm");
    user.config(&format!(
        "[[proxy]]\nid = 'mine'\npath = '{}'\npowers = ['prompts.read']\n",
        path.display()
    ));
    user
}

#[tokio::test]
async fn a_package_that_calls_no_guard_one_does_not_run() {
    let asks = "guard = true\npowers = { 'prompts.read' = 'to judge them' }";
    let user = with_package("pass", asks).await;
    let why = "its package says that it is a guard, and the component does not declare itself one";
    let (valid, printed) = user.output(["check"]).await;
    assert!(!valid && printed.contains(why), "{printed}");
    let error = user.refused(&[]).await;
    assert!(error.contains(why), "{error}");
}

#[tokio::test]
async fn a_guard_whose_package_calls_it_none_does_not_run() {
    let user = with_package("redact", "powers = { 'prompts.read' = 'to count them' }").await;
    // Its user was asked nothing about that.
    let error = user.refused(&[]).await;
    for part in ["the component declares itself a guard", "guard = true"] {
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn whoever_makes_a_component_makes_an_extension_of_it_by_one_command() {
    let user = User::new();
    let bare = user.path("bare.wasm");
    fs::copy(component("pass"), &bare).unwrap();
    let (told, printed) = user.output(["info", "./bare.wasm"]).await;
    assert!(
        !told && printed.contains("no section `acp-chain:extension`"),
        "{printed}"
    );
    fs::write(
        user.path("extension.toml"),
        "name = 'mine'\nversion = '1.0.0'\n[asks.powers]\n'prompts.read' = 'to count them'\n",
    )
    .unwrap();
    let (made, printed) = user
        .output(["package", "bare.wasm", "--output", "mine.wasm"])
        .await;
    assert!(made, "{printed}");
    let (told, again) = user.output(["info", "mine.wasm"]).await;
    assert!(told);
    assert_eq!(printed, again + "It is in mine.wasm\n");
    assert!(printed.starts_with("mine 1.0.0\n"), "{printed}");
    fs::write(
        user.path("extension.toml"),
        "name = 'mine'\nversion = '1.0.0'\nasks.limits.x = 1\n",
    )
    .unwrap();
    let (made, printed) = user.output(["package", "bare.wasm"]).await;
    assert!(!made && printed.contains("extension.toml: in the package: `limits`: unknown key `x`"));
}

/// The output of a demo, which must succeed.
async fn demo(command: &mut Command) -> String {
    let output = command.kill_on_drop(true).output().await.unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{printed}");
    assert_eq!(printed.matches("✓ ").count(), 5, "{printed}");
    printed
}

#[tokio::test]
async fn the_demo_shows_a_redaction_and_a_refusal_before_and_after() {
    let user = User::new();
    user.config("this is no TOML, and the demo does not read it");
    let temporary = user.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = user.installed(["demo", "--hops"]);
    let printed = demo(command.env("TMPDIR", &temporary)).await;
    for lines in [
        "  client ⇄ rules ⇄ permissions ⇄ redact ⇄ agent\n",
        "  you wrote       Why does the upload fail? I use the key AKIAIOSFODNN7EXAMPLQ.\n  \
           the agent got   Why does the upload fail? I use the key [redacted: aws-access-token].\n",
        "  the agent got   - Answer in one sentence.\n                  - Never push to main.\n",
        "  the agent says  The upload sends ghp_16C7e42F292c6912E7710c838347Ae178B4a, which has expired.\n  \
           you see         The upload sends [hidden here, the agent has it: github-pat], which has expired.\n",
        "  the agent asks  rm -rf .\n  it is told      reject\n  \
           you see         rm -rf .: Denied by rule 2 of the proxy `permissions`, without asking you.\n",
        // Hop by hop.
        "\nclient asks session/prompt\n",
        "Next: `acp-chain try --with redact -- AGENT`",
    ] {
        assert!(printed.contains(lines), "{printed}\nlacks\n{lines}");
    }
    user.has_compiled_nothing();
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0);
    assert!(!user.home().join(".local").exists());
}

#[tokio::test]
async fn the_demo_needs_no_home_and_no_terminal_of_a_certain_width() {
    let user = User::new();
    let mut homeless = user.installed(["demo"]);
    homeless.env_remove("HOME");
    demo(homeless.env("XDG_CACHE_HOME", user.path("cache"))).await;
    // Not even root can make a directory in a file.
    fs::write(user.path("no-home"), "").unwrap();
    demo(user.installed(["demo"]).env("HOME", user.path("no-home"))).await;
    for (variables, has_colours) in [(&[("NO_COLOR", "1")][..], false), (&[][..], true)] {
        let mut command = std::process::Command::new(installed());
        command
            .arg("demo")
            .env("HOME", user.home())
            .env("TERM", "xterm")
            .envs(variables.iter().copied());
        let terminal = Terminal::open().unwrap();
        terminal.resize(24, 40).unwrap();
        let (succeeded, shown) = terminal.run(command, "").unwrap();
        assert!(succeeded && shown.contains(SECRET), "{shown}");
        // Others move the cursor.
        let mut escapes = shown.split("\u{1b}[").skip(1);
        let is_colour = |rest: &str| {
            rest.trim_start_matches(|c: char| !c.is_alphabetic())
                .starts_with('m')
        };
        assert_eq!(escapes.any(is_colour), has_colours, "{shown}");
        let below = "  you wrote\r\n    Why does";
        assert!(has_colours || shown.contains(below), "{shown}");
    }
}

#[tokio::test]
async fn the_demo_says_what_it_lacks() {
    let user = User::new();
    let mut bare = Command::new(program());
    let output = bare.arg("demo").env("HOME", user.home()).output().await;
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    let why = "this program was built without the extension `rules`, which the demo needs; `cargo xtask install`";
    assert!(told.contains(why), "{told}");
    let mut command = user.installed(["demo"]);
    let output = command.env("TMPDIR", user.path("none")).output().await;
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(
        told.contains("let TMPDIR name a folder that you can write to"),
        "{told}"
    );
}

#[tokio::test]
async fn the_demo_of_a_checkout_is_that_of_the_program() {
    demo(
        Command::new(xtask())
            .args(["demo", "--program"])
            .arg(installed()),
    )
    .await;
}
