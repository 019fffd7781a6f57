//! The programs that a simple command runs beside, or instead of, its own program.

use super::code;
use super::programs::{
    ALSO, CARRIERS, EVALUATORS, FEEDERS, LOADERS, OF_GIT, OF_WINDOWS, OTHER_SHELLS, PLACES,
    PREFIXES, REMOVERS, RUNNING, SETTERS, SHELLS, TAKING, TEXT_TESTS, TO_SECOND, TRANSPARENT,
    UNARY_TESTS, WITHIN, WRITING,
};
use super::script::{Script, SimpleCommand, assigned, hides_commands};
use super::settings::{Use, script, settings, use_of};
use super::word::Word;
use crate::directory::drive;
use crate::fold::fold;

#[derive(Default)]
pub struct Runs {
    /// The words that an allowing rule has to spell out: no `*` matches them.
    pub pinned: Vec<usize>,
    /// The script that it runs, if it has no other effect.
    pub only: Option<Script>,
    /// The script that it most likely runs, or an equivalent one.
    pub likely: Script,
    /// The commands that it may run by other readings of its options.
    pub perhaps: Vec<SimpleCommand>,
    /// What runs beside it: values of variables and settings, and scripts in its input. A rule that allows names such
    /// variables and settings, so only rules that deny or ask look here.
    pub beside: Script,
    /// The words in its code, if it is an interpreter.
    pub code: Vec<Word>,
    /// Whether it gets code, or other input, that is not read.
    pub has_code: bool,
}

/// How many words of a program that runs others are examined.
const MOST_WORDS: usize = 64;
/// The maximum number of commands in the options of one program.
const MOST_COMMANDS: usize = 8;
/// How many values of variables and settings of one program are examined.
const MOST_VALUES: usize = 64;
/// How many words of code are examined.
const MOST_PARTS: usize = 16 * 1024;
/// How many letters of one word are taken for options in front of the one with a value.
const MOST_LETTERS: usize = 4;

impl Runs {
    pub fn of(command: &SimpleCommand) -> Self {
        let mut runs = Self::default();
        let words = &command.words[..];
        let Some((program, arguments)) = words.split_first() else {
            runs.values("", command);
            // A shell that calculates with the variable runs what is in there: `y='a[$(rm x)]'; let z=y`.
            let values = command.assignments.iter().map(|(_, value)| value);
            let texts = values.filter(|value| value.exact && hides_commands(&value.text));
            runs.code = words_of(texts.flat_map(|text| code::parts(&text.text)));
            return runs;
        };
        let named = name_of(program);
        let name = &*named;
        let is_in = |programs: &str| programs.split(' ').any(|program| program == name);
        let takes_prefix = TRANSPARENT.contains(&name) || is_in(PREFIXES);
        match name {
            _ if takes_prefix && words.len() > MOST_WORDS => runs.hide_all(words),
            // A link to any program: `/proc/self/exe`.
            _ if is_inline(program) => runs.hide_all(words),
            _ if is_shell(name) => runs.shell(name, command),
            // It says what a name means.
            "command" if arguments.first().is_some_and(is_question) => {}
            _ if takes_prefix => runs.prefix(name, command),
            "powershell" | "pwsh" => runs.hide_all(words),
            // Elsewhere, a program of a project may have this name.
            "cmd" if arguments.is_empty() || arguments.iter().any(is_slashed) => {
                runs.hide_all(words);
            }
            "eval" => runs.eval(arguments),
            "git" => runs.git(words),
            "less" => runs.pinned.extend(places(words, is_command_of_less)),
            "make" => runs.pinned.extend(places(words, is_code_of_make)),
            "sed" => runs.sed(words),
            _ if SETTERS.contains(&name) => runs.pinned = (0..words.len()).collect(),
            _ => {}
        }
        // With `-`, a signal gets its own effect again.
        if name == "trap"
            && let Some(action) = operands(arguments).first()
            && action.text != "-"
        {
            runs.likely.run(Script::read_within(&action.text), &[]);
        }
        if matches!(name, "." | "source") {
            runs.likely.unclear |= arguments.iter().any(is_inline);
        }
        if is_in(EVALUATORS) {
            runs.likely.unclear |= evaluates(name, arguments);
        }
        runs.options(name, words);
        if TO_SECOND.contains(&name) {
            let given = words.iter().enumerate().skip(1);
            let files = given.filter(|(_, word)| is_file(&word.text));
            runs.pinned.extend(files.skip(1).map(|(at, _)| at));
        }
        runs.carry(name, command);
        runs.values(name, command);
        runs.code(name, command);
        // What it runs has its input.
        if let [inner] = &mut runs.likely.commands[..]
            && inner.input.is_empty()
        {
            inner.input.clone_from(&command.input);
        }
        // Elsewhere it is another program, so what allows does not look through it.
        if name != base(&program.text) || is_elsewhere(&program.text) {
            runs.only = None;
        }
        runs
    }

