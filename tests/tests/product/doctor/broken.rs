//! Each problem on a machine is named with its remedy, and each command of a remedy works.

use std::fs;
use std::path::PathBuf;

use acp_chain_package::{About, Asks, Package, Version};
use acp_chain_tests::host;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::doctor::user::{AGENT, CONFIG, User, ZED};

const ADDED: &str = "extensions/sha256";

/// A user who has installed an extension from a file, and the path of its component.
fn installed() -> (User, PathBuf) {
    let user = User::new();
    let package = Package {
        name: "it".to_owned(),
        version: Version::parse("1.0.0").unwrap(),
        about: About::default(),
        asks: Asks::default(),
        imports: Vec::new(),
        exports: Vec::new(),
        draft: false,
    };
    let component = fs::read(host::component("pass")).unwrap();
    let file = user.path("it.wasm");
    fs::write(&file, package.write(&component).unwrap()).unwrap();
    user.does(&["add", file.to_str().unwrap(), "--yes"]);
    let mut stored = fs::read_dir(user.path(".local/share/acp-chain").join(ADDED)).unwrap();
    let stored = stored.next().unwrap().unwrap().path();
    assert_eq!(user.doctor(&[]).unwell(), Vec::<&serde_json::Value>::new());
    (user, stored)
}

#[test]
fn a_component_that_was_deleted_is_named_and_the_command_brings_it_back() {
    let (user, stored) = installed();
    fs::remove_file(&stored).unwrap();
    let found = user.doctor(&[]);
    let remedy = found.only("chain", "`it`: sha256:");
    assert_eq!(remedy, "acp-chain install");
    // The other extensions are still checked.
    let fine = found
        .findings
        .iter()
        .filter(|one| one["area"] == "chain" && one["state"] == "fine");
    assert_eq!(fine.count(), 2);
    user.follows(&remedy);
    assert_eq!(user.doctor(&[]).code, Some(0));
}

#[test]
fn what_was_installed_without_a_signature_is_named_once_signatures_are_required() {
    let (user, _) = installed();
    let config = fs::read_to_string(user.path(CONFIG)).unwrap();
    user.write(CONFIG, &format!("require-signature = true\n{config}"));
    let found = user.doctor(&[]);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let [note] = &found.unwell()[..] else {
        panic!("{found:#?}");
    };
    let says = note["says"].as_str().unwrap();
    assert!(says.starts_with("`it` has no signature"), "{says}");
    let step = note["remedy"]["step"].as_str().unwrap();
    assert!(step.starts_with("`acp-chain remove it`"), "{step}");
}

#[test]
fn a_component_of_ones_own_that_is_gone_is_named() {
    let user = User::new();
    let path = user.path("gone.wasm");
    user.write(
        CONFIG,
        &format!("[[proxy]]\nid = \"own\"\npath = '{}'\n", path.display()),
    );
    let remedy = user.doctor(&[]).only("chain", "gone.wasm: No such file");
    assert!(
        remedy.starts_with("build the component again, or correct the `path` of `own`"),
        "{remedy}"
    );
    fs::write(path, "no wasm").unwrap();
    user.doctor(&[])
        .only("chain", "gone.wasm: it is not WebAssembly");
}

#[test]
fn what_does_nothing_as_it_is_configured_is_told() {
    let user = User::new();
    let own = host::component("pass");
    user.write(
        CONFIG,
        &format!(
            "[[proxy]]\nid = \"own\"\npath = '{}'\n\n[[proxy]]\nuse = \"permissions\"\n",
            own.display()
        ),
    );
    let found = user.doctor(&[]);
    assert_eq!(found.code, Some(0), "{found:#?}");
    let notes = found.unwell();
    for (says, remedy) in [
        (
            "`own` has no powers, so it sees nothing",
            "`acp-chain check --start`",
        ),
        (
            "`permissions` has no rules, so it decides nothing",
            "`acp-chain permissions import`",
        ),
    ] {
        let is_it = |note: &&&Value| note["says"].as_str().unwrap().starts_with(says);
        let note = notes.iter().find(is_it);
        let note = note.unwrap_or_else(|| panic!("{says} is missing: {notes:#?}"));
        let step = note["remedy"]["step"].as_str().unwrap();
        assert!(step.contains(remedy), "{step}");
    }
}

