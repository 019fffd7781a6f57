//! Gemini CLI. In ACP it runs no hooks: a policy makes it ask before each tool, and proxies decide about what it asks.

use std::path::{Path, PathBuf};

use super::{Dialect, NONE, qwen};
use crate::attach::OverlayFile;
use crate::{Attachment, CannotAttach, Run};

pub(super) static GEMINI: Dialect = Dialect {
    name: "gemini",
    // For records of its sessions, as no hook reports one.
    tools: qwen::TOOLS,
    attach,
    ..NONE
};

/// A policy of the administrator's tier: no rule of the user's or of a project outranks it, in whichever mode.
///
/// The first rule has a pattern, which matches every input: without one, Gemini does not ask about commands that it
/// takes for harmless or, in the mode `yolo`, cannot parse. In the mode `plan` it denies most tools, which must stay
/// so: the last rule names those that it runs.
const POLICY: &str = r#"[[rule]]
toolName = "*"
argsPattern = "."
decision = "ask_user"
priority = 999
modes = ["default", "autoEdit", "yolo"]

[[rule]]
toolName = "*"
decision = "ask_user"
priority = 998
modes = ["default", "autoEdit", "yolo"]

[[rule]]
toolName = [
    "glob", "grep_search", "list_directory", "read_file", "google_web_search", "read_mcp_resource",
    "list_mcp_resources", "codebase_investigator", "cli_help",
]
decision = "ask_user"
priority = 999
modes = ["plan"]
"#;

/// The administrator's folder.
pub(super) const SYSTEM: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/GeminiCli"
} else {
    "/etc/gemini-cli"
};

fn attach(run: &Run<'_>, _: &Dialect) -> Result<Attachment, CannotAttach> {
    check_policies(run)?;
    let policy = run.place("policy.toml");
    if policy.contains(',') {
        return Err(CannotAttach::Comma(policy));
    }
    Ok(Attachment {
        args: vec!["--admin-policy".to_owned(), policy],
        files: vec![OverlayFile::text("policy.toml", POLICY)],
        ..Attachment::default()
    })
}

/// Refuses policies that do not go with ours: one of the system makes Gemini ignore ours, ours would outrank what the
/// user denies, and policies that settings name would not be read.
fn check_policies(run: &Run<'_>) -> Result<(), CannotAttach> {
    let variable = |name| (run.variable)(name).filter(|value| !value.is_empty());
    let home = variable("GEMINI_CLI_HOME").or_else(|| variable("HOME"));
    let user = Path::new(&home.ok_or(CannotAttach::NoHome)?).join(".gemini");
    let system = Path::new(SYSTEM);
    let named = |name| variable(name).map(PathBuf::from);
    let of_system = named("GEMINI_CLI_SYSTEM_SETTINGS_PATH");
    let of_system = of_system.unwrap_or_else(|| system.join("settings.json"));
    let defaults = named("GEMINI_CLI_SYSTEM_DEFAULTS_PATH");
    let settings = [
        user.join("settings.json"),
        defaults.unwrap_or_else(|| of_system.with_file_name("system-defaults.json")),
        of_system,
    ];
    // With the word that makes each one count. Settings may have comments, so they are not parsed.
    let mut files = policies(run, &system.join("policies"), "")?;
    files.extend(policies(run, &user.join("policies"), "deny")?);
    files.extend(settings.map(|path| (path, "policypaths")));
    for (path, word) in files {
        let unreadable = |error| CannotAttach::Unreadable(path.clone(), error);
        let text = (run.text)(&path).map_err(unreadable)?;
        if text.is_some_and(|text| text.to_lowercase().contains(word)) {
            return Err(CannotAttach::OwnPolicy(path.display().to_string()));
        }
    }
    let is_about_policies = |arg: &str| {
        let option = arg.split('=').next().unwrap_or_default();
        option.starts_with("--") && option.contains("policy")
    };
    let mut args = run.args.iter();
    if args.any(|arg| is_about_policies(&arg.to_string_lossy().to_lowercase())) {
        return Err(CannotAttach::OwnPolicy("its command line".to_owned()));
    }
    Ok(())
}

/// The policies in a folder, each with this word.
fn policies(
    run: &Run<'_>,
    folder: &Path,
    word: &'static str,
) -> Result<Vec<(PathBuf, &'static str)>, CannotAttach> {
    let unreadable = |error| CannotAttach::Unreadable(folder.to_owned(), error);
    let names = (run.names)(folder).map_err(unreadable)?;
    let files = names.iter().map(|name| folder.join(name));
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "toml"));
    Ok(files.map(|file| (file, word)).collect())
}
