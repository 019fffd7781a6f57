//! The values of variables that a script itself assigns, as far as its text shows them at each place.
//!
//! Invariant: a value is known only where no other one is possible in any shell. A script that may change variables, or
//! the splitting of words, in a way that is not read has none.

use std::collections::{BTreeMap, BTreeSet};

use rable::{ListItem, Node, NodeKind};

use super::parameter::is_parameter;
use super::programs::{SPECIAL, TEXT_TESTS, UNARY_TESTS};
use super::script::{hides_commands, is_name};
use super::settings::{Use, use_of};
use super::word::Word;

/// How many values one variable may have at a place, and in how many ways those of one command go together.
const MOST_VALUES: usize = 32;
/// How many variables are known at a time.
const MOST_NAMES: usize = 32;
/// The longest value, in bytes.
const LONGEST: usize = 256;
/// How many variables one command may use.
const MOST_USES: usize = 64;

/// Builtins, and words in front of them, after which nothing is known of any variable. Not all of them are in each shell.
const CHANGERS: &[&str] = &[
    "-",
    ".",
    "alias",
    "autoload",
    "bind",
    "builtin",
    "command",
    "compgen",
    "complete",
    "compound",
    "declare",
    "disable",
    "emulate",
    "enable",
    "enum",
    "eval",
    "fc",
    "float",
    "foreach",
    "functions",
    "getln",
    "getopts",
    "global",
    "hash",
    "hist",
    "integer",
    "let",
    "local",
    "mapfile",
    "nameref",
    "nocorrect",
    "noglob",
    "print",
    "private",
    "readarray",
    "readonly",
    "repeat",
    "sched",
    "setopt",
    "shopt",
    "source",
    "strftime",
    "sysread",
    "trap",
    "typeset",
    "unalias",
    "unfunction",
    "unhash",
    "unsetopt",
    "vared",
    "zformat",
    "zmodload",
    "zparseopts",
    "zregexparse",
    "zstat",
    "zstyle",
];

/// Builtins that give values to the variables among their words, or take them away.
const GIVERS: &[&str] = &["export", "read", "unset"];

/// Options of `set` that change no variable, and no word.
pub(super) const SET: &[&str] = &[
    "+e", "+u", "+x", "-e", "-eu", "-euo", "-eux", "-euxo", "-ex", "-exo", "-o", "-u", "-ux", "-x",
    "errexit", "nounset", "pipefail", "xtrace",
];

/// The values of variables in one of the ways in which they go together.
pub(super) type Choice = BTreeMap<String, Word>;

#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Whether the whole script is one in which values can be known.
    is_on: bool,
    known: BTreeMap<String, Vec<Word>>,
}

impl Values {
    /// Those at the beginning of a script.
    pub(super) fn of(nodes: &[Node]) -> Self {
        Self {
            is_on: !Changes::of(nodes).is_unclear,
            known: BTreeMap::new(),
        }
    }

    /// Whether an assignment to this variable has no effect but on the script itself: the name is none of the environment
    /// or of a shell.
    pub(super) fn is_own(&self, name: &str) -> bool {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let is_of_programs = name.ends_with("_proxy") || name.starts_with("npm_");
        self.is_on
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(fits)
            && !is_of_programs
            && !is_special(name)
            && use_of(name, "x") == Use::Unknown
    }

    pub(super) fn assign(&mut self, name: &str, values: &[Word]) {
        let is_known = self.known.contains_key(name) || self.known.len() < MOST_NAMES;
        let fits = (1..=MOST_VALUES).contains(&values.len()) && is_known;
        if !self.is_on || !fits || is_special(name) {
            self.known.remove(name);
            return;
        }
        let is_shown = |value: &Word| {
            (value.exact || value.own) && value.text.len() <= LONGEST && !value.text.contains('\n')
        };
        let mut kept: Vec<Word> = Vec::new();
        for value in values {
            let shown = if is_shown(value) {
                value.clone()
            } else {
                made(name, value.own)
            };
            if !kept.contains(&shown) {
                kept.push(shown);
            }
        }
        self.known.insert(name.to_owned(), kept);
    }

