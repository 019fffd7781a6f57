//! The properties that hold for all input, checked on the fuzzer's corpus and on inputs mutated from it in each run.

use std::fmt;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use acp_chain_tests::fuzz;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;

/// How many inputs are made for each corpus.
const CASES: u32 = 10_000;

/// The same for components, which take longer.
const COMPONENTS: u32 = 500;

/// Tokens that have a meaning in one input or another.
const TOKENS: &[&str] = &[
    "\n",
    "\r",
    " ",
    "\t",
    "/",
    "~0",
    "~1",
    "-",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0069",
    "\\ud800",
    "null",
    "0",
    "1e400",
    "\"id\"",
    "\"id\":1,",
    "\"method\":\"m\",",
    "\"params\":",
    "\"result\":",
    "\"error\":",
    "\"sessionId\":\"s\",",
    "=",
    "[[proxy]]\n",
    "use = \"a\"\n",
    "\"powers\":{",
    "\"tools\":\"x\"",
    "\"config\":{\"type\":\"object\"}",
    "acp-chain:extension",
    "config.",
    "limits.",
    "powers",
    "methods",
    "directories",
    "grant.",
    "64 MiB",
    "2 s",
    "!*",
    "\u{feff}",
    "é",
];

#[test]
fn a_chain_loses_nothing_and_answers_everything_whatever_its_proxies_do() {
    holds("chain", fuzz::chain, CASES);
}

#[test]
fn a_damaged_component_is_refused_or_runs_within_its_limits() {
    holds("component", fuzz::component, COMPONENTS);
}

#[test]
fn what_an_extension_says_is_read_as_it_is_written() {
    holds("package", fuzz::package, CASES);
}

#[test]
fn an_edit_changes_one_place_and_nothing_else() {
    holds("edit", fuzz::edit, CASES);
}

#[test]
fn a_line_is_a_message_for_everyone_or_for_nobody() {
    holds("envelope", fuzz::envelope, CASES);
}

#[test]
fn lines_do_not_depend_on_how_their_bytes_come() {
    holds("lines", fuzz::lines, CASES);
}

#[test]
fn a_manifest_is_what_it_says_or_is_told_where_it_is_wrong() {
    holds("manifest", fuzz::manifest, CASES);
}

/// Checks the corpus, then inputs made from it.
fn holds(target: &str, promise: fn(&[u8]), cases: u32) {
    let corpus = corpus(target);
    for (file, input) in &corpus {
        let kept = catch_unwind(|| promise(&input.0));
        assert!(kept.is_ok(), "fuzz/corpus/{target}/{file} breaks it");
    }
    let inputs: Vec<_> = corpus.into_iter().map(|(_, input)| input).collect();
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let broken = TestRunner::new(config).run(&anew(inputs), |input| {
        promise(&input.0);
        Ok(())
    });
    broken.unwrap_or_else(|error| panic!("{error}\nAdd the input to fuzz/corpus/{target}"));
}

/// The files of a corpus without those that the fuzzer itself added, which have no extension.
fn corpus(target: &str) -> Vec<(String, Input)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = files.map(|file| file.expect("a listing").path());
    let files = paths.filter(|path| path.extension().is_some()).map(|path| {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (
            path.file_name().unwrap_or_default().display().to_string(),
            Input(bytes),
        )
    });
    files.collect()
}

/// Bytes that are printed as in a Rust literal.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// A change to some bytes.
#[derive(Clone, Debug)]
enum Change {
    /// Flips a bit.
    Flip(Index, u8),
    /// Inserts bytes.
    Insert(Index, Vec<u8>),
    /// Removes that many bytes.
    Cut(Index, usize),
    /// Copies that many bytes to another position.
    Repeat(Index, usize, Index),
    /// Continues with another input, from one of its positions.
    Splice(Index, Index),
}

impl Change {
    fn apply(self, bytes: &mut Vec<u8>, other: &[u8]) {
        let part = |at: Index, count: usize, len: usize| {
            let at = at.index(len + 1);
            at..len.min(at + count)
        };
        let len = bytes.len();
        match self {
            Self::Flip(_, _) if len == 0 => {}
            Self::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Self::Insert(at, new) => drop(bytes.splice(part(at, 0, len), new)),
            Self::Cut(at, count) => drop(bytes.drain(part(at, count, len))),
            Self::Repeat(from, count, at) => {
                let repeated = bytes[part(from, count, len)].to_vec();
                bytes.splice(part(at, 0, len), repeated);
            }
            Self::Splice(at, from) => {
                bytes.truncate(at.index(len + 1));
                bytes.extend(&other[from.index(other.len() + 1)..]);
            }
        }
    }
}

/// Inputs of the corpus with some changes, and a few of random bytes.
fn anew(corpus: Vec<Input>) -> impl Strategy<Value = Input> {
    let at = any::<Index>;
    let token = select(TOKENS).prop_map(|token| token.as_bytes().to_vec());
    let new = prop_oneof![token, vec(any::<u8>(), 1..5)];
    let change = prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at(), new).prop_map(|(at, new)| Change::Insert(at, new)),
        (at(), 1..20_usize).prop_map(|(at, count)| Change::Cut(at, count)),
        (at(), 1..50_usize, at()).prop_map(|(from, count, at)| Change::Repeat(from, count, at)),
        (at(), at()).prop_map(|(at, from)| Change::Splice(at, from)),
    ];
    let changed = (select(corpus.clone()), select(corpus), vec(change, 1..6));
    let changed = changed.prop_map(|(Input(mut bytes), other, changes)| {
        for change in changes {
            change.apply(&mut bytes, &other.0);
        }
        Input(bytes)
    });
    let nothing = vec(any::<u8>(), 0..100).prop_map(Input);
    prop_oneof![9 => changed, 1 => nothing]
}
