//! Variables of an environment, and settings of programs, whose values are run.
//!
//! Their names tell. The tables need not be complete: an allowing rule names each variable, and the value of any other
//! may be a command.

use super::script::Script;
use super::word::Word;

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is run.
    Command,
    /// It names code or settings that the text does not show.
    Code,
    Unknown,
}

/// The ends of names whose values are commands, in lower case.
const COMMANDS: &[&str] = &[
    "askpass",
    "browser",
    "cc",
    "clean",
    "cmd",
    "command",
    "compiler",
    "cxx",
    "difffilter",
    "driver",
    "editor",
    "exec",
    "external",
    "external_diff",
    "fsmonitor",
    "gitproxy",
    "helper",
    "invoke",
    "launcher",
    "lessclose",
    "lessopen",
    "linker",
    "packobjectshook",
    "pager",
    "process",
    "program",
    "ps0",
    "ps1",
    "ps2",
    "ps4",
    "receivepack",
    "rsh",
    "runner",
    "rustc",
    "rustdoc",
    "shell",
    "smtpserver",
    "smudge",
    "ssh",
    "textconv",
    "uploadpack",
    "visual",
    "wrapper",
];

/// The ends of names whose values are a shell, or `ssh`, which is called with what it is to run.
const CALLED: &[&str] = &["rsh", "shell", "ssh", "ssh_command", "sshcommand"];

/// The beginnings of names of git's settings whose values are commands.
const OF_GIT: &[&str] = &["alias.", "pager."];

/// Names whose values make programs load code, or other settings.
const CODE: &[&str] = &[
    "_java_options",
    "bash_env",
    "core.hookspath",
    "exec-path",
    "dyld_insert_libraries",
    "gconv_path",
    "git_exec_path",
    "git_template_dir",
    "include.path",
    "init.templatedir",
    "java_tool_options",
    "jdk_java_options",
    "lesskey_content",
    "lesskeyin",
    "ld_audit",
    "ld_preload",
    "perl5db",
    "perl5opt",
    "pythonstartup",
    "ripgrep_config_path",
    "rubyopt",
    "tar_options",
    "zdotdir",
];

/// The beginnings of such names.
const CODE_BEGINS: &[&str] = &["git_config", "includeif."];

/// What makes the value of a variable load or run code: options of node, unlike `--max-old-space-size`, and of make,
/// unlike `-j4`.
const WITHIN: &[(&str, &[&str])] = &[
    ("node_options", &["-r ", "--require", "--import", "loader"]),
    ("makeflags", &["--eval", "-E", "$("]),
    ("gnumakeflags", &["--eval", "-E", "$("]),
    ("less", &["+"]),
];

/// Values that name nothing.
const INERT: &[&str] = &["", "0", "1", "/dev/null", "false", "true"];

pub(super) fn use_of(name: &str, value: &str) -> Use {
    // Of lists, as apt has them: `DPkg::Pre-Invoke::`.
    let name = name.trim_end_matches(':').to_ascii_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let loads = CODE.contains(&&*name)
        || begins(CODE_BEGINS)
        || WITHIN
            .iter()
            .any(|(own, parts)| *own == name && parts.iter().any(|part| value.contains(part)));
    if loads && !INERT.contains(&value) {
        Use::Code
    } else if !loads && (begins(OF_GIT) || COMMANDS.iter().any(|end| name.ends_with(end))) {
        Use::Command
    } else {
        Use::Unknown
    }
}

/// The commands in the value of a variable or a setting that is run.
pub(super) fn script(name: &str, value: &Word) -> Script {
    // `!` is git's sign for a shell, and `|` that of less.
    let text = value.text.trim_start_matches(['!', '|', '-', ' ']);
    let lower = name.to_ascii_lowercase();
    let is_alias = lower.starts_with("alias.") && !value.text.starts_with('!');
    let mut script = if is_alias {
        Script::read(&format!("git {text}"))
    } else {
        Script::read(text)
    };
    script.unclear |= !value.exact;
    if let [command] = &mut script.commands[..] {
        command.is_called = CALLED.iter().any(|end| lower.ends_with(end));
    }
    script
}

