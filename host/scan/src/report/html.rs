//! The report as one page: no script, and nothing from elsewhere. Every text is escaped.

use std::fmt::{self, Display, Formatter};

use super::{Example, Report};

/// The page of a report.
struct Page<'r>(&'r Report);

/// A text in HTML.
struct Escaped<T>(T);

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
    #[must_use]
    pub fn to_html(&self) -> String {
        Page(self).to_string()
    }
}

impl Display for Page<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(HEAD)?;
        let report = self.0;
        let chain = report.chain.join(", ");
        writeln!(f, "<p>Played through <b>{}</b>.</p>", Escaped(chain))?;
        for left_out in &report.left_out {
            writeln!(f, "<p>Left out: {}</p>", Escaped(left_out))?;
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
        ];
        begin(f, "Recordings", &names)?;
        for read in &self.0.recordings {
            let all = &read.totals;
            let numbers = [all.recordings, all.sessions, all.prompts, all.calls];
            write!(f, "<tr><td>{}</td>", read.format.as_str())?;
            for number in numbers {
                write!(f, "<td class=\"n\">{number}</td>")?;
            }
            writeln!(f, "</tr>")?;
        }
        end(f)
    }

    fn decisions(&self, f: &mut Formatter) -> fmt::Result {
        let names = ["decision", "number", "by", "why", "for example"];
        begin(f, "Decisions", &names)?;
        for decided in &self.0.decisions {
            write!(
                f,
                "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td>",
                decided.decision.as_str(),
                decided.count,
                Escaped(&decided.proxy),
                Escaped(&decided.why)
            )?;
            examples(f, &decided.examples)?;
        }
        end(f)
    }

    fn secrets(&self, f: &mut Formatter) -> fmt::Result {
        let names = ["secret", "number", "where", "for example"];
        begin(f, "Secrets withheld from the agent", &names)?;
        for secrets in &self.0.secrets {
            write!(
                f,
                "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td>",
                Escaped(&secrets.kind),
                secrets.count,
                secrets.within.as_str()
            )?;
            examples(f, &secrets.examples)?;
        }
        end(f)
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
        begin(f, "Tokens and cost", &names)?;
        for used in &self.0.used {
            let tokens = &used.tokens;
            let numbers = [
                tokens.input,
                tokens.output,
                tokens.cached_read,
                tokens.cached_write,
            ];
            let (format, model) = (used.format.as_str(), Escaped(&used.model));
            write!(f, "<tr><td>{format}</td><td>{model}</td>")?;
            for number in numbers {
                write!(f, "<td class=\"n\">{number}</td>")?;
            }
            writeln!(f, "</tr>")?;
        }
        end(f)?;
        for cost in &self.0.reported {
            let shown = Escaped(cost.shown());
            writeln!(f, "<p>As the agents report: <b>{shown}</b></p>")?;
        }
        if let Some(cost) = &self.0.priced {
            let shown = Escaped(cost.shown());
            writeln!(f, "<p>By your prices: <b>{shown}</b></p>")?;
        }
        Ok(())
    }

    fn problems(&self, f: &mut Formatter) -> fmt::Result {
        if self.0.problems.is_empty() {
            return Ok(());
        }
        begin(f, "Not played", &["file", "what", "number"])?;
        for missed in &self.0.problems {
            let (file, what) = (Escaped(&missed.file), missed.what);
            let count = missed.count;
            writeln!(
                f,
                "<tr><td><code>{file}</code></td><td>{what}</td><td class=\"n\">{count}</td></tr>"
            )?;
        }
        end(f)
    }
}

fn begin(f: &mut Formatter, title: &str, names: &[&str]) -> fmt::Result {
    write!(f, "<h2>{title}</h2>\n<table>\n<tr>")?;
    for name in names {
        write!(f, "<th>{name}</th>")?;
    }
    writeln!(f, "</tr>")
}

fn end(f: &mut Formatter) -> fmt::Result {
    writeln!(f, "</table>")
}

/// The last cell of a row.
fn examples(f: &mut Formatter, examples: &[Example]) -> fmt::Result {
    write!(f, "<td>")?;
    for Example { what, file, line } in examples {
        let (what, file) = (Escaped(what), Escaped(file));
        write!(f, "<code>{what}</code><br><small>{file}:{line}</small><br>")?;
    }
    writeln!(f, "</td></tr>")
}

impl<T: Display> Display for Escaped<T> {
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
