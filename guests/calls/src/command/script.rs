//! A command line, parsed as a POSIX shell or bash would. Syntax that the two interpret differently, or that hides a
//! part, makes the line unclear; nothing is guessed.

use rable::{Node, NodeKind};

use super::programs::{TEXT_TESTS, UNARY_TESTS};
use super::word::{Word, has_unclear_quotes, is_subscript_with_blanks};

/// The longest command line that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The maximum number of nested constructs. The parser recurses for each.
const MOST_OPENINGS: usize = 48;

/// The maximum number of simple commands. A line with more is unclear.
const MOST_COMMANDS: usize = 1024;

/// The commands of a command line, and the files of its redirections.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub commands: Vec<SimpleCommand>,
    /// The files of redirections.
    pub files: Vec<Word>,
    /// Whether programs may run that are not among the commands.
    pub unclear: bool,
    /// Whether the text of some input depends on variables.
    pub has_variables: bool,
    /// Why no rule may allow it, although all that it runs is among the commands.
    pub doubt: Option<&'static str>,
}

/// A simple command (POSIX.1-2024, Shell Command Language, 2.9.1), without its redirections.
#[derive(Clone, Debug, Default)]
pub struct SimpleCommand {
    pub assignments: Vec<(String, Word)>,
    pub words: Vec<Word>,
    /// Whether the program gets further words that are not in the text.
    pub more: bool,
    /// Whether another program calls it, with what it is to run: a shell, or `ssh`.
    pub is_called: bool,
    /// The texts of its here-documents and here-strings.
    pub input: Vec<Word>,
    /// Whether another command gets what it prints: in a pipe, or in a substitution.
    pub is_piped: bool,
}

impl SimpleCommand {
    pub fn of(words: Vec<Word>) -> Self {
        Self {
            words,
            ..Self::default()
        }
    }
}

impl Script {
    pub fn unclear() -> Self {
        Self {
            unclear: true,
            ..Self::default()
        }
    }

    pub fn read(text: &str) -> Self {
        let Some(nodes) = parse(text) else {
            return Self::unclear();
        };
        let mut script = Self::default();
        script.add_all(&nodes);
        script.bound();
        script
    }

    /// Adds the commands of a script that this one runs, with these assignments.
    pub fn run(&mut self, script: Self, assignments: &[(String, Word)]) {
        self.unclear |= script.unclear;
        self.has_variables |= script.has_variables;
        self.doubt = self.doubt.or(script.doubt);
        self.files.extend(script.files);
        let with = |mut command: SimpleCommand| {
            command.assignments.splice(..0, assignments.iter().cloned());
            command
        };
        self.commands.extend(script.commands.into_iter().map(with));
        self.bound();
    }

    fn bound(&mut self) {
        self.unclear |= self.commands.len() > MOST_COMMANDS;
        self.commands.truncate(MOST_COMMANDS);
    }

