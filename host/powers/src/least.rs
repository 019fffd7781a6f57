//! The smallest set of powers for a proxy's subscriptions.

use crate::{Actions, Grant, Power, Subscription};

/// The smallest set of powers for a proxy's subscriptions: all granted powers that it can use, since subscriptions do
/// not show what it does with the messages; and for each subscription that no granted power covers, the first power of
/// the table that covers it, since powers that show less precede those that show more.
pub fn least(asked: &[Subscription], granted: &Grant, tools: bool) -> Vec<&'static Power> {
    let unmet: Vec<_> = asked
        .iter()
        .filter(|asked| !asked.is_met(granted))
        .collect();
    let reads = |power: &&Power| {
        let acts = power.actions().intersects(Actions::SEND | Actions::DECIDE);
        !acts && power.needs.is_none()
    };
    let missing: Vec<_> = unmet
        .iter()
        .flat_map(|asked| {
            // Updates of different kinds have different powers.
            let count = if asked.method.covers("session/update") {
                usize::MAX
            } else {
                1
            };
            let readers = Power::all().filter(reads);
            let readers = readers.filter(|power| asked.is_met_in_full_by(power));
            readers.map(|power| power.key).take(count)
        })
        .collect();
    let wanted = |power: &Power| {
        let actions = power.actions();
        let has = granted.has(power.key);
        let touched = || asked.iter().any(|asked| asked.is_touched_by(power));
        match power.key {
            "tools" => tools,
            "user.read" | "values.keep" => has,
            _ if power.needs.is_some() => has,
            _ if has => actions.intersects(Actions::SEND) || touched(),
            key => missing.contains(&key),
        }
    };
    Power::all().filter(|power| wanted(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kinds, Pattern, Peer};

    fn keys(asked: &[(&str, Option<Peer>, Kinds)], granted: &[&str]) -> Vec<&'static str> {
        let asked = asked.iter().map(|(method, sender, kinds)| Subscription {
            method: Pattern::new(method).unwrap(),
            sender: *sender,
            kinds: *kinds,
            with_body: true,
        });
        let asked: Vec<_> = asked.collect();
        let granted = Grant::new("me", granted.iter().copied(), Vec::new()).unwrap();
        least(&asked, &granted, false)
            .into_iter()
            .map(|power| power.key)
            .collect()
    }

    #[test]
    fn the_least_powers_are_those_for_subscriptions_and_usable_granted_ones() {
        let prompt = ("session/prompt", None, Kinds::REQUEST);
        assert_eq!(keys(&[prompt], &[]), ["prompts.read"]);
        let granted = [
            "prompts.change",
            "tool-calls.change",
            "files.read",
            "answers.read",
        ];
        assert_eq!(
            keys(&[prompt], &granted),
            ["prompts.read", "prompts.change", "files.read"]
        );
        let client = ("session/update", Some(Peer::Client), Kinds::NOTIFICATION);
        assert!(keys(&[client], &[]).is_empty());
        let update = ("session/update", None, Kinds::NOTIFICATION);
        assert_eq!(keys(&[update], &["plans.read"]), ["plans.read"]);
        assert!(keys(&[update], &[]).contains(&"tool-calls.read"));
    }
}
