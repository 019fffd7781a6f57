//! How long the texts of a call may be. They are columns, and a line has several of them.

use serde::{Deserialize, Serialize};

use crate::call::{Call, LeaseName};
#[cfg(feature = "engines")]
use crate::values::{NewValue, ValueCall};

/// The longest name of a session, in bytes.
pub const SPELLING: usize = 1024;

/// The longest name of a user or an account, in bytes: an issuer's with a name of its own is half as long at most. With
/// the other columns of its key it fits into an entry of an index of `PostgreSQL`, which has 2,704 bytes.
const USER: usize = 1024;

/// The longest text that is sealed with a ticket, in bytes: a token, which is part of the head of a request.
const SEALED: usize = 64 * 1024;

/// The longest other text, in bytes: a digest, a replica, a key.
const SHORT: usize = 256;

/// The longest texts about a stored value, in bytes: the value, a text of its owner, and its key. With a digest, a key
/// fits into an entry of an index, and so does the user of an owner. Each may be twice as long as it was: it is escaped.
#[cfg(feature = "engines")]
const VALUE: usize = 256 * 1024;
#[cfg(feature = "engines")]
const OF_OWNER: usize = 16 * 1024;
#[cfg(feature = "engines")]
const VALUE_KEY: usize = 1024;
#[cfg(feature = "engines")]
const VALUE_USER: usize = 2 * USER + 1;

/// The largest number: that of a column.
const NUMBER: u64 = i64::MAX as u64;

/// Why a call is not carried out, whatever is in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum LimitError {
    /// A text is too long.
    #[error(
        "a name is too long for the store: that of a session or a user has at most {USER} bytes, and that of a replica \
         {SHORT}"
    )]
    Long,
    /// A text has the character U+0000, which `PostgreSQL` does not store.
    #[error("a name has the character U+0000, which the store does not have")]
    Zero,
    /// A number is too large.
    #[error("a number is too large for the store")]
    Large,
}

/// Whether a call can be carried out at all.
pub fn check(call: &Call) -> Result<(), LimitError> {
    check_texts(&texts(call))?;
    check_numbers(&numbers(call))
}

/// Whether a call about stored values can be carried out at all. A version that there cannot be is no error.
#[cfg(feature = "engines")]
pub(crate) fn check_values(call: &ValueCall) -> Result<(), LimitError> {
    match call {
        ValueCall::Load { digest, key } => check_texts(&[short(digest), (&**key, VALUE_KEY)]),
        ValueCall::Store(new) => {
            check_texts(&texts_of_value(new))?;
            let limits = &new.limits;
            check_numbers(&[
                new.bytes,
                new.since,
                new.seen,
                limits.values,
                limits.bytes,
                limits.owners,
                limits.bytes_of_user,
            ])
        }
        ValueCall::Count { user } => check_texts(&of_user(user.as_deref())),
        ValueCall::Select {
            extension,
            key,
            user,
            longest,
            after,
        } => {
            check_texts(&[(&**extension, OF_OWNER), (&**key, VALUE_KEY), short(after)])?;
            check_texts(&of_user(user.as_deref()))?;
            check_numbers(&[*longest])
        }
        ValueCall::Owners { chosen, after } | ValueCall::Wipe { chosen, after } => {
            let given = [&chosen.extension, &chosen.project].into_iter().flatten();
            let given = given.map(|text| (&**text, OF_OWNER));
            let texts: Vec<_> = given
                .chain([short(after)])
                .chain(of_user(chosen.user.as_deref()))
                .collect();
            check_texts(&texts)
        }
    }
}

/// The text of a user, if one is given.
#[cfg(feature = "engines")]
fn of_user(user: Option<&str>) -> Vec<(&str, usize)> {
    user.map(|name| (name, VALUE_USER)).into_iter().collect()
}

#[cfg(feature = "engines")]
fn texts_of_value(new: &NewValue) -> Vec<(&str, usize)> {
    let owner = &new.owner;
    let value = new.value.iter().map(|value| (&**value, VALUE));
    let texts = [
        short(&owner.digest),
        (&*owner.extension, OF_OWNER),
        (&*owner.source, OF_OWNER),
        (&*owner.user, VALUE_USER),
        (&*owner.project, OF_OWNER),
        (&*new.key, VALUE_KEY),
    ];
    texts.into_iter().chain(value).collect()
}

/// Texts, and how long each may be.
fn check_texts(texts: &[(&str, usize)]) -> Result<(), LimitError> {
    for (text, longest) in texts {
        if text.len() > *longest {
            return Err(LimitError::Long);
        }
        if text.contains('\0') {
            return Err(LimitError::Zero);
        }
    }
    Ok(())
}

