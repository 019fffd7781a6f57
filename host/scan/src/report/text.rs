//! The report as text.

use std::fmt::{self, Display, Formatter};

use super::{Example, Report};

/// How many examples are shown of a kind.
const EXAMPLES: usize = 3;

/// What is said if nothing was found.
const NONE: &str = "\
There are no recordings. They are looked for where Claude, Codex, Gemini CLI and opencode keep them, in your home folder or
that of `--home`, and at the trace that your config.toml names; other traces can be named.
";

impl Display for Report {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let all = self.totals();
        if all.recordings == 0 {
            return f.write_str(NONE);
        }
        let chain = self.chain.join(", ");
        writeln!(f, "Played through {chain}:")?;
        for read in &self.recordings {
            let (name, all) = (read.format.as_str(), &read.totals);
            writeln!(
                f,
                "  {name:9} files: {}, sessions: {}, prompts: {}, calls of tools: {}",
                all.recordings, all.sessions, all.prompts, all.calls
            )?;
            if all.unrecognized > 0 {
                writeln!(
                    f,
                    "            files in which nothing was recognized: {}",
                    all.unrecognized
                )?;
            }
        }
        for left_out in &self.left_out {
            writeln!(f, "  left out: {left_out}")?;
        }
        self.write_decisions(f)?;
        self.write_secrets(f)?;
        self.write_costs(f)?;
        if !self.problems.is_empty() {
            writeln!(f, "\nNot played")?;
        }
        for missed in &self.problems {
            let times = times(missed.count);
            writeln!(f, "  {}: {}{times}", missed.place(), missed.what)?;
        }
        Ok(())
    }
}

impl Report {
    fn write_decisions(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "\nWhat would have happened")?;
        if self.decisions.is_empty() {
            return writeln!(f, "  No call would have been asked about or denied.");
        }
        for (decision, count) in self.decided() {
            writeln!(f, "  {}: {count}", decision.as_str())?;
            let decisions = self.decisions.iter();
            for decided in decisions.filter(|decided| decided.decision == decision) {
                let why = match &*decided.why {
                    "" => String::new(),
                    why => format!(", {why}"),
                };
                writeln!(f, "    by {}{why}: {}", decided.proxy, decided.count)?;
                write_examples(f, &decided.examples)?;
            }
        }
        Ok(())
    }

    fn write_secrets(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "\nSecrets that would have been withheld from the agent")?;
        if self.secrets.is_empty() {
            return writeln!(f, "  None.");
        }
        for secrets in &self.secrets {
            let within = secrets.within.as_str();
            writeln!(f, "  {} {within}: {}", secrets.kind, secrets.count)?;
            write_examples(f, &secrets.examples)?;
        }
        Ok(())
    }

    fn write_costs(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "\nTokens and cost")?;
        for used in &self.used {
            let tokens = &used.tokens;
            writeln!(
                f,
                "  {} {}: input {}, output {}, read from the cache {}, written to it {}",
                used.format.as_str(),
                used.model,
                tokens.input,
                tokens.output,
                tokens.cached_read,
                tokens.cached_write
            )?;
        }
        for cost in &self.reported {
            writeln!(f, "  as the agents report: {}", cost.shown())?;
        }
        match &self.priced {
            Some(cost) => writeln!(f, "  by your prices: {}", cost.shown()),
            None if self.used.is_empty() && self.reported.is_empty() => {
                writeln!(f, "  Nothing was reported.")
            }
            None => Ok(()),
        }
    }
}

fn write_examples(f: &mut Formatter, examples: &[Example]) -> fmt::Result {
    for Example { what, file, line } in examples.iter().take(EXAMPLES) {
        writeln!(f, "      {what}\n        {file}:{line}")?;
    }
    Ok(())
}

/// How often, if more than once.
fn times(count: u64) -> String {
    match count {
        1 => String::new(),
        count => format!(" ({count} times)"),
    }
}
