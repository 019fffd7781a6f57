//! `acp-chain receipts export`: the records as JSON or CSV.

use std::path::PathBuf;

use clap::ValueEnum;

use super::each;
use crate::{Result, out};

#[derive(Debug, clap::Args)]
pub struct Export {
    /// The folder of the log
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One array of objects, each with the number of its record
    Json,
    /// Comma-separated values, with a heading (RFC 4180)
    Csv,
}

impl Export {
    pub fn main(self) -> Result<()> {
        match self.to {
            Format::Json => self.json(),
            Format::Csv => self.csv(),
        }
    }

    fn json(&self) -> Result<()> {
        let mut before = "[";
        let read = each(&self.folder, |number, record| {
            // Not as a value: its chain may be nested deeper than those can be.
            let all = serde_json::to_string(&record).unwrap_or_default();
            let members = all.trim_start_matches('{');
            let is_written = out::say(format_args!("{before}\n{{\"number\":{number},{members}"));
            before = ",";
            is_written
        });
        // Also behind the records that could be read.
        if before == "," {
            say!("]");
        }
        read
    }

    fn csv(&self) -> Result<()> {
        let mut is_first = true;
        each(&self.folder, |number, record| {
            let columns = record.columns();
            if std::mem::take(&mut is_first) {
                let names = columns.iter().map(|(name, _)| (*name).to_owned());
                row("number".to_owned(), names);
            }
            let cells = columns
                .into_iter()
                .map(|(_, cell)| cell.unwrap_or_default());
            row(number.to_string(), cells)
        })
    }
}

/// Prints a row; false if standard output is closed.
fn row(first: String, cells: impl Iterator<Item = String>) -> bool {
    let cells: Vec<_> = [first]
        .into_iter()
        .chain(cells)
        .map(|cell| quoted(&cell))
        .collect();
    out::say(format_args!("{}", cells.join(",")))
}

/// A cell. A reader that calculates takes none for a formula.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", cell.replace('"', "\"\""))
}
