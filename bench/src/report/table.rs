//! A report as Markdown, for the terminal and for the book.

use std::fmt::Write as _;

use super::{QUIET, Report, Verdict};
use crate::hooks::HookProgram;
use crate::measures::stats::mib;
use crate::measures::{Figures, LARGE, LARGE_ROUND_TRIPS, ROUND_TRIPS, Share, UPDATES};
use crate::subjects::{CAN_LOOK, Family};

/// Shown where nothing was measured.
const NOTHING: &str = "–";

/// The whole report.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = report.machine.measured(report.commit.as_deref());
    if report.quick {
        text += ", in a short run that shows orders of magnitude only";
    }
    text += ".\n\n";
    if !CAN_LOOK {
        text += "Memory and processor time are measured on Linux only.\n\n";
    }
    targets(report, &mut text);
    noise(report, &mut text);
    starts(report, &mut text);
    trips(report, &mut text);
    updates(report, &mut text);
    exported(report, &mut text);
    hooks(report, &mut text);
    guards(report, &mut text);
    scan(report, &mut text);
    text
}

fn targets(report: &Report, text: &mut String) {
    let rows = report.targets.iter().map(|target| {
        let verdict = match target.verdict {
            Verdict::Met => "met".to_owned(),
            Verdict::Missed(times) if times >= 10.0 => format!("**missed, {times:.0} ×**"),
            Verdict::Missed(times) => format!("**missed, {times:.2} ×**"),
            Verdict::Noisy => "not told: too much noise".to_owned(),
            Verdict::NotMeasured => "not measured".to_owned(),
        };
        let bound = if target.at_least { "≥" } else { "≤" };
        vec![
            target.what.clone(),
            with_unit(target.figure, target.unit),
            format!("{bound} {} {}", target.limit, target.unit),
            verdict,
        ]
    });
    section(text, "Targets", "|figure|target|", rows.collect());
}

fn noise(report: &Report, text: &mut String) {
    let rows = report.outcome.noise.iter().map(|noise| {
        let verdict = if noise.uncertainty <= QUIET {
            ""
        } else {
            "**no ratios: the machine was not quiet**"
        };
        vec![
            noise.what.to_owned(),
            noise.visits.to_string(),
            format!("{:.0} %", noise.uncertainty * 100.0),
            verdict.to_owned(),
        ]
    });
    let title = "How well the relay's own figures are known";
    let head = "while measuring|visits|width of the 95 % interval of the median|";
    section(text, title, head, rows.collect());
}

fn starts(report: &Report, text: &mut String) {
    let rows = report
        .outcome
        .figures
        .iter()
        .filter(|figures| figures.start.is_some())
        .map(|figures| {
            let rest = figures.rest;
            vec![
                figures.name.clone(),
                show(figures.start.map(|start| start.p50_ms)),
                show(figures.start.map(|start| start.worst_ms)),
                show(figures.cold_start_ms),
                show(rest.map(|rest| mib(rest.memory))),
                show(rest.map(|rest| mib(rest.own_memory))),
                rest.map_or(NOTHING.to_owned(), |rest| rest.processes.to_string()),
                show(figures.peak.map(mib)),
            ]
        });
    let head =
        "|start (ms)|worst|not cached|at rest (MiB)|not of files|processes|slow reader (MiB)";
    section(text, "Start and memory", head, rows.collect());
}

fn trips(report: &Report, text: &mut String) {
    let small = |figures: &Figures| figures.round_trip;
    let large = |figures: &Figures| figures.large_round_trip;
    for (title, what, of) in [
        (
            "Round trips of a small prompt",
            ROUND_TRIPS,
            small as fn(&Figures) -> _,
        ),
        ("Round trips of a prompt of 8 MiB", LARGE_ROUND_TRIPS, large),
    ] {
        let relay = report
            .of(Family::Relay, 0)
            .and_then(of)
            .map(|trip| trip.p50_us);
        let relay = relay.filter(|_| report.was_quiet(what));
        let rows = report.outcome.figures.iter().filter_map(|figures| {
            let trip = of(figures)?;
            Some(vec![
                figures.name.clone(),
                trip.samples.to_string(),
                show(Some(trip.p50_us)),
                show(Some(trip.p99_us)),
                show(Some(trip.p999_us)),
                show(relay.map(|relay| trip.p50_us / relay)),
                show(trip.cpu_s),
            ])
        });
        let head = "|samples|p50 (µs)|p99|p99.9|× relay|CPU s for 100,000 messages";
        section(text, title, head, rows.collect());
    }
}

fn updates(report: &Report, text: &mut String) {
    let relays = report.of(Family::Relay, 0).map(|relay| relay.updates);
    let rows = report
        .outcome
        .figures
        .iter()
        .filter(|figures| figures.updates[0].is_some())
        .map(|figures| {
            let mut row = vec![figures.name.clone()];
            for (which, updates) in figures.updates.iter().enumerate() {
                let rate = updates.map(|updates| updates.per_second);
                let relay = relays
                    .and_then(|relays| relays[which])
                    .map(|relay| relay.per_second);
                let relay = relay.filter(|_| report.was_quiet(UPDATES[which]));
                row.push(match which {
                    0 | 1 => show(rate),
                    _ => show(rate.map(|rate| rate * mib(LARGE as u64))),
                });
                row.push(show(relay.zip(rate).map(|(relay, rate)| relay / rate)));
                if which == 0 {
                    row.push(show(updates.and_then(|updates| updates.cpu_s)));
                }
            }
            row
        });
    let head = "|100 B (/s)|relay is × faster|CPU s for 100,000|10 kB (/s)|relay is × faster|8 MiB (MiB/s)|relay is × faster";
    section(text, "Updates", head, rows.collect());
}

