//! Why the program is not replaced.

use std::io;
use std::path::PathBuf;

use acp_chain_extension::SignatureError;
use acp_chain_fetch::FetchError;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use semver::Version;

use crate::manager::Manager;

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
    #[error("{} was installed by {manager}", Untrusted::new(program.display()))]
    Managed {
        /// The program.
        program: PathBuf,
        /// What has installed it, and updates it.
        manager: Manager,
    },
    /// Something cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The signature of a description is missing, or wrong.
    #[error("{}: {cause}", quote(url, MAX_QUOTE))]
    Signature {
        /// The URL of the description.
        url: String,
        /// The reason.
        cause: SignatureError,
    },
    /// A description is malformed, or not for this platform.
    #[error(
        "{}: {}; tell those who publish it",
        quote(url, MAX_QUOTE),
        quote(why, MAX_QUOTE)
    )]
    Malformed {
        /// The URL of the description or of the archive.
        url: String,
        /// The reason.
        why: String,
    },
    /// An archive does not have the content that its signed description says.
    #[error(
        "{}: it is not the archive that the signed description names: it was changed or cut off. Try again later",
        quote(.0, MAX_QUOTE)
    )]
    OtherArchive(String),
    /// The release is older than the running program.
    #[error(
        "the channel has {channel}, which is older than this program, {running}: `--downgrade` installs it all the same"
    )]
    Older {
        /// The version in the channel.
        channel: Version,
        /// The version of this program.
        running: Version,
    },
    /// The new program does not run.
    #[error("the new program does not run here: {}; the old one stays", quote(.0, MAX_QUOTE))]
    DoesNotRun(String),
    /// The running program is not where it was started.
    #[error("this program is no longer where it was started ({0}): start it again")]
    Moved(io::Error),
    /// A file beside the program cannot be written.
    #[error(
        "{}: it cannot be written: {cause}. Run this as the owner of the folder, or install acp-chain into a folder of \
         your own",
        Untrusted::new(path.display())
    )]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: io::Error,
    },
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
