//! The powers that a proxy needs for its subscriptions.

use crate::{Actions, Cover, Grant, Kinds, Pattern, Peer, Power};

/// A subscription, as powers see it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The methods.
    pub methods: &'a Pattern,
    /// The side whose messages are wanted; both, if none is named.
    pub sender: Option<Peer>,
    /// The kinds.
    pub kinds: Kinds,
    /// Whether it wants their bodies.
    pub with_body: bool,
}

impl Asked<'_> {
    /// Whether a power shows it any of this in the wanted form: with the body, which takes a power to read it, or
    /// without.
    #[must_use]
    pub fn is_met_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, |_| true)
    }

    /// The same, without messages of other powers of which this one shows a part.
    #[must_use]
    pub fn is_met_in_full_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, |cover| !cover.is_aside)
    }

    fn is_met_by_those(&self, power: &Power, of: impl Fn(&Cover) -> bool) -> bool {
        let actions = match self.with_body {
            true => Actions::READ,
            false => Actions::TOUCH,
        };
        // A power for errors only does not cover responses.
        let covers = power
            .covers
            .iter()
            .filter(|cover| cover.kinds != Kinds::ERROR && of(cover));
        let mut covers = covers.filter(|cover| cover.actions.meets(actions));
        covers.any(|cover| cover.meets(self.methods, self.sender, self.kinds))
    }

    /// Whether a power covers any of this, with any action.
    #[must_use]
    pub fn is_touched_by(&self, power: &Power) -> bool {
        Asked {
            with_body: false,
            ..*self
        }
        .is_met_by(power)
    }

    /// Whether a grant shows it any of this.
    #[must_use]
    pub fn is_met(&self, grant: &Grant) -> bool {
        let named = grant.methods().iter();
        let mut named = named.filter(|named| named.actions.meets(Actions::TOUCH));
        grant.powers().iter().any(|power| self.is_met_by(power))
            || named.any(|named| named.methods.meets(self.methods))
    }

    /// Whether any power covers such messages.
    #[must_use]
    pub fn is_known(&self) -> bool {
        Power::all().any(|power| self.is_touched_by(power))
    }

    /// The most similar method of the protocol, if this one does not belong to it.
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

/// The fewest powers with which a proxy sees its subscriptions: all granted ones that it can use, since subscriptions
/// do not tell what it does with the messages; and for each subscription that none of them covers, the first that does:
/// those that show less stand before those that show more.
#[must_use]
pub fn least(asked: &[Asked], granted: &Grant, tools: bool) -> Vec<&'static Power> {
    let unmet: Vec<_> = asked
        .iter()
        .filter(|asked| !asked.is_met(granted))
        .collect();
    let reads = |power: &&Power| {
        let acts = power.actions().meets(Actions::SEND.and(Actions::DECIDE));
        !acts && power.needs.is_none()
    };
    let missing: Vec<_> = unmet
        .iter()
        .flat_map(|asked| {
            // Each kind of update has a power of its own.
            let count = match asked.methods.covers("session/update") {
                true => usize::MAX,
                false => 1,
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
            _ if has => actions.meets(Actions::SEND) || touched(),
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
    fn the_least_is_what_is_asked_for_and_what_is_done_with_it() {
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
    fn a_misspelt_method_is_told_with_the_nearest() {
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