fn exported(report: &Report, text: &mut String) {
    let part = |share: Option<Share>| {
        let Some(share) = share else {
            return NOTHING.to_owned();
        };
        let (part, known) = (share.part * 100.0, share.uncertainty * 100.0);
        format!("{part:.1} % ± {:.1}", known / 2.0)
    };
    let figure = |share: Option<Share>| show(share.map(|share| share.figure));
    let rows = report.outcome.exported.iter().map(|exported| {
        vec![
            exported.name.clone(),
            figure(exported.turns),
            part(exported.turns),
            figure(exported.updates),
            part(exported.updates),
            show(exported.memory),
        ]
    });
    let head =
        "|turns (/s)|beside the first, in pairs|100 B (/s)|beside the first, in pairs|memory (MiB)";
    section(text, "OpenTelemetry", head, rows.collect());
}

fn hooks(report: &Report, text: &mut String) {
    let mut all = report.outcome.hooks.iter();
    let floor = all.find(|hook| hook.program == HookProgram::WithoutHost);
    let rows = report.outcome.hooks.iter().map(|hook| {
        vec![
            hook.name.to_owned(),
            hook.samples.to_string(),
            show(Some(hook.p50_ms)),
            show(Some(hook.p99_ms)),
            show(floor.map(|floor| hook.p50_ms / floor.p50_ms)),
        ]
    });
    let head = "|samples|p50 (ms)|p99|× without a host";
    section(text, "Events of an agent's hooks", head, rows.collect());
}

fn guards(report: &Report, text: &mut String) {
    let rows = report.outcome.guards.iter().map(|guard| {
        let mut row = vec![guard.name.clone(), guard.beside.clone()];
        row.extend(guard.costs.iter().map(|cost| {
            cost.map_or(NOTHING.to_owned(), |cost| {
                let half = cost.times * cost.uncertainty / 2.0;
                format!("{:.3} × ± {half:.3}", cost.times)
            })
        }));
        let turns = [guard.turn, guard.turn_beside];
        row.extend(turns.map(|turn| show(turn.map(|turn| turn.p50_ms))));
        row.extend(turns.map(|turn| show(turn.map(|turn| turn.p99_ms))));
        row
    });
    let head = "|beside|turns, in pairs|100 B|10 kB|a turn, p50 (ms)|beside it|p99|beside it";
    section(text, "Guards and receipts", head, rows.collect());
}

fn scan(report: &Report, text: &mut String) {
    let rows = report.outcome.scan.iter().map(|scan| {
        vec![
            "permissions, redact".to_owned(),
            show(Some(scan.megabytes())),
            thousands(&scan.prompts.to_string()),
            thousands(&scan.calls.to_string()),
            scan.processors.to_string(),
            show(Some(scan.seconds)),
            show(Some(scan.megabytes() / scan.seconds)),
        ]
    });
    let head = "|recordings (MB)|prompts|tool calls|processors|time (s)|MB/s";
    section(text, "Scan of recordings", head, rows.collect());
}

/// A table under its title. `head` has the titles of its columns, with `|` between them.
pub fn section(text: &mut String, title: &str, head: &str, rows: Vec<Vec<String>>) {
    let head: Vec<_> = head.split('|').collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .chain([head[column].chars().count(), 3])
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<_> = (0..head.len()).map(width).collect();
    let _ = writeln!(text, "### {title}\n");
    let mut line = |cells: Vec<String>| {
        for (column, cell) in cells.iter().enumerate() {
            let space = " ".repeat(widths[column] - cell.chars().count());
            let _ = match column {
                0 => write!(text, "| {cell}{space} "),
                _ => write!(text, "| {space}{cell} "),
            };
        }
        *text += "|\n";
    };
    let rule = |column: usize| match column {
        0 => "-".repeat(widths[0]),
        _ => "-".repeat(widths[column] - 1) + ":",
    };
    line(head.iter().map(ToString::to_string).collect());
    line((0..head.len()).map(rule).collect());
    rows.into_iter().for_each(&mut line);
    text.push('\n');
}

fn with_unit(figure: Option<f64>, unit: &str) -> String {
    match figure {
        Some(_) => format!("{} {unit}", show(figure)),
        None => NOTHING.to_owned(),
    }
}

/// A figure with three significant digits.
pub fn show(figure: Option<f64>) -> String {
    match figure {
        None => NOTHING.to_owned(),
        Some(figure) => match figure.abs() {
            1000.0.. => thousands(&format!("{figure:.0}")),
            100.0.. => format!("{figure:.0}"),
            10.0.. => format!("{figure:.1}"),
            1.0.. => format!("{figure:.2}"),
            _ => format!("{figure:.3}"),
        },
    }
}

fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_as_long_as_they_are_exact() {
        let shown =
            [0.1234, 1.234, 12.34, 123.4, 1234.0, 1_234_567.8].map(|figure| show(Some(figure)));
        assert_eq!(
            shown,
            ["0.123", "1.23", "12.3", "123", "1,234", "1,234,568"]
        );
    }
}
