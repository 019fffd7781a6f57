//! The smallest set of powers for a proxy's subscriptions.

use crate::{Actions, Cover, Grant, Kinds, Pattern, Peer, Power};

/// A subscription: the requested messages.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub methods: &'a Pattern,
    /// `None` for both sides.
    pub sender: Option<Peer>,
    pub kinds: Kinds,
    /// Whether bodies are requested.
    pub with_body: bool,
}

impl Asked<'_> {
    /// Whether a power covers any of the messages. With bodies, the power must allow reading.
    #[must_use]
    pub fn is_met_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, |_| true)
    }

    /// Like [`is_met_by`](Self::is_met_by), but ignores covers that are [aside](Cover::is_aside).
    #[must_use]
    pub fn is_met_in_full_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, |cover| !cover.is_aside)
    }

    fn is_met_by_those(&self, power: &Power, of: impl Fn(&Cover) -> bool) -> bool {
        let actions = if self.with_body {
            Actions::READ
        } else {
            Actions::TOUCH
        };
        // A subscription to responses is not met by a power for errors only.
        let covers = power
            .covers
            .iter()
            .filter(|cover| cover.kinds != Kinds::ERROR && of(cover));
        let mut covers = covers.filter(|cover| cover.actions.intersects(actions));
        covers.any(|cover| cover.meets(self.methods, self.sender, self.kinds))
    }

    /// Whether a power covers any of the messages, with any action.
    #[must_use]
    pub fn is_touched_by(&self, power: &Power) -> bool {
        Asked {
            with_body: false,
            ..*self
        }
        .is_met_by(power)
    }

    /// Whether a grant covers any of the messages.
    #[must_use]
    pub fn is_met(&self, grant: &Grant) -> bool {
        let named = grant.methods().iter();
        let mut named = named.filter(|named| named.actions.intersects(Actions::TOUCH));
        grant.powers().iter().any(|power| self.is_met_by(power))
            || named.any(|named| named.methods.meets(self.methods))
    }

    /// Whether any power covers any of the messages.
    #[must_use]
    pub fn is_known(&self) -> bool {
        Power::all().any(|power| self.is_touched_by(power))
    }

    /// The most similar method of the protocol, if the subscription is to an unknown method.
    #[must_use]
    pub fn nearest_method(&self) -> Option<&'static str> {
        let name = self.methods.name();
        if self.methods.is_prefix() || self.is_known() || name.starts_with('_') {
            return None;
        }
        let methods = Power::all().flat_map(Power::methods);
        let like = |method: &&'static str| strsim::jaro_winkler(method, name);
        let nearest = methods.max_by(|one, two| like(one).total_cmp(&like(two)));
        nearest.filter(|method| like(method) > 0.8)
    }
}

/// The smallest set of powers for a proxy's subscriptions: all granted powers that it can use, since subscriptions do
/// not show what it does with the messages; and for each subscription that no granted power covers, the first power of
/// the table that covers it, since powers that show less precede those that show more.
#[must_use]
pub fn least(asked: &[Asked], granted: &Grant, tools: bool) -> Vec<&'static Power> {
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
            let count = if asked.methods.covers("session/update") {
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
            "user.read" => has,
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

    fn keys(asked: &[(&str, Option<Peer>, Kinds)], granted: &[&str]) -> Vec<&'static str> {
        let patterns: Vec<_> = asked
            .iter()
            .map(|(method, ..)| Pattern::new(method).unwrap())
            .collect();
        let asked: Vec<_> = asked
            .iter()
            .zip(&patterns)
            .map(|((_, sender, kinds), methods)| Asked {
                methods,
                sender: *sender,
                kinds: *kinds,
                with_body: true,
            })
            .collect();
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

    #[test]
    fn the_nearest_method_is_found_for_a_misspelt_one() {
        let nearest = |method: &str| {
            let methods = &Pattern::new(method).unwrap();
            let asked = Asked {
                methods,
                sender: None,
                kinds: Kinds::REQUEST,
                with_body: true,
            };
            asked.nearest_method()
        };
        assert_eq!(nearest("session/promt"), Some("session/prompt"));
        assert_eq!(nearest("session/prompt"), None);
        assert_eq!(nearest("_vendor/prompt"), None);
        assert_eq!(nearest("whatever"), None);
    }
}
