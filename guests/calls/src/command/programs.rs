//! Programs that run others, or that change what later commands mean.
//!
//! The tables need not be complete: a rule that allows names the program. The programs that an unlisted program starts
//! are not judged, as with a build tool.

/// Shells, which read scripts.
pub(super) const SHELLS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh",
];

/// Run the words behind their own options, without changing their meaning.
pub(super) const TRANSPARENT: &[&str] = &[
    "builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "time", "timeout",
];

/// Run the words behind their own options elsewhere, as another user, or with more words.
pub(super) const PREFIXES: &str = "\
    - busybox caffeinate chroot chrt dbus-run-session doas flock ionice ltrace nocorrect noglob nsenter parallel \
    pkexec repeat runuser script setarch setpriv ssh start-stop-daemon strace su sudo systemd-run taskset toybox \
    unbuffer unshare watch xargs xvfb-run";

/// Their options that take the next word, by one letter.
pub(super) const TAKING: &[(&str, &str)] = &[
    ("doas", "aCu"),
    ("env", "uC"),
    ("ionice", "cnpPu"),
    ("nice", "n"),
    ("ssh", "BbcDEeFIiJLlmOoPpQRSWw"),
    ("sudo", "CDghpRrTtUu"),
    ("timeout", "ks"),
    ("xargs", "adEIiLnPs"),
];

/// Get further words from elsewhere.
pub(super) const FEEDERS: &[&str] = &["parallel", "xargs"];

/// Builtins of a shell whose settings change the meaning of later commands.
pub(super) const SETTERS: &[&str] = &[
    ".", "alias", "bind", "complete", "declare", "enable", "export", "hash", "local", "readonly",
    "set", "shopt", "source", "trap", "typeset", "unalias", "unset",
];

/// Builtins of a shell that evaluate words as numbers or names of variables.
pub(super) const EVALUATORS: &str = "\
    [ declare export getopts let local mapfile printf read readarray readonly test typeset unset wait";

/// Change the working directory.
pub(super) const MOVERS: &[&str] = &["cd", "popd", "pushd"];

/// Options, and words, by which a program runs another.
pub(super) const RUNNING: &[(&str, &[&str])] = &[
    ("fd", &["-x", "--exec", "-X", "--exec-batch"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("git", &["--ext-diff", "--textconv"]),
    ("git archive", &["--exec"]),
    ("git bisect", &["run"]),
    ("git clone", &["-u", "--upload-pack", "-c", "--config"]),
    ("git difftool", &["-x", "--extcmd"]),
    ("git fetch", &["--upload-pack"]),
    ("git fetch-pack", &["--exec", "--upload-pack"]),
    ("git filter-branch", &["--"]),
    ("git grep", &["-O", "--open-files-in-pager"]),
    ("git ls-remote", &["--exec", "--upload-pack"]),
    ("git pull", &["--upload-pack"]),
    ("git push", &["--exec", "--receive-pack"]),
    ("git rebase", &["-x", "--exec"]),
    ("git submodule", &["foreach"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("npm", &["exec", "x", "--script-shell"]),
    ("pnpm", &["exec", "dlx"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-o", "-S"]),
    ("sort", &["--compress-program"]),
    (
        "tar",
        &[
            "-I",
            "-F",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
        ],
    ),
    ("wget", &["--use-askpass"]),
    ("yarn", &["exec", "dlx"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Options with which a program writes or deletes files, takes another configuration, or reads files anywhere, though it
/// otherwise reads where it is.
pub(super) const WRITING: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    (
        "curl",
        &["-o", "-O", "-K", "--config", "--output", "--remote-name"],
    ),
    (
        "find",
        &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
    ),
    ("git", &["--output"]),
    ("git archive", &["-o"]),
    ("git diff", &["--no-index"]),
    ("git format-patch", &["-o"]),
    ("less", &["-o", "-O"]),
    ("printf", &["-v"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-o"]),
    ("wget", &["-O", "-e", "--execute", "--output-document"]),
];

/// Options of `git` itself, in front of its subcommand, that take the next word.
pub(super) const OF_GIT: &[&str] = &[
    "-c",
    "-C",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];