    /// `sh -c SCRIPT`, or `sh FILE`. Without either it reads commands from its input.
    fn shell(&mut self, name: &str, command: &SimpleCommand) {
        let words = &command.words[..];
        let is_option = |word: &&Word| word.text.starts_with(['-', '+']) && word.text.len() > 1;
        let options: Vec<_> = words[1..].iter().take_while(is_option).collect();
        let is_plain = |word: &&Word| {
            word.text
                .trim_start_matches('-')
                .chars()
                .all(|c| "celux".contains(c))
        };
        let has_script = options
            .iter()
            .any(|word| word.text.contains('c') && !word.text.starts_with("--"));
        let operand = words.get(options.len() + 1);
        self.pinned = (0..words.len().min(options.len() + 2)).collect();
        match operand {
            Some(script) if has_script && name != "fish" && SHELLS.contains(&name) => {
                self.likely = Script::read(&script.text);
                let only = script.exact && options.len() == 1 && options.iter().all(is_plain);
                self.only = only.then(|| self.likely.clone());
                // An option may take this word, so that the next is the script.
                self.likely.unclear |= !only;
            }
            Some(file) if !has_script && options.iter().all(is_plain) && !is_inline(file) => {}
            None if command.is_called && options.is_empty() => {}
            _ => self.likely.unclear = true,
        }
    }

    fn eval(&mut self, arguments: &[Word]) {
        let given = operands(arguments);
        let texts: Vec<_> = given.iter().map(|word| &*word.text).collect();
        let text = texts.join(" ");
        let exact = given.iter().all(|word| word.exact);
        self.pinned = (0..=arguments.len()).collect();
        self.likely = Script::read_within(&text);
        // Not every shell skips a `--`.
        let is_plain = exact && given.len() == arguments.len();
        self.only = is_plain.then(|| self.likely.clone());
        self.likely.unclear |= !exact;
    }

    /// Programs such as `env`, `sudo` and `xargs`.
    fn prefix(&mut self, name: &str, outer: &SimpleCommand) {
        let words = &outer.words[..];
        let plain = plain_prefix(name, words).filter(|_| TRANSPARENT.contains(&name));
        let at = plain.unwrap_or_else(|| likely_prefix(name, words));
        let (before, behind) = words.split_at(at.min(words.len()));
        let is_fed = FEEDERS.contains(&name);
        let signs = replaced(name, &before[1..]);
        let given = |word: &Word| {
            let is_replaced = signs.iter().any(|sign| word.text.contains(sign));
            // Its input stands there.
            let exact = word.exact && !(is_fed && is_replaced);
            Word {
                exact,
                ..word.clone()
            }
        };
        let command = SimpleCommand {
            assignments: before[1..]
                .iter()
                .filter_map(|word| assigned(&word.text))
                .collect(),
            words: behind.iter().map(given).collect(),
            more: is_fed,
            ..SimpleCommand::default()
        };
        self.pinned = (0..words.len().min(at + 1)).collect();
        let is_called = outer.is_called && name == "ssh";
        self.likely.unclear = behind.is_empty() && !TRANSPARENT.contains(&name) && !is_called;
        // Without a command, it starts a shell.
        let is_command = |word: &Word| word.text.starts_with('-') && word.text.contains('c');
        self.likely.unclear |= name == "su" && !words.iter().any(is_command);
        self.likely.commands.push(command.clone());
        let other = |from: usize| SimpleCommand {
            words: words[from..].to_vec(),
            ..command.clone()
        };
        self.perhaps = (1..words.len())
            .filter(|from| *from != at)
            .map(other)
            .collect();
        if name == "ssh" {
            self.settings(&words[1..]);
        }
        // `env -S`, `watch`, `ssh` and `su -c` hand a text to a shell.
        self.texts(&words[1..]);
        let exact = plain.is_some() && before.iter().all(|word| word.exact);
        self.only = exact.then(|| Script {
            commands: vec![command],
            ..Script::default()
        });
    }

