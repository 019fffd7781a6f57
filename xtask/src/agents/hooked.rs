//! The agents whose hooks are attached: how each comes to ask for nothing, and what its hooks cannot do.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use anyhow::Result;
use serde_json::{Value, json};

use super::places::Place;
use super::roster::Launch;
use super::steps::Step;
use crate::host::text;

/// The file in the home folder that the user's own hook makes.
pub const OWN: &str = "users-own-hook";

/// What the user's own hook does.
const TOUCH: &str = "touch ~/users-own-hook";

/// The modes of sessions in which agents ask for nothing.
pub const PERMISSIVE: &str = "bypassPermissions agent-full-access full-access yolo";

/// An agent with hooks.
pub struct Hooked {
    /// Its name in [`AGENTS`](super::roster::AGENTS).
    pub name: &'static str,
    /// Has it ask for nothing, where no mode of a session does.
    pub permit: fn(&Place, &mut Launch) -> Result<()>,
    /// Adds a hook of the user's own.
    pub own: fn(&Place) -> Result<()>,
    /// Has it ignore our hooks, as far as a user can.
    pub disable: fn(&Place, &mut Launch) -> Result<()>,
    /// The pointer to the command in the input of its shell.
    pub command: &'static str,
    /// Whether it runs no hooks, and asks instead.
    pub only_asks: bool,
    /// The kind of subagent that it starts, or `-` if it knows none; `None` if it was not given any.
    pub subagent: Option<&'static str>,
    /// Whether it takes all ways out of `tests/ways-out.toml`.
    pub takes_ways: bool,
    /// The steps that do not work.
    pub fails: &'static [Step],
}

impl Hooked {
    /// Writes the manifest of a chain of these proxies.
    pub fn write_chain(&self, place: &Place, proxies: &[Value]) -> Result<()> {
        let hooks = if self.only_asks {
            "best-effort"
        } else {
            "required"
        };
        let manifest = json!({"agent": {"hooks": hooks}, "proxy": proxies});
        fs::write(place.chain(), toml::to_string(&manifest)?)?;
        Ok(())
    }
}

/// All of them, in the order of the table.
pub const HOOKED: [Hooked; 13] = [
    CLAUDE,
    Hooked {
        name: "claude-older",
        takes_ways: false,
        ..CLAUDE
    },
    CODEX,
    Hooked {
        name: "codex-older",
        permit: |_, launch| say(launch, ["-c", r#"approval_policy="never""#]),
        subagent: None,
        ..CODEX
    },
    Hooked {
        name: "gemini",
        own: |place| {
            let hook = json!({"type": "command", "command": TOUCH});
            let hooks = json!({"BeforeAgent": [{"hooks": [hook]}]});
            place.add(".gemini/settings.json", &json!({"hooks": hooks}))
        },
        disable: |place, launch| without_option(place, launch, "--admin-policy"),
        only_asks: true,
        // Proxies see its questions and nothing else, and nothing without what makes it ask.
        fails: &[
            Step::Changes,
            Step::HidesFile,
            Step::HidesOutput,
            Step::HidesFailure,
            Step::HooksOff,
        ],
        ..ANY
    },
    QWEN,
    Hooked {
        name: "qwen-older",
        fails: &[Step::Changes],
        ..QWEN
    },
    Hooked {
        name: "opencode",
        permit: |_, launch| allow(launch),
        own: |place| own_plugin(place, ".config/opencode/opencode.json"),
        disable: |_, launch| set(launch, "OPENCODE_PURE", "1"),
        subagent: Some("general"),
        ..ANY
    },
    Hooked {
        name: "kilo",
        permit: |_, launch| allow(launch),
        own: |place| own_plugin(place, ".config/kilo/kilo.json"),
        disable: |_, launch| set(launch, "KILO_PURE", "1"),
        subagent: Some("general"),
        ..ANY
    },
    Hooked {
        name: "copilot",
        permit: |_, launch| say(launch, ["--yolo"]),
        own: |place| {
            let hook = json!({"type": "command", "bash": TOUCH});
            let settings = json!({"hooks": {"preToolUse": [hook]}});
            place.add(".copilot/settings.json", &settings)
        },
        disable: |place, _| disable_all(place, ".copilot/settings.json"),
        subagent: Some("general-purpose"),
        ..ANY
    },
    Hooked {
        name: "cline",
        permit: |_, launch| say(launch, ["--auto-approve", "true"]),
        own: |place| {
            let file = ".cline/hooks/PreToolUse";
            place.write(file, &json!(format!("#!/bin/sh\n{TOUCH}\necho '{{}}'\n")))?;
            fs::set_permissions(place.home.join(file), Permissions::from_mode(0o755))?;
            Ok(())
        },
        disable: |place, launch| preload(place, launch, "delete process.env.CLINE_DIR"),
        command: "/commands/0",
        subagent: Some("-"),
        // The first sign of life comes with the prompt, so the command has run when the turn is stopped.
        fails: &[Step::HooksOff],
        ..ANY
    },
    Hooked {
        name: "auggie",
        own: |place| {
            // It runs without a shell.
            let command = format!("touch {}", text(&place.home.join(OWN))?);
            own_hook(place, ".augment/settings.json", ".*", &command)
        },
        disable: |place, launch| without_option(place, launch, "--plugin-dir"),
        // As with Cline, the command has run when the turn is stopped.
        fails: &[
            Step::HidesFile,
            Step::HidesOutput,
            Step::HidesFailure,
            Step::HooksOff,
        ],
        ..ANY
    },
    Hooked {
        name: "pi",
        own: |place| {
            let extension = format!(
                "import fs from \"node:fs\"\n\
                 export default (pi) => {{ pi.on(\"tool_call\", () => {MAKES}) }}\n"
            );
            place.write(".pi/agent/extensions/own.js", &json!(extension))
        },
        disable: |place, launch| without_option(place, launch, "-e"),
        ..ANY
    },
];

const ANY: Hooked = Hooked {
    name: "",
    permit: |_, _| Ok(()),
    own: |_| Ok(()),
    disable: |_, _| Ok(()),
    command: "/command",
    only_asks: false,
    subagent: None,
    takes_ways: false,
    fails: &[],
};

const CLAUDE: Hooked = Hooked {
    name: "claude",
    // Otherwise root cannot choose its most permissive mode.
    permit: |_, launch| set(launch, "IS_SANDBOX", "1"),
    own: |place| own_hook(place, ".claude/settings.json", "*", TOUCH),
    disable: |place, _| disable_all(place, ".claude/settings.json"),
    subagent: Some("general-purpose"),
    takes_ways: true,
    ..ANY
};

const CODEX: Hooked = Hooked {
    name: "codex",
    own: own_of_codex,
    disable: |place, _| {
        let path = place.home.join(".codex/config.toml");
        let mut config = File::options().append(true).open(path)?;
        writeln!(config, "\n[features]\nhooks = false")?;
        Ok(())
    },
    subagent: Some("-"),
    ..ANY
};

const QWEN: Hooked = Hooked {
    name: "qwen",
    own: |place| own_hook(place, ".qwen/settings.json", "*", TOUCH),
    disable: |place, _| disable_all(place, ".qwen/settings.json"),
    subagent: Some("general-purpose"),
    fails: &[Step::Changes, Step::HidesFailure],
    ..ANY
};

/// What makes the file of the user's own hook, in JavaScript.
const MAKES: &str = r#"fs.writeFileSync(process.env.HOME + "/users-own-hook", "")"#;

/// Adds these words to the command line.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of agents has what may fail"
)]
fn say<const N: usize>(launch: &mut Launch, words: [&str; N]) -> Result<()> {
    launch.command.extend(words.map(String::from));
    Ok(())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of agents has what may fail"
)]
fn set(launch: &mut Launch, name: &'static str, value: &str) -> Result<()> {
    launch.env.push((name, value.to_owned()));
    Ok(())
}