    /// Assigns a text that the script reads. Where its file cannot be opened, a variable of the environment stays as it is.
    pub(super) fn read(&mut self, name: &str) {
        self.assign(name, &[made(name, self.is_own(name))]);
    }

    pub(super) fn forget(&mut self, names: &BTreeSet<String>) {
        self.known.retain(|name, _| !names.contains(name));
    }

    /// Either these values or others, by what the script does.
    pub(super) fn join(&mut self, other: &Self) {
        self.known.retain(|name, values| {
            let others = other.known.get(name);
            for value in others.into_iter().flatten() {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            others.is_some() && values.len() <= MOST_VALUES
        });
    }

    /// The ways in which the values of the variables in some words, as they are written, go together.
    pub(super) fn choices(&self, raw: &[&str]) -> Vec<Choice> {
        let mut choices = vec![Choice::new()];
        let uses: usize = raw.iter().map(|word| word.matches('$').count()).sum();
        if uses > MOST_USES {
            return choices;
        }
        for (name, values) in &self.known {
            let signs = [format!("${name}"), format!("${{{name}")];
            let is_used = |word: &&str| signs.iter().any(|sign| word.contains(sign));
            if !raw.iter().any(is_used) {
                continue;
            }
            let values = if choices.len() * values.len() > MOST_VALUES {
                vec![made(name, values.iter().all(|value| value.own))]
            } else {
                values.clone()
            };
            let with_each = |choice: &Choice| {
                let each = values.iter().map(|value| {
                    let mut more = choice.clone();
                    more.insert(name.clone(), value.clone());
                    more
                });
                each.collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(with_each).collect();
        }
        choices
    }

    /// The words that a word, as it is written, may be.
    pub(super) fn words(&self, raw: &str) -> Vec<Word> {
        let mut words = Vec::new();
        for choice in self.choices(&[raw]) {
            let word = chosen(raw, &choice);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }
}

/// A word with the values of a choice.
pub(super) fn chosen(raw: &str, choice: &Choice) -> Word {
    Word::expanded(raw, &|name| choice.get(name).cloned())
}

/// The values that a word of the list of a loop gives its variable.
pub(super) fn listed(name: &str, word: Word) -> Word {
    // Outside of quotes, an expansion may be several words, and wildcards are names of files.
    let is_shown = word.exact || word.whole || !word.text.contains(['$', '`']);
    if is_shown {
        Word {
            whole: true,
            ..word
        }
    } else {
        made(name, word.own)
    }
}

/// The variables to which a `read` of these words gives values; `None` for other programs.
pub(super) fn read_names(words: &[&str]) -> Option<Vec<String>> {
    given_names(&["read"], words)
}

/// The variables that a program changes: those of the assignments in front of it, and those that are among the words of
/// `read`, `export` and `unset`.
pub(super) fn changed(assigned: &[(&str, &str)], words: &[&str]) -> BTreeSet<String> {
    let assigned = assigned.iter().map(|(name, _)| (*name).to_owned());
    let given = given_names(GIVERS, words).into_iter().flatten();
    assigned.chain(given).collect()
}

/// A value that the text does not show.
fn made(name: &str, own: bool) -> Word {
    Word {
        text: format!("${name}"),
        exact: false,
        whole: true,
        own,
    }
}

/// The names among the words of one of these programs, to which it gives values; `None` for other programs.
fn given_names(programs: &[&str], words: &[&str]) -> Option<Vec<String>> {
    let (program, arguments) = words.split_first()?;
    let is_one = programs.contains(&&*Word::of_script(program).text);
    let names = arguments.iter().filter(|word| **word != "-r");
    let names = names.map(|word| word.split('=').next().unwrap_or(word).to_owned());
    is_one.then(|| names.collect())
}

/// Whether a variable is one of a shell's, in any of them.
fn is_special(name: &str) -> bool {
    name.starts_with("BASH") || name.starts_with("COMP_") || SPECIAL.contains(&name)
}

/// What a part of a script may change.
#[derive(Default)]
pub(super) struct Changes {
    /// The variables to which it may assign.
    pub(super) names: BTreeSet<String>,
    /// Whether it may do more.
    is_unclear: bool,
}

impl Changes {
    pub(super) fn of<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Self {
        let mut changes = Self::default();
        changes.look_at(nodes);
        changes
    }

    fn look_at<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        for node in nodes {
            self.look(node);
        }
    }

    fn look(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => {
                self.look_at(assignments.iter().chain(words).chain(redirects));
                let raw: Vec<_> = words.iter().map(written).collect();
                self.run(&raw);
                let is_read = raw.first() == Some(&"read");
                for assignment in assignments {
                    // `a+=b` and `a[1]=b` have more than a name.
                    let name = written(assignment).split('=').next();
                    let name = name.unwrap_or_default();
                    // In front of `read`, it holds for that alone.
                    if !(is_read && name == "IFS") {
                        self.assign(name);
                    }
                }
            }
            NodeKind::Pipeline { commands, .. } => self.look_at(commands),
            NodeKind::List { items } => self.look_at(commands(items, |_| true)),
            NodeKind::Negation { pipeline: inner }
            | NodeKind::Time {
                pipeline: inner, ..
            } => self.look(inner),
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                self.look_at([&**condition, &**then_body]);
                self.look_at(else_body.as_deref());
                self.look_at(redirects);
            }
            NodeKind::While {
                condition,
                body,
                redirects,
            }
            | NodeKind::Until {
                condition,
                body,
                redirects,
            } => {
                self.look_at([&**condition, &**body]);
                self.look_at(redirects);
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => {
                self.assign(var);
                self.look_at(words.iter().flatten().chain(redirects));
                self.look(body);
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                self.look(word);
                self.look_at(patterns.iter().flat_map(|case| &case.patterns));
                self.look_at(patterns.iter().filter_map(|case| case.body.as_ref()));
                self.look_at(redirects);
            }
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                self.look(body);
                self.look_at(redirects);
            }
            NodeKind::Redirect {
                target,
                varfd: None,
                ..
            } => self.look(target),
            NodeKind::HereDoc {
                content, quoted, ..
            } => self.is_unclear |= !quoted && hides_commands(content),
            _ => self.look_inside(node),
        }
    }