    /// The commands that values of settings may be: `alias.x=!rm y` of git, `ProxyCommand=rm y` of ssh.
    fn settings(&mut self, words: &[Word]) {
        for word in words {
            if let Some((_, value)) = word.text.split_once(['=', ' ']) {
                let script = Script::read(value.trim_start_matches('!'));
                self.perhaps.extend(script.commands);
            }
        }
    }

    /// Skips the options in front of git's subcommand, of which `-c` runs any program.
    fn git(&mut self, words: &[Word]) {
        let at = git_action(words);
        let before = &words[1..at.min(words.len())];
        self.pinned = (1..=before.len()).collect();
        self.settings(before);
        // The value is in a variable.
        self.beside.unclear |= before
            .iter()
            .any(|word| word.text.starts_with("--config-env"));
        if words.get(at).is_some_and(|action| action.text == "config") {
            for pair in words[at..].windows(2) {
                self.value(&pair[0].text, &pair[1], true);
            }
        }
        // A remote may be a command, in which `%` stands before signs.
        for (place, word) in words.iter().enumerate() {
            if let Some(command) = behind_transport(&word.text) {
                self.pinned.push(place);
                self.likely
                    .run(Script::read(&command.replace('%', "")), &[]);
            }
        }
        if at > 1 && at < words.len() {
            let plain = [&words[..1], &words[at..]].concat();
            self.likely.commands.push(SimpleCommand::of(plain));
        }
        // Of files outside of the repository, it shows everything without `--no-index`, too.
        if words.get(at).is_some_and(|action| action.text == "diff") {
            let operands = words.iter().enumerate().skip(at + 1);
            let outside = operands.filter(|(_, word)| may_lead_out(&word.text));
            self.pinned.extend(outside.map(|(place, _)| place));
        }
    }

    /// A script of `sed` may run programs, and write files: one that surely does neither need not be spelt out.
    fn sed(&mut self, words: &[Word]) {
        let (mut is_next, mut has_script) = (false, false);
        // `sed -n *` is written for what only prints.
        let prints = words.get(1).is_some_and(|word| word.text == "-n");
        for (at, word) in words.iter().enumerate().skip(1) {
            let letters = word.text.strip_prefix('-').filter(|rest| !rest.is_empty());
            let is_shown = match letters.filter(|_| !is_next) {
                Some(letters) => {
                    is_next = letters.ends_with('e');
                    let before = letters.strip_suffix('e').unwrap_or(letters);
                    let writes = prints && letters.contains('i');
                    !writes && !before.contains(['e', 'f'])
                }
                None if is_next || !has_script => {
                    (is_next, has_script) = (false, true);
                    code::is_plain_sed(&word.text)
                }
                None => true,
            };
            if !is_shown {
                self.pinned.push(at);
            }
        }
    }

    /// Programs such as `docker exec`: which of their words is the program depends on their options.
    fn carry(&mut self, name: &str, command: &SimpleCommand) {
        let words = &command.words;
        let Some((_, marks)) = CARRIERS.iter().find(|(program, _)| *program == name) else {
            return;
        };
        let is_mark = |word: &Word| marks.contains(&&*word.text);
        let from = if marks.is_empty() {
            1
        } else {
            let mark = words.iter().position(is_mark);
            mark.map_or(words.len(), |at| at + 1)
        };
        if words.len() - from > MOST_WORDS {
            self.beside.unclear = true;
            return;
        }
        let mut is_found = false;
        for (at, word) in words.iter().enumerate().skip(from) {
            let mut inner = SimpleCommand::of(words[at..].to_vec());
            if !is_found && takes_code(&inner) {
                is_found = true;
                inner.input.clone_from(&command.input);
                self.beside.commands.push(inner);
            } else {
                self.may_run([inner]);
            }
            if is_line(&word.text) {
                self.may_run(Script::read(&word.text).commands);
            }
        }
    }

    /// Adds commands that it may run, if their programs are shown.
    fn may_run(&mut self, commands: impl IntoIterator<Item = SimpleCommand>) {
        let is_shown =
            |command: &SimpleCommand| command.words.first().is_some_and(|word| word.exact);
        self.perhaps.extend(commands.into_iter().filter(is_shown));
    }