/// Has opencode, or a fork of it, ask for nothing.
fn allow(launch: &mut Launch) -> Result<()> {
    for (name, value) in &mut launch.env {
        if name.ends_with("_CONFIG_CONTENT") {
            let mut settings: Value = serde_json::from_str(value)?;
            settings["permission"] = json!({"*": "allow"});
            *value = settings.to_string();
        }
    }
    Ok(())
}

/// A hook in the form of Claude's settings.
fn own_hook(place: &Place, file: &str, matcher: &str, command: &str) -> Result<()> {
    let hook = json!({"type": "command", "command": command});
    let group = json!({"matcher": matcher, "hooks": [hook]});
    place.add(file, &json!({"hooks": {"PreToolUse": [group]}}))
}

fn own_of_codex(place: &Place) -> Result<()> {
    // What Codex knows this hook by, once a user trusts it.
    const HASH: &str = "c1cbfedebb17b3aee8c84595201e50bf884de1fa7964e7ff2f33dee328fda83c";
    let file = ".codex/hooks.json";
    let hook = json!({"type": "command", "command": TOUCH});
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    place.write(file, &hooks)?;
    let path = text(&place.home.join(file))?;
    let trust =
        format!("[hooks.state.\"{path}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:{HASH}\"\n");
    place.write(".codex/config.toml", &json!(trust))
}

fn own_plugin(place: &Place, config: &str) -> Result<()> {
    let plugin = format!(
        "import fs from \"node:fs\"\n\
         export const Own = async () => ({{ \"tool.execute.before\": async () => {MAKES} }})\n"
    );
    let file = "own-plugin.mjs";
    place.write(file, &json!(plugin))?;
    let url = format!("file://{}", text(&place.home.join(file))?);
    place.write(config, &json!({"plugin": [url]}))
}

fn disable_all(place: &Place, file: &str) -> Result<()> {
    place.add(file, &json!({"disableAllHooks": true}))
}

/// Has the agent start without an option that has a value.
fn without_option(place: &Place, launch: &mut Launch, option: &str) -> Result<()> {
    let script = format!(
        "const at = process.argv.indexOf(\"{option}\"); if (at > 0) process.argv.splice(at, 2)"
    );
    preload(place, launch, &script)
}

/// Has every process of Node begin with a script.
fn preload(place: &Place, launch: &mut Launch, script: &str) -> Result<()> {
    let file = "preload.cjs";
    place.write(file, &json!(script))?;
    let path = text(&place.home.join(file))?;
    set(launch, "NODE_OPTIONS", &format!("--require={path}"))
}