    /// The parts of words, and of `[[ … ]]`.
    fn look_inside(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Word { value, parts, .. } => {
                if !Word::of_script(value).exact {
                    self.look_at(parts);
                }
            }
            NodeKind::WordLiteral { value }
            | NodeKind::BraceExpansion { content: value }
            | NodeKind::CondTerm { value, .. } => {
                self.is_unclear |= hides_commands(value);
            }
            NodeKind::ParamExpansion { param, op, arg } => {
                // Also `${x::=y}` of zsh.
                let assigns = |text: &String| text.contains('=') || hides_commands(text);
                let mut texts = [op, arg].into_iter().flatten();
                self.is_unclear |= !is_parameter(param) || texts.any(assigns);
            }
            NodeKind::ParamLength { param } => self.is_unclear |= !is_parameter(param),
            NodeKind::CommandSubstitution { command, .. }
            | NodeKind::ProcessSubstitution { command, .. } => self.look(command),
            NodeKind::ConditionalExpr { body, redirects } => {
                self.look(body);
                self.look_at(redirects);
            }
            NodeKind::CondAnd { left, right } | NodeKind::CondOr { left, right } => {
                self.look_at([&**left, &**right]);
            }
            // Other tests calculate, and a calculation may assign.
            NodeKind::UnaryTest { op, operand } => {
                self.is_unclear |= !UNARY_TESTS.contains(&&**op);
                self.look(operand);
            }
            NodeKind::BinaryTest { op, left, right } => {
                self.is_unclear |= !TEXT_TESTS.contains(&&**op);
                self.look_at([&**left, &**right]);
            }
            NodeKind::CondNot { operand: inner } | NodeKind::CondParen { inner } => {
                self.look(inner);
            }
            NodeKind::Empty | NodeKind::Comment { .. } | NodeKind::AnsiCQuote { .. } => {}
            _ => self.is_unclear = true,
        }
    }

    fn assign(&mut self, name: &str) {
        // A shell acts by it: it splits words, finds programs or a home.
        self.is_unclear |= !is_name(name) || is_special(name);
        self.names.insert(name.to_owned());
    }

    /// What a program may change in the shell that runs it.
    fn run(&mut self, words: &[&str]) {
        let Some((first, arguments)) = words.split_first() else {
            return;
        };
        let program = Word::of_script(first);
        let operand = arguments.first().map(|word| Word::of_script(word));
        let is_first = |text: &str| operand.as_ref().is_some_and(|word| word.text == text);
        self.is_unclear |= match &*program.text {
            _ if !program.exact => true,
            "read" => arguments.iter().any(|word| *word != "-r" && !is_name(word)),
            "unset" => !arguments.iter().all(|word| is_name(word)),
            "set" => !arguments.iter().all(|word| SET.contains(word)),
            "export" => arguments.iter().any(|word| word.starts_with('-')),
            // `-p` names one.
            "wait" => arguments
                .iter()
                .any(|word| *word != "$!" && !is_number(word)),
            "command" => !is_first("-v") && !is_first("-V"),
            "printf" => operand.as_ref().is_some_and(|word| {
                !word.exact || word.text.starts_with('-') || counts(&word.text)
            }),
            name => CHANGERS.contains(&name),
        };
        for name in given_names(GIVERS, words).into_iter().flatten() {
            self.assign(&name);
        }
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a format of `printf` may give a variable the number of characters so far: `%n`.
fn counts(format: &str) -> bool {
    let plain = format.replace("%%", "");
    let mut conversions = plain.split('%').skip(1);
    conversions.any(|conversion| {
        let is_before = |c: char| !c.is_ascii_alphabetic() || "hjlLtz".contains(c);
        conversion.trim_start_matches(is_before).starts_with('n')
    })
}

/// The commands of a list, in order. The parser puts each but the last two into another list: those that `is_part` are
/// taken apart, too.
pub(super) fn commands(items: &[ListItem], is_part: impl Fn(&[ListItem]) -> bool) -> Vec<&Node> {
    let mut left = items;
    let mut found = Vec::new();
    while let [first, rest @ ..] = left {
        found.extend(rest.iter().rev().map(|item| &item.command));
        left = match &first.command.kind {
            NodeKind::List { items } if is_part(items) => &items[..],
            _ => {
                found.push(&first.command);
                &[]
            }
        };
    }
    found.reverse();
    found
}

/// A word as it is written.
pub(super) fn written(node: &Node) -> &str {
    match &node.kind {
        NodeKind::Word { value, .. } => value,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use crate::command::script::Script;

    /// The programs of a script, with their words.
    fn programs(script: &str) -> Vec<String> {
        let commands = Script::read(script).commands.into_iter();
        let programs = commands.filter(|command| !command.words.is_empty());
        let texts = programs.map(|command| {
            let words: Vec<_> = command.words.into_iter().map(|word| word.text).collect();
            words.join(" ")
        });
        texts.collect()
    }

    #[test]
    fn a_value_is_put_in_its_place_where_no_other_is_possible() {
        for (script, expected) in [
            ("x=a; cat $x", &["cat a"][..]),
            ("x=a && cat ${x}b", &["cat ab"]),
            ("x=a; x=b; cat $x", &["cat b"]),
            ("x=a y=$x; cat $y", &["cat a"]),
            ("x='a b'; cat $x \"$x\"", &["cat $x a b"]),
            (
                "for f in a b; do cat \"$f.c\"; done",
                &["cat a.c", "cat b.c"],
            ),
            (
                "for f in a b; do cp $f $f.old; done",
                &["cp a a.old", "cp b b.old"],
            ),
            ("for f in *.c; do cat $f \"$f\"; done", &["cat $f *.c"]),
            (
                "if ls; then x=a; else x=b; fi; cat $x",
                &["ls", "cat b", "cat a"],
            ),
            ("if ls; then x=a; fi; cat $x", &["ls", "cat $x"]),
            ("x=a; ls || x=b; cat $x", &["ls", "cat b", "cat a"]),
            (
                "x=a; ls | read x; cat $x",
                &["ls", "read x", "cat $x", "cat a"],
            ),
            ("x=a; (x=b; ls $x); cat $x", &["ls b", "cat a"]),
            ("x=b & ls; cat $x", &["ls", "cat $x"]),
            ("while ls; do cat $x; x=a; done", &["ls", "cat $x"]),
            ("x=a; cat $(ls $x)", &["ls a", "cat $(ls $x)"]),
            ("dir=$(pwd); ls \"$dir/a\"", &["pwd", "ls $(pwd)/a"]),
            ("x=a cat $x", &["cat $x"]),
            ("x=a; cat $x:h \"$x[1]\"", &["cat $x:h $x[1]"]),
            ("x=a; f() { ls; }; cat $x", &["ls", "cat $x"]),
            ("x=a; IFS=b; cat $x", &["cat $x"]),
            ("x=a; : ${x:=b}; cat $x", &[": ${x:=b}", "cat $x"]),
            ("x=a; IFS=: read y; cat $x", &["read y", "cat a"]),
            ("$x y; x=a; cat $x", &["$x y", "cat $x"]),
            ("x=b; x=a y=$(ls $x)", &["ls a"]),
            ("x=a; x=b cat $x", &["cat $x"]),
            ("x=a; x=b cat $(ls $x)", &["ls $x", "cat $(ls $x)"]),
            ("x=a; x+=b; cat $x", &["cat $x"]),
            (
                "x=; : {b,${x:=c}}; cat \"$x\"",
                &[": {b,${x:=c}}", "cat $x"],
            ),
            ("x=a; printf 'b%5n' x; cat $x", &["printf b%5n x", "cat $x"]),
            ("x=a; printf '%s n' $x; cat $x", &["printf %s n a", "cat a"]),
            ("x=a; time x=b; cat $x", &["cat b", "cat a"]),
            ("x=a..c; cat {$x} a$x", &["cat {$x} aa..c"]),
            ("x=a; cat $x{1,2} {$x,b}$x", &["cat $x{1,2} {$x,b}$x"]),
            ("x=a; y=b; cat ${x}/$y ${x}{1,2}", &["cat a/b a{1,2}"]),
            ("x=a; cat ${y}/$x", &["cat ${y}/a"]),
            ("x=a; wait $y; cat $x", &["wait $y", "cat $x"]),
            ("x=a; wait $!; cat $x", &["wait $!", "cat a"]),
            ("x=a; echo $y[x=1]; cat $x", &["echo $y[x=1]", "cat $x"]),
            ("x=a:=b; y=c; cat \"$x\" $yé", &["cat $x $yé"]),
        ] {
            assert_eq!(programs(script), expected, "{script}");
        }
    }

    #[test]
    fn what_a_variable_holds_before_a_command_names_the_files_that_it_opens() {
        for (script, expected) in [
            ("x=a; ls > $x", &["a"][..]),
            ("x=a; { x=b; } > $x", &["a"]),
            ("x=a; (x=b) > $x", &["a"]),
            ("x=a; if ls; then x=b; fi > $x", &["a"]),
            ("x=a; while ls; do x=b; done > $x", &["a"]),
            ("x=a; for x in b; do ls; done > $x", &["a"]),
            ("x=a; case a in a) x=b;; esac > $x", &["a"]),
            // Shells do not agree.
            ("x=a; x=b > $x", &["b", "a"]),
            ("x=a; x=b ls > $x", &["$x"]),
            ("x=a; export x=b > $x", &["$x"]),
        ] {
            let files = Script::read(script).files.into_iter();
            let found: Vec<_> = files.map(|file| file.text).collect();
            assert_eq!(found, expected, "{script}");
        }
    }
}
