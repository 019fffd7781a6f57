//! Hostile repositories, a row each: nothing of them runs, is fetched, compiled or remembered, and the user is shown
//! the reason.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::json;

use crate::project::world::{SHOUT, World};

/// The content of a repository, and the message to the user.
struct Row {
    what: &'static str,
    does: fn(&World),
    told: &'static str,
}

fn manifest(world: &World, text: &str) {
    world.component("tools/shout.wasm");
    world.manifest(text);
}

/// Replaces the manifest.
fn instead(world: &World, put: impl Fn(&Path)) {
    put(&world.path("acp-chain.toml"));
}

const ROWS: &[Row] = &[
    Row {
        what: "starts an agent",
        does: |world| manifest(world, "[agent]\ncommand = \"touch\"\nargs = [\"ran\"]\n"),
        told: "acp-chain.toml:1:2: a project cannot set `agent`: the agent is set by the command line that starts acp-chain",
    },
    Row {
        what: "sets the environment of the agent",
        does: |world| manifest(world, "agent.env = { LD_PRELOAD = \"./evil.so\" }\n"),
        told: "acp-chain.toml:1:1: a project cannot set `agent`",
    },
    Row {
        what: "names a registry",
        does: |world| manifest(world, "[registries]\n\"ghcr.io\" = \"evil.example\"\n"),
        told: "acp-chain.toml:1:2: a project cannot set `registries`: no file of acp-chain sets registries",
    },
    Row {
        what: "names keys that are to be believed",
        does: |world| {
            manifest(
                world,
                "keys = [\"RWRUwsTAnYnA+dNkr3IL424GjF9C4+9ChmNWNHv2mXLOZLQzFNovQ3Fl\"]\n",
            );
        },
        told: "acp-chain.toml:1:1: a project cannot set `keys`",
    },
    Row {
        what: "trusts itself",
        does: |world| manifest(world, "[trust]\nsigners = []\n"),
        told: "acp-chain.toml:1:2: a project cannot set `trust`: trusted signers are set in your config.toml",
    },
    Row {
        what: "opens a port for the agent",
        does: |world| manifest(world, "[mcp]\nbridge = \"http\"\n"),
        told: "acp-chain.toml:1:2: a project cannot set `mcp`",
    },
    Row {
        what: "raises ceilings",
        does: |world| manifest(world, "[ceilings]\nmemory = \"64 GiB\"\n"),
        told: "acp-chain.toml:1:2: a project cannot set `ceilings`",
    },
    Row {
        what: "lets programs be proxies",
        does: |world| {
            manifest(
                world,
                "native = true\n[[proxy]]\nid = \"it\"\ncommand = \"sh\"\n",
            );
        },
        told: "acp-chain.toml:1:1: a project cannot set `native`",
    },
    Row {
        what: "starts a program",
        does: |world| {
            manifest(
                world,
                "[[proxy]]\nid = \"it\"\ncommand = \"sh\"\nargs = [\"-c\", \"touch ran\"]\n",
            );
        },
        told: "acp-chain.toml:3:1: a project starts no programs, so its proxies have no `command`",
    },
    Row {
        what: "leaves its folder by `..`",
        does: |world| {
            manifest(
                world,
                "[[proxy]]\nid = \"it\"\npath = \"tools/../../it.wasm\"\n",
            );
        },
        told: "acp-chain.toml:1:1: `tools/../../it.wasm` leads out of the project",
    },
    Row {
        what: "leaves its folder by an absolute path",
        does: |world| manifest(world, "[[proxy]]\nid = \"it\"\npath = \"/etc/passwd\"\n"),
        told: "acp-chain.toml:1:1: `/etc/passwd` leads out of the project",
    },
    Row {
        what: "leaves its folder by a link",
        does: |world| {
            manifest(world, SHOUT);
            fs::remove_file(world.path("tools/shout.wasm")).unwrap();
            symlink(
                host::component("shout-rust"),
                world.path("tools/shout.wasm"),
            )
            .unwrap();
        },
        told: "tools/shout.wasm: a symbolic link in its path leads out of the project",
    },
    Row {
        what: "leaves its folder by a link on the way",
        does: |world| {
            manifest(world, &SHOUT.replace("tools/", "up/work/tools/"));
            symlink("..", world.path("up")).unwrap();
        },
        told: "up/work/tools/shout.wasm: a symbolic link in its path leads out of the project",
    },
    Row {
        what: "has a device for a component",
        does: |world| {
            manifest(world, SHOUT);
            fs::remove_file(world.path("tools/shout.wasm")).unwrap();
            symlink("/dev/zero", world.path("tools/shout.wasm")).unwrap();
        },
        told: "tools/shout.wasm: a symbolic link in its path leads out of the project",
    },
    Row {
        what: "gives away a folder outside",
        does: |world| {
            manifest(
                world,
                &format!("{SHOUT}directories = [{{ path = \"../.ssh\", name = \"/it\" }}]\n"),
            );
        },
        told: "acp-chain.toml:5:43: `../.ssh` leads out of the project",
    },
    Row {
        what: "has a component larger than any",
        does: |world| {
            manifest(world, SHOUT);
            let file = fs::File::create(world.path("tools/shout.wasm")).unwrap();
            file.set_len(1 << 40).unwrap();
        },
        told: "tools/shout.wasm: the file is larger than 256 MiB",
    },
    Row {
        what: "has a manifest larger than any",
        does: |world| {
            instead(world, |path| {
                fs::File::create(path).unwrap().set_len(1 << 30).unwrap();
            });
        },
        told: "acp-chain.toml: the file is larger than 1 MiB",
    },
    Row {
        what: "has a lock larger than any",
        does: |world| {
            manifest(world, SHOUT);
            let lock = fs::File::create(world.path("acp-chain.lock")).unwrap();
            lock.set_len(1 << 30).unwrap();
        },
        told: "acp-chain.lock: the file is larger than 1 MiB",
    },
    Row {
        what: "nests without end",
        does: |world| manifest(world, &format!("x = {}", "[".repeat(1_000_000))),
        told: "acp-chain.toml:1:",
    },
    Row {
        what: "nests its lock without end",
        does: |world| {
            manifest(world, SHOUT);
            fs::write(
                world.path("acp-chain.lock"),
                format!("x{} = 1", ".x".repeat(400_000)),
            )
            .unwrap();
        },
        told: "acp-chain.lock: recursion limit",
    },
    Row {
        what: "has a pipe for a manifest, which would be waited for",
        does: |world| {
            instead(world, |path| {
                let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
            });
        },
        told: "acp-chain.toml: it is a pipe, a socket or a device, but must be a file",
    },
    Row {
        what: "has a link to a device for a manifest, which has no end",
        does: |world| instead(world, |path| symlink("/dev/zero", path).unwrap()),
        told: "acp-chain.toml: it is a link, but must be a file",
    },
    Row {
        what: "has a link to a file of the user's for a manifest",
        does: |world| {
            fs::write(world.home().join("secret"), "secret").unwrap();
            instead(world, |path| symlink("../secret", path).unwrap());
        },
        told: "acp-chain.toml: it is a link, but must be a file",
    },
    Row {
        what: "has a folder for a manifest",
        does: |world| instead(world, |path| fs::create_dir(path).unwrap()),
        told: "acp-chain.toml: it is a folder, but must be a file",
    },
    Row {
        what: "has a manifest that is not text",
        does: |world| instead(world, |path| fs::write(path, b"\xff\xfe").unwrap()),
        told: "acp-chain.toml: the file is not UTF-8",
    },
    Row {
        what: "writes on the terminal with its errors",
        does: |world| manifest(world, "\"\\u001b]0;owned\\u0007\" = 1\n"),
        told: "acp-chain.toml:1:1: unknown key `\\u{1b}]0;owned\\u{7}`",
    },
];