fn check_numbers(numbers: &[u64]) -> Result<(), LimitError> {
    // A sum of some of them is still a column's.
    if numbers.iter().any(|number| *number > NUMBER / 4) {
        return Err(LimitError::Large);
    }
    Ok(())
}

/// The texts of a call, and how long each may be.
fn texts(call: &Call) -> Vec<(&str, usize)> {
    match call {
        Call::Register { replica, .. } => vec![short(replica)],
        Call::Beat { holder, .. } | Call::Leave { holder } | Call::Vacate { holder, .. } => {
            vec![short(&holder.replica)]
        }
        Call::Whose { name, spelling } => and_name(&[(&**spelling, SPELLING)], name),
        Call::Take {
            name,
            spelling,
            holder,
            ..
        } => and_name(&[(&**spelling, SPELLING), short(&holder.replica)], name),
        Call::Release { fence } => and_name(&[], &fence.name),
        Call::LeaseOf { name, holder } => and_name(&[short(&holder.replica)], name),
        Call::Begin {
            fence,
            holder,
            prompt,
            ..
        } => and_name(&[short(prompt), short(&holder.replica)], &fence.name),
        Call::End { fence, prompt } => and_name(&[short(prompt)], &fence.name),
        Call::Draw { account, kind, .. } | Call::GiveBack { account, kind, .. } => {
            vec![(&**account, USER), short(kind)]
        }
        Call::Occupy { holder, limits, .. } => {
            let mut texts = vec![short(&holder.replica)];
            for limit in limits {
                texts.extend([short(&limit.kind), (&*limit.account, USER)]);
            }
            texts
        }
        Call::NextTurn { user, .. } => vec![(&**user, USER)],
        Call::Issue {
            ticket,
            user,
            sealed,
            ..
        } => vec![short(ticket), (&**user, USER), (&**sealed, SEALED)],
        Call::Redeem { ticket, .. } => vec![short(ticket)],
        Call::Revoke { kind, name } => vec![short(kind), (&**name, USER)],
        Call::Sessions { user: name }
        | Call::Budgets { account: name }
        | Call::Slots { account: name } => name.iter().map(|name| (&**name, USER)).collect(),
        Call::Replicas | Call::Revoked { .. } | Call::Tidy { .. } => Vec::new(),
    }
}

/// These texts, and those of the name of a lease.
fn and_name<'c>(texts: &[(&'c str, usize)], name: &'c LeaseName) -> Vec<(&'c str, usize)> {
    [texts, &of_name(name)].concat()
}

fn short(text: &str) -> (&str, usize) {
    (text, SHORT)
}

fn of_name(name: &LeaseName) -> [(&str, usize); 3] {
    [
        short(&name.agents),
        short(&name.session),
        (&*name.user, USER),
    ]
}

fn numbers(call: &Call) -> Vec<u64> {
    match call {
        Call::Register { lease, seen, .. } => vec![*lease, *seen],
        Call::Beat {
            holder,
            lease,
            seen,
        } => vec![holder.generation, *lease, *seen],
        Call::Leave { holder } | Call::LeaseOf { holder, .. } => vec![holder.generation],
        Call::Take {
            holder, most, seen, ..
        } => vec![holder.generation, most.unwrap_or_default(), *seen],
        Call::Release { fence } | Call::End { fence, .. } => vec![fence.number],
        Call::Begin {
            fence,
            holder,
            seen,
            ..
        } => vec![fence.number, holder.generation, *seen],
        Call::Draw {
            period,
            limit,
            amount,
            ..
        } => vec![*period, *limit, *amount],
        Call::GiveBack { period, amount, .. } => vec![*period, *amount],
        Call::Occupy {
            holder,
            slot,
            limits,
        } => {
            let mut numbers = vec![holder.generation, *slot];
            numbers.extend(limits.iter().map(|limit| limit.most));
            numbers
        }
        Call::Vacate { holder, slot } => vec![holder.generation, *slot],
        Call::NextTurn { waited, .. } => vec![*waited],
        Call::Issue { life, .. } => vec![*life],
        Call::Redeem { seen, .. } => vec![*seen],
        Call::Revoked { since } => vec![*since],
        Call::Tidy { prompts } => vec![*prompts],
        Call::Replicas
        | Call::Whose { .. }
        | Call::Revoke { .. }
        | Call::Sessions { .. }
        | Call::Budgets { .. }
        | Call::Slots { .. } => Vec::new(),
    }
}
