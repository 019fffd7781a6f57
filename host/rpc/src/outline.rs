//! Finds the fields of the envelope in a line, and checks that the line is JSON, in one pass while the line arrives:
//! little is left to do after its last byte.
//!
//! Invariants: the result does not depend on how a line is split into pieces, and only members' names are read twice.
//! Beside the line, only one bit per open level is kept.

#[cfg(test)]
pub mod tests;

use std::ops::Range;

use acp_chain_powers::fold;

use super::pointer::{decoded, spells};
use super::session::SESSION;

/// The names at the place that says of which kind a `session/update` is.
pub(super) const UPDATE: [&str; 2] = ["update", "sessionUpdate"];

/// The fields that JSON-RPC defines.
const FIELDS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The place of the params in [`FIELDS`].
const PARAMS: u8 = 3;

/// The fields of a line.
#[derive(Debug, Default)]
pub struct Outline {
    /// In the order in which JSON-RPC names them: `jsonrpc`, `id`, `method`, `params`, `result`, `error`.
    pub fields: [Option<Field>; FIELDS.len()],
    /// The range of the value at [`UPDATE`] in the params, if they have it.
    pub update: Option<Range<usize>>,
    /// Whether there is another field that some readers take for one of these.
    pub is_ambiguous: bool,
    /// Whether there are line breaks between the values.
    pub is_broken: bool,
}

/// A field of the envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The range of the value.
    pub value: Range<usize>,
    /// The range of the value of `sessionId`, if the value is an object that has this member.
    pub session: Option<Range<usize>>,
}

impl Outline {
    /// Reads a complete line.
    pub fn of(line: &str) -> Result<Self, Flaw> {
        let mut scanner = Scanner::default();
        scanner.read(line);
        scanner.finish()
    }
}

/// Why a line is not an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The line is not a JSON object.
    NoObject,
    /// The line has a duplicate field of the envelope, which readers could read differently.
    Twice(u8),
}

impl Flaw {
    /// The duplicate field.
    pub fn twice(self) -> Option<&'static str> {
        match self {
            Self::NoObject => None,
            Self::Twice(which) => FIELDS.get(usize::from(which)).copied(),
        }
    }
}

/// Reads a line as it arrives.
#[derive(Debug, Default)]
pub struct Scanner {
    /// How many bytes of the line have been read.
    at: usize,
    state: State,
    nesting: Nesting,
    /// Whether the current string is the name of a member.
    is_name: bool,
    /// Whether the last name has an escape.
    is_escaped: bool,
    /// Where the last name or value on the first three levels began.
    begins: [usize; 4],
    /// The field of the envelope with the last name on the first level.
    field: Option<u8>,
    /// The member with the last name on the second level.
    member: Member,
    /// Whether the last name in an update, on the third level, is that of its kind.
    is_kind: bool,
    /// The range of the session's name in the current value on the first level.
    session: Option<Range<usize>>,
    /// The range of the kind of the update there.
    update: Option<Range<usize>>,
    outline: Outline,
    flaw: Option<Flaw>,
}

/// A member on the second level: of the value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Member {
    /// Of no interest.
    #[default]
    Other,
    /// The session's name.
    Session,
    /// An update, which may have a kind.
    Update,
}

/// What is expected next.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The object of the line.
    #[default]
    Start,
    /// A value.
    Value,
    /// A value, or the end of the array.
    FirstValue,
    /// The name of a member.
    Name,
    /// The name of a member, or the end of the object.
    FirstName,
    /// The colon between a name and a value.
    Colon,
    /// What follows a value.
    Behind,
    /// More of a string.
    Text,
    /// What follows a backslash in a string.
    Escape,
    /// This many hexadecimal digits.
    Hex(u8),
    /// More of a number.
    Number(Number),
    /// The rest of a word, from this index in [`WORDS`].
    Word(u8),
    /// Only white space.
    End,
}

/// The literal words, without their first letters, each followed by a dot.
const WORDS: &[u8] = b"rue.alse.ull.";
const TRUE: u8 = 0;
const FALSE: u8 = 4;
const NULL: u8 = 9;

impl Scanner {
    /// Continues to read a line that has grown since the last call.
    pub fn read(&mut self, line: &str) {
        if self.flaw.is_none()
            && let Err(flaw) = self.read_on(line)
        {
            self.flaw = Some(flaw);
        }
    }

    /// The outline of the line that was read.
    pub fn finish(self) -> Result<Outline, Flaw> {
        match (self.flaw, self.state) {
            (Some(flaw), _) => Err(flaw),
            (None, State::End) => Ok(self.outline),
            (None, _) => Err(Flaw::NoObject),
        }
    }

