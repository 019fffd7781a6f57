//! What proxies can do by the hooks of an agent, in the words of the book and of `acp-chain doctor`.

use crate::Dialect;

impl Dialect {
    /// What they can do with a call, before it runs.
    pub fn calls(&self) -> &'static str {
        if self.changes_input {
            "seen, refused, changed"
        } else {
            "seen, refused"
        }
    }

    /// What they can do with the result of a call that succeeded, before it reaches the model.
    pub fn results(&self) -> &'static str {
        of_results(self.changes_output)
    }

    /// What they can do with the result of a call that failed.
    pub fn failures(&self) -> &'static str {
        of_results(self.changes_failures)
    }
}

fn of_results(are_changed: bool) -> &'static str {
    if are_changed {
        "seen, withheld, changed"
    } else {
        "seen"
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::Sign;
    use crate::agents::AGENTS;

    /// The table in Markdown.
    fn table() -> String {
        let mut text = String::from(
            "| Agent | Versions | Calls | Results | Results of failed calls | Ids of calls | Sign of life |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for agent in AGENTS.iter().filter(|agent| !agent.only_asks()) {
            let dialect = agent.dialect().unwrap();
            let ids = if dialect.names_calls() {
                "ACP's"
            } else {
                "–"
            };
            let sign = match agent.sign {
                Sign::Session => "when a session begins",
                Sign::Prompt => "with the first prompt",
                Sign::Never => "–",
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | {ids} | {sign} |",
                agent.package,
                agent.versions(),
                dialect.calls(),
                dialect.results(),
                dialect.failures(),
            );
        }
        text
    }

    #[test]
    fn the_book_shows_this_table() {
        let page = include_str!("../../../docs/hooks.md");
        let table = table();
        assert!(
            page.contains(&table),
            "docs/hooks.md is behind; put this in:\n{table}"
        );
    }
}