    /// What values of variables and settings run: `PAGER='rm x'`, `-c core.pager='rm x'`.
    fn values(&mut self, program: &str, command: &SimpleCommand) {
        let mut values: Vec<(String, Word)> = command.assignments.clone();
        let variables = values.len();
        for word in command.words.iter().skip(1) {
            let set = settings(&word.text).map(|(name, value)| {
                let text = value.to_owned();
                (name.to_owned(), Word { text, ..*word })
            });
            values.extend(set);
        }
        self.beside.unclear |= values.len() > MOST_VALUES
            && values[MOST_VALUES..]
                .iter()
                .any(|(name, value)| use_of(name, &value.text) != Use::Unknown);
        let exports = SETTERS.contains(&program);
        for (at, (name, value)) in values.iter().take(MOST_VALUES).enumerate() {
            let is_set = at < variables || exports;
            self.value(name, value, is_set);
            if use_of(name, &value.text) != Use::Unknown || !is_set || !value.exact {
                continue;
            }
            if program == "alias" {
                self.beside.run(Script::read_within(&value.text), &[]);
            } else if !program.is_empty() {
                // Of any other variable, too. Without a program, it is one of the shell only.
                self.may_run(Script::read(&value.text).commands);
            }
        }
    }

    /// What a value runs. A word may only look like a setting: `--command='select (1)'`.
    fn value(&mut self, name: &str, value: &Word, is_set: bool) {
        match use_of(name, &value.text) {
            Use::Command => {
                let mut script = script(name, value);
                script.unclear &= is_set;
                self.beside.run(script, &[]);
            }
            Use::Code => self.beside.unclear = true,
            Use::Unknown => {}
        }
    }

    /// The words in code for an interpreter may be commands: `os.system('rm x')`. So may be the input of a shell.
    fn code(&mut self, name: &str, command: &SimpleCommand) {
        let arguments = &command.words[1..];
        let is_unread = is_shell(name) && self.likely.unclear;
        if is_unread {
            for input in &command.input {
                self.beside.run(Script::read(&input.text), &[]);
            }
        }
        let is_interpreter = code::is_interpreter(name);
        let is_fed = is_interpreter && code::is_fed(name, arguments);
        self.beside.unclear |= is_fed && command.input.is_empty();
        let is_code = |word: &&Word| code::is_code(&word.text);
        let words = arguments.iter().filter(is_code).chain(&command.input);
        let texts: Vec<_> = words.filter(|_| is_interpreter).collect();
        self.has_code = is_unread
            || is_fed
            || !texts.is_empty()
            || (!command.input.is_empty() && !code::is_copier(name));
        let mut parts = texts.iter().flat_map(|text| code::parts(&text.text));
        self.code = words_of(parts.by_ref());
        self.beside.unclear |= parts.next().is_some();
        // `s#a#b#` is written for what has a `/`.
        let may_run = |text: &&&Word| name != "sed" || !code::is_plain_sed(&text.text);
        let quoting = texts.iter().filter(may_run);
        let quoted = quoting.flat_map(|text| code::quoted(&text.text));
        self.code.extend(words_of(quoted));
    }

    fn options(&mut self, name: &str, words: &[Word]) {
        let action = match name {
            "git" => words.get(git_action(words)),
            _ => None,
        };
        let full = action.map(|action| format!("{name} {}", action.text));
        let of = |table: &'static [(&str, &[&str])]| {
            let own = table
                .iter()
                .filter(|(program, _)| *program == name || Some(*program) == full.as_deref());
            own.flat_map(|(_, options)| *options)
        };
        let taking = TAKING
            .iter()
            .find(|(program, _)| *program == name || Some(*program) == full.as_deref())
            .map_or("", |(_, letters)| letters);
        let has = |word: &Word, option: &&str| {
            is_option(&word.text, option) || is_joined(&word.text, option, taking)
        };
        // In its first word options need no `-`, and their values follow in the order of the letters.
        let is_old = |word: &Word| !word.text.starts_with('-') && word.text.contains(['F', 'I']);
        self.likely.unclear |= name == "tar" && words.get(1).is_some_and(is_old);
        let is_within = |word: &Word| {
            let mut own = WITHIN.iter().filter(|(program, _)| *program == name);
            own.any(|(_, text)| word.text.contains(text))
        };
        let mut count = 0;
        for (at, word) in words.iter().enumerate().skip(1) {
            if of(WRITING).any(|option| has(word, option)) || is_within(word) {
                self.pinned.push(at);
            }
            let mut running = of(RUNNING);
            let Some(option) = running.find(|&option| has(word, option)) else {
                continue;
            };
            count += 1;
            if count > MOST_COMMANDS {
                return self.hide_all(words);
            }
            let behind = &words[at + 1..];
            let end = behind
                .iter()
                .position(|word| matches!(&*word.text, ";" | "+"));
            let command = &behind[..end.unwrap_or(behind.len())];
            self.pinned.extend(at..=at + command.len());
            let known = |word: &Word| {
                if word.text.contains("{}") {
                    Word::unknown()
                } else {
                    word.clone()
                }
            };
            let given = value(word, option);
            self.likely.commands.push(SimpleCommand {
                words: given.into_iter().chain(command.iter().map(known)).collect(),
                more: true,
                ..SimpleCommand::default()
            });
            self.texts(&words[at..]);
        }
    }

    /// Marks the programs that it runs as unknown.
    fn hide_all(&mut self, words: &[Word]) {
        *self = Self {
            pinned: (0..words.len()).collect(),
            likely: Script::unclear(),
            ..Self::default()
        };
    }

    /// Words that a program may hand to a shell.
    fn texts(&mut self, words: &[Word]) {
        for word in words {
            let texts = [Some(&*word.text), behind_sign(word), behind_letter(word)];
            for text in texts.into_iter().flatten().filter(|text| is_line(text)) {
                self.likely.run(Script::read(text), &[]);
            }
            let more = behind_letter(word).map(behind_letters);
            for text in more.into_iter().flatten().filter(|text| is_line(text)) {
                self.perhaps.extend(Script::read(text).commands);
            }
        }
    }
}

