//! The keys of a log, in its folder: one signs checkpoints, the other makes digests of contents that only its owner can
//! compare with guesses.

use std::fs;
use std::io;
use std::path::Path;

use data_encoding::{BASE64, HEXLOWER};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use acp_chain_disk as disk;
use acp_chain_system::files;

use crate::error::{LogError, at};
use crate::note::Signer;

/// The file of the keys, for their owner alone.
const KEYS: &str = "keys.json";

/// The file of the key that verifies checkpoints, for everybody.
pub(crate) const VERIFIER: &str = "verifier";

/// The beginning of the names of logs.
const ORIGIN: &str = "acp-chain/receipts/";

/// The longest file of a key, in bytes.
const LONGEST: usize = 4096;

/// The keys of a log.
#[derive(Debug)]
pub struct Keys {
    /// Signs checkpoints.
    pub signer: Signer,
    /// Makes digests.
    pub digests: DigestKey,
}

/// A key for digests of contents: HMAC with SHA-256 (RFC 2104).
#[derive(Clone)]
pub struct DigestKey([u8; 32]);

#[derive(Serialize, Deserialize)]
struct File {
    /// The name of the log and of its key.
    name: String,
    signing: String,
    digests: String,
}

impl Keys {
    /// Reads the keys in a folder.
    pub fn read(folder: &Path) -> Result<Self, LogError> {
        let path = folder.join(KEYS);
        let text = disk::read(&path, LONGEST).map_err(at(&path))?;
        let file = fs::File::open(&path).map_err(at(&path))?;
        files::check_secret(&file, &path)
            .map_err(|exposed| LogError::Exposed(exposed.to_string()))?;
        let read: Option<File> = serde_json::from_slice(&text).ok();
        let keys = read.and_then(|file| {
            Some(Self {
                signer: Signer::new(&file.name, &seed(&file.signing)?).ok()?,
                digests: DigestKey(seed(&file.digests)?),
            })
        });
        keys.ok_or(LogError::Keys(path))
    }

    /// Makes the keys of a new log in a folder that has none.
    pub fn create(folder: &Path) -> Result<Self, LogError> {
        let mut random = [0; 16 + 32 + 32];
        let filled = SystemRandom::new().fill(&mut random);
        filled.map_err(|_| LogError::Random)?;
        let (name, seeds) = random.split_at(16);
        let (signing, digests) = seeds.split_at(32);
        let file = File {
            name: format!("{ORIGIN}{}", HEXLOWER.encode(name)),
            signing: BASE64.encode(signing),
            digests: BASE64.encode(digests),
        };
        let path = folder.join(KEYS);
        let written = serde_json::to_vec(&file).map_err(io::Error::from);
        let written = written.and_then(|text| disk::write(&path, &text));
        written.map_err(at(&path))?;
        Self::read(folder)
    }

    /// Writes the key that verifies the checkpoints, if it is not in the folder yet. An error if the folder has another
    /// one: no checkpoint from now on would verify.
    pub fn publish(&self, folder: &Path) -> Result<(), LogError> {
        let own = self.signer.verifier().to_string();
        match verifier(folder)? {
            Some(found) if found == own => Ok(()),
            Some(_) => Err(LogError::Damaged {
                folder: folder.to_owned(),
                what: format!("its file `{VERIFIER}` has another key than its checkpoints"),
            }),
            None => {
                let path = folder.join(VERIFIER);
                disk::write(&path, format!("{own}\n").as_bytes()).map_err(at(&path))
            }
        }
    }

    /// Whether a folder has keys.
    pub fn are_in(folder: &Path) -> Result<bool, LogError> {
        let path = folder.join(KEYS);
        path.try_exists().map_err(at(&path))
    }
}

/// The text of the key that verifies the checkpoints in a folder, as the folder has it; `None` if it is missing.
pub(crate) fn verifier(folder: &Path) -> Result<Option<String>, LogError> {
    let path = folder.join(VERIFIER);
    let bytes = match disk::read(&path, LONGEST) {
        Err(error) if disk::is_absent(&error) => return Ok(None),
        read => read.map_err(at(&path))?,
    };
    let text = String::from_utf8(bytes).map_err(|_| LogError::Keys(path))?;
    Ok(Some(text.trim_end().to_owned()))
}

impl DigestKey {
    /// Reads a key as [`Self::text`] writes it.
    pub fn parse(text: &str) -> Option<Self> {
        seed(text).map(Self)
    }

    /// The key as text. It is a secret.
    pub fn text(&self) -> String {
        BASE64.encode(&self.0)
    }

    /// The digest of a content, in Base64.
    pub fn digest(&self, content: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        BASE64.encode(hmac::sign(&key, content.as_bytes()).as_ref())
    }
}

/// It is a secret.
impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("DigestKey").finish_non_exhaustive()
    }
}

fn seed(text: &str) -> Option<[u8; 32]> {
    BASE64.decode(text.as_bytes()).ok()?.try_into().ok()
}
