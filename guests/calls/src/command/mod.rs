//! The programs that the commands of a tool call run, as far as their text shows.
//!
//! Agents put a command into different members; all of them are examined. An ambiguous command is never allowed:
//! another shell, a text that hides a part, a title that differs from the command.

pub(crate) mod code;
mod parameter;
mod pattern;
mod programs;
mod runs;
mod said;
mod script;
mod settings;
mod spelling;
mod values;
mod word;

pub use pattern::{Expansions, Pattern};

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::call::Call;
use crate::directory::Directory;
use crate::line::Line;
use crate::place::Place;
use crate::reading::is_home;
use crate::verdict::Match;

use pattern::{Allowed, DEEPEST};
use programs::{MOVERS, OF_FILES, SHELLS};
use runs::{base, prints_environment, takes_code, walk};
use said::{SEARCHES, Said, likely_pattern, takes_text};
use script::{Script, SimpleCommand};
use word::Word;

/// What a call runs.
pub struct Commands {
    simple: Vec<SimpleCommand>,
    /// What texts of its input may be, if that has no command in a known form.
    perhaps: Vec<SimpleCommand>,
    /// The words of all commands that are not surely texts, and the files of redirections.
    pub words: Vec<String>,
    /// Whether the words are all that the commands have, so that a title that repeats them adds nothing.
    pub(crate) are_shown: bool,
    /// The files of redirections.
    pub files: Vec<String>,
    /// The directories to which the commands change, or in which they work, in order and as they are written.
    pub(crate) directories: Vec<String>,
    /// Words and files of which a shell makes something that the text does not show: `.e*`, `-f$X`.
    pub expanded: BTreeSet<String>,
    /// Whether code or a text is in it that is not read, and that may name files in a way of its own.
    pub has_code: bool,
    /// Why other programs may run.
    unclear: Option<&'static str>,
    /// Why no rule may allow it.
    doubt: Option<String>,
    /// Whether a name may mean another program than that of this name.
    is_redefined: bool,
}

/// Titles that name the tool.
const TOOLS: &[&str] = &[
    "bash",
    "command",
    "execute",
    "execute command",
    "exec_command",
    "launch-process",
    "local_shell",
    "powershell",
    "run command",
    "run_command",
    "run_commands",
    "run_shell_command",
    "shell",
    "shell_command",
    "terminal",
];

/// Options with the directory in which a program works.
const WORKING: &[&str] = &["-C", "--chdir", "--cwd", "--directory"];

/// The directory of a `cd` that names none.
const HOME: &str = "~";

const UNKNOWN_FORM: &str = "its input has no command in a known form";

