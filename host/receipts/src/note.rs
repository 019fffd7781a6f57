//! Signed notes, as <https://c2sp.org/signed-note> has them: a text, an empty line, and signatures by named keys. Only
//! Ed25519 is known here; the signatures of others are passed over.

use data_encoding::{BASE64, HEXLOWER};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::merkle::sha256;

/// The beginning of the line of a signature: an em dash.
const DASH: &str = "\u{2014} ";

/// The type of Ed25519 keys.
const ED25519_TYPE: u8 = 1;

/// The most signatures that are looked at.
const SIGNATURES: usize = 100;

/// The name of a key, and its id with the signature.
type Signature<'n> = (&'n str, Vec<u8>);

/// Why a note or a key is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The text is no signed note.
    #[error("it is not a signed note")]
    Malformed,
    /// There is no signature by the key.
    #[error("it has no signature by the key of this log")]
    Unsigned,
    /// A signature claims to be by the key, and is not.
    #[error("its signature is wrong")]
    Forged,
    /// The text is no key.
    #[error("it is not a key of the form NAME+ID+KEY (c2sp.org/signed-note), of the type Ed25519")]
    NoKey,
    /// The name has a space or a plus, or is empty.
    #[error("the name of a key has no spaces and no plus, and is not empty")]
    Name,
}

/// A key that verifies notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    id: [u8; 4],
    key: [u8; 32],
}

/// A key that signs notes.
pub struct Signer {
    pair: Ed25519KeyPair,
    verifier: Verifier,
}

impl Verifier {
    fn new(name: &str, key: [u8; 32]) -> Result<Self, NoteError> {
        if !is_name(name) {
            return Err(NoteError::Name);
        }
        Ok(Self {
            name: name.to_owned(),
            id: id_of(name, &key),
            key,
        })
    }

    /// Reads a key: its name, its id and its bytes, separated by pluses.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let mut parts = text.splitn(3, '+');
        let mut part = || parts.next().ok_or(NoteError::NoKey);
        let (name, id, typed) = (part()?, part()?, part()?);
        let decoded = BASE64.decode(typed.as_bytes());
        let bytes = decoded.map_err(|_| NoteError::NoKey)?;
        let [ED25519_TYPE, rest @ ..] = &bytes[..] else {
            return Err(NoteError::NoKey);
        };
        let key: [u8; 32] = rest.try_into().map_err(|_| NoteError::NoKey)?;
        let verifier = Self::new(name, key)?;
        let is_its_own = HEXLOWER.encode(&verifier.id) == id;
        is_its_own.then_some(verifier).ok_or(NoteError::NoKey)
    }

    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a note, if this key has signed it.
    pub fn open<'n>(&self, note: &'n str) -> Result<&'n str, NoteError> {
        let (text, signatures) = parts(note)?;
        let mut found = Err(NoteError::Unsigned);
        for (name, bytes) in signatures {
            let Some((id, signature)) = bytes.split_first_chunk::<4>() else {
                return Err(NoteError::Malformed);
            };
            if name != self.name || *id != self.id {
                continue;
            }
            let key = UnparsedPublicKey::new(&ED25519, self.key);
            key.verify(text.as_bytes(), signature)
                .map_err(|_| NoteError::Forged)?;
            found = Ok(text);
        }
        found
    }
}

impl std::fmt::Display for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let typed = [&[ED25519_TYPE][..], &self.key].concat();
        let (id, key) = (HEXLOWER.encode(&self.id), BASE64.encode(&typed));
        write!(f, "{}+{id}+{key}", self.name)
    }
}

impl Signer {
    /// The key of this name that a seed leads to (RFC 8032, section 5.1.5).
    pub fn new(name: &str, seed: &[u8; 32]) -> Result<Self, NoteError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| NoteError::NoKey)?;
        let public = pair.public_key().as_ref();
        let key: [u8; 32] = public.try_into().map_err(|_| NoteError::NoKey)?;
        let verifier = Verifier::new(name, key)?;
        Ok(Self { pair, verifier })
    }

    /// The key that verifies what this one signs.
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The note with this text, which ends with a line feed and has no control characters but those.
    pub fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes());
        let bytes = [&self.verifier.id[..], signature.as_ref()].concat();
        let (name, bytes) = (&self.verifier.name, BASE64.encode(&bytes));
        format!("{text}\n{DASH}{name} {bytes}\n")
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("Signer").field(&self.verifier).finish()
    }
}

/// The text of a note, with its last line feed, and its signatures: names, and ids with signatures.
fn parts(note: &str) -> Result<(&str, Vec<Signature<'_>>), NoteError> {
    if note.contains(|c: char| c.is_control() && c != '\n') {
        return Err(NoteError::Malformed);
    }
    // An empty line may be in the text, too.
    let end = note.rfind("\n\n").ok_or(NoteError::Malformed)?;
    let (text, rest) = note.split_at(end + 1);
    let lines = rest
        .strip_prefix('\n')
        .and_then(|rest| rest.strip_suffix('\n'));
    let lines = lines.ok_or(NoteError::Malformed)?.split('\n');
    let mut signatures = Vec::new();
    for line in lines {
        let signature = signature(line).filter(|_| signatures.len() < SIGNATURES);
        signatures.push(signature.ok_or(NoteError::Malformed)?);
    }
    Ok((text, signatures))
}

fn signature(line: &str) -> Option<Signature<'_>> {
    let (name, text) = line.strip_prefix(DASH)?.split_once(' ')?;
    let bytes = BASE64.decode(text.as_bytes()).ok()?;
    (is_name(name) && bytes.len() > 4).then_some((name, bytes))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '+')
}

fn id_of(name: &str, key: &[u8; 32]) -> [u8; 4] {
    let hash = sha256(&[name.as_bytes(), b"\n", &[ED25519_TYPE], key]);
    [hash[0], hash[1], hash[2], hash[3]]
}
