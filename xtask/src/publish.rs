//! Tables in the book, between two marks.

use std::fs;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The mark after a table.
const END: &str = "<!-- end -->";

/// Writes tables into a page of the book, after the mark `begin`.
pub fn tables(workspace: &Workspace, page: &str, begin: &str, tables: &str) -> Result<()> {
    let path = workspace.path(page);
    let text = fs::read_to_string(&path).with_context(|| format!("{page} is missing"))?;
    let text =
        with(&text, begin, tables).with_context(|| format!("{page} has no place for the table"))?;
    fs::write(&path, text)?;
    println!("{}", path.display());
    Ok(())
}

fn with(text: &str, begin: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{tables}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_before() {
        let page = "a\n<!-- by x -->\n\nold\n\n<!-- end -->\nb\n";
        let expected = page.replace("old", "new");
        let written = with(page, "<!-- by x -->\n", "new\n");
        assert_eq!(written.as_deref(), Some(&*expected));
        assert_eq!(with(page, "<!-- by y -->\n", "new\n"), None);
    }
}
