//! Compares the table with the page of the book that shows it.

use super::{CHECKS, Check};

#[test]
fn the_book_has_every_check() {
    let book = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/conformance-of-proxies.md"
    );
    let book = std::fs::read_to_string(book).unwrap();
    let row = |check: &Check| {
        let Check {
            name,
            promise,
            remedy,
            ..
        } = check;
        format!("| `{name}` | {promise} | {remedy} |")
    };
    let rows: Vec<_> = CHECKS.iter().map(row).collect();
    let rows = rows.join("\n");
    assert!(
        book.contains(&rows),
        "docs/conformance-of-proxies.md lacks:\n{rows}"
    );
}
