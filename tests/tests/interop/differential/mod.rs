//! The same traffic through the reference conductor and through ours, with the same native proxies. Where the
//! ends receive something else, `docs/conformance.md` lists it.

mod normal;
mod play;
mod scripts;

use std::collections::BTreeSet;

use futures_util::stream::{self, StreamExt};

use crate::differential::normal::heard;
use crate::differential::play::Conductor;

/// The page that lists the differences; each is a row that begins with a script's name.
const PAGE: &str = include_str!("../../../../docs/conformance.md");

/// What both ends received through each conductor, if that differs.
async fn difference(name: &'static str, script: String) -> Option<(&'static str, String)> {
    let (reference, ours) = tokio::join!(
        Conductor::Reference.play(&script),
        Conductor::Ours.play(&script)
    );
    let (reference, ours) = (heard(&reference), heard(&ours));
    let text = format!("{name}\nthe reference:\n{reference}\nours:\n{ours}");
    (reference != ours).then_some((name, text))
}

#[tokio::test]
async fn the_ends_hear_what_they_hear_through_the_reference_but_for_the_differences_that_are_listed()
 {
    let played = stream::iter(scripts::all()).map(|(name, script)| difference(name, script));
    let differences: Vec<_> = played
        .buffer_unordered(2)
        .filter_map(async |found| found)
        .collect()
        .await;
    let found: BTreeSet<_> = differences.iter().map(|(name, _)| *name).collect();
    let rows = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let listed: BTreeSet<_> = rows
        .filter(|name| scripts::all().iter().any(|(script, _)| script == name))
        .collect();
    let texts: Vec<_> = differences.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(found, listed, "{}", texts.join("\n\n"));
}
