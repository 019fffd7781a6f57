//! Web servers, from which the caller fetches.

use std::io::Write;

/// Fetches from web servers.
pub trait Web {
    /// Whether an address is of this machine.
    fn is_local(&self, url: &str) -> bool;

    /// Writes the content at an address, up to a number of bytes.
    ///
    /// # Errors
    /// In words for the user.
    fn get(&self, url: &str, most: u64, into: &mut dyn Write) -> Result<(), String>;
}
