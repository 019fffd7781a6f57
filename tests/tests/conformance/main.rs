//! The public conformance suite of MCP, with its own server direct and through the chain, and with a
//! component: over both bridges, in each version of MCP that the suite knows.
//!
//! Always: through the chain no scenario fails that a server passes direct, a component fails no scenario
//! whose features it has, and the table in the book says how many pass. `cargo xtask conformance` writes the
//! table.
//!
//! This is a program of its own because in places the suite waits for only a second: no other tests may run
//! beside it.

mod runs;
mod suite;

use std::fs;
use std::path::Path;

use self::runs::{RUNS, Run, Scores, scores};

/// Set to `write` by `cargo xtask conformance`, and to `all` by `cargo xtask release-check`. Both run all
/// versions of MCP.
const EXTENT: &str = "ACP_CHAIN_CONFORMANCE";

/// The text around the table.
const ABOVE: &str = "<!-- by cargo xtask conformance -->\n\n";
const BELOW: &str = "\n<!-- end -->";

/// A row of the table.
fn row(run: Run, scores: &Scores) -> String {
    let cells = scores.cells().join(" | ");
    format!("| {} | {} | {cells} |\n", run.suite.release(), run.version)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_passes_through_the_chain_what_it_passes_direct_and_the_book_says_so() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let text = fs::read_to_string(&page).unwrap();
    let (above, rest) = text.split_once(ABOVE).expect("the start of the table");
    let (old, below) = rest.split_once(BELOW).expect("the end of the table");
    let extent = std::env::var(EXTENT).ok();
    let writes = extent.as_deref() == Some("write");
    let mut rows = Vec::new();
    let runs = RUNS
        .into_iter()
        .filter(|(_, always)| *always || extent.is_some());
    for (run, _) in runs {
        let mut scores = scores(run).await;
        let is_as_told = |scores: &Scores| writes || old.contains(&row(run, scores));
        if !(scores.is_fine() && is_as_told(&scores)) {
            // In places the suite waits for only a second, and the machine may be busy.
            scores = runs::scores(run).await;
        }
        let (lost, faults) = (scores.lost(), scores.faults());
        assert!(lost.is_empty(), "{run:?}: not through the chain: {lost:#?}");
        assert!(faults.is_empty(), "{run:?}: of a component: {faults:#?}");
        rows.push(row(run, &scores));
    }
    let head = format!("| Suite | MCP | {} |\n", Scores::HEADINGS.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(2 + Scores::HEADINGS.len()));
    let table = format!("{head}{rule}{}", rows.concat());
    if writes {
        fs::write(&page, format!("{above}{ABOVE}{table}{BELOW}{below}")).unwrap();
    } else if extent.is_some() {
        assert_eq!(old, table, "`cargo xtask conformance` rewrites the table");
    } else {
        let is_there = rows.iter().all(|row| old.contains(row));
        assert!(
            is_there,
            "`cargo xtask conformance` rewrites the table: {old}\n{table}"
        );
    }
}