/// The names and values that a word may set: `PAGER=x`, `-ccore.pager=x`, `--config=core.pager=x`.
pub(super) fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let outer = text.split_once('=');
    let option = outer.filter(|(name, _)| name.starts_with('-'));
    let inner = option.and_then(|(_, value)| value.split_once('='));
    let both = [outer, inner].into_iter().flatten();
    let named = both.map(|(name, value)| (bare(name), value));
    named.filter(|(name, _)| is_name(name))
}

/// A name without the option in front of it: `-ccore.pager`, `--pager`.
fn bare(name: &str) -> &str {
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').and_then(|name| name.get(1..));
    long.or(short).unwrap_or(name)
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
    !name.is_empty() && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_becomes_of_its_value() {
        for (name, value, expected) in [
            ("PAGER", "less", Use::Command),
            ("MANPAGER", "less", Use::Command),
            ("EDITOR", "vi", Use::Command),
            ("VISUAL", "vi", Use::Command),
            ("GIT_SSH_COMMAND", "ssh", Use::Command),
            ("GIT_SSH", "ssh", Use::Command),
            ("GIT_EXTERNAL_DIFF", "x", Use::Command),
            ("PROMPT_COMMAND", "x", Use::Command),
            ("PS4", "+", Use::Command),
            ("LESSOPEN", "|x %s", Use::Command),
            ("RSYNC_RSH", "ssh", Use::Command),
            ("RUSTC_WRAPPER", "sccache", Use::Command),
            ("CC", "clang", Use::Command),
            ("core.pager", "less", Use::Command),
            ("core.sshCommand", "ssh", Use::Command),
            ("diff.external", "x", Use::Command),
            ("alias.x", "!x", Use::Command),
            ("ProxyCommand", "nc", Use::Command),
            ("LD_PRELOAD", "./x.so", Use::Code),
            ("DYLD_INSERT_LIBRARIES", "x", Use::Code),
            ("BASH_ENV", "x", Use::Code),
            ("GIT_CONFIG_GLOBAL", "x", Use::Code),
            ("GIT_CONFIG_GLOBAL", "/dev/null", Use::Unknown),
            ("GIT_CONFIG_NOSYSTEM", "1", Use::Unknown),
            ("NODE_OPTIONS", "--require ./x.js", Use::Code),
            ("NODE_OPTIONS", "--max-old-space-size=4096", Use::Unknown),
            ("MAKEFLAGS", "--eval=x", Use::Code),
            ("MAKEFLAGS", "-j4", Use::Unknown),
            ("LESS", "-R", Use::Unknown),
            ("TAR_OPTIONS", "--to-command=x", Use::Code),
            ("RUST_LOG", "debug", Use::Unknown),
            ("CI", "1", Use::Unknown),
            ("FOO", "bar", Use::Unknown),
            ("ENV", "test", Use::Unknown),
            ("NODE_ENV", "test", Use::Unknown),
            ("PYTHONPATH", "src", Use::Unknown),
            ("PATH", "/x", Use::Unknown),
            ("user.name", "me", Use::Unknown),
            ("exec-path", "./x", Use::Code),
            ("APT::Update::Pre-Invoke::", "x", Use::Command),
        ] {
            assert_eq!(use_of(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn a_word_may_set_something_behind_an_option() {
        for (word, expected) in [
            ("PAGER=x", &[("PAGER", "x")][..]),
            ("-ccore.pager=x y", &[("core.pager", "x y")]),
            ("-oProxyCommand=x", &[("ProxyCommand", "x")]),
            (
                "--config=core.pager=x",
                &[("config", "core.pager=x"), ("core.pager", "x")],
            ),
            ("--pager=x", &[("pager", "x")]),
            ("a b=c", &[]),
            ("=x", &[]),
            ("-é=x", &[]),
            ("x", &[]),
        ] {
            assert_eq!(settings(word).collect::<Vec<_>>(), expected, "{word}");
        }
    }
}
