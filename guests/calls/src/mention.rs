//! Texts of a call that may be paths.

use std::collections::BTreeSet;

use acp_chain_proxy::path;

use crate::call::Call;
use crate::command::code::parts;
use crate::command::{Commands, is_session, repeats};
use crate::directory::{Directory, below};
use crate::line::Line;
use crate::pattern::choices;

/// The longest text that is taken for a path, in bytes.
const LONGEST_PATH: usize = 4096;
/// How many letters of one word are taken for options in front of a path.
const MOST_LETTERS: usize = 4;
/// How many braces of one word are expanded.
const MOST_BRACES: usize = 8;
/// How many texts of a call are taken for paths. Whether further ones are paths is unknown.
pub const MOST_MENTIONS: usize = 8192;

/// In how many directories paths of a call are looked for, beside that of the session. Whether paths are in further ones is
/// unknown.
pub const MOST_BASES: usize = 32;

/// Where relative paths of a call may begin, beside the session's directory: where its input says that it runs, and where
/// its commands go; as they are written. There may be more than [`MOST_BASES`].
pub fn bases(
    call: &Call,
    commands: Option<&Commands>,
    directory: Option<&Directory>,
) -> BTreeSet<String> {
    let is_another = |base: &String| !matches!(&**base, "" | ".");
    let given = call.input.directories.iter();
    let elsewhere = given.filter(|given| !is_session(given, directory));
    let mut bases: BTreeSet<_> = elsewhere
        .map(|given| path::normal(given))
        .filter(is_another)
        .collect();
    for to in commands.iter().flat_map(|commands| &commands.directories) {
        let from = bases.iter().map(String::as_str).chain(["."]);
        let paths = from.map(|base| path::normal(&below(base, to)));
        let reached: Vec<_> = paths.filter(is_another).collect();
        bases.extend(reached);
        if bases.len() > MOST_BASES {
            break;
        }
    }
    bases
}

/// Possible paths beside those that the call declares: words of its commands and titles, and texts of its input. They
/// can cause a denial or a question, never an approval.
pub fn mentions(call: &Call, commands: Option<&Commands>) -> BTreeSet<String> {
    let words = commands.iter().flat_map(|commands| &commands.words);
    let words: Vec<String> = words.flat_map(|word| spelt_out(word)).collect();
    let texts = words.iter().chain(&call.input.texts).map(String::as_str);
    // A word may itself be a command.
    let separators = |c: char| c.is_whitespace() || ";&|<>".contains(c);
    let repeated = |title: &&String| {
        commands.is_some_and(|commands| commands.are_shown) && repeats(call, title)
    };
    let titles = call.titles.iter().filter(|title| !repeated(title));
    let titles = titles.chain(&words).flat_map(|line| line.split(separators));
    let quotes = ['`', '\'', '"', '(', ')', ',', ';'];
    let mentioned = texts.chain(titles.map(|word| word.trim_matches(quotes)));
    let parts = mentioned.flat_map(pieces);
    parts.filter(is_path).map(str::to_owned).collect()
}

/// What the words of commands that a shell expands may become: paths with wildcards (`.e*`, also for `.e$X`, `.e{m..n}v`
/// and `.[[:alpha:]]nv`), and such as begin with a variable. They can cause a question.
pub fn expansions(commands: &Commands) -> BTreeSet<String> {
    let parts = commands.expanded.iter().flat_map(|word| pieces(word));
    let is_wild = |part: &&str| part.contains(['*', '?', '[']) || unread(part).is_some();
    let may_be_more = |part: &&str| part.starts_with('$') || is_wild(part) || !is_named(part);
    let is_one = |part: &&str| is_path(part) || (is_hidden(part) && is_wild(part));
    let parts = parts.filter(is_one).filter(may_be_more);
    let known = parts.map(|part| match unread(part) {
        Some(at) if at > 0 => format!("{}*", &part[..at]),
        _ => part.to_owned(),
    });
    known.collect()
}

/// Where what a shell makes of a word is no longer read: a variable or a substitution, a class by its name, a range in
/// braces, or another pattern in brackets.
fn unread(part: &str) -> Option<usize> {
    let begins = |sign: &str, rest: &str| part.find(sign).filter(|at| part[*at..].contains(rest));
    let found = [
        part.find(['$', '`']),
        begins("[", "[:"),
        begins("{", ".."),
        part.find("!("),
    ];
    found.into_iter().flatten().min()
}

/// Whether the last name of a path begins with a dot, and is none of those that lead up.
fn is_hidden(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with('.') && !matches!(name, "." | "..")
}

/// A text, and the parts of it that may be paths: `--file=.env`, `HEAD:.env`, `@.env`, `.env:/x`, `a,.env`, `-T.env`,
/// `:(top).env`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let magic = text
        .strip_prefix(":(")
        .and_then(|text| text.split_once(')'));
    let signs = text.match_indices(['=', ':', '@']);
    let behind = signs.map(|(at, _)| &text[at + 1..]).chain([text]);
    let between = text.split(['=', ':', '@', ',']);
    let named = magic.map(|(_, path)| path);
    behind.chain(between).chain(joined(text)).chain(named)
}

/// A word, and what a shell may make of its braces: `{.env,x}`.
fn spelt_out(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    let braces = word.matches('{').count();
    if (1..=MOST_BRACES).contains(&braces) && word.len() <= LONGEST_PATH {
        all.extend(choices(word).unwrap_or_default());
    }
    all
}

/// What may be the value of an option of one letter in the same word, also behind other letters: `-sT.env`.
fn joined(text: &str) -> impl Iterator<Item = &str> {
    let letters = text.strip_prefix('-').unwrap_or_default();
    let count = letters.bytes().take_while(u8::is_ascii_alphabetic).count();
    (1..=count.min(MOST_LETTERS)).map(move |at| &letters[at..])
}

/// What the whole texts of commands with code name, whatever the language: `open('.env')`, also in a here-document; but
/// not what names nothing: `$1`, `%s`, `~x`. Code is full of those. Like mentions, these can cause a denial or a question.
pub fn named_in_code<'c>(call: &'c Call, commands: Option<&Commands>) -> BTreeSet<&'c str> {
    if !commands.is_some_and(|commands| commands.has_code) {
        return BTreeSet::new();
    }
    let lines = call.input.lines.iter().flat_map(Line::texts);
    // Of an input without a command in a known form, any text may be one.
    let is_unread = call.input.lines.is_empty() && call.kinds.contains("execute");
    let others = call.input.texts.iter().filter(|_| is_unread);
    let texts = lines.chain(&call.titles).chain(others);
    let parts = texts.flat_map(|text| parts(text)).filter(is_path);
    parts.filter(|part| is_named(part)).collect()
}

/// Whether a word is more than what a shell, or another language, puts something in the place of.
pub fn is_named(word: &str) -> bool {
    let is_text =
        |name: &str| !name.is_empty() && !name.starts_with('~') && !name.contains(['$', '`', '%']);
    word.split(['/', '\\']).any(is_text)
}

fn is_path(text: &&str) -> bool {
    let fits = text.len() <= LONGEST_PATH && !text.contains('\n');
    fits && text.contains(char::is_alphanumeric)
}
