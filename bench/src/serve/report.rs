//! The results of a run, as tables.

use std::fmt::Write as _;

use serde::Serialize;

use super::client::{PROMPT, UPDATE, UPDATES};
use super::{Figures, Size, TransportFigures};
use crate::report::{Machine, section, show};

/// The report of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The commit that was measured, and its day, if they are known.
    pub commit: Option<String>,
    /// The version of the reference crate.
    pub reference: String,
    /// Where it ran.
    pub machine: Machine,
    /// The intended size.
    pub size: Size,
    /// The results.
    pub figures: Vec<Figures>,
}

impl Report {
    /// As Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let (size, reference) = (&self.size, &self.reference);
        let mut text = self.machine.measured(self.commit.as_deref());
        // Writing to a string does not fail.
        let _ = writeln!(text, ", beside agent-client-protocol-http {reference}.\n");
        let mut all = self.figures.iter().flat_map(|figures| &figures.ways);
        if all.any(|way| way.begun.connections < size.idle) {
            let _ = writeln!(
                text,
                "{} idle connections are asked for; where there are fewer, a process has no more files here, or the \
                 machine no more memory.\n",
                size.idle
            );
        }
        self.idle(&mut text);
        self.busy(&mut text);
        self.h2(&mut text);
        text
    }

    fn rows(&self, cells: impl Fn(&TransportFigures) -> Vec<String>) -> Vec<Vec<String>> {
        let of = |figures: &Figures| -> Vec<_> {
            let row = |way: &TransportFigures| {
                let mut row = vec![format!("{}, over {}", figures.server, way.way)];
                row.extend(cells(way));
                row
            };
            figures.ways.iter().map(row).collect()
        };
        self.figures.iter().flat_map(of).collect()
    }

    fn idle(&self, text: &mut String) {
        let rows = self.rows(|way| {
            let begun = &way.begun;
            let figures = [begun.memory_kib, begun.cpu_ms, begun.per_second];
            let mut row = vec![begun.connections.to_string()];
            row.extend(figures.map(|figure| show(Some(figure))));
            row
        });
        let head = "|connections|memory for each (KiB)|CPU to begin one (ms)|begun (/s)";
        section(text, "Idle connections", head, rows);
    }

    fn busy(&self, text: &mut String) {
        let rows = self.rows(|way| {
            let busy = &way.busy;
            [busy.per_second, busy.p50_ms, busy.p99_ms, busy.cpu_ms]
                .map(|figure| show(Some(figure)))
                .to_vec()
        });
        let title = format!(
            "{} more that have turns: a prompt of {PROMPT} B, {UPDATES} updates of {UPDATE} B, the answer",
            self.size.busy
        );
        let head = "|turns (/s)|p50 (ms)|p99|CPU for one (ms)";
        section(text, &title, head, rows);
    }

    fn h2(&self, text: &mut String) {
        let rows = self.figures.iter().map(|figures| {
            vec![
                figures.server.to_string(),
                show(Some(figures.h2.per_second)),
            ]
        });
        let head = "|notifications (/s)";
        let title = "Notifications of one connection, over one of HTTP/2";
        section(text, title, head, rows.collect());
    }
}
