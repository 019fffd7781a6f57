//! The part of Starlark in which rules of Codex are written: calls with literals.

/// A call at the top level of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// The arguments by their names; of one without a name, the name is its place, counted from 0.
    pub(crate) arguments: Vec<(String, Literal)>,
}

impl Call {
    /// The argument with this name, or in this place.
    pub(crate) fn argument(&self, name: &str, place: usize) -> Option<&Literal> {
        let place = place.to_string();
        let mut arguments = self.arguments.iter();
        let (_, value) = arguments.find(|(own, _)| own == name || *own == place)?;
        Some(value)
    }

    /// Whether there is an argument with this name, and another one in its place.
    pub(crate) fn is_twice(&self, name: &str, place: usize) -> bool {
        let place = place.to_string();
        let has = |name: &str| self.arguments.iter().any(|(own, _)| own == name);
        has(name) && has(&place)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    List(Vec<Self>),
    /// A number, or a name such as `True`.
    Other(String),
}

/// Why a text is no such file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotRead {
    pub(crate) line: usize,
    pub(crate) wrong: &'static str,
}

/// How deep lists are.
const DEEPEST: usize = 8;
/// How many arguments a call has.
const MOST_ARGUMENTS: usize = 64;

/// How often reading goes on behind something that is not read.
const MOST_GAPS: usize = 64;
/// How a line begins where it goes on.
const RULE: &str = "\nprefix_rule";

