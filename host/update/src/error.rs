//! Why the program is not replaced.

use std::io;
use std::path::PathBuf;

use acp_chain_extension::SignatureError;
use acp_chain_fetch::FetchError;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use semver::Version;

use crate::manager::Manager;
use crate::release::running;

/// Why the program is not replaced. The old one stays in its place, unless the error says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// Neither the settings nor the program name a channel.
    #[error(
        "there is no release channel: this program was built without one, and your config.toml names none. Install \
         the new version as you did this one, or set `channel` in `[updates]` of your config.toml"
    )]
    NoChannel,
    /// Neither the settings nor the program have a key.
    #[error(
        "there is no key that releases must be signed by: this program was built without one. Set `key` in \
         `[updates]` of your config.toml to the public key of those who publish the channel"
    )]
    NoKey,
    /// A package manager has installed the program.
    #[error("{} was installed by {}", Untrusted::new(.0.display()), .1)]
    Managed(PathBuf, Manager),
    /// Something cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The signature of a description is missing, or wrong.
    #[error("{}: {}", quote(.0, MAX_QUOTE), .1)]
    Signature(String, SignatureError),
    /// The description at a URL is malformed, or not for this platform; or its archive is malformed.
    #[error("{}: {}; tell those who publish it", quote(.0, MAX_QUOTE), quote(.1, MAX_QUOTE))]
    Malformed(String, String),
    /// An archive does not have the content that its signed description says.
    #[error(
        "{}: it is not the archive that the signed description names: it was changed or cut off. Try again later",
        quote(.0, MAX_QUOTE)
    )]
    OtherArchive(String),
    /// The release is older than the running program.
    #[error(
        "the channel has {}, which is older than this program, {}: `--downgrade` installs it all the same",
        .0,
        running()
    )]
    Older(Version),
    /// The new program does not run.
    #[error("the new program does not run here: {}; the old one stays", quote(.0, MAX_QUOTE))]
    DoesNotRun(String),
    /// The running program is not where it was started.
    #[error("this program is no longer where it was started ({0}): start it again")]
    Moved(io::Error),
    /// A file beside the program cannot be written.
    #[error(
        "{}: it cannot be written: {}. Run this as the owner of the folder, or install acp-chain into a folder of \
         your own",
        Untrusted::new(.0.display()),
        .1
    )]
    NotWritten(PathBuf, io::Error),
    /// A download cannot be stored, or an unpacked file cannot be read.
    #[error("the download cannot be stored: {0}")]
    Stored(io::Error),
    /// There is no earlier program.
    #[error("there is no earlier program to put back: {} is missing", Untrusted::new(.0.display()))]
    NoPrevious(PathBuf),
    /// Another user may have written the earlier program.
    #[error("the earlier program is not put back: {0}")]
    Exposed(String),
}
