//! Calls about values that proxies store, as the process of stored values makes them. A server cannot: the process of
//! the store does not take them.
//!
//! Texts have no U+0000, and are opaque here: `acp-chain-state` says what they are, and how they are escaped. Times are
//! in milliseconds since 1970 by the database's clock.

/// Whose values they are. All but the digest is only compared and listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueOwner {
    /// The digest of all the rest, by which it is found.
    pub digest: String,
    pub extension: String,
    pub source: String,
    /// The user of the server, for whose owners together there are limits.
    pub user: String,
    pub project: String,
}

/// How much may be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// Values of an owner, and what these count.
    pub values: u64,
    pub bytes: u64,
    /// Owners of a user, and what the values of all of these count.
    pub owners: u64,
    pub bytes_of_user: u64,
}

/// A limit of [`ValueLimits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueLimit {
    Values,
    Bytes,
    Owners,
    BytesOfUser,
}

/// A value to store, or to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewValue {
    pub owner: ValueOwner,
    pub key: String,
    /// The version that is replaced; 0 if there is none.
    pub version: u64,
    /// `None` removes it.
    pub value: Option<String>,
    /// What the value counts.
    pub bytes: u64,
    pub limits: ValueLimits,
    /// When the first value of its owner was stored, if that is new here, as when it is moved from elsewhere; 0 is now.
    pub since: u64,
    /// The largest version that the caller has seen, or 0: as in [`Call`](crate::Call).
    pub seen: u64,
}

/// Owners that have all of these properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChosenOwners {
    pub extension: Option<String>,
    pub user: Option<String>,
    pub project: Option<String>,
}

/// A request about stored values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueCall {
    /// Loads the value under a key. `digest` is that of its owner.
    Load { digest: String, key: String },
    /// Stores a value over the version that it names, or removes that.
    Store(NewValue),
    /// Lists some of these owners with larger digests, in order.
    Owners { chosen: ChosenOwners, after: String },
    /// Counts owners, those of a user or all, and what they have.
    Count { user: Option<String> },
    /// Lists the values under a key of an extension's owners with larger digests, in order: those of a user, or all.
    /// Values that count more than `longest` are left out.
    Select {
        extension: String,
        key: String,
        user: Option<String>,
        longest: u64,
        after: String,
    },
    /// Removes the values of some of these owners with larger digests, in order: those of all of a large store take longer
    /// than a call may.
    Wipe { chosen: ChosenOwners, after: String },
}

/// What becomes of a [`ValueCall`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueAnswer {
    Loaded(StoredValue),
    /// It is stored, or removed. Versions only grow; 0 is a removed one's.
    Stored {
        version: u64,
    },
    /// Nothing was changed: the version is another one. Has the value that there is.
    Conflict(StoredValue),
    /// Nothing was changed: a limit would be exceeded.
    Exceeded(ValueLimit),
    /// To `Store`: nothing was changed, since the store has lost what was last written. All generations of replicas are
    /// over, and its numbers are larger again.
    Rewound,
    Owners(Vec<OwnerSummary>),
    Counted(ValueCount),
    Selected(Vec<SelectedValue>),
    Wiped {
        owners: u64,
        values: u64,
        /// The digest of the last of these owners; `None` if there are no more.
        last: Option<String>,
    },
}

/// A value, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredValue {
    /// `None` if there is none.
    pub value: Option<String>,
    /// 0 if there is none.
    pub version: u64,
    /// When the first value of its owner was stored; `None` if that has not been, or all were wiped.
    pub since: Option<u64>,
}

/// The values of an owner together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerSummary {
    pub owner: ValueOwner,
    pub values: u64,
    pub bytes: u64,
    pub since: u64,
    /// When a value was last stored or removed.
    pub changed: u64,
}

/// How much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueCount {
    pub owners: u64,
    /// Different users of these owners.
    pub users: u64,
    pub values: u64,
    pub bytes: u64,
}

/// A value of some owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedValue {
    pub owner: ValueOwner,
    pub value: String,
    /// When a value of this owner was last stored or removed.
    pub changed: u64,
}

impl ValueCall {
    /// Whether it is one statement.
    pub(crate) fn is_single(&self) -> bool {
        matches!(
            self,
            Self::Load { .. } | Self::Owners { .. } | Self::Count { .. } | Self::Select { .. }
        )
    }
}
