//! The counts of a run, and the complaints about them.

use std::fmt;

use console::style;

use super::client::Counts;
use super::samples::{Sample, Samples};
use super::script;

/// By how much the peak of the last quarter may exceed that of the first. An allocator does not return all memory, but
/// a leak of 20 bytes a message would be more in five minutes.
const GROWTH: Sample = [4 << 10, 0, 0];

pub struct Report {
    counts: Counts,
    crashes: usize,
    restarts: usize,
    /// Failures of the other proxies.
    others: usize,
    /// In the first quarter, in the last, and overall.
    peaks: [Sample; 3],
}

impl Report {
    pub fn new(counts: Counts, log: &str, samples: &Samples) -> Self {
        let of = format!("the proxy `{}`", script::CRASHES);
        let crashes = log.matches(&format!("{of} broke")).count();
        Self {
            counts,
            crashes,
            restarts: log.matches(&format!("{of} is restarted")).count(),
            others: log.matches("` broke").count() - crashes,
            peaks: samples.peaks(),
        }
    }

    /// Everything that is wrong.
    pub fn complaints(&self) -> Vec<String> {
        let Counts {
            unanswered, wrong, ..
        } = &self.counts;
        let mut complaints: Vec<_> = unanswered
            .iter()
            .map(|what| format!("{what} was never answered"))
            .chain(wrong.iter().map(|line| format!("unexpected: {line}")))
            .collect();
        if self.others > 0 {
            complaints.push(format!("other proxies broke {} times", self.others));
        }
        let (crashes, restarts) = (self.crashes, self.restarts);
        // The run may end before the last restart.
        if crashes == 0 || ![crashes, crashes - 1].contains(&restarts) {
            complaints.push(format!("{crashes} crashes, but {restarts} restarts"));
        }
        if self.counts.notices != 1 {
            let notices = self.counts.notices;
            complaints.push(format!("the user got {notices} notices of the crashes"));
        }
        let [first, last, _] = self.peaks;
        if first[0] == 0 {
            complaints.push("the run was too short to compare".to_owned());
        }
        let resources = (0..).zip(["memory in KiB", "handles", "threads"]);
        for (at, what) in resources {
            let (first, last, growth) = (first[at], last[at], GROWTH[at]);
            if last > first + growth {
                complaints.push(format!(
                    "{what} grew from {first} to {last}, by more than {growth}"
                ));
            }
        }
        complaints
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        for (what, count) in [
            ("messages", counts.messages),
            ("turns", counts.turns),
            ("  that ended", counts.ended),
            ("  cancelled", counts.cancelled),
            ("  refused for a crash", counts.refused),
            ("crashes", self.crashes as u64),
            ("restarts", self.restarts as u64),
            ("notices to the user", counts.notices),
            ("cancels", counts.cancels),
            ("requests to the client", counts.asked),
            ("  withdrawn", counts.withdrawn),
            ("unanswered", counts.unanswered.len() as u64),
        ] {
            writeln!(f, "{what:<24}{count:>12}")?;
        }
        writeln!(f, "\n{:<24}{:>12}{:>12}{:>12}", "", "first", "last", "peak")?;
        let resources = (0..).zip(["memory (KiB)", "handles", "threads"]);
        for (at, what) in resources {
            let [first, last, peak] = self.peaks.map(|peak| peak[at]);
            writeln!(f, "{what:<24}{first:>12}{last:>12}{peak:>12}")?;
        }
        let complaints = self.complaints();
        if complaints.is_empty() {
            let mark = style("✓").green();
            write!(f, "\n{mark} nothing grew, and everything was answered")?;
        }
        // One fault causes a thousand complaints; the first ones are enough.
        for complaint in complaints.iter().take(20) {
            write!(f, "\n{} {complaint}", style("✗").red())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let sample = [100_000, 10, 3];
        Report {
            counts: Counts {
                notices: 1,
                ..Counts::default()
            },
            crashes: 2,
            restarts: 2,
            others: 0,
            peaks: [sample; 3],
        }
    }

    #[test]
    fn what_must_not_be_is_complained_of() {
        assert!(report().complaints().is_empty());
        let wrong: [fn(&mut Report); 8] = [
            |report| report.counts.notices = 2,
            |report| report.counts.unanswered.push("a turn".to_owned()),
            |report| report.counts.wrong.push("{}".to_owned()),
            |report| report.restarts = 0,
            |report| report.others = 1,
            |report| report.peaks[1][0] += GROWTH[0] + 1,
            |report| report.peaks[1][1] += GROWTH[1] + 1,
            |report| report.peaks[1][2] += GROWTH[2] + 1,
        ];
        for wrong in wrong {
            let mut report = report();
            wrong(&mut report);
            assert_eq!(report.complaints().len(), 1);
        }
        let mut idle = report();
        (idle.crashes, idle.restarts) = (0, 0);
        assert_eq!(idle.complaints().len(), 1, "a run without crashes");
    }
}