    fn read_on(&mut self, line: &str) -> Result<(), Flaw> {
        let text = line.as_bytes();
        let (mut at, mut state) = (self.at, self.state);
        while let Some(&byte) = text.get(at) {
            let mut next = at + 1;
            match state {
                State::Text => {
                    next = at + plain(&text[at..]);
                    match text.get(next) {
                        None => {}
                        Some(b'"') => {
                            next += 1;
                            state = if self.is_name {
                                self.name_ended(line, next)
                            } else {
                                self.value_ended(next)?
                            };
                            // The colon usually follows directly.
                            if self.is_name && text.get(next) == Some(&b':') {
                                next += 1;
                                state = State::Value;
                            }
                        }
                        Some(b'\\') => {
                            next += 1;
                            self.is_escaped = true;
                            state = State::Escape;
                        }
                        Some(_) => return Err(Flaw::NoObject),
                    }
                }
                State::Escape => {
                    state = match byte {
                        b'u' => State::Hex(4),
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => State::Text,
                        _ => return Err(Flaw::NoObject),
                    }
                }
                State::Hex(_) if !byte.is_ascii_hexdigit() => return Err(Flaw::NoObject),
                State::Hex(1) => state = State::Text,
                State::Hex(left) => state = State::Hex(left - 1),
                State::Number(mut number) => {
                    next = at;
                    while let Some(more) = text.get(next).and_then(|byte| number.with(*byte)) {
                        number = more;
                        next += 1;
                    }
                    state = if next >= text.len() {
                        State::Number(number)
                    } else if number.is_whole() {
                        self.value_ended(next)?
                    } else {
                        return Err(Flaw::NoObject);
                    };
                }
                State::Word(rest) if WORDS[usize::from(rest)] == byte => {
                    state = match WORDS[usize::from(rest) + 1] {
                        b'.' => self.value_ended(next)?,
                        _ => State::Word(rest + 1),
                    }
                }
                State::Word(_) => return Err(Flaw::NoObject),
                _ if matches!(byte, b' ' | b'\t') => {}
                _ if matches!(byte, b'\n' | b'\r') => self.outline.is_broken = true,
                State::Start if byte == b'{' => state = self.open(true),
                State::Value | State::FirstValue if byte != b']' => {
                    self.begin(at);
                    state = match byte {
                        b'"' => State::Text,
                        b'{' | b'[' => self.open(byte == b'{'),
                        b't' => State::Word(TRUE),
                        b'f' => State::Word(FALSE),
                        b'n' => State::Word(NULL),
                        _ => State::Number(Number::first(byte).ok_or(Flaw::NoObject)?),
                    };
                    self.is_name = false;
                }
                State::Name | State::FirstName if byte == b'"' => {
                    self.begin(at);
                    self.is_name = true;
                    self.is_escaped = false;
                    state = State::Text;
                }
                State::Colon if byte == b':' => state = State::Value,
                State::Behind if byte == b',' => {
                    state = if self.nesting.is_in_object() {
                        State::Name
                    } else {
                        State::Value
                    }
                }
                State::FirstValue | State::FirstName | State::Behind if self.closes(byte) => {
                    self.nesting.close();
                    state = self.value_ended(next)?;
                }
                _ => return Err(Flaw::NoObject),
            }
            at = next;
        }
        (self.at, self.state) = (at, state);
        Ok(())
    }

    /// Notes that a name or a value begins here.
    fn begin(&mut self, at: usize) {
        if let Some(begin) = self.begins.get_mut(self.nesting.depth) {
            *begin = at;
        }
    }

    fn open(&mut self, is_object: bool) -> State {
        self.nesting.open(is_object);
        // These apply only to the values on the levels above.
        if self.nesting.depth <= 2 {
            self.member = Member::Other;
        }
        self.is_kind &= self.nesting.depth > 3;
        if is_object {
            State::FirstName
        } else {
            State::FirstValue
        }
    }

    /// Whether this byte closes the open object or array. After a comma none may end.
    fn closes(&self, byte: u8) -> bool {
        byte == if self.nesting.is_in_object() {
            b'}'
        } else {
            b']'
        }
    }

    /// The name of a member ends here.
    fn name_ended(&mut self, line: &str, at: usize) -> State {
        let depth = self.nesting.depth;
        if depth <= 2 || (depth == 3 && self.member == Member::Update) {
            let name = line.get(self.begins[depth]..at).unwrap_or_default();
            match depth {
                3 => self.is_kind = self.is(name, UPDATE[1]),
                2 => self.member_named(name),
                _ => self.field_named(name),
            }
        }
        State::Colon
    }