/// The first parts of code, without the signs in front of them.
fn words_of<'t>(parts: impl Iterator<Item = &'t str>) -> Vec<Word> {
    let signs = ['!', '\\', '$', '#', '@', '%', '+'];
    let named = parts.take(MOST_PARTS);
    named
        .map(|part| Word::exact(part.trim_start_matches(signs)))
        .collect()
}

/// Calls `see` with a command, and with whatever it most likely runs, down to this depth.
pub(super) fn walk(
    command: &SimpleCommand,
    depth: usize,
    see: &mut dyn FnMut(&SimpleCommand, &Runs),
) {
    let runs = Runs::of(command);
    see(command, &runs);
    if depth > 0 {
        for inner in runs.likely.commands.iter().chain(&runs.beside.commands) {
            walk(inner, depth - 1, see);
        }
    }
}

/// Whether the program is a shell or an interpreter.
pub(super) fn takes_code(command: &SimpleCommand) -> bool {
    command.words.first().is_some_and(|program| {
        let name = name_of(program);
        is_shell(&name) || code::is_interpreter(&name)
    })
}

/// Whether it prints all variables of the environment.
pub(super) fn prints_environment(command: &SimpleCommand) -> bool {
    let Some((program, arguments)) = command.words.split_first() else {
        return false;
    };
    let are = |fits: fn(&str) -> bool| arguments.iter().all(|word| fits(&word.text));
    match &*name_of(program) {
        "env" => likely_prefix("env", &command.words) >= command.words.len(),
        "declare" | "export" | "printenv" | "typeset" => are(|word| word.starts_with('-')),
        "set" => arguments.is_empty(),
        _ => false,
    }
}

/// Whether it removes files, or what is in them, without `rm`.
pub(super) fn removes(command: &SimpleCommand) -> bool {
    let words = &command.words;
    let Some(program) = words.first() else {
        return false;
    };
    match &*name_of(program) {
        "find" => words.iter().any(|word| word.text == "-delete"),
        "git" => {
            let mut words = words.iter().map(|word| &*word.text).skip(git_action(words));
            let is_forced = |word: &str| {
                is_option(word, "-f") || is_joined(word, "-f", "e") || is_option(word, "--force")
            };
            words.next() == Some("clean") && words.any(is_forced)
        }
        name => REMOVERS.contains(&name),
    }
}

/// Whether a program, by its name as [`name_of`] has it, is a shell, in any version: `zsh-5.9`.
fn is_shell(name: &str) -> bool {
    let stem = code::stem(name).trim_end_matches('-');
    SHELLS.contains(&stem) || OTHER_SHELLS.contains(&stem)
}

/// The name of a program in the tables: without its directory, in lower case, since `SUDO` is `sudo` on a file system
/// that ignores case, and the usual one of several.
fn name_of(program: &Word) -> String {
    let name = fold(without_ending(base(&program.text)));
    if LOADERS.iter().any(|start| name.starts_with(start)) {
        return "ld.so".to_owned();
    }
    let usual = ALSO.iter().find(|(other, _)| *other == name);
    usual.map_or(name, |(_, usual)| (*usual).to_owned())
}

