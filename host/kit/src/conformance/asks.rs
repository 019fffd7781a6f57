//! Compares a proxy's subscriptions with its powers: for `acp-chain check --start` as well.

use acp_chain_powers::{Actions, Kinds, Power, Subscription, least};

use acp_chain_channel::{Grant, Registration};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// Remarks about a registration under a grant, one line each; and, if the powers of the grant are not the fewest that
/// suffice, those powers in the manifest's syntax.
pub fn compare(registration: &Registration, grant: &Grant) -> Vec<String> {
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
    let same =
        least.len() == grant.powers().len() && least.iter().all(|power| grant.has(power.key));
    if !same {
        let keys: Vec<_> = least.iter().map(|power| power.key).collect();
        lines.push(format!(
            "the fewest powers for its subscriptions: powers = {keys:?}"
        ));
        lines.push(
            "a proxy does not declare what it changes, answers or sends: its powers for that are kept"
                .to_owned(),
        );
    }
    lines
}

/// The powers that let a proxy see a part of a subscription.
fn readers(asked: &Subscription) -> String {
    let kinds = [Kinds::REQUEST, Kinds::NOTIFICATION, Kinds::RESPONSE];
    let reads = |power: &&Power| power.actions().intersects(Actions::READ) && power.needs.is_none();
    let readers = Power::all().filter(reads).filter(|power| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use acp_chain_channel::{FailurePolicy, Kinds, Offers, Pattern, Subscription};

    fn compared(methods: &[&str], powers: &[&str]) -> String {
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
        compare(&registration, &grant).join("\n")
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