impl Commands {
    /// `None` for a call that is not about a command.
    pub fn of(call: &Call, directory: Option<&Directory>) -> Option<Self> {
        let executes = call.kinds.contains("execute");
        let is_by_title = call.input.lines.is_empty() && executes;
        let lines = if is_by_title {
            by_title(call)
        } else {
            call.input.lines.clone()
        };
        if lines.is_empty() && !executes && !call.input.is_odd {
            return None;
        }
        let windows = directory.is_some_and(Directory::is_windows);
        let mut script = Script::default();
        let mut seen = Seen::default();
        for line in &lines {
            let one = read(line, windows);
            if one.unclear && one.commands.is_empty() {
                seen.look_at_texts(line.texts().iter().map(String::as_str));
            }
            script.run(one, &[]);
        }
        // Such a title may say anything: what runs is in the input.
        let is_unread = is_by_title && call.input.is_given;
        let hidden = if is_unread {
            of_texts(call)
        } else {
            Script::default()
        };
        let unclear = if call.input.is_odd {
            Some("its input cannot be read")
        } else if lines.is_empty() {
            Some("it names no command")
        } else if hidden.unclear {
            Some(UNKNOWN_FORM)
        } else {
            script
                .unclear
                .then_some("a part of the command cannot be read")
        };
        let moved = call
            .input
            .directories
            .iter()
            .any(|given| !is_session(given, directory));
        let is_redefined = script.doubt.is_some();
        let doubt = is_unread
            .then(|| UNKNOWN_FORM.to_owned())
            .or_else(|| {
                other_title(call)
                    .map(|title| format!("its title {title:?} differs from the command"))
            })
            .or_else(|| elsewhere(call, directory).map(|given| format!("it runs in {given:?}")))
            .or_else(|| {
                script
                    .has_variables
                    .then(|| "its input has variables".to_owned())
            })
            .or_else(|| script.doubt.map(str::to_owned))
            .or_else(|| {
                script
                    .outside(directory, moved)
                    .map(|file| format!("it opens {file:?}"))
            });
        seen.has_code = is_unread || (script.unclear && !lines.is_empty());
        seen.look(&script);
        seen.look(&hidden);
        let said = Said::of(&script);
        let words = script
            .commands
            .iter()
            .flat_map(|command| command.named(&said));
        let files: Vec<_> = script.files.into_iter().map(|file| file.text).collect();
        Some(Self {
            words: words
                .chain(files.iter().cloned())
                .chain(seen.inner)
                .collect(),
            are_shown: said.is_usual() && !lines.is_empty() && !is_unread,
            files,
            directories: seen.directories,
            expanded: seen.expanded,
            has_code: seen.has_code,
            simple: script.commands,
            perhaps: hidden.commands,
            unclear,
            doubt,
            is_redefined,
        })
    }

    /// The first file that a redirection opens, other than the streams of the command.
    pub fn opened(&self) -> Option<&str> {
        let mut files = self.files.iter().map(String::as_str);
        files.find(|file| !is_stream(file))
    }

    /// Where the commands change the directory to, in order; `None` where the text does not show it, as with `cd -`.
    pub fn moves(&self) -> impl Iterator<Item = Option<&str>> {
        let movers = self.simple.iter().filter(|command| command.moves());
        movers.map(|command| {
            let [mover, to] = &command.words[..] else {
                return None;
            };
            let is_plain = MOVERS.contains(&base(&mover.text)) && to.exact;
            let is_shown = is_plain && !to.text.starts_with(['-', '+']);
            is_shown.then_some(&*to.text)
        })
    }

    pub fn count(&self) -> usize {
        self.simple.len()
    }

    /// Why no rule may allow it.
    pub fn doubt(&self) -> Option<&str> {
        self.unclear.or(self.doubt.as_deref())
    }

    /// Marks the commands that these patterns allow, with these expansions in them, in a session with this directory.
    /// Returns one that is left.
    pub fn cover(
        &self,
        patterns: &[Pattern],
        expansions: Expansions,
        directory: Option<&Directory>,
        covered: &mut [bool],
    ) -> Option<String> {
        let allowed = Allowed {
            patterns,
            expansions,
            directory,
        };
        for (command, is_covered) in self.simple.iter().zip(&mut *covered) {
            *is_covered = *is_covered || allowed.has(command, DEEPEST);
        }
        let mut left = self
            .simple
            .iter()
            .zip(covered)
            .filter(|(_, is_covered)| !**is_covered);
        left.next()
            .map(|(command, _)| command.texts().collect::<Vec<_>>().join(" "))
    }

    /// Whether one of its programs prints the environment.
    pub fn print_environment(&self) -> bool {
        self.simple.iter().any(|command| {
            let mut prints = false;
            walk(command, DEEPEST, &mut |inner, _| {
                prints |= prints_environment(inner);
            });
            prints
        })
    }

    /// Whether each of its programs is one of these patterns, as somebody means it who hides nothing: an expansion may
    /// stand for anything.
    pub fn mean(&self, patterns: &[Pattern]) -> bool {
        let means = |command| pattern::means(patterns, command, DEEPEST);
        let is_shown = self.unclear.is_none() && !self.is_redefined;
        is_shown && !self.simple.is_empty() && self.simple.iter().all(means)
    }

