//! Digests of files: `sha256:` and 64 hexadecimal digits.

use std::io::{self, Read};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The digest of everything in a reader.
pub fn digest(mut from: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(format!("sha256:{}", HEXLOWER.encode(&hasher.finalize())))
}

/// A digest from a registry: only digits, in either case.
pub fn of_hex(hex: &str) -> Option<String> {
    let is_one = hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit());
    is_one.then(|| format!("sha256:{}", hex.to_ascii_lowercase()))
}
