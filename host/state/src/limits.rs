//! How much fits. The numbers are in the table of all limits (`acp_chain_channel::limits`).

use serde::{Deserialize, Serialize};

use acp_chain_channel::limits::{
    Quantity, STORED_BYTES, STORED_FOR, STORED_FOR_USER, STORED_IN_ALL, STORED_KEY, STORED_OF_USER,
    STORED_VALUE, STORED_VALUES,
};

use crate::namespace::Namespace;

/// The longest text that a namespace consists of, in bytes.
pub const NAME: usize = 4096;

/// A limit that would be exceeded. Nothing was changed. The text is for the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum LimitError {
    /// [`STORED_KEY`].
    #[error("the key is longer than {}", Quantity::Size.show(STORED_KEY as u64))]
    Key,
    /// [`STORED_VALUE`].
    #[error("the value is longer than {}", Quantity::Size.show(STORED_VALUE as u64))]
    Value,
    /// 4 KiB for each text of a namespace. No system has longer paths by default.
    #[error(
        "nothing can be stored: the name or the source of the extension, the name of the user, or the project's \
         path is longer than {}",
        Quantity::Size.show(NAME as u64)
    )]
    Name,
    /// Paths are stored as text.
    #[error("nothing can be stored for this project: its path is not UTF-8")]
    Folder,
    /// [`STORED_VALUES`].
    #[error(
        "it has stored {} values, and must remove one before it adds another",
        STORED_VALUES
    )]
    Values,
    /// [`STORED_BYTES`].
    #[error("its values would take more than {}", Quantity::Size.show(STORED_BYTES))]
    Bytes,
    /// [`STORED_FOR`].
    #[error(
        "{} proxies have stored values, each counted for every user and project; the user can remove some with \
         `acp-chain state wipe`",
        STORED_FOR
    )]
    Namespaces,
    /// [`STORED_IN_ALL`].
    #[error(
        "the values of all proxies would take more than {}; the user can remove some with `acp-chain state wipe`",
        Quantity::Size.show(STORED_IN_ALL)
    )]
    All,
    /// [`STORED_FOR_USER`].
    #[error(
        "{} proxies have stored values for this user of the server, each counted for every project; who runs the \
         server can remove some with `acp-chain state wipe --user`",
        STORED_FOR_USER
    )]
    NamespacesOfUser,
    /// [`STORED_OF_USER`].
    #[error(
        "the values of all proxies for this user of the server would take more than {}; who runs the server can \
         remove some with `acp-chain state wipe --user`",
        Quantity::Size.show(STORED_OF_USER)
    )]
    AllOfUser,
}

/// Whether a value, or the removal of one, can be stored at all.
pub fn check(namespace: &Namespace, key: &str, value: Option<&str>) -> Result<(), LimitError> {
    namespace.columns()?;
    if key.len() > STORED_KEY {
        return Err(LimitError::Key);
    }
    if value.is_some_and(|value| value.len() > STORED_VALUE) {
        return Err(LimitError::Value);
    }
    Ok(())
}
