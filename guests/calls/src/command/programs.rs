//! Programs that run others, or that change what later commands mean.
//!
//! The tables need not be complete: a rule that allows names the program. The programs that an unlisted program starts
//! are not judged, as with a build tool.

/// Shells, which read scripts.
pub(super) const SHELLS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh",
];

/// Shells with another language: their scripts are not read.
pub(super) const OTHER_SHELLS: &[&str] = &["csh", "elvish", "nu", "tcsh", "xonsh"];

/// Run the words behind their own options, without changing their meaning.
pub(super) const TRANSPARENT: &[&str] = &[
    "builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "time", "timeout",
];

/// Where systems have their programs.
pub(super) const PLACES: &[&str] = &[
    "/bin/",
    "/nix/store/",
    "/opt/homebrew/bin/",
    "/run/current-system/sw/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
];

/// Where Windows has them, behind the drive. On other systems, a `\` leads into no directory. A program whose path has
/// blanks is read as a line for a shell anyway.
pub(super) const OF_WINDOWS: &str = r"\windows\system32\";

/// Run the words behind their own options elsewhere, as another user, or with more words.
pub(super) const PREFIXES: &str = "\
    - aa-exec busybox caffeinate catchsegv chpst chronic chroot chrt dbus-launch dbus-run-session doas eatmydata \
    fakeroot firejail flock gosu ifne ionice ltrace nocorrect noglob nsenter numactl parallel pkexec prlimit proot \
    proxychains proxychains4 repeat rlwrap runuser script setarch setlock setpriv softlimit ssh start-stop-daemon \
    strace su su-exec sudo systemd-inhibit systemd-run taskset torify torsocks toybox tsocks unbuffer unshare \
    valgrind watch winpty wsl xargs xvfb-run";

/// Options of programs, by one letter, that take the rest of their word, or else the next word.
pub(super) const TAKING: &[(&str, &str)] = &[
    ("curl", "AbCcDdEeFHKmoPQrTtUuwXxYyz"),
    ("doas", "aCu"),
    ("env", "uC"),
    ("fd", "CcdEejoSt"),
    ("git clone", "bjo"),
    ("git grep", "ABCefm"),
    ("git rebase", "CsX"),
    ("ionice", "cnpPu"),
    ("nice", "n"),
    ("rsync", "BfMT"),
    ("scp", "cDFiJloPSX"),
    ("sort", "kSTt"),
    ("ssh", "BbcDEeFIiJLlmOoPpQRSWw"),
    ("sudo", "CDghpRrTtUu"),
    ("tar", "bCfgHKLNTVX"),
    ("timeout", "ks"),
    ("wget", "aABDeiIlOoPQRTtUwX"),
    ("wsl", "deu"),
    ("xargs", "adEIiLnPs"),
];

