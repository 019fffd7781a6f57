//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write};

use super::figures::Histogram;

/// A page of metrics. Names and label values are constants of the program, which their type ensures. A metric whose
/// name ends with `_total` is a counter, since the process began; any other is a gauge, of a current value.
#[derive(Debug, Default)]
pub struct Page(String);

impl Page {
    /// The media type of the page.
    pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    /// A metric without labels.
    pub fn value(&mut self, name: &'static str, help: &'static str, value: impl Display) {
        self.head(name, help, kind(name));
        self.line(name, "", value);
    }

    /// A metric with a value for each value of a label.
    pub fn values<V: Display>(
        &mut self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        values: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        self.head(name, help, kind(name));
        for (of, value) in values {
            self.line(name, &format!("{{{label}=\"{of}\"}}"), value);
        }
    }

    /// A histogram of durations.
    pub(in crate::server) fn histogram(
        &mut self,
        name: &'static str,
        help: &'static str,
        histogram: &Histogram,
    ) {
        self.head(name, help, "histogram");
        let mut count = 0;
        for (bound, value) in histogram.counts() {
            count += value;
            let labels = match bound {
                Some(bound) => format!("{{le=\"{bound}\"}}"),
                None => "{le=\"+Inf\"}".to_owned(),
            };
            self.line(&format!("{name}_bucket"), &labels, count);
        }
        self.line(&format!("{name}_sum"), "", histogram.sum());
        self.line(&format!("{name}_count"), "", count);
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

fn kind(name: &str) -> &'static str {
    let only_grows = name.ends_with("_total");
    if only_grows { "counter" } else { "gauge" }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_page_has_the_format_of_prometheus() {
        let mut page = Page::default();
        page.value("now", "What is.", 2.5);
        page.values("all_total", "What was.", "way", [("in", 1_u64), ("out", 2)]);
        let histogram = Histogram::default();
        histogram.add(Duration::from_millis(100));
        histogram.add(Duration::from_secs(7));
        histogram.add(Duration::from_hours(9));
        page.histogram("took_seconds", "How long.", &histogram);
        let text = page.into_text();
        assert!(text.starts_with("# HELP now What is.\n# TYPE now gauge\nnow 2.5\n"));
        for line in [
            "all_total{way=\"out\"} 2",
            "took_seconds_bucket{le=\"0.1\"} 1",
            "took_seconds_bucket{le=\"5\"} 1",
            "took_seconds_bucket{le=\"10\"} 2",
            "took_seconds_bucket{le=\"+Inf\"} 3",
            "took_seconds_sum 32407.1",
            "took_seconds_count 3",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