/// Reads the calls of a file, and the first thing that is no call with literals. Behind that, reading goes on at the next
/// rule, which may deny.
pub(crate) fn calls(text: &str) -> (Vec<Call>, Option<NotRead>) {
    let mut reader = Reader {
        rest: text,
        line: 1,
    };
    let mut calls = Vec::new();
    let mut not_read = None;
    let mut gaps = 0;
    loop {
        reader.skip_blanks();
        while reader.eat(";") {
            reader.skip_blanks();
        }
        if reader.rest.is_empty() {
            return (calls, not_read);
        }
        let (rest, first) = (reader.rest, reader.line);
        match reader.call() {
            Ok(call) => calls.push(call),
            Err(wrong) => {
                let line = reader.line;
                not_read = not_read.or(Some(NotRead { line, wrong }));
                gaps += 1;
                let next = rest.find(RULE).filter(|_| gaps < MOST_GAPS);
                let Some(next) = next else {
                    return (calls, not_read);
                };
                (reader.rest, reader.line) = (rest, first);
                reader.take(next + 1);
            }
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Reader<'t> {
    /// Takes this many bytes.
    fn take(&mut self, count: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(count);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest.starts_with(text);
        if is_next {
            self.take(text.len());
        }
        is_next
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if !self.rest.starts_with('#') {
                return;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    fn name(&mut self) -> Option<&'t str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self
            .rest
            .find(|c: char| !is_part(c))
            .unwrap_or(self.rest.len());
        (end > 0).then(|| self.take(end))
    }

    /// Takes the name of an argument, with the `=` behind it. Nothing is taken if it has none.
    fn argument_name(&mut self) -> Option<&'t str> {
        let (rest, line) = (self.rest, self.line);
        let name = self.name();
        self.skip_blanks();
        if name.is_some() && self.eat("=") {
            return name;
        }
        (self.rest, self.line) = (rest, line);
        None
    }

    fn call(&mut self) -> Result<Call, &'static str> {
        const NO_CALL: &str =
            "this is no call with literals, such as `prefix_rule(pattern = [\"git\"])`";
        let line = self.line;
        let name = self.name().ok_or(NO_CALL)?.to_owned();
        self.skip_blanks();
        if !self.eat("(") {
            return Err(NO_CALL);
        }
        let mut arguments: Vec<(String, Literal)> = Vec::new();
        let mut has_names = false;
        loop {
            self.skip_blanks();
            if self.eat(")") {
                break;
            }
            let place = arguments.len();
            let argument = match self.argument_name() {
                Some(name) => name.to_owned(),
                None if has_names => return Err("this argument has no name"),
                None => place.to_string(),
            };
            has_names |= argument != place.to_string();
            if arguments.iter().any(|(name, _)| *name == argument) {
                return Err("this argument occurs twice");
            }
            if arguments.len() >= MOST_ARGUMENTS {
                return Err("this call has too many arguments");
            }
            let value = self.literal(DEEPEST)?;
            arguments.push((argument, value));
            self.skip_blanks();
            if !self.eat(",") && !self.rest.starts_with(')') {
                return Err("this value is no literal");
            }
        }
        Ok(Call {
            name,
            line,
            arguments,
        })
    }

    fn literal(&mut self, depth: usize) -> Result<Literal, &'static str> {
        self.skip_blanks();
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.eat(open) {
                return self.list(close, depth);
            }
        }
        let is_raw = self.rest.starts_with("r\"") || self.rest.starts_with("r'");
        if is_raw {
            self.take(1);
        }
        if self.rest.starts_with(['"', '\'']) {
            return self.string(is_raw).map(Literal::Text);
        }
        let name = self.name().ok_or("this value is no literal")?;
        Ok(Literal::Other(name.to_owned()))
    }

    fn list(&mut self, close: &str, depth: usize) -> Result<Literal, &'static str> {
        if depth == 0 {
            return Err("these lists are nested too deeply");
        }
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat(close) {
                return Ok(Literal::List(items));
            }
            items.push(self.literal(depth - 1)?);
            self.skip_blanks();
            if !self.eat(",") && !self.rest.starts_with(close) {
                return Err("this value is no literal");
            }
        }
    }

    fn string(&mut self, is_raw: bool) -> Result<String, &'static str> {
        const UNCLOSED: &str = "this text has no end";
        let one = &self.rest[..1];
        let three = one.repeat(3);
        let quote = if self.rest.starts_with(&three) {
            three
        } else {
            one.to_owned()
        };
        self.take(quote.len());
        let mut text = String::new();
        loop {
            if self.eat(&quote) {
                return Ok(text);
            }
            let c = self.rest.chars().next().ok_or(UNCLOSED)?;
            self.take(c.len_utf8());
            match c {
                '\n' if quote.len() == 1 => return Err(UNCLOSED),
                '\\' => {
                    let next = self.rest.chars().next().ok_or(UNCLOSED)?;
                    self.take(next.len_utf8());
                    match (is_raw, next) {
                        (true, next) => text.extend(['\\', next]),
                        (false, '\n') => {}
                        (false, 'n') => text.push('\n'),
                        (false, 't') => text.push('\t'),
                        (false, 'r') => text.push('\r'),
                        (false, '\\' | '"' | '\'') => text.push(next),
                        (false, _) => return Err("this escape is not read"),
                    }
                }
                c => text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Literal {
        Literal::Text(text.to_owned())
    }

    #[test]
    fn calls_are_read_with_their_lines() {
        let (calls, wrong) = calls(
            "# a comment\n\nprefix_rule(\n  pattern = [\"git\", ['log', r'\\d'],],  # more\n  decision=\"allow\",\n)\n\
             f(); g(x = (\"\"\"a\nb\"\"\",), y = True)",
        );
        assert_eq!(wrong, None);
        let names: Vec<_> = calls.iter().map(|call| (&*call.name, call.line)).collect();
        assert_eq!(names, [("prefix_rule", 3), ("f", 7), ("g", 7)]);
        let pattern = Literal::List(vec![
            text("git"),
            Literal::List(vec![text("log"), text("\\d")]),
        ]);
        assert_eq!(calls[0].arguments[0], ("pattern".to_owned(), pattern));
        assert_eq!(calls[2].arguments[1].1, Literal::Other("True".to_owned()));
    }

    #[test]
    fn arguments_without_names_are_known_by_their_places() {
        let (calls, wrong) = calls("f([\"rm\"], decision = \"forbidden\")");
        assert_eq!(wrong, None);
        let pattern = Literal::List(vec![text("rm")]);
        assert_eq!(calls[0].argument("pattern", 0), Some(&pattern));
        assert_eq!(calls[0].argument("decision", 1), Some(&text("forbidden")));
        assert_eq!(calls[0].argument("match", 2), None);
        assert!(!calls[0].is_twice("decision", 1) && calls[0].is_twice("decision", 0));
    }

    #[test]
    fn rules_behind_what_is_not_read_are_read() {
        let file = "f()\nprefix_rule(pattern = [x for x in y])\nprefix_rule(\n  pattern = [\"rm\"],\n)\n\
                    if a:\n    b()\nprefix_rule(a = \"\"\"\nprefix_rule(b = 1)\n";
        let (calls, wrong) = calls(file);
        assert_eq!(wrong.map(|wrong| wrong.line), Some(2));
        let read: Vec<_> = calls.iter().map(|call| (&*call.name, call.line)).collect();
        assert_eq!(read, [("f", 1), ("prefix_rule", 3), ("prefix_rule", 9)]);
        let (_, wrong) = super::calls(&"prefix_rule(\"\n".repeat(100_000));
        assert!(wrong.is_some());
    }

    #[test]
    fn what_is_no_call_with_literals_is_told_with_its_line() {
        for (file, line) in [
            ("f()\nx = 1", 2),
            ("f(a = 1, 2)", 1),
            ("f(*a)", 1),
            ("f(a = b + c)", 1),
            ("f(a = \"b\" + \"c\")", 1),
            ("f(a = [x for x in y])", 1),
            ("f(\na = \"b\n\")", 3),
            ("f(a = \"\\x41\")", 1),
            ("f(a = 1, a = 2)", 1),
            ("f(", 1),
            ("f(a = [[[[[[[[[[1]]]]]]]]]])", 1),
            ("é", 1),
        ] {
            let (_, wrong) = calls(file);
            assert_eq!(wrong.map(|wrong| wrong.line), Some(line), "{file}");
        }
        let arguments: Vec<_> = (0..100).map(|number| format!("a{number} = 1")).collect();
        let (_, wrong) = calls(&format!("f({})", arguments.join(", ")));
        assert!(wrong.is_some());
    }
}
