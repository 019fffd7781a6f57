//! Pages of the book with tables in them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

const END: &str = "<!-- to here -->";

/// Writes the tables into a page, at the place that is marked with these options of `cargo xtask bench`.
///
/// # Errors
/// If the page has no place for them.
pub fn publish(page: &Path, options: &str, tables: &str) -> Result<()> {
    let before = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let after = with(&before, options, tables)
        .with_context(|| format!("{} has no place for `{options}`", page.display()))?;
    Ok(fs::write(page, after)?)
}

fn with(text: &str, options: &str, tables: &str) -> Option<String> {
    let begin = format!("<!-- by cargo xtask bench {options} -->\n");
    let (before, rest) = text.split_once(&*begin)?;
    let (_, after) = rest.split_once(END)?;
    let tables = tables.trim();
    Some(format!("{before}{begin}\n{tables}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_before() {
        let place = |options: &str, tables: &str| {
            format!("<!-- by cargo xtask bench {options} -->\n\n{tables}\n\n<!-- to here -->\n")
        };
        let page = format!("a\n{}b\n{}", place("--x", "one"), place("--x --y", "two"));
        for (options, old) in [("--x", "one"), ("--x --y", "two")] {
            let expected = page.replace(old, "new");
            assert_eq!(with(&page, options, "new\n").unwrap(), expected);
        }
        assert!(with(&page, "--y", "new").is_none());
    }
}
