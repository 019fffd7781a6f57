//! `limits` of a proxy.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::error::unknown_key;
use acp_chain_channel::limits::{Limit, Limits, Quantity, TABLE};

/// The byte at which an error begins, and its message.
pub(super) type Wrong = (usize, String);

/// A table of limits, by key.
pub(super) type LimitsTable = BTreeMap<Spanned<String>, Spanned<Value>>;

/// Applies a table to `limits`. With ceilings, a value in the table over its ceiling is an error, and a default over it
/// is lowered.
pub(super) fn read_limits(
    table: LimitsTable,
    mut limits: Limits,
    ceilings: Option<&Limits>,
) -> Result<Limits, Wrong> {
    for (key, value) in table {
        let Some(limit) = Limit::named(key.get_ref()) else {
            let known: Vec<_> = TABLE.iter().map(|limit| limit.key).collect();
            return Err((key.span().start, unknown_key(key.get_ref(), &known)));
        };
        let at = value.span().start;
        let amount = read_amount(limit.quantity, value.get_ref())
            .map_err(|wrong| (at, format!("`{}`: {wrong}", limit.key)))?;
        if let Some(ceilings) = ceilings
            && amount > limit.of(ceilings)
        {
            let (key, ceiling) = (limit.key, limit.show(ceilings));
            let asked = limit.quantity.show(amount);
            return Err((
                at,
                format!(
                    "`{key}`: {asked} is over the ceiling of {ceiling}; only the user can raise \
                     that, by `{key}` under `[ceilings]` in the user's config.toml"
                ),
            ));
        }
        limit.put(&mut limits, amount);
    }
    if let Some(ceilings) = ceilings {
        for limit in TABLE {
            let most = limit.of(&limits).min(limit.of(ceilings));
            limit.put(&mut limits, most);
        }
    }
    Ok(limits)
}

fn read_amount(quantity: Quantity, value: &Value) -> Result<u64, String> {
    match (quantity, value) {
        (Quantity::Size | Quantity::Time, Value::String(text)) => quantity.read(text),
        (Quantity::Count, Value::Integer(number)) => quantity.read(&number.to_string()),
        (_, Value::String(text)) => Err(format!("{text:?} is a text; {}", quantity.example())),
        (_, Value::Integer(number)) => Err(format!("{number} has no unit; {}", quantity.example())),
        (_, other) => {
            let (kind, example) = (other.type_str(), quantity.example());
            Err(format!("this cannot be a {kind}; {example}"))
        }
    }
}
