//! The calls and their answers. Durations are in milliseconds, and times in milliseconds since 1970 by the database's
//! clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// For how long the keys of prompts are known. For as long, a store that has lost some doubts all keys of older
/// sessions.
pub const PROMPTS_KNOWN: Duration = Duration::from_hours(24);

/// A session of a user: by what its owners and its lease are found. Names that an agent may read as the same session
/// have the same digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeaseName {
    /// Where agents keep the session. In two places, two sessions may have one name.
    pub agents: String,
    /// The digest of what distinguishes the session's name.
    pub session: String,
    /// The user's name; empty without authentication.
    pub user: String,
}

/// A lease, as it was given. What is written about its session is refused once there is a newer one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    pub name: LeaseName,
    pub number: u64,
}

/// A replica, from its registration until its row is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub replica: String,
    pub generation: u64,
}

/// Which sessions a lease may be taken of, beside those that the user owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakeRule {
    /// One that the user's agent has just begun: if others own one of this name, it is another session.
    New,
    /// Those that nobody owns.
    Unowned,
    /// None.
    OwnedOnly,
}

/// A limit that a slot counts for: how many slots an account has at once, at all replicas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotLimit {
    /// What the slots are for: connections or turns.
    pub kind: String,
    /// A user or a group, by the kind.
    pub account: String,
    pub most: u64,
}

/// A request to the store.
///
/// `seen` is the largest number that the caller has seen, or 0: if the store's is smaller, it has lost what was last
/// written, as it has if it goes on from another history of its database. Then no generation is alive any longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Begins a generation of a replica, unless one of this name is alive.
    Register {
        replica: String,
        lease: u64,
        seen: u64,
    },
    /// Keeps a generation and its leases alive for another while.
    Beat {
        holder: Holder,
        lease: u64,
        seen: u64,
    },
    /// Ends a generation with its leases.
    Leave { holder: Holder },
    /// Lists the replicas.
    Replicas,
    /// Asks who owns the sessions with this name. `spelling` is the name itself.
    Whose { name: LeaseName, spelling: String },
    /// Takes the lease of a session and makes the user an owner, as one step. `most` is how many sessions of the user
    /// may be served at once, at all replicas.
    Take {
        name: LeaseName,
        spelling: String,
        holder: Holder,
        rule: TakeRule,
        most: Option<u64>,
        seen: u64,
    },
    /// Ends a lease. One that is no longer the session's stays as it is.
    Release { fence: Fence },
    /// Asks for the number of the lease that a replica has of a session, as it does if an answer was lost.
    LeaseOf { name: LeaseName, holder: Holder },
    /// Notes that the prompt with this key is about to be sent, unless the key is known.
    Begin {
        fence: Fence,
        holder: Holder,
        prompt: String,
        seen: u64,
    },
    /// Notes that a prompt was answered.
    End { fence: Fence, prompt: String },
    /// Draws at most `amount` from what `account` may use in each `period`; 0 for ever.
    Draw {
        account: String,
        kind: String,
        period: u64,
        limit: u64,
        amount: u64,
    },
    /// Returns what was drawn and not used.
    GiveBack {
        account: String,
        kind: String,
        period: u64,
        amount: u64,
    },
    /// Takes a slot that counts for all of these limits, unless one of them is reached. The replica has it until the
    /// slot is vacated, or its generation is over. `slot` is the replica's name for it, of which there is no other in
    /// the generation.
    Occupy {
        holder: Holder,
        slot: u64,
        limits: Vec<SlotLimit>,
    },
    /// Gives a slot back.
    Vacate { holder: Holder, slot: u64 },
    /// Notes that it is the turn of a user who stood in line for `waited`, unless the user had a turn from the line of
    /// another replica since then.
    NextTurn { user: String, waited: u64 },
    /// Keeps what is sealed with a ticket, by the ticket's digest, for `life`. The oldest of the user's are evicted.
    Issue {
        ticket: String,
        user: String,
        sealed: String,
        life: u64,
    },
    /// Uses up a ticket.
    Redeem { ticket: String, seen: u64 },
    /// Ends something for all replicas: `kind` says what `name` is.
    Revoke { kind: String, name: String },
    /// Lists revocations with larger numbers, in order.
    Revoked { since: u64 },
    /// Lists the sessions that are served, of a user or of all.
    Sessions { user: Option<String> },
    /// Lists what was used of budgets whose period goes on, of an account or of all.
    Budgets { account: Option<String> },
    /// Lists how many slots there are, of an account or of all.
    Slots { account: Option<String> },
    /// Removes prompts that were begun longer ago, and what is over and cannot matter any longer.
    Tidy { prompts: u64 },
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is done. There is nothing else to say.
    Done,
    /// To `Register`.
    Registered {
        generation: u64,
    },
    /// To `Register`: a replica of this name is alive for so long.
    NameTaken {
        again: u64,
    },
    /// To `Beat`: the largest number that was given, and that of the last revocation, or 0.
    Beaten {
        last: u64,
        revocation: u64,
    },
    /// The generation is over, with its leases and slots.
    Gone,
    /// To `Beat`, `Take`, `Begin` and `Redeem`: the store has lost what was last written. All generations are over, and
    /// its numbers are larger again.
    Rewound,
    Replicas(Vec<Replica>),
    /// To `Whose`: whether the user owns a session in this spelling, or in one like it, and whether others do.
    Owned {
        exactly: bool,
        alike: bool,
        by_others: bool,
    },
    /// To `Take`: the lease's number, and how many prompts were under way when the earlier one ended.
    Leased {
        number: u64,
        lost: u64,
    },
    /// To `Take`: another replica has the lease, for so long unless it is renewed.
    Held {
        again: u64,
    },
    /// To `Take`: nothing is leased for so long, since leases that the store has lost may go on until then.
    Resting {
        again: u64,
    },
    /// To `Take`: only other users own the session.
    Foreign,
    /// To `Take`: nobody owns the session.
    Unknown,
    /// To `Take`: as many sessions of the user are served as may be. To `Occupy`: one of the limits is reached.
    Full,
    /// To `Begin`: the prompt may be sent now, and by nobody else. Its number is of no other use.
    Begun {
        number: u64,
    },
    /// To `Begin`: what was known of the prompt.
    Prompt(PromptState),
    /// The lease is no longer the session's, or its replica's generation is over. Nothing was changed.
    Fenced,
    /// To `Draw`: how much, and how long the period goes on.
    Drawn {
        granted: u64,
        again: u64,
    },
    /// To `NextTurn`: the user had a turn since. Nothing was changed.
    HadTurn,
    /// To `Redeem`: what is sealed with the ticket; `None` if there is no such ticket, or no longer.
    Sealed(Option<String>),
    /// To `Revoke`, and to `LeaseOf`: 0 if there is no such lease.
    Number(u64),
    Revocations(Vec<Revocation>),
    Sessions(Vec<ServedSession>),
    Budgets(Vec<UsedBudget>),
    Slots(Vec<UsedSlots>),
}