    fn member_named(&mut self, name: &str) {
        self.member = if self.is(name, SESSION) {
            Member::Session
        } else if self.is(name, UPDATE[0]) {
            // Of duplicate names the last one counts.
            self.update = None;
            Member::Update
        } else {
            Member::Other
        };
    }

    /// Whether the last name, in quotes, is this one. Few names have escapes, which take long to read.
    fn is(&self, name: &str, expected: &str) -> bool {
        if self.is_escaped {
            return spells(name, expected);
        }
        name.get(1..name.len().saturating_sub(1)) == Some(expected)
    }

    fn field_named(&mut self, name: &str) {
        self.field = position(name.get(1..name.len() - 1).unwrap_or_default());
        if self.field.is_none() {
            let name = decoded(name);
            self.field = name.as_deref().and_then(position);
            self.outline.is_ambiguous |=
                self.field.is_none() && name.as_deref().is_none_or(resembles_field);
        }
    }

    /// A value ends here, or the object of the line.
    #[inline]
    fn value_ended(&mut self, at: usize) -> Result<State, Flaw> {
        match self.nesting.depth {
            0 => return Ok(State::End),
            1 => self.field_ended(at)?,
            2 if self.member == Member::Session => self.session = Some(self.begins[2]..at),
            3 if self.is_kind => self.update = Some(self.begins[3]..at),
            _ => {}
        }
        Ok(State::Behind)
    }

    fn field_ended(&mut self, at: usize) -> Result<(), Flaw> {
        let field = Field {
            value: self.begins[1]..at,
            session: self.session.take(),
        };
        if self.update.is_some() {
            let update = self.update.take();
            if self.field == Some(PARAMS) {
                self.outline.update = update;
            }
        }
        match self.field.take() {
            Some(which)
                if self.outline.fields[usize::from(which)]
                    .replace(field)
                    .is_some() =>
            {
                Err(Flaw::Twice(which))
            }
            _ => Ok(()),
        }
    }
}

/// The field with this name.
fn position(name: &str) -> Option<u8> {
    (0..)
        .zip(FIELDS)
        .find_map(|(which, field)| (field == name).then_some(which))
}

/// Whether a name that is not a field of the envelope is one for a case-insensitive reader.
fn resembles_field(name: &str) -> bool {
    FIELDS.contains(&&*fold(name))
}

/// The number of bytes before one that is special in a string: a quote, a backslash, or an invalid byte.
fn plain(text: &[u8]) -> usize {
    const BLOCK: usize = 64;
    // Most texts are short.
    let (begin, rest) = text.split_at(text.len().min(BLOCK / 2));
    if let Some(found) = special(begin) {
        return found;
    }
    // A block compiles to few instructions.
    let (blocks, _) = rest.as_chunks::<BLOCK>();
    let is_plain = |block: &&[u8; BLOCK]| {
        !block
            .iter()
            .fold(false, |any, byte| any | is_special(*byte))
    };
    let plain = blocks.iter().take_while(is_plain).count() * BLOCK;
    let rest = &rest[plain..];
    begin.len() + plain + special(rest).unwrap_or(rest.len())
}

/// The position of the first byte that is special in a string.
fn special(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The highest bit of each byte: whether it is below `byte`. Exact for the first byte that is.
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH;
    let is = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = below(word, b' ') | is(word, b'"') | is(word, b'\\');
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|byte| is_special(*byte))?;
    Some(words.len() * 8 + found)
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The state within a number.
#[derive(Clone, Copy, Debug)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Number {
    fn first(byte: u8) -> Option<Self> {
        match byte {
            b'-' => Some(Self::Minus),
            _ => Self::Minus.with(byte),
        }
    }

    /// The state after one more byte; `None` if that does not belong to the number.
    fn with(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Minus, b'0') => Some(Self::Zero),
            (Self::Minus | Self::Integer, b'0'..=b'9') => Some(Self::Integer),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::E),
            (Self::E, b'+' | b'-') => Some(Self::Sign),
            (Self::E | Self::Sign | Self::Exponent, b'0'..=b'9') => Some(Self::Exponent),
            _ => None,
        }
    }

    /// Whether the number may end here.
    fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Zero | Self::Integer | Self::Fraction | Self::Exponent
        )
    }
}

/// The open objects and arrays, one bit each.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    /// The innermost levels.
    last: u64,
    /// The other levels, 64 in each.
    outer: Vec<u64>,
}

impl Nesting {
    fn open(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.last);
        }
        self.last = self.last << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.last >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.last = self.outer.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost one is an object.
    fn is_in_object(&self) -> bool {
        self.last & 1 == 1
    }
}