/// What is behind a `--`, which ends the options of a builtin.
fn operands(arguments: &[Word]) -> &[Word] {
    arguments
        .strip_prefix(&[Word::exact("--")])
        .unwrap_or(arguments)
}

/// The places of words, other than the program, that fit.
fn places(words: &[Word], fits: fn(&str) -> bool) -> impl Iterator<Item = usize> {
    let words = words.iter().enumerate().skip(1);
    words
        .filter(move |(_, word)| fits(&word.text))
        .map(|(at, _)| at)
}

/// Whether `less` begins with a command that does more than show a place: `+!rm x`.
fn is_command_of_less(word: &str) -> bool {
    let moves = |command: &str| {
        let rest = command.trim_start_matches(|c: char| c.is_ascii_digit() || c == '+');
        matches!(rest, "" | "F" | "G" | "g") || rest.starts_with('/')
    };
    word.strip_prefix('+').is_some_and(|rest| !moves(rest))
}

/// Whether a word of `make` is a part of a makefile, or says where another one is read: from the input.
fn is_code_of_make(word: &str) -> bool {
    let calls = ["$(", "${", "`"].iter().any(|sign| word.contains(sign));
    let is_another = |value: &str| value.contains(char::is_whitespace) || is_elsewhere(value);
    let is_run = settings(word)
        .any(|(name, value)| use_of(name, value) != Use::Unknown && is_another(value));
    let is_eval = word.starts_with("-E") || is_option(word, "--eval");
    calls || is_run || is_eval || matches!(word, "-" | "-f-" | "--file=-" | "--makefile=-")
}

/// The signs in whose place `xargs` and `parallel` put their input: `{}`, or what an option names.
fn replaced<'w>(name: &str, options: &'w [Word]) -> Vec<&'w str> {
    let mut signs = vec![if name == "parallel" { "{" } else { "{}" }];
    for (at, word) in options.iter().enumerate() {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let short = letters
            .split_once(['I', 'J', 'i'])
            .filter(|_| !letters.starts_with('-'));
        let sign = match short {
            Some((_, "")) => options.get(at + 1).map(|next| &*next.text),
            Some((_, rest)) => Some(rest),
            None => word.text.strip_prefix("--replace="),
        };
        signs.extend(sign.filter(|sign| !sign.is_empty()));
    }
    signs
}

/// What is behind the transport of git that runs a command: `ext::rm x`, `-c remote.x.url=ext::rm x`.
fn behind_transport(word: &str) -> Option<&str> {
    const SIGN: &str = "ext::";
    let mut found = word.match_indices(SIGN);
    let is_whole = |(at, _): &(usize, &str)| {
        let before = word[..*at].chars().next_back();
        before.is_none_or(|c| matches!(c, '=' | '.' | ':'))
    };
    let (at, _) = found.find(is_whole)?;
    Some(&word[at + SIGN.len()..])
}

/// Whether an option of `command` only asks about a name.
fn is_question(word: &Word) -> bool {
    word.exact && matches!(&*word.text, "-V" | "-v")
}

/// Whether a builtin of a shell may calculate with one of its words, or take it for the name of a variable, and so run
/// what is in it: `a[$(rm x)]`.
fn evaluates(name: &str, arguments: &[Word]) -> bool {
    let is_number = |word: &Word| matches!(&*word.text, "$!" | "$#" | "$$" | "$?");
    let may_run = |word: &&Word| {
        let is_calculated = word.text.len() > 1 && word.text.contains(['$', '`', '[']);
        // A file may have any name.
        let is_wild = !word.whole && word.text.contains(['*', '?']);
        (is_calculated || is_wild) && !is_number(word)
    };
    let mut given = arguments.iter().filter(may_run);
    match name {
        "[" | "test" => {
            !tests_texts(arguments) && (given.next().is_some() || calculates(arguments, is_number))
        }
        "printf" => !prints_texts(arguments) && given.next().is_some(),
        // zsh calculates with any word.
        "break" | "continue" | "exit" | "return" | "shift" => {
            arguments.iter().any(|word| word.exact && !is_integer(word))
        }
        // The value of `X=…` is a text, unless the variable was declared to be a number.
        "export" | "readonly" => {
            given.any(|word| word.text.contains('[') || assigned(&word.text).is_none())
        }
        _ => given.next().is_some(),
    }
}