/// What is known of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptState {
    /// It was sent, and not answered yet.
    UnderWay,
    /// It was answered.
    Done,
    /// It was sent, and its replica has ended.
    Lost,
    /// It may have been sent: the store has lost what it knew of its session's prompts.
    Doubtful,
}

/// A registered replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replica {
    pub name: String,
    pub generation: u64,
    pub started: u64,
    /// The last heartbeat.
    pub beaten: u64,
    /// How long it stays alive without another one; 0 if it is over.
    pub left: u64,
    /// How many leases it has.
    pub sessions: u64,
}

/// A session that is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedSession {
    pub agents: String,
    /// The name, as its client writes it.
    pub spelling: String,
    pub user: String,
    pub replica: String,
    pub number: u64,
}

/// What was used of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedBudget {
    /// A user or a group, by the kind.
    pub account: String,
    pub kind: String,
    pub used: u64,
    /// How long the period goes on; 0 for ever.
    pub left: u64,
}

/// The slots of an account, at all replicas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSlots {
    /// A user or a group, by the kind.
    pub account: String,
    pub kind: String,
    pub used: u64,
}

/// Something that has ended for all replicas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revocation {
    pub number: u64,
    /// `user`, `session` or `token`.
    pub kind: String,
    pub name: String,
}

impl Call {
    /// Whether it is a heartbeat, without which all leases of a replica end.
    pub(crate) fn is_beat(&self) -> bool {
        matches!(self, Self::Beat { .. })
    }

    /// Whether it only reads, or is one statement: then no transaction is needed.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(
            self,
            Self::Leave { .. }
                | Self::Replicas
                | Self::Whose { .. }
                | Self::Release { .. }
                | Self::LeaseOf { .. }
                | Self::End { .. }
                | Self::Vacate { .. }
                | Self::NextTurn { .. }
                | Self::Revoked { .. }
                | Self::Sessions { .. }
                | Self::Budgets { .. }
                | Self::Slots { .. }
        )
    }
}
