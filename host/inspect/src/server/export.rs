//! Exports lines in other formats.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::Serialize;

use crate::log::Log;
use crate::report;

/// The maximum number of bytes of lines exported at once.
const LONGEST: usize = 256 << 20;

/// How many places are looked up at once.
const ROWS: usize = 4096;

/// A format for exported lines.
#[derive(Serialize)]
pub struct Format {
    /// Its name in requests of the page.
    pub name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// Its file extension.
    pub extension: &'static str,
    #[serde(skip)]
    pub media_type: &'static str,
    /// Converts lines of a trace, or returns the error.
    #[serde(skip)]
    #[allow(clippy::type_complexity, reason = "it occurs only here")]
    pub make: Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync>,
}

/// Our own formats, followed by `others`.
pub fn all(others: Vec<Format>) -> Vec<Format> {
    let mut formats = vec![
        Format {
            name: "html",
            label: "One file for a bug report (HTML)",
            extension: "html",
            media_type: "text/html; charset=utf-8",
            make: Box::new(report::report),
        },
        Format {
            name: "ndjson",
            label: "The lines of the trace (NDJSON)",
            extension: "ndjson",
            media_type: "application/x-ndjson",
            make: Box::new(|lines| Ok(lines.to_vec())),
        },
    ];
    formats.extend(others);
    formats
}

/// The list of formats that a page receives first.
pub fn list(formats: &[Format]) -> Bytes {
    let mut text = serde_json::json!({ "formats": formats }).to_string();
    text.push('\n');
    text.into()
}

/// Exports these rows in a format, in order.
///
/// # Errors
/// If they are too long together, or cannot be converted.
pub fn export(log: &Log, rows: &[u8], format: &Format) -> Result<Vec<u8>, String> {
    let (rows, _) = rows.as_chunks::<4>();
    let rows = rows.iter().map(|row| u32::from_le_bytes(*row));
    let rows: BTreeSet<u64> = rows.map(u64::from).collect();
    let mut lines = Vec::new();
    let mut rows = rows.into_iter().peekable();
    while let Some(next) = rows.peek().copied() {
        let (first, places) = log.places(next, ROWS);
        for (place, at) in places.iter().zip(first..) {
            // Dropped lines are left out.
            while rows.next_if(|row| *row < at).is_some() {}
            if rows.next_if_eq(&at).is_none() {
                continue;
            }
            let line = place.read().map_err(|error| error.to_string())?;
            lines.extend_from_slice(line.trim_ascii());
            lines.push(b'\n');
            if lines.len() > LONGEST {
                return Err(format!(
                    "these lines have more than {} MiB together; choose fewer",
                    LONGEST >> 20
                ));
            }
        }
        if places.is_empty() {
            break;
        }
    }
    (format.make)(&lines)
}