/// Whether the words of `test` are surely a question about a text or a file: `-n "$X"`, `"$X" = a`.
fn tests_texts(arguments: &[Word]) -> bool {
    let behind = arguments
        .strip_suffix(&[Word::exact("]")])
        .unwrap_or(arguments);
    let behind = behind.strip_prefix(&[Word::exact("!")]).unwrap_or(behind);
    // zsh ends at `==`, since no program has that name.
    let is_shown = |word: &Word| word.exact || word.text == "==";
    let is_one_of = |word: &Word, table: &[&str]| is_shown(word) && table.contains(&&*word.text);
    match behind {
        [operator, text] => is_one_of(operator, UNARY_TESTS) && text.whole,
        [left, operator, right] => is_one_of(operator, TEXT_TESTS) && left.whole && right.whole,
        _ => false,
    }
}

/// Whether `test` compares what is no number as one: some shells take it for a variable, and calculate with what that
/// holds.
fn calculates(arguments: &[Word], is_number: impl Fn(&Word) -> bool) -> bool {
    const COMPARE: &[&str] = &["-eq", "-ge", "-gt", "-le", "-lt", "-ne"];
    let is_shown = |word: &Word| is_integer(word) || is_number(word);
    let mut pairs = arguments.windows(2);
    pairs.any(|pair| {
        let compares = |at: usize| COMPARE.contains(&&*pair[at].text);
        (compares(1) && !is_shown(&pair[0]))
            || ((compares(0) || pair[0].text == "-t") && !is_shown(&pair[1]))
    })
}

fn is_integer(word: &Word) -> bool {
    let digits = word.text.trim_start_matches(['-', '+']);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the first word of `printf` is a format that calculates nothing.
fn prints_texts(arguments: &[Word]) -> bool {
    let Some(format) = arguments.first().filter(|word| word.exact) else {
        return false;
    };
    let plain = format.text.replace("%%", "");
    let mut conversions = plain.split('%').skip(1);
    let is_text = |conversion: &str| {
        let kind = conversion.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c));
        kind.starts_with(['b', 'c', 'q', 's'])
    };
    !format.text.starts_with('-') && conversions.all(is_text)
}

/// Whether a word may be a line for a shell.
fn is_line(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || ";&|".contains(c))
}

/// The position of the program behind `env`, `nice` and the like, if the meaning of all options is certain.
fn plain_prefix(name: &str, words: &[Word]) -> Option<usize> {
    let text = |at: usize| words.get(at).map(|word| &*word.text);
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let at = match name {
        "env" => {
            1 + words[1..]
                .iter()
                .take_while(|word| assigned(&word.text).is_some())
                .count()
        }
        "nice" if text(1) == Some("-n") => 3,
        "time" if text(1) == Some("-p") => 2,
        "timeout" if text(1).is_some_and(is_number) => 2,
        "timeout" => return None,
        "stdbuf" => {
            1 + words[1..]
                .iter()
                .take_while(|word| matches!(word.text.as_bytes(), [b'-', b'i' | b'o' | b'e', _]))
                .count()
        }
        _ => 1,
    };
    text(at)
        .filter(|program| !program.starts_with('-'))
        .map(|_| at)
}

/// Whether a word is neither an option nor the number that may follow one.
fn is_file(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric());
    word == "-" || !(is_number || word.starts_with(['-', '+']))
}

/// The likely position of the program: behind options, assignments and numbers, and for `ssh` behind the host.
fn likely_prefix(name: &str, words: &[Word]) -> usize {
    let taking = TAKING.iter().find(|(program, _)| *program == name);
    let taking = taking.map_or("", |(_, letters)| letters);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = &*word.text;
        let takes =
            matches!(text.as_bytes(), [b'-', letter] if taking.contains(char::from(*letter)));
        let is_own = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !is_own && assigned(text).is_none() {
            break;
        }
        at += 1 + usize::from(takes);
    }
    at + usize::from(name == "ssh")
}

/// The position of git's subcommand.
pub(super) fn git_action(words: &[Word]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1 + usize::from(OF_GIT.contains(&&*word.text));
    }
    at
}