    /// Whether one of the patterns matches something that the call runs.
    pub fn meet(&self, patterns: &[Pattern]) -> Match {
        let unclear = Match::perhaps(self.unclear.is_some());
        let met = self
            .simple
            .iter()
            .map(|command| pattern::meet(patterns, command, DEEPEST));
        let perhaps = self
            .perhaps
            .iter()
            .map(|command| pattern::meet(patterns, command, DEEPEST).min(Match::Maybe));
        met.chain(perhaps).fold(unclear, Match::max)
    }
}

/// What a script has, and whatever it runs.
#[derive(Default)]
struct Seen {
    expanded: BTreeSet<String>,
    has_code: bool,
    /// The words and files of what the commands run, without the quotes that are in theirs.
    inner: BTreeSet<String>,
    directories: Vec<String>,
}

impl Seen {
    fn look(&mut self, script: &Script) {
        let said = Said::of(script);
        self.add_expanded(&script.files, &said);
        for command in &script.commands {
            // What is within another command may have another meaning.
            let is_outer = |inner: &SimpleCommand| std::ptr::eq(inner, command);
            walk(command, DEEPEST, &mut |inner, runs| {
                self.has_code |= runs.has_code || runs.perhaps.iter().any(takes_code);
                self.directories.extend(inner.directories());
                if !is_outer(inner) {
                    self.inner.extend(inner.texts());
                    self.inner.extend(inner.folders(&said));
                }
                if runs.likely.unclear && runs.likely.commands.is_empty() {
                    self.look_at_texts(inner.words.iter().map(|word| &*word.text));
                }
                let files = runs.likely.files.iter().chain(&runs.beside.files);
                self.inner.extend(files.map(|file| file.text.clone()));
                let is_text = |at: usize| is_outer(inner) && said.has(inner, at);
                let words = inner.words.iter().enumerate();
                let words = words.filter(|(at, word)| !is_text(*at) && !is_handed_on(inner, word));
                self.add_expanded(words.map(|(_, word)| word), &said);
                // What a variable has from another one is asked about where it is used, unless that looks like a home.
                let values = inner.assignments.iter();
                let values = values
                    .filter(|(name, value)| is_home(name) || !value.text.contains(['$', '`']));
                self.add_expanded(values.map(|(_, value)| value), &said);
                self.add_expanded(&runs.likely.files, &said);
            });
        }
    }

    /// Looks at the words of texts that cannot be parsed, as they may be without the quotes of any shell.
    fn look_at_texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        const QUOTES: &[char] = &['\'', '"', '\\', '`', '^'];
        let is_end = |c: char| c.is_whitespace() || ";&|<>".contains(c);
        let words = texts.into_iter().flat_map(|text| text.split(is_end));
        for word in words.map(|word| word.trim_matches(['(', ')', '{', '}'])) {
            let bare = word.replace(QUOTES, "");
            if bare.contains(['*', '?', '[']) || bare.contains("!(") {
                self.expanded.insert(bare.clone());
            }
            self.inner.insert(bare);
        }
    }

    fn add_expanded<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>, said: &Said) {
        // A substitution of several lines is a text rather than a name.
        let is_name = |word: &&Word| !word.exact && !word.text.contains('\n');
        let names = words.into_iter().filter(is_name);
        self.expanded.extend(names.map(|word| said.known(word)));
    }
}

impl SimpleCommand {
    /// Whether it changes the directory of those that follow.
    fn moves(&self) -> bool {
        let is_program = |word: &&Word| !matches!(&*word.text, "builtin" | "command");
        let program = self.words.iter().find(is_program);
        program.is_some_and(|word| MOVERS.contains(&base(&word.text)))
    }