    fn add_all<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        for node in nodes {
            self.add(node);
        }
    }

    fn add(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Command {
                assignments,
                words,
                redirects,
            } => self.add_command(assignments, words, redirects),
            NodeKind::Pipeline { commands, .. } => {
                if let Some((last, before)) = commands.split_last() {
                    self.add_piped(before);
                    self.add(last);
                }
            }
            NodeKind::List { items } => self.add_all(items.iter().map(|item| &item.command)),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => self.add(pipeline),
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                let parts = [&**condition, &**then_body].into_iter();
                self.add_group(parts.chain(else_body.as_deref()), redirects);
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
            } => self.add_group([&**condition, &**body], redirects),
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => {
                // A loop assigns: `for PATH in …`.
                let values = words.iter().flatten().map(|word| self.word(word));
                let assignments = values.map(|value| (var.clone(), value)).collect();
                self.commands.push(SimpleCommand {
                    assignments,
                    ..SimpleCommand::default()
                });
                self.add_group([&**body], redirects);
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                let cases = patterns.iter().flat_map(|case| &case.patterns);
                for word in [&**word].into_iter().chain(cases) {
                    self.word(word);
                }
                let bodies = patterns.iter().flat_map(|case| &case.body);
                self.add_group(bodies, redirects);
            }
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                self.add_group([&**body], redirects);
            }
            NodeKind::Redirect {
                op,
                target,
                varfd: None,
                ..
            } => self.add_redirection(op, target),
            NodeKind::HereDoc {
                delimiter,
                content,
                quoted,
                complete,
                ..
            } => {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                self.unclear |= !complete || delimiter.is_empty() || !delimiter.chars().all(plain);
                self.unclear |= !quoted && hides_commands(content);
                self.has_variables |= !quoted && content.contains('$');
            }
            NodeKind::Empty | NodeKind::Comment { .. } => {}
            NodeKind::Function { body, .. } => {
                self.doubt = Some("it defines a function");
                self.add(body);
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                self.add_condition(body, true);
                self.add_all(redirects);
            }
            // Syntax of bash only: another shell runs other commands for the same text.
            NodeKind::Coproc { command: body, .. }
            | NodeKind::ForArith { body, .. }
            | NodeKind::Select { body, .. } => {
                self.unclear = true;
                self.add(body);
            }
            _ => self.unclear = true,
        }
    }

    /// Adds commands of which others get what they print.
    fn add_piped<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        let from = self.commands.len();
        self.add_all(nodes);
        for command in &mut self.commands[from..] {
            command.is_piped = true;
        }
    }

    /// `[[ … ]]`, which a shell that lacks it takes for a program of this name, and each part behind a `&&` in it for
    /// another one.
    fn add_condition(&mut self, node: &Node, is_first: bool) {
        self.doubt = Some("it has `[[`, which not every shell knows");
        let mut words = match &node.kind {
            NodeKind::CondNot { operand } => return self.add_condition(operand, is_first),
            NodeKind::CondAnd { left, right } | NodeKind::CondOr { left, right } => {
                self.add_condition(left, is_first);
                return self.add_condition(right, false);
            }
            NodeKind::UnaryTest { op, operand } if UNARY_TESTS.contains(&&**op) => {
                vec![Word::exact(op), self.term(operand)]
            }
            NodeKind::BinaryTest { op, left, right } if TEXT_TESTS.contains(&&**op) => {
                vec![self.term(left), Word::exact(op), self.term(right)]
            }
            // Numbers are calculated, and what is compared by `<` may be a file.
            _ => {
                self.unclear = true;
                return;
            }
        };
        if is_first {
            words.insert(0, Word::exact("[["));
        } else if let [_, operand] = &words[..] {
            // `[[ $X ]]` is read as `[[ -n $X ]]`.
            let alone = vec![operand.clone()];
            self.commands.push(SimpleCommand::of(alone));
        }
        self.commands.push(SimpleCommand::of(words));
    }

    fn term(&mut self, node: &Node) -> Word {
        let NodeKind::CondTerm { value, .. } = &node.kind else {
            self.unclear = true;
            return Word::unknown();
        };
        self.unclear |= hides_commands(value) || has_unclear_quotes(value);
        Word::of_script(value)
    }

    /// Adds the commands of a group, each of which may read the input of the group: `{ python3; } <<EOF`.
    fn add_group<'n>(&mut self, parts: impl IntoIterator<Item = &'n Node>, redirects: &[Node]) {
        let from = self.commands.len();
        self.add_all(parts);
        let given: Vec<_> = redirects.iter().filter_map(input).collect();
        let inner = self.commands[from..].iter_mut();
        for command in inner.filter(|command| command.input.is_empty()) {
            command.input.clone_from(&given);
        }
        self.add_all(redirects);
    }

    fn add_command(&mut self, assignments: &[Node], words: &[Node], redirects: &[Node]) {
        let mut command = SimpleCommand::default();
        for assignment in assignments {
            command.assignments.extend(self.assignment(assignment));
        }
        command.words = words.iter().map(|word| self.word(word)).collect();
        command.input = redirects.iter().filter_map(input).collect();
        self.add_all(redirects);
        // Where `&>` is unknown, the command ends at the `&`, and words behind the file are another.
        let both = |node: &&Node| matches!(&node.kind, NodeKind::Redirect { op, .. } if op.starts_with('&'));
        let both = redirects.iter().filter(both);
        let ends = both.map(|node| node.span.start).min();
        self.unclear |= ends.is_some_and(|end| words.iter().any(|word| word.span.start > end));
        if !command.words.is_empty() || !command.assignments.is_empty() {
            self.commands.push(command);
        }
    }

    fn add_redirection(&mut self, op: &str, target: &Node) {
        let word = self.word(target);
        let duplicates = matches!(op, ">&" | "<&")
            && (word.text == "-" || word.text.chars().all(|c| c.is_ascii_digit()));
        if op == "<<<" {
            self.has_variables |= !word.exact;
        } else if !duplicates {
            self.files.push(word);
        }
    }

    /// An assignment; `None` if it is not one in every shell (`a+=b`, `a[1]=b`).
    fn assignment(&mut self, node: &Node) -> Option<(String, Word)> {
        let NodeKind::Word { value, .. } = &node.kind else {
            self.unclear = true;
            return None;
        };
        self.word(node);
        let split = value.split_once('=');
        let assignment = split.filter(|(name, _)| is_name(name));
        self.unclear |= assignment.is_none();
        // A `~` at the start of the value, too, stands for a directory.
        assignment.map(|(name, value)| (name.to_owned(), Word::of_script(value)))
    }

    fn word(&mut self, node: &Node) -> Word {
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            self.unclear = true;
            return Word::unknown();
        };
        let word = Word::of_script(value);
        self.unclear |= is_subscript_with_blanks(value) || has_unclear_quotes(value);
        if !word.exact {
            for part in parts {
                self.add_part(part);
            }
        }
        word
    }

    /// Adds the commands that a part of a word runs.
    fn add_part(&mut self, part: &Node) {
        match &part.kind {
            NodeKind::CommandSubstitution { command, .. }
            | NodeKind::ProcessSubstitution { command, .. } => self.add_piped([&**command]),
            NodeKind::WordLiteral { value } | NodeKind::BraceExpansion { content: value } => {
                self.unclear |= hides_commands(value);
            }
            NodeKind::ParamExpansion { param, op, arg } => {
                // An index is calculated, and `@P` evaluates what the variable holds.
                let hides = |text: &String| hides_commands(text) || text.contains(['@', '[']);
                let is_special = param.len() == 1;
                self.unclear |= !is_special && hides(param);
                self.unclear |= [op, arg].into_iter().flatten().any(hides);
            }
            NodeKind::ParamLength { param } => self.unclear |= hides_commands(param),
            NodeKind::AnsiCQuote { .. } => {}
            _ => self.unclear = true,
        }
    }
}