#[test]
fn a_store_that_is_damaged_is_told_and_the_command_mends_it() {
    let (user, stored) = installed();
    let mut bytes = fs::read(&stored).unwrap();
    // The length is unchanged, so a start would not notice.
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&stored, bytes).unwrap();
    let found = user.doctor(&[]);
    assert_eq!(found.among("chain", "is damaged"), "acp-chain install");
    let remedy = found.among("store", "is damaged");
    assert_eq!(remedy, "acp-chain install");
    user.follows(&remedy);
    assert_eq!(user.doctor(&[]).code, Some(0));
}

#[test]
fn a_lock_and_a_manifest_that_do_not_fit_together_are_told() {
    let (user, _) = installed();
    let config = user.path(CONFIG);
    let lock = config.with_extension("lock");
    let (with, locked) = (
        fs::read_to_string(&config).unwrap(),
        fs::read(&lock).unwrap(),
    );
    fs::remove_file(&lock).unwrap();
    let remedy = user.doctor(&[]).only("chain", "`it` is not installed");
    assert!(
        remedy.contains("`acp-chain add SOURCE`") && remedy.contains("`acp-chain remove it`"),
        "{remedy}"
    );
    fs::write(&lock, locked).unwrap();
    fs::write(&config, with.replace("[[proxy]]\nuse = \"it\"\n", "")).unwrap();
    let found = user.doctor(&[]);
    let [note] = &found.unwell()[..] else {
        panic!("one note: {found:#?}")
    };
    assert!(
        note["says"]
            .as_str()
            .unwrap()
            .starts_with("`it` is locked, and "),
        "{note}"
    );
    user.follows(note["remedy"]["command"].as_str().unwrap());
    assert_eq!(user.doctor(&[]).unwell().len(), 0);
}

#[test]
fn a_project_that_is_not_trusted_is_told_with_what_asks() {
    let user = User::new();
    user.write("project/acp-chain.toml", "[[proxy]]\nuse = \"redact\"\n");
    let root = user.path("project");
    let ask = format!("acp-chain trust {}", root.display());
    let found = user.doctor(&[]);
    assert_eq!(
        found.only("project", "has changed since you agreed to it"),
        ask
    );
    user.does(&["trust", "--revoke"]);
    assert_eq!(user.doctor(&[]).only("project", "is not trusted"), ask);
    user.does(&["trust", "--deny"]);
    assert_eq!(user.doctor(&[]).code, Some(0));
}

#[test]
fn a_manifest_that_is_wrong_is_told_with_its_line() {
    let user = User::new();
    let path = user.write("chain.toml", "[[proxy]]\nuse = \"redact\"\npowres = []\n");
    let shown = path.display();
    let args = ["--manifest", path.to_str().unwrap()];
    let remedy = user.doctor(&args).only("chain", "unknown key `powres`");
    assert_eq!(remedy, format!("fix line 3 of {shown}"));
    // A problem hides no other.
    fs::write(
        &path,
        "[[proxy]]\nuse = \"redact\"\nconfig.nothing = 1\n[[proxy]]\nuse = \"none\"\n",
    )
    .unwrap();
    let found = user.doctor(&args);
    found.among("chain", "chain.toml:3:");
    found.among("chain", "`none` is not installed");
}

#[test]
fn a_configuration_that_is_wrong_hides_nothing_else() {
    let user = User::new();
    user.write(CONFIG, "ceilings = 7\n");
    let found = user.doctor(&[]);
    found.among("configuration", "config.toml:1:");
    assert_eq!(found.code, Some(1));
    let is_fine = |area: &str| {
        let mut of_area = found
            .findings
            .iter()
            .filter(|finding| finding["area"] == area);
        of_area.all(|finding| finding["state"] == "fine")
    };
    for area in ["program", "store", "values", "agent", "editors", "log"] {
        assert!(is_fine(area), "{area}: {found:#?}");
    }
}

