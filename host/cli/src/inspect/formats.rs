//! The export formats, besides those of the page.

use acp_chain_inspect::Format;
use acp_chain_otel::otlp_json;
use acp_chain_trace::{Format as Other, Line, Reader, export};

use crate::trace::with_lines;
use acp_chain_kit::transcript::recorded;

pub fn all() -> Vec<Format> {
    vec![
        Format {
            name: "transcript",
            label: "A transcript, as `acp-chain test` plays it",
            extension: "transcript",
            media_type: "text/plain; charset=utf-8",
            make: Box::new(|lines| {
                let text = recorded(&mut Reader::new(lines)).map_err(|error| error.to_string())?;
                Ok(text.into_bytes())
            }),
        },
        of_lines(
            "chrome",
            "Chrome's trace format, for Perfetto",
            "chrome.json",
            |lines, to| export(Other::Chrome, lines, to).map_err(|error| error.to_string()),
        ),
        of_lines(
            "har",
            "An HTTP Archive, for the network view of browsers",
            "har",
            |lines, to| export(Other::Har, lines, to).map_err(|error| error.to_string()),
        ),
        of_lines(
            "otlp",
            "Spans for OpenTelemetry (OTLP JSON)",
            "otlp.json",
            |lines, to| otlp_json(lines, to).map_err(|error| error.to_string()),
        ),
        of_lines(
            "conductor",
            "The trace of the reference conductor, for its viewer",
            "conductor.jsonl",
            |lines, to| export(Other::Conductor, lines, to).map_err(|error| error.to_string()),
        ),
    ]
}

/// A format that is written line by line.
fn of_lines(
    name: &'static str,
    label: &'static str,
    extension: &'static str,
    write: impl Fn(&mut dyn Iterator<Item = Line>, &mut Vec<u8>) -> Result<(), String>
    + Send
    + Sync
    + 'static,
) -> Format {
    Format {
        name,
        label,
        extension,
        media_type: "application/json",
        make: Box::new(move |lines| {
            let mut text = Vec::new();
            let (written, read) =
                with_lines(&mut Reader::new(lines), |lines| write(lines, &mut text));
            written?;
            read.map_err(|error| error.to_string())?;
            Ok(text)
        }),
    }
}
