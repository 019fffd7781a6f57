//! The place of guards: next to the agent, behind all other proxies. So they see exactly what the agent said and will
//! get, and nobody can alter their decisions.

/// A guard with a proxy between it and the agent that is not a guard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the proxy `{guard}` is a guard, and `{behind}`, which is none, stands between it and the agent, \
     where it could undo what the guard decides: move `{guard}` behind `{behind}`, or write \
     `order = \"as-written\"` at the top of the manifest if it is to stay so"
)]
pub struct OutOfOrder {
    /// The guard.
    pub guard: String,
    /// The first other proxy behind it.
    pub behind: String,
}

/// An error unless all guards stand behind all others. Each proxy is given by its name and whether it is a guard, the
/// client's neighbour first.
pub fn check_order<'a>(
    proxies: impl IntoIterator<Item = (&'a str, bool)>,
) -> Result<(), OutOfOrder> {
    let mut last_guard = None;
    for (name, guard) in proxies {
        match (last_guard, guard) {
            (_, true) => last_guard = Some(name),
            (Some(guard), false) => {
                return Err(OutOfOrder {
                    guard: guard.to_owned(),
                    behind: name.to_owned(),
                });
            }
            (None, false) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_stand_behind_all_others() {
        let named = |guard: &str, behind: &str| {
            let (guard, behind) = (guard.to_owned(), behind.to_owned());
            Err(OutOfOrder { guard, behind })
        };
        for (chain, expected) in [
            (&[][..], Ok(())),
            (&[("a", false), ("b", true), ("c", true)], Ok(())),
            (&[("a", true)], Ok(())),
            (&[("a", true), ("b", false)], named("a", "b")),
            (&[("a", true), ("b", true), ("c", false)], named("b", "c")),
        ] {
            assert_eq!(check_order(chain.iter().copied()), expected);
        }
    }
}