#[test]
fn a_chain_that_an_editor_names_and_that_would_not_start_is_told_at_that_editor() {
    let user = User::new();
    let launches = |options: &[&str]| {
        let args = [&["run"], options, &["--", AGENT]].concat();
        let program = host::installed().canonicalize().unwrap();
        let launched = json!({ "agent_servers": { "Wild": { "command": program, "args": args } } });
        user.write(ZED, &launched.to_string());
        user.doctor(&[])
    };
    for (options, expected) in [
        (["--with", "none"], "--with none: `none` is not installed"),
        (
            ["--with", "./it.wasm"],
            "--with ./it.wasm: this is not the name of an extension: `acp-chain add ./it.wasm` installs one",
        ),
        (["--manifest", "/no/such/file.toml"], "/no/such/file.toml"),
    ] {
        let found = launches(&options);
        found.among("editors", "the chain of `Wild` would not start");
        found.among("editors", expected);
        assert_eq!(found.code, Some(1));
    }
    // An extension that the chain already has may be named again.
    assert_eq!(launches(&["--with", "redact"]).code, Some(0));
    let without_change = "[[proxy]]\nuse = \"redact\"\npowers = [\"prompts.read\"]\n";
    user.write(CONFIG, without_change);
    let found = user.doctor(&[]);
    found.among("chain", "it cannot guard without `prompts.change`");
    assert_eq!(found.code, Some(1));
}

