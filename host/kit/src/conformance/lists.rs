//! What a component lists for agents: for `acp-chain check --start`.

use acp_chain_channel::{Action, Event, Offer, Outcome, Started};
use acp_chain_mcp::component::Catalog;

/// Warnings about the lists of a component: entries that no agent receives, and why.
pub async fn left_out(started: Started) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut part, offers) = (started.part, started.registration.offers);
    let is_listed = |offer: &Offer| offers.has(*offer) && !offer.list().is_empty();
    for offer in Offer::ALL.into_iter().filter(is_listed) {
        let (again, reply) = part.call(Event::List(offer, None)).await;
        part = again;
        let what = offer.as_str();
        let why = match reply.outcome {
            Outcome::Decided(Action::Answer(list)) => Catalog::read(list.body()),
            Outcome::Refused(why) => Err(why),
            Outcome::Broke(failure) => {
                lines.push(format!("breaks when it lists its {what}: {failure}"));
                break;
            }
            Outcome::Decided(_) | Outcome::Told => continue,
        };
        lines.extend(match why {
            Ok(catalog) => {
                let why = catalog.left_out();
                why.map(|why| format!("{what} that it lists are left out: {why}"))
            }
            Err(why) => Some(format!("none of its {what} are available: {why}")),
        });
    }
    lines
}