    /// The directories to which it changes, or in which it works: `cd a`, `git -C a`. Those of which a shell makes another
    /// are not among them.
    fn directories(&self) -> Vec<String> {
        let words: Vec<_> = self.words.iter().map(|word| &*word.text).collect();
        let is_shown = |directory: &&str| {
            let mut homes = ["$HOME", "${HOME}"].iter();
            let behind = homes.find_map(|home| directory.strip_prefix(*home));
            !behind.unwrap_or(directory).contains(['$', '`'])
        };
        if self.moves() {
            let mut operands = words[1..].iter();
            let to = operands.rfind(|word| !word.starts_with(['-', '+']));
            let shown = Some(*to.unwrap_or(&HOME)).filter(is_shown);
            return shown.into_iter().map(str::to_owned).collect();
        }
        let is_option = |word: &str| WORKING.contains(&word);
        let pairs = words.windows(2).filter(|pair| is_option(pair[0]));
        let joined = words.iter().filter_map(|word| {
            let value = WORKING.iter().find_map(|option| word.strip_prefix(*option));
            value.map(|value| value.trim_start_matches('='))
        });
        // Another `-C` takes a number.
        let is_name = |value: &&str| value.contains(|c: char| !c.is_ascii_digit());
        let named = pairs.map(|pair| pair[1]).chain(joined).filter(is_name);
        named.filter(is_shown).map(str::to_owned).collect()
    }

    fn texts(&self) -> impl Iterator<Item = String> {
        let words = self.words.iter().map(|word| word.text.clone());
        self.assigned().chain(words)
    }

    /// Its words without those that are texts.
    fn named(&self, said: &Said) -> impl Iterator<Item = String> {
        let words = self.words.iter().enumerate();
        let named = words.filter(move |(at, _)| !said.has(self, *at));
        self.assigned()
            .chain(named.map(|(_, word)| word.text.clone()))
            .chain(self.folders(said))
    }

    /// Its words that are names of files without a directory, as paths (`keys/.`): in other programs, `keys` is seldom the
    /// folder of this name.
    fn folders(&self, said: &Said) -> impl Iterator<Item = String> {
        let program = self.words.first().map(|program| base(&program.text));
        let takes_files = program.is_some_and(|program| OF_FILES.contains(&program));
        // What `find` looks for comes behind where it looks.
        let is_find = program == Some("find");
        let is_operand = move |(_, word): &(usize, &Word)| {
            let begins = word.text.starts_with(['-', '(', '!']);
            !is_find || !begins || matches!(&*word.text, "-H" | "-L" | "-P")
        };
        let is_search = program.is_some_and(|program| SEARCHES.contains(&program));
        let pattern = is_search.then(|| likely_pattern(&self.words)).flatten();
        let is_text = move |at: usize| {
            let before = &*self.words[at - 1].text;
            let is_left_out = program.is_some_and(|program| leaves_out(program, before));
            is_left_out || pattern == Some(at) || (is_search && takes_text(before))
        };
        let is_name = move |(at, word): &(usize, &Word)| {
            let is_path = word.text.starts_with('-') || word.text.contains(['/', '\\', '=', ':']);
            takes_files && word.exact && !is_path && !is_text(*at) && !said.has(self, *at)
        };
        let words = self.words.iter().enumerate().skip(1);
        words
            .take_while(is_operand)
            .filter(is_name)
            .map(|(_, word)| format!("{}/.", word.text))
    }

    fn assigned(&self) -> impl Iterator<Item = String> {
        let assignments = self.assignments.iter();
        assignments.map(|(name, value)| format!("{name}={}", value.text))
    }
}

impl Script {
    /// Whether the text shows every program that runs, with all of its words.
    fn is_plain(&self) -> bool {
        !self.unclear && !self.has_variables && self.doubt.is_none()
    }

    /// A file outside of the session's directory that a redirection opens, or one that a rule has to name.
    fn outside(&self, directory: Option<&Directory>, moved: bool) -> Option<&str> {
        let moved = moved || self.commands.iter().any(SimpleCommand::moves);
        let inside = |file: &&Word| {
            let absolute = file.text.starts_with('/');
            file.exact
                && (is_stream(&file.text)
                    || ((absolute || !moved) && directory.is_some_and(|own| own.has(&file.text))))
        };
        self.files
            .iter()
            .find(|file| !inside(file))
            .map(|file| &*file.text)
    }
}

