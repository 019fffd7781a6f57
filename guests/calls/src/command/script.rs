//! A command line, parsed as a POSIX shell or bash would. Syntax that the two interpret differently, or that hides a
//! part, makes the line unclear; nothing is guessed.

use rable::{ListItem, ListOperator, Node, NodeKind};

use super::parameter::is_parameter;
use super::programs::{TEXT_TESTS, UNARY_TESTS};
use super::values::{Changes, Values, changed, chosen, commands, listed, read_names, written};
use super::word::{Word, has_unclear_parts, is_subscript_with_blanks};

/// The longest command line that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The maximum number of nested constructs. The parser recurses for each.
const MOST_OPENINGS: usize = 48;

/// The maximum number of simple commands. A line with more is unclear.
const MOST_COMMANDS: usize = 1024;

/// Of how many assignments side by side, and of how many words of a loop, the values are followed.
const MOST_ASSIGNED: usize = 64;

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
    /// The values of its variables at the place up to which it is read.
    pub(super) values: Values,
}

/// A simple command (POSIX.1-2024, Shell Command Language, 2.9.1), without its redirections.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
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
    /// Whether it does no more than give values to variables of the script, which no program gets.
    pub is_own: bool,
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

    /// Reads what a shell of its own runs.
    pub fn read(text: &str) -> Self {
        Self::of(text, Values::of)
    }

    /// Reads what is run within another script, which may have said how words are split.
    pub fn read_within(text: &str) -> Self {
        Self::of(text, |_| Values::default())
    }

    fn of(text: &str, values: impl FnOnce(&[Node]) -> Values) -> Self {
        let Some(nodes) = parse(text) else {
            return Self::unclear();
        };
        let script = Self::of_nodes(&nodes, values(&nodes));
        if script.unclear {
            // What is not read may change any variable.
            return Self::of_nodes(&nodes, Values::default());
        }
        script
    }

    fn of_nodes(nodes: &[Node], values: Values) -> Self {
        let mut script = Self {
            values,
            ..Self::default()
        };
        script.add_all(nodes);
        script.values = Values::default();
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
            command.is_own &= assignments.is_empty();
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
                    // Some shells run it as a part of themselves.
                    self.add_perhaps(last);
                }
            }
            NodeKind::List { items } => self.add_list(items),
            NodeKind::Negation { pipeline } => self.add(pipeline),
            NodeKind::Time { pipeline, .. } => {
                // In some shells, this is a program, which runs another one.
                let from = self.commands.len();
                self.add_perhaps(pipeline);
                for command in &mut self.commands[from..] {
                    command.is_own = false;
                }
            }
            NodeKind::Subshell { body, redirects } => {
                let outer = self.values.clone();
                self.add_group([&**body], redirects);
                self.values = outer;
            }
            NodeKind::BraceGroup { body, redirects } => self.add_group([&**body], redirects),
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
            _ => self.add_branches(node),
        }
    }

    /// Adds commands of which some may not run, or run several times.
    fn add_branches(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::If {
                condition,
                then_body,
                else_body,
                redirects,
            } => {
                let from = self.begin(redirects);
                self.add(condition);
                let tested = self.values.clone();
                self.add(then_body);
                let then = std::mem::replace(&mut self.values, tested);
                self.add_all(else_body.as_deref());
                self.values.join(&then);
                self.end(from, redirects);
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
                let parts = [&**condition, &**body];
                let changes = Changes::of(parts);
                let from = self.begin(redirects);
                self.values.forget(&changes.names);
                self.add_all(parts);
                self.values.forget(&changes.names);
                self.end(from, redirects);
            }
            NodeKind::For {
                var,
                words,
                body,
                redirects,
            } => {
                let changes = Changes::of([node]);
                let from = self.begin(redirects);
                let values = self.list(var, words.as_deref().unwrap_or_default());
                self.values.forget(&changes.names);
                self.values.assign(var, &values);
                self.add(body);
                self.values.forget(&changes.names);
                self.end(from, redirects);
            }
            NodeKind::Case {
                word,
                patterns,
                redirects,
            } => {
                let from = self.begin(redirects);
                let cases = patterns.iter().flat_map(|case| &case.patterns);
                for word in [&**word].into_iter().chain(cases) {
                    self.word(word);
                }
                // One may go on with the next.
                let changes = Changes::of([node]);
                for body in patterns.iter().flat_map(|case| &case.body) {
                    self.values.forget(&changes.names);
                    self.add(body);
                }
                self.values.forget(&changes.names);
                self.end(from, redirects);
            }
            _ => self.unclear = true,
        }
    }

    /// Adds commands of which others get what they print, each in a shell of its own.
    fn add_piped<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        let from = self.commands.len();
        let outer = self.values.clone();
        for node in nodes {
            self.add(node);
            self.values.clone_from(&outer);
        }
        for command in &mut self.commands[from..] {
            command.is_piped = true;
        }
    }

    /// Adds a command that may not run, or not in this shell.
    fn add_perhaps(&mut self, node: &Node) {
        let before = self.values.clone();
        self.add(node);
        self.values.join(&before);
    }

    /// Adds commands that are joined by operators: two, of which the first may be such a list again.
    fn add_list(&mut self, items: &[ListItem]) {
        let operator = items.first().and_then(|item| item.operator);
        match (operator, items) {
            (Some(ListOperator::And), [left, right]) => {
                let mut stopped = None;
                self.add_while_true(&left.command, &mut stopped);
                let left = self.values.clone();
                self.add(&right.command);
                self.values.join(&left);
                if let Some(stopped) = stopped {
                    self.values.join(&stopped);
                }
            }
            (Some(ListOperator::Or), [left, right]) => {
                self.add(&left.command);
                self.add_perhaps(&right.command);
            }
            (Some(ListOperator::Background), [left, rest @ ..]) => {
                let outer = self.values.clone();
                self.add(&left.command);
                self.values = outer;
                self.add_all(rest.iter().map(|item| &item.command));
            }
            _ => self.add_all(commands(items, is_sequence)),
        }
    }

    /// Adds a part of a list that goes on only if each of its commands has succeeded. `stopped` gets the values that
    /// variables may have if one has not.
    fn add_while_true(&mut self, node: &Node, stopped: &mut Option<Values>) {
        let NodeKind::List { items } = &node.kind else {
            return self.add(node);
        };
        let [left, right] = &items[..] else {
            return self.add(node);
        };
        if left.operator != Some(ListOperator::And) {
            return self.add(node);
        }
        self.add_while_true(&left.command, stopped);
        match stopped {
            Some(known) => known.join(&self.values),
            None => *stopped = Some(self.values.clone()),
        }
        self.add(&right.command);
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
        self.unclear |= hides_commands(value) || has_unclear_parts(value);
        let mut words = self.values.words(value);
        match words.pop() {
            Some(word) if words.is_empty() => word,
            _ => Word::of_script(value),
        }
    }

    /// Adds the commands of a group, each of which may read the input of the group: `{ python3; } <<EOF`.
    fn add_group<'n>(&mut self, parts: impl IntoIterator<Item = &'n Node>, redirects: &[Node]) {
        let from = self.begin(redirects);
        self.add_all(parts);
        self.end(from, redirects);
    }

    /// Adds the redirections of a group, which a shell expands before all that is in it. Returns the number of commands
    /// before the group, and the values that variables have there.
    fn begin(&mut self, redirects: &[Node]) -> (usize, Values) {
        self.add_all(redirects);
        (self.commands.len(), self.values.clone())
    }

    fn end(&mut self, (from, before): (usize, Values), redirects: &[Node]) {
        let given: Vec<_> = redirects.iter().filter_map(input).collect();
        let inner = self.commands[from..].iter_mut();
        for command in inner.filter(|command| command.input.is_empty()) {
            command.input.clone_from(&given);
        }
        // Where a file cannot be opened, the group does not run.
        if !redirects.is_empty() {
            self.values.join(&before);
        }
    }

    fn add_command(&mut self, assignments: &[Node], words: &[Node], redirects: &[Node]) {
        // Where `&>` is unknown, the command ends at the `&`, and words behind the file are another.
        let both = |node: &&Node| matches!(&node.kind, NodeKind::Redirect { op, .. } if op.starts_with('&'));
        let both = redirects.iter().filter(both);
        let ends = both.map(|node| node.span.start).min();
        self.unclear |= ends.is_some_and(|end| words.iter().any(|word| word.span.start > end));
        if words.is_empty() {
            let before = self.values.clone();
            self.assign(assignments);
            if !redirects.is_empty() {
                // Some shells open files first; and where one cannot be opened, some do not assign.
                self.values.join(&before);
                self.add_all(redirects);
            }
            return;
        }
        let given: Vec<_> = assignments.iter().filter_map(assignment).collect();
        self.unclear |= given.len() < assignments.len();
        let raw: Vec<_> = words.iter().map(written).collect();
        // Shells do not agree on what is expanded before these are changed.
        self.values.forget(&changed(&given, &raw));
        for word in assignments.iter().chain(words) {
            self.word(word);
        }
        self.add_all(redirects);
        self.add_program(&given, &raw, redirects);
    }

    /// Adds assignments without a program, each as often as its variable may have another value. Each sees those before
    /// it.
    fn assign(&mut self, assignments: &[Node]) {
        if assignments.len() > MOST_ASSIGNED {
            self.values = Values::default();
        }
        let mut command = SimpleCommand {
            is_own: true,
            ..SimpleCommand::default()
        };
        for node in assignments {
            self.word(node);
            let Some((name, raw)) = assignment(node) else {
                self.unclear = true;
                continue;
            };
            let values = self.values.words(raw);
            command.is_own &= self.is_own(name, &values);
            self.values.assign(name, &values);
            let named = values.into_iter().map(|value| (name.to_owned(), value));
            command.assignments.extend(named);
        }
        if !command.assignments.is_empty() {
            self.commands.push(command);
        }
    }

    /// Whether it matters to no program that a variable gets these values.
    fn is_own(&self, name: &str, values: &[Word]) -> bool {
        self.values.is_own(name) && values.iter().all(|value| value.own)
    }

    /// The values that the list of a loop gives its variable. A loop assigns: `for PATH in …`.
    fn list(&mut self, name: &str, words: &[Node]) -> Vec<Word> {
        let mut values = Vec::new();
        for word in words {
            self.word(word);
            let given = if words.len() > MOST_ASSIGNED {
                vec![Word::of_script(written(word))]
            } else {
                self.values.words(written(word))
            };
            values.extend(given.into_iter().map(|word| listed(name, word)));
        }
        let named = values.iter().map(|value| (name.to_owned(), value.clone()));
        let command = SimpleCommand {
            assignments: named.collect(),
            is_own: self.is_own(name, &values),
            ..SimpleCommand::default()
        };
        self.commands.push(command);
        values
    }

    /// Adds a program, as often as the values of the variables in its words may be others.
    fn add_program(&mut self, given: &[(&str, &str)], raw: &[&str], redirects: &[Node]) {
        let texts: Vec<_> = redirects.iter().filter_map(input).collect();
        // In front of `read`, this holds for that alone.
        let has_own = given.iter().all(|(name, _)| *name == "IFS");
        let are_own = |names: Vec<String>| names.iter().all(|name| self.values.is_own(name));
        let is_own = has_own && read_names(raw).is_some_and(are_own);
        let values = given.iter().map(|(_, value)| *value);
        let all: Vec<_> = raw.iter().copied().chain(values).collect();
        let from = self.commands.len();
        for choice in self.values.choices(&all) {
            let assigned = given
                .iter()
                .map(|(name, value)| ((*name).to_owned(), chosen(value, &choice)));
            let command = SimpleCommand {
                assignments: assigned.collect(),
                words: raw.iter().map(|word| chosen(word, &choice)).collect(),
                input: texts.clone(),
                is_own,
                ..SimpleCommand::default()
            };
            let is_same = |other: &SimpleCommand| {
                other.words == command.words && other.assignments == command.assignments
            };
            if self.commands.len() <= MOST_COMMANDS && !self.commands[from..].iter().any(is_same) {
                self.commands.push(command);
            }
        }
        for name in read_names(raw).into_iter().flatten() {
            self.values.read(&name);
        }
    }

    fn add_redirection(&mut self, op: &str, target: &Node) {
        let word = self.word(target);
        let duplicates = matches!(op, ">&" | "<&")
            && (word.text == "-" || word.text.chars().all(|c| c.is_ascii_digit()));
        if op == "<<<" {
            self.has_variables |= !word.exact;
        } else if !duplicates {
            let files = if self.files.len() > MOST_COMMANDS {
                vec![word]
            } else {
                self.values.words(written(target))
            };
            self.files.extend(files);
        }
    }

    fn word(&mut self, node: &Node) -> Word {
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            self.unclear = true;
            return Word::unknown();
        };
        let word = Word::of_script(value);
        self.unclear |= is_subscript_with_blanks(value) || has_unclear_parts(value);
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
                // An index is calculated, and flags of zsh, and `@P`, evaluate what the variable holds.
                let hides = |text: &String| hides_commands(text) || text.contains(['@', '[']);
                self.unclear |= !is_parameter(param);
                self.unclear |= [op, arg].into_iter().flatten().any(hides);
                // `${x:y}` calculates with what `y` holds.
                let is_number = |c: char| c.is_ascii_digit() || " -:".contains(c);
                let mut places = arg.iter().filter(|_| op.as_deref() == Some(":"));
                self.unclear |= places.any(|place| !place.chars().all(is_number));
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

/// An assignment, as it is written; `None` if it is not one in every shell (`a+=b`, `a[1]=b`).
fn assignment(node: &Node) -> Option<(&str, &str)> {
    let assignment = written(node).split_once('=');
    // A `~` at the start of the value, too, stands for a directory.
    assignment.filter(|(name, _)| is_name(name))
}

/// The text that a redirection hands to a command.
fn input(redirection: &Node) -> Option<Word> {
    match &redirection.kind {
        NodeKind::HereDoc {
            content, quoted, ..
        } => {
            let exact = *quoted || !content.contains(['$', '`', '\\']);
            let text = content.clone();
            Some(Word {
                text,
                exact,
                whole: true,
                own: exact,
            })
        }
        NodeKind::Redirect { op, target, .. } if op == "<<<" => match &target.kind {
            NodeKind::Word { value, .. } => Some(Word::of_script(value)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the commands of a list run one after another, whatever becomes of each.
fn is_sequence(items: &[ListItem]) -> bool {
    let operator = items.first().and_then(|item| item.operator);
    matches!(operator, None | Some(ListOperator::Semi))
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
pub(super) fn hides_commands(text: &str) -> bool {
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
