//! The report as one page: no script, and nothing from elsewhere. Every text is escaped.

use std::fmt::{self, Display, Formatter};

use super::{Example, Report};

/// The page of a report.
struct Page<'r>(&'r Report);

/// A text in HTML.
struct EscapedText<T>(T);

/// Nothing is loaded and nothing runs, even if a text were not escaped.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>acp-chain scan</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3em .8em .3em 0; border-bottom: 1px solid #8886; }
td.n, th.n { text-align: right; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
small { opacity: .7; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>What would have happened</h1>
"#;

impl Report {
    /// The report as a page: a whole document of HTML.
    pub fn to_html(&self) -> String {
        Page(self).to_string()
    }
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(HEAD)?;
        let report = self.0;
        let chain = report.chain.join(", ");
        writeln!(f, "<p>Played through <b>{}</b>.</p>", EscapedText(chain))?;
        for left_out in &report.left_out {
            writeln!(f, "<p>Left out: {}</p>", EscapedText(left_out))?;
        }
        self.recordings(f)?;
        self.decisions(f)?;
        self.secrets(f)?;
        self.costs(f)?;
        self.problems(f)?;
        f.write_str("</body>\n</html>\n")
    }
}

impl Page<'_> {
    fn recordings(&self, f: &mut Formatter) -> fmt::Result {
        let names = [
            "recordings of",
            "files",
            "sessions",
            "prompts",
            "calls of tools",
            "files in which nothing was recognized",
        ];
        let rows = self.0.recordings.iter().map(|read| {
            let all = &read.totals;
            let counts = numbers(&[
                all.recordings,
                all.sessions,
                all.prompts,
                all.calls,
                all.unrecognized,
            ]);
            format!("<td>{}</td>{counts}", read.format.as_str())
        });
        table(f, "Recordings", &names, rows)
    }

    fn decisions(&self, f: &mut Formatter) -> fmt::Result {
        let names = ["decision", "number", "by", "why", "for example"];
        let rows = self.0.decisions.iter().map(|decided| {
            format!(
                "<td>{}</td>{}<td>{}</td><td>{}</td>{}",
                decided.decision.as_str(),
                numbers(&[decided.count]),
                EscapedText(&decided.proxy),
                EscapedText(&decided.why),
                examples(&decided.examples)
            )
        });
        table(f, "Decisions", &names, rows)
    }

    fn secrets(&self, f: &mut Formatter) -> fmt::Result {
        let names = ["secret", "number", "where", "for example"];
        let rows = self.0.secrets.iter().map(|secrets| {
            let (kind, count) = (EscapedText(&secrets.kind), numbers(&[secrets.count]));
            let (within, last) = (secrets.within.as_str(), examples(&secrets.examples));
            format!("<td>{kind}</td>{count}<td>{within}</td>{last}")
        });
        table(f, "Secrets withheld from the agent", &names, rows)
    }

    fn costs(&self, f: &mut Formatter) -> fmt::Result {
        let names = [
            "agent",
            "model",
            "input",
            "output",
            "read from the cache",
            "written to it",
        ];
        let rows = self.0.used.iter().map(|used| {
            let counts = numbers(&used.tokens.all());
            let (format, model) = (used.format.as_str(), EscapedText(&used.model));
            format!("<td>{format}</td><td>{model}</td>{counts}")
        });
        table(f, "Tokens and cost", &names, rows)?;
        for cost in &self.0.reported {
            let shown = EscapedText(cost.shown());
            writeln!(f, "<p>As the agents report: <b>{shown}</b></p>")?;
        }
        if let Some(cost) = &self.0.priced {
            let shown = EscapedText(cost.shown());
            writeln!(f, "<p>By your prices: <b>{shown}</b></p>")?;
        }
        Ok(())
    }

    fn problems(&self, f: &mut Formatter) -> fmt::Result {
        if self.0.problems.is_empty() {
            return Ok(());
        }
        let rows = self.0.problems.iter().map(|missed| {
            let (file, count) = (EscapedText(missed.place()), numbers(&[missed.count]));
            format!(
                "<td><code>{file}</code></td><td>{}</td>{count}",
                missed.what
            )
        });
        table(f, "Not played", &["file", "what", "number"], rows)
    }
}

/// A table below a heading. The rows have their cells.
fn table(
    f: &mut Formatter,
    title: &str,
    names: &[&str],
    rows: impl Iterator<Item = String>,
) -> fmt::Result {
    write!(f, "<h2>{title}</h2>\n<table>\n<tr>")?;
    for name in names {
        write!(f, "<th>{name}</th>")?;
    }
    writeln!(f, "</tr>")?;
    for row in rows {
        writeln!(f, "<tr>{row}</tr>")?;
    }
    writeln!(f, "</table>")
}

fn numbers(numbers: &[u64]) -> String {
    let numbers = numbers.iter();
    let cells = numbers.map(|number| format!("<td class=\"n\">{number}</td>"));
    cells.collect::<Vec<_>>().concat()
}

fn examples(examples: &[Example]) -> String {
    let each = examples.iter().map(|Example { what, file, line }| {
        let (what, file) = (EscapedText(what), EscapedText(file));
        format!("<code>{what}</code><br><small>{file}:{line}</small><br>")
    });
    format!("<td>{}</td>", each.collect::<Vec<_>>().concat())
}

impl<T: Display> Display for EscapedText<T> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}