#[test]
fn a_pipe_in_place_of_settings_hides_nothing_else() {
    let user = User::new();
    let settings = user.path(ZED);
    fs::remove_file(&settings).unwrap();
    // Opening a pipe blocks until a writer opens it.
    mknodat(CWD, &settings, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let found = user.doctor(&["--timeout", "1"]);
    found.among("editors", "settings.json: it is not a file");
    let is_fine = |finding: &&serde_json::Value| {
        finding["state"] == "fine" && finding["area"] == "configuration"
    };
    assert!(
        found.findings.iter().any(|finding| is_fine(&finding)),
        "{found:#?}"
    );
}

#[test]
fn without_a_home_or_with_one_in_which_nothing_can_be_made_it_says_so() {
    let mut user = User::new();
    // A relative path would depend on the current folder.
    user.set("HOME", "relative");
    let found = user.doctor(&[]);
    let remedy = found.among("program", "there is no home folder");
    assert!(
        remedy.starts_with("let HOME name a folder of yours"),
        "{remedy}"
    );
    found.among("log", "there is no place for a log");
    user.set("HOME", "/dev/null");
    let found = user.doctor(&[]);
    let remedy = found.among(
        "program",
        "compiled components: /dev/null/.cache/acp-chain/compiled cannot be written",
    );
    assert!(
        remedy.ends_with("or let XDG_CACHE_HOME name a folder of yours"),
        "{remedy}"
    );
    let mut command = user.command(&["doctor", "--json"]);
    let found = crate::doctor::user::report(&command.env_remove("HOME").output().unwrap());
    let mut notes = found
        .findings
        .iter()
        .filter(|finding| finding["state"] == "note");
    assert!(
        notes.any(|note| note["says"]
            .as_str()
            .unwrap()
            .starts_with("HOME is not set")),
        "{found:#?}"
    );
}

#[test]
fn a_log_that_cannot_be_written_is_told() {
    let user = User::new();
    fs::create_dir_all(user.path(".local/state/acp-chain/acp-chain.log")).unwrap();
    let remedy = user
        .doctor(&[])
        .only("log", "acp-chain.log cannot be written: it is not a file");
    assert!(remedy.contains("run with `--log-file FILE`"), "{remedy}");
}

#[test]
fn an_editor_that_launches_what_is_gone_is_told() {
    let user = User::new();
    let settings = fs::read_to_string(user.path(ZED)).unwrap();
    let program = host::installed().canonicalize().unwrap();
    let settings = settings.replace(program.to_str().unwrap(), "/gone/acp-chain");
    user.write(ZED, &settings);
    let remedy = user.doctor(&[]).only(
        "editors",
        "`Wild` launches /gone/acp-chain, which does not exist",
    );
    assert_eq!(remedy, "acp-chain setup zed --agent Wild --with todo");
    user.follows(&format!("{remedy} --yes"));
    assert_eq!(user.doctor(&[]).code, Some(0));
    user.write(ZED, "{");
    user.doctor(&[]).only("editors", "settings.json");
}

#[test]
fn what_mends_an_entry_keeps_its_extensions_and_one_by_hand_is_the_users_to_mend() {
    let user = User::new();
    let launched = json!({ "agent_servers": {
        "Guarded": { "command": "/gone/acp-chain", "args": ["run", "--with", "redact", "--", AGENT] },
        "By hand": { "command": "/gone/acp-chain", "args": ["run", "--no-project", "--", AGENT] },
    } });
    user.write(ZED, &launched.to_string());
    let found = user.doctor(&[]);
    let remedy = |name: &str| {
        let says = format!("`{name}` launches /gone/acp-chain, which does not exist");
        found.among("editors", &says)
    };
    let command = "acp-chain setup zed --agent Guarded --with redact";
    assert_eq!(remedy("Guarded"), command);
    let step = remedy("By hand");
    assert!(
        step.starts_with("correct the path of acp-chain in "),
        "{step}"
    );
}

#[test]
fn an_entry_that_names_a_folder_of_data_is_followed_there() {
    let user = User::new();
    let data = user.path("elsewhere");
    let launched = json!({ "agent_servers": { "Mine": {
        "command": host::installed().canonicalize().unwrap(),
        "args": ["run", "--data", data, "mine"],
    } } });
    user.write(ZED, &launched.to_string());
    let found = user.doctor(&[]);
    found.among("editors", "there is no such folder");
    fs::create_dir(&data).unwrap();
    let data = data.to_str().unwrap();
    let says = "`Mine` launches the agent `mine`, which is not installed";
    let remedy = user.doctor(&[]).among("editors", says);
    assert_eq!(remedy, format!("acp-chain agent add mine --data {data}"));
    user.does(&["agent", "add", "mine", "--data", data, "--", AGENT]);
    let found = user.doctor(&[]);
    assert_eq!(found.code, Some(0), "{found:#?}");
}

#[test]
fn an_editor_that_launches_an_agent_which_is_not_installed_is_named_until_it_is() {
    let user = User::new();
    let launched = json!({ "agent_servers": {
        "Mine": { "command": host::installed().canonicalize().unwrap(), "args": ["run", "mine"] },
        "By hand": { "command": "acp-chain", "args": ["run", "--no-project", "mine", "--", "--garbage"] },
    } });
    user.write(ZED, &launched.to_string());
    let found = user.doctor(&[]);
    for name in ["Mine", "By hand"] {
        let says = format!("`{name}` launches the agent `mine`, which is not installed");
        assert_eq!(found.among("editors", &says), "acp-chain agent add mine");
    }
    user.does(&["agent", "add", "mine", "--", AGENT]);
    let found = user.doctor(&[]);
    assert_eq!(found.code, Some(0), "{found:#?}");
    // Each agent is started once, with the arguments that the editor adds.
    let agents = found.findings.iter().filter(|one| one["area"] == "agent");
    let asked = agents.filter_map(|one| one["says"].as_str());
    let asked: Vec<_> = asked
        .filter(|says| says.contains("is wild-agent"))
        .collect();
    assert_eq!(asked.len(), 2, "{found:#?}");
    assert!(
        asked[1].starts_with(&format!("`{AGENT} --garbage`")),
        "{asked:?}"
    );
}
