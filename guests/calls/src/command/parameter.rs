//! What begins with a `$`, or a backquote, in a word: a parameter (POSIX.1-2024, Shell Command Language, 2.6.2), or a
//! substitution.

/// Parameters that are numbers, or letters of options.
const NUMBERS: &[&str] = &["!", "#", "$", "-", "0", "?"];

/// Variables of the environment, and of shells, that are no secrets.
const KNOWN: &[&str] = &[
    "CI",
    "COLUMNS",
    "EUID",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LC_ALL",
    "LINES",
    "LOGNAME",
    "OLDPWD",
    "OSTYPE",
    "PATH",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "UID",
    "USER",
];

/// A parameter: `$name`, `${name}`, `${name%.rs}`.
pub(super) struct Parameter<'t> {
    pub(super) name: &'t str,
    /// What is behind the name in the braces.
    pub(super) operation: &'t str,
    /// How long it is without the `$`, in bytes.
    pub(super) length: usize,
}

impl<'t> Parameter<'t> {
    /// The parameter at the start of a text, which is behind a `$`.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let Some(braced) = text.strip_prefix('{') else {
            let name = name_at(text)?;
            let behind = &text[name.len()..];
            // zsh takes these for operations without braces, too, and letters of all languages for a part of the name;
            // bash reads the names in `$x{a,b}` behind the braces.
            let first = behind.chars().next();
            let more = first.filter(|c| matches!(c, ':' | '[' | '{') || !c.is_ascii());
            return Some(Self {
                name,
                operation: &behind[..more.map_or(0, char::len_utf8)],
                length: name.len(),
            });
        };
        let (inner, _) = braced.split_once('}')?;
        let length = inner.len() + 2;
        // `${#name}` is a number.
        let counted = inner.strip_prefix('#').filter(|name| is_variable(name));
        let (name, operation) = if counted.is_some() {
            inner.split_at(1)
        } else {
            inner.split_at(name_at(inner)?.len())
        };
        Some(Self {
            name,
            operation,
            length,
        })
    }

    /// Whether the script itself makes its value, if `has_own` says so of that of the variable.
    pub(super) fn is_own(&self, has_own: bool) -> bool {
        if NUMBERS.contains(&self.name) {
            return self.operation.is_empty() || self.name == "#";
        }
        let has_index = is_index(self.operation) && self.name == "PIPESTATUS";
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-./*?#%:,+^".contains(c);
        (has_own || KNOWN.contains(&self.name)) && (has_index || self.operation.chars().all(fits))
    }
}

/// Whether this is the name of one parameter, perhaps with a number as its index: it has no flags of zsh (`(e)x`), and
/// nothing is calculated.
pub(super) fn is_parameter(text: &str) -> bool {
    let at = text.find('[').unwrap_or(text.len());
    let (name, index) = text.split_at(at);
    let is_place = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    (is_place || is_variable(name)) && (index.is_empty() || is_index(index))
}

/// Whether zsh calculates an index behind the name at the start of a text, which is behind a `$`: `x[i]`.
pub(super) fn has_calculated_index(text: &str) -> bool {
    let index = Parameter::of(text)
        .filter(|parameter| parameter.operation == "[" && !text.starts_with('{'))
        .and_then(|parameter| text[parameter.length + 1..].split(']').next());
    index.is_some_and(|index| index.contains(|c: char| c.is_alphabetic() || "_$`(".contains(c)))
}

/// Whether this is the index of an array that is a number: `[0]`. Others are calculated.
fn is_index(text: &str) -> bool {
    let number = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The length of the rest of a substitution, behind its sign, if its end is beyond doubt: `(pwd)`, `(dirname "$f")`.
pub(super) fn substitution(sign: char, text: &str) -> Option<usize> {
    let end = if sign == '`' { '`' } else { ')' };
    let start = if sign == '`' { "" } else { "(" };
    let inner = text.strip_prefix(start)?;
    let mut rest = inner.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            _ if c == end => {
                // The patterns of `case` have brackets without their counterparts.
                let is_simple = !inner[..at].contains("case");
                return is_simple.then_some(start.len() + at + 1);
            }
            '\'' | '"' if sign == '`' => return None,
            '$' if inner[at + 1..].starts_with('\'') => return None,
            '\'' => {
                rest.find(|(_, c)| *c == '\'')?;
            }
            '"' => {
                let (_, last) = rest.find(|(_, c)| matches!(c, '"' | '`' | '(' | '\\' | '{'))?;
                if last != '"' {
                    return None;
                }
            }
            '`' | '(' | '\\' | '#' | '<' | '{' | '\n' => return None,
            _ => {}
        }
    }
    None
}

/// The name of a parameter at the start of a text.
fn name_at(text: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = match text.chars().next()? {
        c if c.is_ascii_digit() || "!#$*-?@".contains(c) => 1,
        c if is_of_name(c) => text.find(|c: char| !is_of_name(c)).unwrap_or(text.len()),
        _ => return None,
    };
    Some(&text[..length])
}

fn is_variable(text: &str) -> bool {
    !text.is_empty() && name_at(text).is_some_and(|name| name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_ends_with_its_name_or_its_brace() {
        for (text, expected) in [
            ("x", Some(("x", "", 1))),
            ("x_1/a", Some(("x_1", "", 3))),
            ("x:h/a", Some(("x", ":", 1))),
            ("xé", Some(("x", "é", 1))),
            ("x{a,b}", Some(("x", "{", 1))),
            ("x[1]", Some(("x", "[", 1))),
            ("1a", Some(("1", "", 1))),
            ("?", Some(("?", "", 1))),
            ("{x}nv", Some(("x", "", 3))),
            ("{x%.rs}.c", Some(("x", "%.rs", 7))),
            ("{#x}", Some(("#", "x", 4))),
            ("{#}", Some(("#", "", 3))),
            ("{!x}", Some(("!", "x", 4))),
            ("(pwd)", None),
            ("'a'", None),
            ("{", None),
            ("{}", None),
            ("", None),
        ] {
            let found = Parameter::of(text);
            let found = found.map(|found| (found.name, found.operation, found.length));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_end_of_a_substitution_is_beyond_doubt_or_unknown() {
        for (sign, text, expected) in [
            ('$', "(pwd)/a", Some(5)),
            ('$', "(basename \"$f\" .rs)", Some(19)),
            ('$', "(grep -c ')' a)", Some(15)),
            ('`', "pwd`/a", Some(4)),
            ('$', "(echo \"$(pwd)\")", None),
            ('$', "(echo '\"')\"$x\"", Some(10)),
            ('$', "(case x in x) ls;; esac)", None),
            ('$', "(ls # )\n)", None),
            ('$', "(cat <<E)", None),
            ('$', "((1 + 1))", None),
            ('$', "(echo $'\\')')", None),
            ('`', "echo 'a'`", None),
            ('$', "(ls", None),
        ] {
            assert_eq!(substitution(sign, text), expected, "{text}");
        }
    }
}