#[test]
fn a_folder_is_given_by_its_own_path_and_none_is_gits_or_has_something_of_gits() {
    for (path, told) in [
        ("docs/hooks", "is reached by a link, and is"),
        (".git/hooks", "is Git's own, from which Git runs programs"),
        ("vendor", "/vendor/a/b/.git, from which Git runs programs"),
    ] {
        let world = World::shouting();
        fs::create_dir_all(world.path(".git/hooks")).unwrap();
        fs::create_dir_all(world.path("vendor/a/b/.git")).unwrap();
        symlink(".git", world.path("docs")).unwrap();
        let given = format!("[{{ path = \"{path}\", name = \"/it\", write = true }}]");
        world.manifest(&format!("{SHOUT}directories = {given}\n"));
        let error = world.fail(&["trust"]);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn what_a_repository_may_not_do_is_told_and_nothing_of_it_runs() {
    for row in ROWS {
        let world = World::new();
        (row.does)(&world);
        let said = world.located_here();
        assert!(said.get("projects").is_none(), "{}: {said}", row.what);
        let notice = said["notice"].as_str().unwrap_or_default();
        assert!(
            notice.contains(row.told),
            "{}: {notice}\nlacks\n{}",
            row.what,
            row.told
        );
        assert!(
            notice.contains("Its proxies do not run; once that is mended, `acp-chain trust "),
            "{}: {notice}",
            row.what
        );
        for command in ["trust", "check"] {
            let error = world.fail(&[command]);
            assert!(
                error.contains(row.told),
                "{}: {error}\nlacks\n{}",
                row.what,
                row.told
            );
            assert!(
                !error.trim_end().contains(char::is_control),
                "{}: {error:?}",
                row.what
            );
        }
        assert!(!world.path("ran").exists(), "{}", row.what);
        world.is_untouched();
    }
}

/// A change to a trusted project.
type Change = fn(&World);

#[test]
fn trust_ends_with_any_change() {
    let changes: &[(&str, Change)] = &[
        ("another power", |world| {
            world.manifest(&SHOUT.replace("change\"", "change\", \"answers.read\""));
        }),
        ("another configuration", |world| {
            world.manifest(&format!("{SHOUT}config.file = \"/etc/passwd\"\n"));
        }),
        ("another component", |world| {
            fs::copy(host::component("pass"), world.path("tools/shout.wasm")).unwrap();
        }),
        ("a byte more of the component", |world| {
            let mut component = fs::read(world.path("tools/shout.wasm")).unwrap();
            component.push(0);
            fs::write(world.path("tools/shout.wasm"), component).unwrap();
        }),
        ("a link in place of the component", |world| {
            fs::copy(host::component("pass"), world.path("tools/pass.wasm")).unwrap();
            fs::remove_file(world.path("tools/shout.wasm")).unwrap();
            symlink("pass.wasm", world.path("tools/shout.wasm")).unwrap();
        }),
        ("a lock", |world| {
            fs::write(world.path("acp-chain.lock"), "version = 1\n").unwrap();
        }),
    ];
    for (what, change) in changes {
        let world = World::shouting();
        let key = world.trust();
        assert!(world.located_here().get("projects").is_some());
        change(&world);
        let said = world.located_here();
        assert_eq!(said["projects"][0]["key"], *key, "{what}: {said}");
        let notice = said["notice"].as_str().unwrap();
        assert!(
            notice.contains("has changed since you agreed to its proxies. New sessions have the proxies that you agreed to before"),
            "{what}: {notice}"
        );
    }
}

#[test]
fn the_same_files_in_another_folder_are_another_project() {
    let world = World::shouting();
    world.trust();
    let other = world.home().join("other");
    fs::create_dir_all(other.join("tools")).unwrap();
    for name in ["acp-chain.toml", "tools/shout.wasm"] {
        fs::copy(world.path(name), other.join(name)).unwrap();
    }
    let said = world.located(&[&other]).remove(0);
    assert!(said.get("projects").is_none(), "{said}");
    assert!(
        said["notice"]
            .as_str()
            .unwrap()
            .contains("you have not agreed to them"),
        "{said}"
    );
}

#[test]
fn a_repository_in_a_trusted_project_is_not_trusted() {
    let world = World::shouting();
    world.trust();
    let inner = world.path("vendor/inner");
    fs::create_dir_all(inner.join(".git")).unwrap();
    let said = world.located(&[&inner]).remove(0);
    assert!(
        said.get("projects").is_none() && said.get("notice").is_none(),
        "{said}"
    );
    fs::write(
        inner.join("acp-chain.toml"),
        "[[proxy]]\nuse = \"redact\"\n",
    )
    .unwrap();
    let said = world.located(&[&inner]).remove(0);
    assert!(said.get("projects").is_none(), "{said}");
    assert!(
        said["notice"]
            .as_str()
            .unwrap()
            .contains("vendor/inner has proxies of its own"),
        "{said}"
    );
}

#[test]
fn a_lock_agrees_to_nothing_for_the_user() {
    let world = World::new();
    world.locked();
    let shown: serde_json::Value =
        serde_json::from_str(&world.do_run(&["trust", "--show", "--json"])).unwrap();
    // The component gets only powers that it asks for, even if the lock grants more.
    assert_eq!(
        shown["proxies"][0]["powers"],
        serde_json::json!(["prompts.read"])
    );
    let shown = world.do_run(&["trust", "--show"]);
    assert!(shown.contains("its lock says that it comes from ghcr.io/someone/it:1, version without a number, not signed; only the digest is checked"), "{shown}");
}

#[test]
fn a_component_gets_no_power_that_it_does_not_ask_for() {
    let world = World::shouting();
    world.manifest(&SHOUT.replace("prompts.change\"", "prompts.change\", \"plans.read\""));
    let error = world.fail(&["trust"]);
    assert!(
        error.contains(
            "acp-chain.toml:4:45: `powers`: `plans.read` is not asked for by the component"
        ),
        "{error}"
    );
    world.is_untouched();
}

#[test]
fn configuration_that_lets_more_through_is_shown() {
    let world = World::shouting();
    world.manifest(&format!(
        "{SHOUT}config.file = \"/home/me/.ssh/id_ed25519\"\n"
    ));
    let shown = world.do_run(&["trust", "--show"]);
    let expected = "! is configured: file = \"/home/me/.ssh/id_ed25519\" (not set without it)";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn a_folder_that_a_proxy_may_write_to_has_nothing_that_is_relied_on() {
    let world = World::shouting();
    world.manifest(&format!(
        "{SHOUT}directories = [{{ path = \".\", name = \"/it\", write = true }}]\n"
    ));
    let error = world.fail(&["trust"]);
    assert!(error.contains("and so to the manifest"), "{error}");
    fs::create_dir(world.path("notes")).unwrap();
    world.manifest(&format!(
        "{SHOUT}directories = [{{ path = \"notes\", name = \"/it\", write = true }}]\n"
    ));
    let shown = world.do_run(&["trust", "--show"]);
    assert!(shown.contains("! it can read and write in "), "{shown}");
    // A link replaces the folder and leads out of the project.
    fs::remove_dir(world.path("notes")).unwrap();
    fs::create_dir(world.home().join("outside")).unwrap();
    symlink("../outside", world.path("notes")).unwrap();
    assert!(world.fail(&["trust"]).contains("it is a link to "));
    world.manifest(&format!(
        "{SHOUT}directories = [{{ path = \"up/outside\", name = \"/it\" }}]\n"
    ));
    symlink("..", world.path("up")).unwrap();
    let error = world.fail(&["trust"]);
    assert!(error.contains("leads out of the project, to "), "{error}");
    world.is_untouched();
}

#[tokio::test]
async fn a_proxy_of_a_project_may_not_write_to_the_users_own() {
    let world = World::shouting();
    fs::create_dir(world.path("notes")).unwrap();
    fs::copy(host::component("pass"), world.path("notes/own.wasm")).unwrap();
    world.manifest(&format!(
        "{SHOUT}directories = [{{ path = \"notes\", name = \"/it\", write = true }}]\n"
    ));
    let key = world.key();
    world.do_run(&["trust", "--digest", &key]);
    world.do_run(&["check"]);
    let own = world.path("notes/own.wasm");
    let own = format!("[[proxy]]\nid = \"own\"\npath = \"{}\"\n", own.display());
    let told = "so to the proxy `own`";

    let config = world.home().join(".config/acp-chain/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, &own).unwrap();
    for args in [&["check"][..], &["trust", "--show"]] {
        let error = world.fail(args);
        assert!(error.contains(told), "{error}");
    }
    fs::remove_file(&config).unwrap();

    // The same with another manifest on the command line.
    let other = world.home().join("other.toml");
    fs::write(&other, own).unwrap();
    let mut run = world.command("run");
    run.args(["--project", ".", "--manifest"]).arg(other);
    run.arg("--").arg(env!("CARGO_BIN_EXE_wild-agent"));
    let mut client = Process::start("client", &Transcript::new(), run.into()).unwrap();
    let begun = client
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    assert!(begun.result.is_some(), "{begun:?}");
    let params = json!({ "cwd": world.root, "mcpServers": [] }).to_string();
    let refused = client.wire.request("session/new", &params).await;
    let error = refused.error.unwrap();
    assert!(error.contains(told), "{error}");
    client.finish().await.unwrap();
}

#[test]
fn the_name_of_a_folder_writes_nothing_on_a_terminal() {
    let world = World::at("a\n\u{1b}[2J\u{202e}b");
    world.component("tools/shout.wasm");
    world.manifest(SHOUT);
    let notice = world.located_here()["notice"].as_str().unwrap().to_owned();
    assert!(
        notice.contains(r"/a\n\u{1b}[2J\u{202e}b has proxies"),
        "{notice}"
    );
    assert!(notice.contains(r"/a\x0a\x1b[2J\xe2\x80\xaeb'`"), "{notice}");
    for args in [&["trust", "--show"][..], &["check"]] {
        let said = world.run(args);
        let all = said.out + &said.err;
        let deceives = |c: char| c == '\u{202e}' || c.is_control() && c != '\n';
        assert!(!all.contains(deceives), "{args:?}: {all:?}");
    }
    world.trust();
    assert!(
        world
            .do_run(&["trust", "--list"])
            .contains(r"/a\n\u{1b}[2J\u{202e}b")
    );
}
