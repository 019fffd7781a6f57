//! The export formats, besides those of the page.

use acp_chain_inspect::Format;
use acp_chain_otel::otlp_json;
use acp_chain_trace::Reader;
use acp_chain_trace::export::{self, Export};

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
            export::chrome,
        ),
        of_lines(
            "har",
            "An HTTP Archive, for the network view of browsers",
            "har",
            export::har,
        ),
        of_lines(
            "otlp",
            "Spans for OpenTelemetry (OTLP JSON)",
            "otlp.json",
            otlp_json,
        ),
        of_lines(
            "conductor",
            "The trace of the reference conductor, for its viewer",
            "conductor.jsonl",
            export::conductor,
        ),
    ]
}

/// A format that is written line by line.
fn of_lines(
    name: &'static str,
    label: &'static str,
    extension: &'static str,
    write: Export,
) -> Format {
    Format {
        name,
        label,
        extension,
        media_type: "application/json",
        make: Box::new(move |lines| {
            let mut text = Vec::new();
            let (written, read) = Reader::new(lines).with_lines(|lines| write(lines, &mut text));
            written.map_err(|error| error.to_string())?;
            read.map_err(|error| error.to_string())?;
            Ok(text)
        }),
    }
}