/// Whether a word is this option, also with its value in the same word, or abbreviated like GNU's and git's long
/// options. Go takes `--exec` for `-exec`.
fn is_option(word: &str, option: &str) -> bool {
    let is_long = option.starts_with("--");
    let is_short = option.len() == 2 && option.starts_with('-') && !is_long;
    let name = word.split('=').next().unwrap_or(word);
    let is_whole = option.len() > 2 && option.starts_with('-') && !is_long;
    word == option
        || (is_short && word.starts_with(option))
        || (is_long && name.len() > 2 && option.starts_with(name))
        || (is_whole && (name == option || name.strip_prefix('-') == Some(option)))
}

/// The value of this option in the same word: `-exec=rm`, `-Prm`.
fn value(word: &Word, option: &str) -> Option<Word> {
    let is_letter = option.len() == 2 && word.text.starts_with(option);
    let text = if is_letter {
        behind_letter(word)
    } else {
        behind_sign(word)
    };
    let text = text.filter(|text| !text.is_empty())?.to_owned();
    Some(Word { text, ..*word })
}

/// What is behind the `=` of an option: `--rsh='ssh -v'`.
fn behind_sign(word: &Word) -> Option<&str> {
    let (option, text) = word.text.split_once('=')?;
    option.starts_with('-').then_some(text)
}

/// What is behind an option of one letter: `-e'ssh -v'`.
fn behind_letter(word: &Word) -> Option<&str> {
    let letters = word.text.strip_prefix('-')?;
    let mut rest = letters.chars();
    let letter = rest.next()?;
    (letter != '-').then_some(rest.as_str())
}

/// What may be behind further letters of an option, of which one takes a value: `rm x` in `crm x`.
fn behind_letters(text: &str) -> impl Iterator<Item = &str> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    (1..=letters.min(MOST_LETTERS)).map(|at| &text[at..])
}

/// Whether a word has this option of one letter behind others (`-ro`), none of which takes the rest as its value.
fn is_joined(word: &str, option: &str, taking: &str) -> bool {
    let &[b'-', letter] = option.as_bytes() else {
        return false;
    };
    let letters = word
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    let before = letters.and_then(|letters| letters.split_once(char::from(letter)));
    before.is_some_and(|(before, _)| {
        !before.is_empty() && !before.contains(|c: char| taking.contains(c))
    })
}

/// Whether a word may be a path that does not begin in the working directory, or leads out of it.
fn may_lead_out(word: &str) -> bool {
    let mut names = word.split(['/', '\\']);
    word.starts_with(['/', '\\']) || drive(word).is_some() || names.any(|name| name == "..")
}

/// Whether a file with commands is no file of its own, but what the same line writes: `<(echo rm)`, `/dev/stdin`,
/// `/proc/self/fd/0`.
pub(super) fn is_inline(word: &Word) -> bool {
    let path = &*word.text;
    let is_name = |name: &&str| !matches!(*name, "" | ".");
    let names: Vec<_> = path.split('/').filter(is_name).collect();
    let is_opened = match names[..] {
        [.., "stdin"] => true,
        [.., "fd", number] => number.bytes().all(|byte| byte.is_ascii_digit()),
        ["dev" | "proc", ..] => path.starts_with('/'),
        _ => false,
    };
    path.contains("<(") || is_opened
}

/// Whether a program is named by a path that is none of a system, as in the project: another one may be there.
fn is_elsewhere(program: &str) -> bool {
    let folded = drive(program).map(|(_, path)| path.to_ascii_lowercase());
    let is_of_system = PLACES.iter().any(|place| program.starts_with(place))
        || folded.is_some_and(|path| path.starts_with(OF_WINDOWS));
    let leads_back = program.split(['/', '\\']).any(|name| name == "..");
    program.contains(['/', '\\']) && (leads_back || !is_of_system)
}

fn is_slashed(word: &Word) -> bool {
    word.text.starts_with('/')
}

/// A name without the ending by which Windows finds a script: `npm.cmd`.
pub(super) fn without_ending(name: &str) -> &str {
    const ENDINGS: &[&str] = &[".bat", ".cmd", ".com"];
    let at = name.len().saturating_sub(".cmd".len());
    match name.split_at_checked(at) {
        Some((stem, ending))
            if !stem.is_empty() && ENDINGS.iter().any(|own| own.eq_ignore_ascii_case(ending)) =>
        {
            stem
        }
        _ => name,
    }
}

/// The name of a program, without its directory and a `.exe`.
pub fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let ending = name.len().checked_sub(".exe".len());
    let parts = ending.and_then(|at| name.split_at_checked(at));
    match parts {
        Some((stem, ending)) if !stem.is_empty() && ending.eq_ignore_ascii_case(".exe") => stem,
        _ => name,
    }
}
