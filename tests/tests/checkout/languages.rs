//! Each language for authors has a row in the book's table of languages, and a page with the common sections.

use std::fs;
use std::path::Path;

use acp_chain_author::LANGUAGES;

/// The sections of each page, in this order.
const SECTIONS: [&str; 8] = [
    "What you need",
    "Begin",
    "The project",
    "Change a prompt",
    "A tool",
    "Wait for an answer",
    "When it fails",
    "What is missing",
];

#[test]
fn each_language_has_a_row_and_a_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/languages");
    let table = fs::read_to_string(folder.join("README.md")).unwrap();
    for language in LANGUAGES {
        let row = table
            .lines()
            .find_map(|line| line.strip_prefix(&format!("| [{}](", language.title)));
        let row = row.unwrap_or_else(|| panic!("{} has no row", language.title));
        assert!(
            row.contains(&language.toolchain()),
            "{row}: `cargo xtask languages` regenerates it"
        );
        let page = row.split(')').next().unwrap_or_default();
        let page = fs::read_to_string(folder.join(page)).unwrap();
        let sections: Vec<_> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(sections, SECTIONS, "{}", language.title);
    }
}