/// The syntax of a command line; `None` if it is too long or too deep, cannot be parsed, or has characters that shells
/// read differently.
pub fn parse(text: &str) -> Option<Vec<Node>> {
    let odd = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || c == char::REPLACEMENT_CHARACTER
            || (!c.is_ascii() && c.is_whitespace())
    };
    // The parser recurses for each of these, too.
    let separators = text.matches([';', '&', '|']).count();
    let is_deep = openings(text) > MOST_OPENINGS || separators > MOST_COMMANDS;
    if text.len() > LONGEST || text.contains(odd) || is_deep {
        return None;
    }
    rable::parse(text, false).ok()
}

/// The text that a redirection hands to a command.
fn input(redirection: &Node) -> Option<Word> {
    match &redirection.kind {
        NodeKind::HereDoc {
            content, quoted, ..
        } => {
            let exact = *quoted || !content.contains(['$', '`', '\\']);
            let text = content.clone();
            let whole = true;
            Some(Word { text, exact, whole })
        }
        NodeKind::Redirect { op, target, .. } if op == "<<<" => match &target.kind {
            NodeKind::Word { value, .. } => Some(Word::of_script(value)),
            _ => None,
        },
        _ => None,
    }
}

/// The number of opening brackets and keywords, quoted or not.
fn openings(text: &str) -> usize {
    const KEYWORDS: &[&str] = &[
        "!", "case", "coproc", "do", "elif", "else", "for", "function", "if", "select", "then",
        "time", "until", "while",
    ];
    let words = text.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    let keywords = words.filter(|word| KEYWORDS.contains(word)).count();
    let signs = ["(", "`", "${", "$[", "[[", "{ ", "{\t", "{\n"];
    let signs = signs.iter().map(|sign| text.matches(sign).count());
    keywords + signs.sum::<usize>()
}

/// Whether a text has the beginning of a substitution that runs commands.
fn hides_commands(text: &str) -> bool {
    ["`", "$(", "${", "$[", "<(", ">("]
        .iter()
        .any(|start| text.contains(start))
}

/// Whether a variable may have this name.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word sets a variable, for a program that takes such words.
pub fn assigned(text: &str) -> Option<(String, Word)> {
    let (name, value) = text.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), Word::exact(value)))
}
