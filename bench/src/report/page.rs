//! Pages of the book with tables in them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- by cargo xtask bench";
const END: &str = "<!-- to here -->";

/// Writes the tables into a page, at their marked place.
///
/// # Errors
/// If the page has no place for them.
pub fn publish(page: &Path, tables: &str) -> Result<()> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let text = with(&text, tables)
        .with_context(|| format!("{} has no place for tables", page.display()))?;
    Ok(fs::write(page, text)?)
}

fn with(text: &str, tables: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (command, rest) = rest.split_once('\n')?;
    let (_, after) = rest.split_once(END)?;
    let tables = tables.trim();
    Some(format!(
        "{before}{BEGIN}{command}\n\n{tables}\n\n{END}{after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_before() {
        let page = "a\n<!-- by cargo xtask bench --x -->\n\nold\n\n<!-- to here -->\nb\n";
        let expected = page.replace("old", "new");
        assert_eq!(with(page, "new\n").unwrap(), expected);
        assert!(with("no place", "new").is_none());
    }
}