/// Whether the word behind an option is what a program does nothing with, rather than a file that it takes. To other
/// programs, these letters mean something else: `cp -x keys a`.
fn leaves_out(program: &str, option: &str) -> bool {
    match option {
        "--exclude" | "--exclude-dir" => true,
        "--ignore" => program == "ls",
        "-I" => program == "tree",
        "-x" => program == "zip",
        _ => false,
    }
}

/// Whether a word only gives a variable a value that is made of others, as an assignment does: `export X="$Y"`. What it
/// is used for is asked about.
fn is_handed_on(command: &SimpleCommand, word: &Word) -> bool {
    const GIVE: &[&str] = &["declare", "export", "local", "readonly", "typeset"];
    let is_given = command
        .words
        .first()
        .is_some_and(|program| GIVE.contains(&&*program.text));
    let given = script::assigned(&word.text).filter(|_| is_given);
    given.is_some_and(|(name, value)| !is_home(&name) && value.text.contains(['$', '`']))
}

/// Whether a redirection to this path reaches no file.
fn is_stream(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}

fn read(line: &Line, windows: bool) -> Script {
    let plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || " _./:=,@+-".contains(c))
    };
    match line {
        // Of PowerShell and cmd, only commands that mean the same in every shell.
        Line::Text(text) if windows && !plain(text) => Script::unclear(),
        Line::Text(text) => Script::read(text),
        Line::List(words) => {
            let program = words.first().map(|word| base(word).to_lowercase());
            let other = matches!(
                program.as_deref(),
                None | Some("cmd" | "powershell" | "pwsh")
            );
            Script {
                unclear: other,
                commands: vec![SimpleCommand::of(
                    words.iter().map(|word| Word::exact(word)).collect(),
                )],
                ..Script::default()
            }
        }
    }
}

/// The commands that texts of an input in an unknown form may be, alone or with those behind them.
fn of_texts(call: &Call) -> Script {
    let mut script = Script::default();
    for text in &call.input.texts {
        script.run(Script::read(text), &[]);
    }
    for command in &mut script.commands {
        command.more = true;
    }
    // The tool of a server has more than commands in its input.
    script.unclear = !call.is_of_server && (script.unclear || call.input.has_more);
    script
}

/// The command in the titles, for agents that state it nowhere else.
fn by_title(call: &Call) -> Vec<Line> {
    let titles = call.titles.iter().map(|title| bare(title));
    let commands = titles.filter(|title| !is_tool(title));
    commands.map(|title| Line::Text(title.to_owned())).collect()
}

fn bare(title: &str) -> &str {
    let title = title.trim();
    let quoted = title
        .strip_prefix('`')
        .and_then(|title| title.strip_suffix('`'));
    quoted.filter(|inner| !inner.contains('`')).unwrap_or(title)
}

/// The newest title, or the command, if the title only names the tool.
pub fn title(call: &Call) -> Option<&str> {
    let title = call.titles.last().map(String::as_str);
    let command = match call.input.lines.last() {
        Some(Line::Text(text)) => Some(&**text),
        Some(line @ Line::List(_)) => line.script(),
        None => None,
    };
    let says_more = title.is_none_or(|title| is_tool(bare(title)));
    command.filter(|_| says_more).or(title)
}

fn is_tool(title: &str) -> bool {
    TOOLS.contains(&&*title.to_lowercase())
}

/// A title that is neither the command, nor a name of the tool, nor another text of the input.
fn other_title(call: &Call) -> Option<&str> {
    if call.input.lines.is_empty() {
        return None;
    }
    let fits = |title: &&str| {
        let given = one_line(title);
        is_tool(bare(title))
            || call.input.texts.iter().any(|text| one_line(text) == given)
            || repeats(call, title)
    };
    call.titles
        .iter()
        .map(String::as_str)
        .find(|title| !fits(title))
}

