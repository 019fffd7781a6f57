//! Compares a proxy's subscriptions with its powers: for `acp-chain check --start` as well.

use acp_chain_powers::{Actions, Kinds, Power, Subscription, least};

use acp_chain_channel::{Grant, Registration};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Remarks about a registration under a grant, one line each; and, if the powers of the grant are not the fewest that
/// suffice, those powers in the manifest's syntax. An extension can have only the powers that it has `asked` for; of
/// these, it needs what lets it read for its subscriptions, and all others.
pub fn compare(
    registration: &Registration,
    grant: &Grant,
    asked: Option<&[String]>,
) -> Vec<String> {
    let mut lines = Vec::new();
    if registration.guard {
        lines.push("is a guard: it stands next to the agent, behind all others".to_owned());
    }
    for asked in &registration.subscriptions {
        let wanted = quote(&asked.to_string(), MAX_QUOTE);
        if let Some(nearest) = asked.nearest_method() {
            lines.push(format!(
                "! subscribes to {wanted}: unknown method; did you mean `{nearest}`?"
            ));
        } else if !asked.is_known()
            && grant
                .methods()
                .iter()
                .all(|named| !named.methods.meets(&asked.method))
        {
            lines.push(format!(
                "! subscribes to {wanted}: no power covers it; `methods` can name methods outside \
                 the protocol"
            ));
        } else if !asked.is_met(grant) {
            let takes = readers(asked);
            lines.push(format!(
                "! subscribes to {wanted}, but does not see it: it needs {takes}"
            ));
        } else {
            lines.push(format!("subscribes to {wanted}"));
        }
    }
    let has_offers = !registration.offers.is_empty();
    let least = least(&registration.subscriptions, grant, has_offers);
    let idle = grant.powers().iter().filter(|power| {
        power.needs.is_none() && !least.iter().any(|needed| needed.key == power.key)
    });
    for power in idle {
        lines.push(format!(
            "! never uses `{}`: it has no subscription that needs it",
            power.key
        ));
    }
    let is_needed = |key: &&str| {
        let needed = least.iter().any(|power| power.key == *key);
        needed || Power::named(key).is_some_and(|power| !only_lets_read(power))
    };
    let wanted: Vec<&str> = match asked {
        Some(asked) => asked.iter().map(String::as_str).filter(is_needed).collect(),
        None => least.iter().map(|power| power.key).collect(),
    };
    let same = wanted.len() == grant.powers().len() && wanted.iter().all(|key| grant.has(key));
    if !same {
        let (what, why) = match asked {
            Some(_) => (
                "the powers that it asks for and needs",
                "without `powers` it has all that it asks for",
            ),
            None => (
                "the fewest powers for its subscriptions",
                "a proxy does not declare what it changes, answers or sends: its powers for that are kept",
            ),
        };
        lines.push(format!("{what}: powers = {wanted:?}"));
        lines.push(why.to_owned());
    }
    lines
}

/// The powers that let a proxy see a part of a subscription.
fn readers(asked: &Subscription) -> String {
    let kinds = [Kinds::REQUEST, Kinds::NOTIFICATION, Kinds::RESPONSE];
    let readers = Power::all().filter(|power| only_lets_read(power));
    let readers = readers.filter(|power| {
        let mut kinds = kinds.iter().filter(|kinds| asked.kinds.intersects(**kinds));
        kinds.any(|kinds| {
            Subscription {
                kinds: *kinds,
                ..asked.clone()
            }
            .is_met_in_full_by(power)
        })
    });
    let readers: Vec<_> = readers.map(|power| format!("`{}`", power.key)).collect();
    readers.join(" or ")
}

/// Whether a power lets a proxy read, and needs no other power for that.
fn only_lets_read(power: &Power) -> bool {
    power.actions().intersects(Actions::READ) && power.needs.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_chain_channel::{FailurePolicy, Kinds, Offers, Pattern, Subscription};

    fn compared(methods: &[&str], powers: &[&str]) -> String {
        compared_with(methods, powers, None)
    }

    fn compared_with(methods: &[&str], powers: &[&str], asked: Option<&[&str]>) -> String {
        let subscriptions = methods.iter().map(|method| Subscription {
            method: Pattern::new(method).unwrap(),
            sender: None,
            kinds: Kinds::REQUEST,
            with_body: true,
        });
        let registration = Registration {
            subscriptions: subscriptions.collect(),
            on_failure: FailurePolicy::Restart,
            offers: Offers::default(),
            guard: false,
        };
        let grant = Grant::new("me", powers.iter().copied(), Vec::new()).unwrap();
        let asked = asked.map(|asked| asked.iter().map(|&key| key.to_owned()).collect::<Vec<_>>());
        compare(&registration, &grant, asked.as_deref()).join("\n")
    }

    #[test]
    fn an_extension_is_to_have_nothing_that_it_does_not_ask_for() {
        let methods = ["session/prompt", "fs/read_text_file"];
        let asked = ["plans.read", "prompts.read", "prompts.change"];
        let told = compared_with(&methods, &["prompts.read"], Some(&asked));
        assert!(
            told.contains(r#"asks for and needs: powers = ["prompts.read", "prompts.change"]"#),
            "{told}"
        );
        let needed = ["prompts.read", "prompts.change"];
        let told = compared_with(&methods, &needed, Some(&needed));
        assert!(!told.contains("powers = "), "{told}");
    }

    #[test]
    fn what_is_asked_for_is_compared_with_what_is_granted() {
        assert_eq!(
            compared(&["session/prompt"], &["prompts.read"]),
            "subscribes to session/prompt requests"
        );
        let lacks = compared(&["session/prompt"], &["files.read", "plans.read"]);
        assert!(
            lacks.contains("does not see it: it needs `prompts.read`"),
            "{lacks}"
        );
        assert!(lacks.contains("never uses `plans.read`"), "{lacks}");
        assert!(
            lacks.contains(r#"powers = ["prompts.read", "files.read"]"#),
            "{lacks}"
        );
        let misspelt = compared(&["session/promt"], &[]);
        assert!(
            misspelt.contains("did you mean `session/prompt`?"),
            "{misspelt}"
        );
        let foreign = compared(&["_vendor/ask"], &[]);
        assert!(foreign.contains("`methods` can name"), "{foreign}");
    }
}
