//! Why a chain does not run.

use std::fmt::Display;

use acp_chain_conductor::StartError;
use acp_chain_conductor::native::SpawnError;
use acp_chain_manifest::ManifestError;
use acp_chain_rpc::code;

use crate::home::HomeError;
use crate::project::OpenError;

/// An error about a proxy, which names it and its manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProxyError(pub String);

/// Why a chain does not run: the error for the client, and the exit code of the process.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct ChainError {
    pub error: StartError,
    pub exit_code: u8,
}

impl ChainError {
    /// Something that the chain needs does not work.
    pub fn new(error: impl Display) -> Self {
        Self::with(1, code::INTERNAL_ERROR, &error)
    }

    /// The command line is wrong.
    pub fn misuse(error: impl Display) -> Self {
        Self::with(2, code::INTERNAL_ERROR, &error)
    }

    /// The chain has another role than the client wants.
    pub fn unfit(error: impl Display) -> Self {
        Self::with(2, code::INVALID_REQUEST, &error)
    }

    /// A program of the chain does not start.
    pub fn program(error: &SpawnError) -> Self {
        Self::with(error.exit_code(), code::INTERNAL_ERROR, error)
    }

    fn with(exit_code: u8, code: i64, error: &dyn Display) -> Self {
        let message = error.to_string();
        Self {
            error: StartError { message, code },
            exit_code,
        }
    }
}

impl From<HomeError> for ChainError {
    fn from(error: HomeError) -> Self {
        Self::new(error)
    }
}

impl From<ManifestError> for ChainError {
    fn from(error: ManifestError) -> Self {
        Self::new(error)
    }
}

impl From<OpenError> for ChainError {
    fn from(error: OpenError) -> Self {
        Self::new(error)
    }
}

impl From<ProxyError> for ChainError {
    fn from(error: ProxyError) -> Self {
        Self::new(error)
    }
}