/// Whether a title repeats a command of the input.
pub(crate) fn repeats(call: &Call, title: &str) -> bool {
    let mut lines = call.input.lines.iter();
    lines.any(|line| line.is_in(bare(title), &call.input.texts))
}

/// The commands of a call's input, in the words that a title has to have to be certainly the same.
pub fn texts(call: &Call) -> impl Iterator<Item = Cow<'_, str>> {
    call.input.lines.iter().map(|line| match line {
        Line::Text(text) => Cow::Borrowed(text.trim()),
        Line::List(words) => match &words[..] {
            [shell, option, script]
                if SHELLS.contains(&base(shell)) && matches!(&**option, "-c" | "-lc") =>
            {
                Cow::Borrowed(script.trim())
            }
            words => Cow::Owned(words.join(" ")),
        },
    })
}

impl Line {
    /// The script, if the program is a shell.
    fn script(&self) -> Option<&str> {
        let Self::List(words) = self else {
            return None;
        };
        let program = words.first().filter(|_| words.len() > 2)?;
        let script = words.last().filter(|_| SHELLS.contains(&base(program)));
        script.map(String::as_str)
    }

    /// Whether a title is this line, with no more than a few words of the agent around it, such as ``Run `ls` ``.
    fn is_in(&self, title: &str, texts: &BTreeSet<String>) -> bool {
        let own = match self {
            Self::Text(text) => one_line(text),
            Self::List(words) => one_line(&words.join(" ")),
        };
        let script = self.script().map(one_line);
        let title = one_line(title);
        [Some(own), script].into_iter().flatten().any(|own| {
            let cut = title.strip_suffix('…').or(title.strip_suffix("..."));
            let is_cut = cut.is_some_and(|cut| cut.len() >= SHORTEST_CUT && own.starts_with(cut));
            let (before, behind) = title.split_once(&*own).unwrap_or_default();
            let is_word = |text: &str| {
                text.chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
            };
            let is_label = before.strip_suffix(": ").is_some_and(is_word) && behind.is_empty();
            let is_quoted = before.strip_suffix(" `").is_some_and(is_word) && behind == "`";
            let description = behind
                .strip_prefix(" (")
                .and_then(|behind| behind.strip_suffix(')'));
            let is_described = before.is_empty()
                && description
                    .is_some_and(|given| texts.iter().any(|text| one_line(text) == given));
            title == own || is_cut || is_label || is_quoted || is_described
        })
    }
}

/// The line in the one spelling of its command, if that can be read. It is for comparing only.
pub fn spelt(line: Line) -> Line {
    let script = line.script().and_then(spelling::spelling);
    match line {
        Line::Text(text) => Line::Text(spelling::spelling(&text).unwrap_or(text)),
        Line::List(mut words) => {
            if let (Some(script), Some(last)) = (script, words.last_mut()) {
                *last = script;
            }
            Line::List(words)
        }
    }
}

/// How much of a command a shortened title has to show, in bytes.
const SHORTEST_CUT: usize = 16;

fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

/// Whether a working directory is the session's.
pub(crate) fn is_session(given: &str, directory: Option<&Directory>) -> bool {
    directory.is_some_and(|own| {
        let place = Place::of(&own.join(given), directory).exact;
        place
            .is_some_and(|exact| own.contains(&exact.root, &exact.names) == Some(exact.names.len()))
    })
}

/// A working directory that is neither the session's nor below it.
fn elsewhere<'c>(call: &'c Call, directory: Option<&Directory>) -> Option<&'c str> {
    call.input
        .directories
        .iter()
        .find(|given| !is_within(given, directory))
        .map(String::as_str)
}

/// Whether a working directory is certainly the session's, or below it.
fn is_within(given: &str, directory: Option<&Directory>) -> bool {
    is_session(given, directory) || directory.is_some_and(|own| own.has(given))
}
