//! When hooks are attached, to what, and what is left of them.

use std::fs;

use acp_chain_tests::chain::{entry, error_of, program};
use acp_chain_tests::host;
use serde_json::{Value, json};

use super::world::{CLAUDE, World};
use super::{REQUIRED, bash, denies, is_told_of_hooks, notices, proxy, reason, steps};

/// An agent without hooks.
const WILD: &str = env!("CARGO_BIN_EXE_wild-agent");

const NATIVE: &str = env!("CARGO_BIN_EXE_native-proxy");

/// An agent that runs no hooks in ACP, and what is said of it.
const GEMINI: &str = "@google/gemini-cli";
const ONLY_ASKS: &str = "runs no hooks in ACP";

/// Starts a program where the user cannot write to the folders in which sockets may be.
const UNWRITABLE: &str = r#"
    for folder in /tmp /run/user/0; do
        test ! -d "$folder" || mount -t tmpfs -o ro none "$folder" || exit 99
    done
    exec "$@"
"#;

#[tokio::test]
async fn the_strictest_word_wins_and_the_command_line_replaces_the_users() {
    for (user, manifest, option, starts) in [
        ("required", "", "", false),
        ("required", "", "best-effort", true),
        ("off", "required", "", false),
        ("", "required", "off", false),
        ("", "", "required", false),
        ("", "", "", true),
    ] {
        let table = |mode: &str| match mode {
            "" => String::new(),
            mode => format!("[agent]\nhooks = '{mode}'\n"),
        };
        let mut world = World::claude();
        world.agent = vec![WILD.to_owned()];
        world.config(&table(user));
        let words = ["--hooks", option];
        let options: &[&str] = if option.is_empty() { &[] } else { &words };
        let manifest = table(manifest) + &denies("touch refused");
        if starts {
            let mut client = world.start(options, &manifest);
            client.initialize().await;
            client.turn("echo hi").await;
            assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
        } else {
            let error = world.refusal(options, &manifest).await;
            assert!(error.contains("hooks"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_unknown_agent_is_refused_by_name_where_hooks_are_required() {
    let mut world = World::claude();
    world.agent = ["sh", "-c", "cat"].map(str::to_owned).to_vec();
    let error = world.refusal(REQUIRED, &denies("touch refused")).await;
    assert!(error.contains("hooks") && error.contains("`sh`"), "{error}");
}

#[tokio::test]
async fn an_agent_whose_hooks_are_not_for_one_run_is_refused_with_the_reason_where_they_are_required()
 {
    let mut world = World::claude();
    world.agent = ["python3", "fast-agent-acp"].map(str::to_owned).to_vec();
    let error = world.refusal(REQUIRED, &denies("touch refused")).await;
    assert!(
        error.contains("fast-agent") && error.contains("agent cards"),
        "{error}"
    );
}

#[tokio::test]
async fn a_version_that_was_not_tried_starts_only_by_best_effort() {
    let world = World::with(CLAUDE, "9.9.9");
    let manifest = denies("touch refused");
    let error = world.refusal(REQUIRED, &manifest).await;
    assert!(
        error.contains("hooks") && error.contains("9.9.9"),
        "{error}"
    );
    let mut client = world.begin(&["--hooks", "best-effort"], &manifest).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(!world.has("refused"));
    assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
}

#[tokio::test]
async fn a_program_in_place_of_the_agents_own_starts_only_by_best_effort() {
    let mut world = World::claude();
    let variable = ("CLAUDE_CODE_EXECUTABLE", "/opt/claude".to_owned());
    world.variables.push(variable);
    let manifest = denies("touch refused");
    let error = world.refusal(REQUIRED, &manifest).await;
    assert!(error.contains("CLAUDE_CODE_EXECUTABLE"), "{error}");
    let mut client = world.begin(&["--hooks", "best-effort"], &manifest).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(!world.has("refused"));
    let told = notices(&client).concat();
    assert!(told.contains("CLAUDE_CODE_EXECUTABLE"), "{told}");
}

#[tokio::test]
async fn what_switches_hooks_off_is_named_and_nothing_starts_where_they_are_required() {
    let mut world = World::opencode();
    world.agent.push("--pure".to_owned());
    let manifest = denies("touch refused");
    let error = world.refusal(REQUIRED, &manifest).await;
    assert!(error.contains("with --pure"), "{error}");
    let mut client = world.begin(&["--hooks", "best-effort"], &manifest).await;
    client.turn(&steps(&[bash("touch allowed")])).await;
    assert!(world.has("allowed"));
    let told = notices(&client).concat();
    assert!(told.contains("with --pure"), "{told}");
    client.finish().await.unwrap();
    world.is_left_clean().await;
}

/// As one that was updated while acp-chain ran, or that its command fetches.
#[tokio::test]
async fn what_the_agent_says_of_itself_counts_more_than_its_package() {
    let manifest = denies("touch refused");
    let says = |version: &str| {
        let mut world = World::claude();
        let words = ["--says", version].map(str::to_owned);
        world.agent.extend(words);
        world
    };
    let same = says("0.101.0");
    let client = same.begin(REQUIRED, &manifest).await;
    client.finish().await.unwrap();
    let newer = says("0.102.0");
    let mut client = newer.start(REQUIRED, &manifest);
    let begin = r#"{"protocolVersion":1}"#;
    let answer = client.wire.request("initialize", begin).await;
    let error = error_of(&answer);
    assert!(
        error.contains("0.102.0") && error.contains("required"),
        "{error}"
    );
    client.finish().await.unwrap();
    let mut client = newer.begin(&["--hooks", "best-effort"], &manifest).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(!newer.has("refused"));
    assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
}

#[tokio::test]
async fn an_agent_that_only_asks_starts_only_by_best_effort() {
    let world = World::with(GEMINI, "0.61.0");
    let manifest = denies("touch refused");
    let error = world.refusal(REQUIRED, &manifest).await;
    assert!(error.contains(ONLY_ASKS), "{error}");
    let mut client = world.begin(&["--hooks", "best-effort"], &manifest).await;
    let policy = world.noted("started")[0]["policy"].take();
    let policy = fs::read_to_string(policy.as_str().unwrap()).unwrap();
    assert!(policy.contains("ask_user"), "{policy}");
    // This one does not ask, whatever its policy is.
    let runs = [bash("touch allowed"), bash("touch allowed-too")];
    client.turn(&steps(&runs)).await;
    assert!(world.has("allowed-too"));
    let told = notices(&client);
    let count = |words: &str| told.iter().filter(|notice| notice.contains(words)).count();
    assert_eq!(
        (count(ONLY_ASKS), count("without asking")),
        (1, 1),
        "{told:?}"
    );
}

#[tokio::test]
async fn an_agent_that_only_asks_does_not_where_no_proxy_answers() {
    let world = World::with(GEMINI, "0.61.0");
    let manifest = entry("pass", "pass", "powers = ['tool-runs.read']");
    let mut client = world.begin(&[], &manifest).await;
    client.turn(&steps(&[bash("touch allowed")])).await;
    assert_eq!(world.noted("started"), [json!({})]);
    let told = notices(&client).concat();
    assert!(
        told.contains("`pass`") && told.contains(ONLY_ASKS),
        "{told}"
    );
}

#[tokio::test]
async fn with_hooks_off_the_agent_is_started_as_it_is_and_the_user_is_not_notified() {
    let world = World::claude();
    let manifest = denies("touch refused");
    let mut client = world.begin(&["--hooks", "off"], &manifest).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(world.has("refused"));
    assert_eq!(world.noted("started"), [json!({})]);
    assert_eq!(world.noted("setup")[0]["_meta"], Value::Null);
    assert!(!is_told_of_hooks(&client), "{:?}", client.chunks());
}

#[tokio::test]
async fn a_chain_without_powers_over_tool_runs_attaches_nothing_and_says_nothing() {
    let world = World::claude();
    let manifest = entry("pass", "pass", "powers = ['prompts.read']");
    let mut client = world.begin(&[], &manifest).await;
    client.turn(&steps(&[bash("touch allowed")])).await;
    assert!(world.has("allowed"));
    assert_eq!(world.noted("started"), [json!({})]);
    assert_eq!(world.noted("setup")[0]["_meta"], Value::Null);
    assert_eq!(notices(&client), Vec::<String>::new());
}

#[tokio::test]
async fn what_the_client_adds_to_a_session_stays_and_no_proxy_sees_what_the_host_adds() {
    let world = World::claude();
    world.config("native = true\n");
    let received = world.path("received");
    let words = host::recorded(&received, [NATIVE]).into_iter();
    let recorder: Vec<_> = words.map(|word| word.into_string().unwrap()).collect();
    // The same in TOML.
    let own_in_toml = "{ mine = 1, claudeCode = { options = { settings = { hooks = { PreToolUse = \
                       [{ hooks = [{ type = 'command', command = 'touch own-hook' }] }] } } } } }";
    let sees = format!(
        "[proxy.config.requests]\n'session/new' = [\
         {{ unless = {{ pointer = '/_meta', is = {own_in_toml} }} }}, {{ log = 'only its own' }}]\n"
    );
    let manifest =
        program("recorder", &recorder) + &proxy("does", &sees) + &denies("touch refused");
    let mut client = world.start(REQUIRED, &manifest);
    client.initialize().await;
    let own_hook = json!([{ "hooks": [{ "type": "command", "command": "touch own-hook" }] }]);
    let settings = json!({ "hooks": { "PreToolUse": own_hook } });
    let own = json!({ "mine": 1, "claudeCode": { "options": { "settings": settings } } });
    let session = json!({ "_meta": own });
    world.set_up(&mut client, "session/new", session).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(world.has("own-hook") && !world.has("refused"));
    let setup = &world.noted("setup")[0]["_meta"];
    assert_eq!(setup["mine"], 1, "{setup}");
    let hooks = &setup["claudeCode"]["options"]["settings"]["hooks"]["PreToolUse"];
    assert_eq!(hooks.as_array().map(Vec::len), Some(2), "{setup}");
    // Commands in skills would run without a hook.
    let settings = &setup["claudeCode"]["options"]["settings"];
    assert_eq!(settings["disableSkillShellExecution"], true, "{setup}");
    client.finish().await.unwrap();
    let log = world.log();
    assert!(log.contains("only its own"), "{log}");
    let received = fs::read_to_string(received).unwrap();
    assert!(
        received.contains("own-hook") && !received.contains("SessionStart"),
        "{received}"
    );
}

#[tokio::test]
async fn the_users_own_plugins_stay() {
    let mut world = World::opencode();
    let plugin = world.path("home/own.mjs");
    fs::write(&plugin, "export const Own = async () => ({})\n").unwrap();
    let own = json!({ "theme": "mine", "plugin": [format!("file://{}", plugin.display())] });
    let variable = ("OPENCODE_CONFIG_CONTENT", own.to_string());
    world.variables.push(variable);
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(!world.has("refused"));
    let config = world.noted("started")[0]["config"].take();
    let config: Value = serde_json::from_str(config.as_str().unwrap()).unwrap();
    assert_eq!(config["theme"], "mine");
    assert_eq!(config["plugin"][0], own["plugin"][0]);
    assert_eq!(
        config["plugin"].as_array().map(Vec::len),
        Some(2),
        "{config}"
    );
}

#[tokio::test]
async fn no_path_is_too_odd() {
    let world = World::named("it's a folder");
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    let answer = client
        .turn(&steps(&[bash("touch allowed"), bash("touch refused")]))
        .await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    assert!(world.has("allowed") && !world.has("refused"));
}

#[tokio::test]
async fn nothing_is_left_and_no_file_of_the_user_has_changed() {
    for (world, settings) in [
        (World::claude(), "home/.claude/settings.json"),
        (World::opencode(), "home/.config/opencode/opencode.json"),
    ] {
        let settings = world.path(settings);
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(settings, "{ \"of\": \"the user\" }\n").unwrap();
        let before = world.files();
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        client.turn(&steps(&[bash("touch allowed")])).await;
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        world.is_left_clean().await;
        assert_eq!(world.files(), before);
    }
}

#[tokio::test]
async fn without_a_folder_for_the_socket_there_are_no_hooks() {
    let mut world = World::named("unwritable");
    world.launcher = &[
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        UNWRITABLE,
        "sh",
    ];
    world.run = "/nonexistent".into();
    world.tmp = "/tmp".into();
    let manifest = denies("touch refused");
    let error = world.refusal(REQUIRED, &manifest).await;
    assert!(error.contains("hooks"), "{error}");
    let mut client = world.begin(&["--hooks", "best-effort"], &manifest).await;
    client.turn(&steps(&[bash("touch allowed")])).await;
    assert!(world.has("allowed"));
    let told = notices(&client).concat();
    assert!(told.contains("permissions"), "{told}");
}