/// Run some of their words: those behind one of these, or any of theirs. Rules that allow do not look through them.
pub(super) const CARRIERS: &[(&str, &[&str])] = &[
    ("adb", &["shell"]),
    ("alacritty", &[]),
    ("ansible", &[]),
    ("apptainer", &["exec", "run"]),
    ("asdf", &["exec"]),
    ("autossh", &[]),
    ("aws-vault", &["exec"]),
    ("buildah", &["run", "unshare"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("bunx", &[]),
    ("bwrap", &[]),
    ("cabal", &["exec"]),
    ("cargo", &["watch"]),
    ("chamber", &["exec"]),
    ("composer", &["exec"]),
    ("concurrently", &[]),
    ("conda", &["run"]),
    ("cpulimit", &[]),
    ("cross-env", &[]),
    ("cross-env-shell", &[]),
    ("devbox", &["run"]),
    ("direnv", &["exec"]),
    ("distrobox", &["enter"]),
    ("docker", &["exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("doppler", &["run"]),
    ("dotenv", &[]),
    ("dotenvx", &["run"]),
    ("dune", &["exec"]),
    ("entr", &[]),
    ("env-cmd", &[]),
    ("expect", &[]),
    ("faketime", &[]),
    ("flatpak-spawn", &[]),
    ("fnm", &["exec"]),
    ("gnome-terminal", &[]),
    ("guix", &["environment", "shell"]),
    ("hatch", &["run"]),
    ("hyperfine", &[]),
    ("incus", &["exec"]),
    ("infisical", &["run"]),
    ("ip", &["exec"]),
    ("just", &["--command", "-c"]),
    ("kitty", &[]),
    ("konsole", &[]),
    ("kubectl", &["debug", "exec", "run"]),
    ("lerna", &["exec"]),
    ("limactl", &["shell"]),
    ("lxc", &["exec"]),
    ("lxc-attach", &[]),
    ("machinectl", &["shell"]),
    ("mamba", &["run"]),
    ("micromamba", &["run"]),
    ("mise", &["exec", "x"]),
    ("mosh", &[]),
    ("nerdctl", &["exec", "run"]),
    ("nix", &["develop", "run", "shell"]),
    ("nix-shell", &[]),
    ("nodemon", &[]),
    ("nodenv", &["exec"]),
    ("npx", &[]),
    ("nvm", &["exec", "run"]),
    ("oc", &["debug", "exec", "run"]),
    ("op", &["run"]),
    ("opam", &["exec"]),
    ("pdm", &["run"]),
    ("perf", &["record", "stat", "trace"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pixi", &["run"]),
    ("pnpx", &[]),
    ("podman", &["exec", "run", "unshare"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("rsh", &[]),
    ("rustup", &["run"]),
    ("rye", &["run"]),
    ("sched", &[]),
    ("screen", &[]),
    ("sg", &[]),
    ("singularity", &["exec", "run"]),
    ("sops", &["exec-env", "exec-file"]),
    ("sshpass", &[]),
    ("stack", &["exec"]),
    ("systemd-nspawn", &[]),
    ("tmux", &[]),
    ("toolbox", &["run"]),
    ("uv", &["run"]),
    ("uvx", &[]),
    ("vagrant", &["ssh"]),
    ("watchexec", &[]),
    ("wine", &[]),
    ("xterm", &[]),
    ("zpty", &[]),
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
    [ break continue declare exit export getopts let local mapfile printf read readarray readonly return shift test \
    typeset unset wait";

/// Operators of `test` and `[[` that look at one text or file, and calculate nothing.
pub(super) const UNARY_TESTS: &[&str] = &[
    "-L", "-d", "-e", "-f", "-h", "-n", "-r", "-s", "-w", "-x", "-z",
];

/// Those that compare texts.
pub(super) const TEXT_TESTS: &[&str] = &["!=", "=", "=="];

/// Remove files, or what is in them, as `rm` does.
pub(super) const REMOVERS: &[&str] = &[
    "del",
    "erase",
    "rd",
    "remove-item",
    "shred",
    "truncate",
    "unlink",
];

/// Change the working directory.
pub(super) const MOVERS: &[&str] = &["cd", "popd", "pushd"];

/// Options, and words, by which a program runs another.
pub(super) const RUNNING: &[(&str, &[&str])] = &[
    ("ag", &["--pager"]),
    ("bat", &["--pager"]),
    ("compgen", &["-C"]),
    ("complete", &["-C"]),
    ("dpkg", &["--post-invoke", "--pre-invoke"]),
    ("emulate", &["-c"]),
    ("fd", &["-x", "--exec", "-X", "--exec-batch"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("git", &["--ext-diff", "--textconv"]),
    ("git archive", &["--exec"]),
    ("git bisect", &["run"]),
    ("git clone", &["-u", "--upload-pack", "-c", "--config"]),
    ("git difftool", &["-x", "--extcmd"]),
    ("git fetch", &["--upload-pack"]),
    ("git fetch-pack", &["--exec", "--upload-pack"]),
    (
        "git filter-branch",
        &[
            "--",
            "--commit-filter",
            "--env-filter",
            "--index-filter",
            "--msg-filter",
            "--parent-filter",
            "--setup",
            "--tag-name-filter",
            "--tree-filter",
        ],
    ),
    ("git grep", &["-O", "--open-files-in-pager"]),
    ("git ls-remote", &["--exec", "--upload-pack"]),
    ("git pull", &["--upload-pack"]),
    ("git push", &["--exec", "--receive-pack"]),
    ("git rebase", &["-x", "--exec"]),
    (
        "git send-email",
        &[
            "--cc-cmd",
            "--header-cmd",
            "--sendmail-cmd",
            "--smtp-server",
            "--to-cmd",
        ],
    ),
    ("git submodule", &["foreach"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    ("hash", &["-p"]),
    ("jobs", &["-x"]),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("mapfile", &["-C"]),
    ("nc", &["-c", "-e"]),
    ("ncat", &["-c", "-e", "--exec", "--sh-exec"]),
    ("npm", &["exec", "x", "--script-shell"]),
    ("pnpm", &["exec", "dlx"]),
    ("readarray", &["-C"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-D", "-o", "-S"]),
    ("sftp", &["-D", "-o", "-S"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    (
        "tar",
        &[
            "-I",
            "-F",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
        ],
    ),
    ("wget", &["--use-askpass"]),
    ("yarn", &["exec", "dlx"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Options with which a program writes or deletes files, takes another configuration, or reads files anywhere, though
/// it otherwise reads where it is.
pub(super) const WRITING: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    (
        "curl",
        &[
            "-c",
            "-D",
            "-K",
            "-O",
            "-o",
            "--alt-svc",
            "--config",
            "--cookie-jar",
            "--dump-header",
            "--engine",
            "--etag-save",
            "--hsts",
            "--libcurl",
            "--output",
            "--output-dir",
            "--remote-name",
            "--remote-name-all",
            "--stderr",
            "--trace",
            "--trace-ascii",
        ],
    ),
    ("docker", &["--config"]),
    (
        "find",
        &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
    ),
    ("git", &["--output"]),
    ("git archive", &["-o"]),
    ("git blame", &["--contents"]),
    ("git clone", &["--template"]),
    ("git diff", &["--no-index"]),
    ("git fast-export", &["--export-marks"]),
    ("git format-patch", &["-o", "--output-directory"]),
    ("git grep", &["--no-index"]),
    ("git init", &["--template"]),
    ("iconv", &["-o", "--output"]),
    ("kubectl", &["--kubeconfig"]),
    ("less", &["-o", "-O"]),
    ("nm", &["--plugin"]),
    ("npm", &["--node-options"]),
    ("objdump", &["--plugin"]),
    ("openssl", &["-engine"]),
    ("printf", &["-v"]),
    ("scp", &["-F"]),
    ("shuf", &["-o", "--output"]),
    ("sort", &["-o", "--output"]),
    ("tree", &["-R", "-o"]),
    (
        "wget",
        &[
            "-a",
            "-e",
            "-O",
            "-o",
            "-P",
            "--append-output",
            "--config",
            "--directory-prefix",
            "--execute",
            "--output-document",
            "--output-file",
            "--save-cookies",
        ],
    ),
];

/// Programs that write the second file among their words.
pub(super) const TO_SECOND: &[&str] = &["uniq", "xxd"];

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

/// Variables that a shell sets, calculates with, or acts by, in bash, dash or zsh; beside those with certain beginnings.
pub(super) const SPECIAL: &[&str] = &[
    "ARGC",
    "BAUD",
    "CDPATH",
    "COLUMNS",
    "CPUTYPE",
    "DIRSTACK",
    "DIRSTACKSIZE",
    "EGID",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "ERRNO",
    "EUID",
    "FCEDIT",
    "FIGNORE",
    "FPATH",
    "FUNCNAME",
    "FUNCNEST",
    "GID",
    "GLOBIGNORE",
    "GROUPS",
    "HISTCHARS",
    "HISTCMD",
    "HISTFILE",
    "HISTSIZE",
    "HOME",
    "IFS",
    "KEYBOARD_HACK",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAILPATH",
    "MANPATH",
    "MATCH",
    "MBEGIN",
    "MEND",
    "MODULE_PATH",
    "NULLCMD",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "PATH",
    "PIPESTATUS",
    "POSIXLY_CORRECT",
    "PPID",
    "PROMPT",
    "PROMPT2",
    "PROMPT3",
    "PROMPT4",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PSVAR",
    "PWD",
    "RANDOM",
    "READNULLCMD",
    "REPLY",
    "SAVEHIST",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "TRY_BLOCK_ERROR",
    "TTYIDLE",
    "UID",
    "USERNAME",
    "WATCH",
    "WORDCHARS",
    "ZDOTDIR",
    "_",
    "aliases",
    "argv",
    "builtins",
    "cdpath",
    "commands",
    "dirstack",
    "errnos",
    "fignore",
    "fpath",
    "functions",
    "galiases",
    "histchars",
    "history",
    "jobdirs",
    "jobstates",
    "jobtexts",
    "keymap",
    "langinfo",
    "ld_library_path",
    "mailpath",
    "manpath",
    "mapfile",
    "match",
    "mbegin",
    "mend",
    "module_path",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "pipestatus",
    "prompt",
    "psvar",
    "region_highlight",
    "reply",
    "saliases",
    "signals",
    "status",
    "sysparams",
    "term",
    "termcap",
    "terminfo",
    "userdirs",
    "watch",
    "widgets",
    "zsh_eval_context",
];

/// Print their words, or compare them, and do nothing else, whatever their words are; a rule that allows one with any words
/// allows it with words that are expanded. What `printf`, `test` and `[` calculate is examined before.
pub(super) const PRINTING: &[&str] = &[
    ":", "[", "basename", "dirname", "echo", "false", "printf", "seq", "sleep", "test", "true",
];

/// Read files, whatever their words are: no option of theirs writes a file, or runs a program.
pub(super) const READING: &[&str] = &[
    "cat",
    "cksum",
    "cmp",
    "comm",
    "cut",
    "df",
    "du",
    "egrep",
    "fgrep",
    "grep",
    "head",
    "ls",
    "md5sum",
    "nl",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "sha1sum",
    "sha256sum",
    "shasum",
    "stat",
    "tac",
    "tail",
    "tr",
    "wc",
];

/// Builtins of a shell that a rule need not allow, whatever their words are: they have no effect beyond the script. What
/// `test` and `[` calculate is examined before.
pub(super) const INERT: &[&str] = &[":", "[", "false", "test", "true"];
