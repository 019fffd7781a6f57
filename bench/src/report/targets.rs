//! Targets, and whether they were met.

use serde::Serialize;

use super::Report;
use crate::hooks::HookProgram;
use crate::measures::stats::{mib, number, slope};
use crate::measures::{
    BARE, Cost, Figures, GUARD_MEASURES, LARGE_ROUND_TRIPS, Measure, ROUND_TRIPS, Share, TurnTime,
    UPDATES,
};
use crate::subjects::{Behaviour, COUNTS, Family, MANY, PROJECTS};

/// A target.
#[derive(Debug, Serialize)]
pub struct Target {
    /// The measured quantity, in words.
    pub what: String,
    /// The figure; `None` if it was not measured, or not quietly enough.
    pub figure: Option<f64>,
    /// The limit.
    pub limit: f64,
    /// Whether the limit is a minimum; otherwise a maximum.
    pub at_least: bool,
    /// Its unit.
    pub unit: &'static str,
    /// The verdict.
    pub verdict: Verdict,
}

/// The result of a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is met.
    Met,
    /// It is missed: the figure is this many times the limit, or the limit this many times the figure.
    Missed(f64),
    /// The machine was not quiet enough to tell.
    Noisy,
    /// It was not measured.
    NotMeasured,
}

/// The most that a chain may cost, as a multiple of the floor.
const FLOOR: f64 = 2.0;

/// The throughput that an unresponsive collector leaves.
const LEAST: f64 = 0.99;

/// A figure, and its measurement in turn.
type Measurement = (Option<f64>, Option<&'static str>);

pub fn all(report: &Report) -> Vec<Target> {
    let mut all = Targets {
        report,
        all: Vec::new(),
    };
    all.beside_the_floor();
    all.a_message();
    all.ours();
    all.collectors();
    all.hooks();
    all.guards();
    all.scan();
    all.starts();
    all.memory();
    all.many();
    all.all
}

struct Targets<'r> {
    report: &'r Report,
    all: Vec<Target>,
}

impl Targets<'_> {
    /// The cost of three proxies, compared with three bare calls.
    fn beside_the_floor(&mut self) {
        let of = |family| self.report.of(family, 3);
        let (ours, bare) = (of(Family::Forwarding), of(Family::Bare));
        let trips = ratio(ours.and_then(trip), bare.and_then(trip));
        let updates = ratio(bare.and_then(small), ours.and_then(small));
        let memory = ratio(ours.and_then(rest), bare.and_then(rest));
        let what = |what| format!("3 forwarding, beside 3 bare calls: {what}");
        for (name, figure, measured) in [
            ("a round trip", trips, Some(ROUND_TRIPS)),
            ("an update of 100 B", updates, Some(UPDATES[0])),
            ("memory at rest", memory, None),
        ] {
            self.most(what(name), (figure, measured), FLOOR, "×");
        }
        let bare = self.each_bare(trip);
        for (family, name) in [
            (Family::Forwarding, "that forwards"),
            (Family::WithoutBody, "that forwards without body"),
        ] {
            let each = ratio(self.each(family, &COUNTS, trip), bare);
            let what = format!("each further proxy {name}, beside each further bare call");
            self.most(what, (each, Some(ROUND_TRIPS)), FLOOR, "×");
        }
    }

    fn a_message(&mut self) {
        let of = |family| self.report.of(family, 0).and_then(trip);
        let relay = ratio(of(Family::Empty), of(Family::Relay));
        let what = "no proxies, beside the relay: a round trip".to_owned();
        self.most(what, (relay, Some(ROUND_TRIPS)), 1.3, "×");
        for (family, of, measured, sizes, limit, what) in [
            (
                Family::Elsewhere,
                trip as Getter,
                ROUND_TRIPS,
                &COUNTS_MANY[..],
                0.3,
                "that did not subscribe",
            ),
            (
                Family::WithoutBody,
                large_trip,
                LARGE_ROUND_TRIPS,
                &COUNTS_MANY,
                3.0,
                "that forwards without body, a prompt of 8 MiB",
            ),
        ] {
            let what = format!("each further proxy {what}: a round trip longer by");
            let each = self.each(family, sizes, of);
            self.most(what, (each, Some(measured)), limit, "µs");
        }
        for (beside, proxies, what) in [
            (Family::Empty, 0, "no proxies"),
            (Family::Forwarding, 3, "3 forwarding"),
        ] {
            let of = |family| self.report.of(family, proxies).and_then(trip);
            let traced = minus(of(Family::Traced), of(beside));
            // In both directions, on the hops to all proxies and to the end.
            let hops = number(2 * (proxies + 1));
            let hop = traced.map(|more| more / hops);
            let what = format!("a trace, masked, {what}: a message longer on each hop by");
            self.most(what, (hop, Some(ROUND_TRIPS)), 2.0, "µs");
        }
    }

    /// The cost of unresponsive collectors. There is a verdict if the limit is outside the confidence interval.
    fn collectors(&mut self) {
        for exported in &self.report.outcome.exported {
            let what = match exported.collector {
                None | Some(Behaviour::There) => continue,
                Some(Behaviour::Slow) => "a collector that is slow",
                Some(Behaviour::Dead) => "a collector that is dead",
            };
            for (share, of) in [(exported.turns, "turns"), (exported.updates, "updates")] {
                let is_known = |share: Share| (share.part - LEAST).abs() >= share.uncertainty / 2.0;
                self.held(
                    format!("{what}, beside one that is there: {of}"),
                    share.map(|share| share.part * 100.0),
                    share.is_none_or(is_known),
                    LEAST * 100.0,
                    "%",
                    true,
                );
            }
            let memory = (exported.memory, None);
            self.most(format!("{what}: memory in the end"), memory, 64.0, "MiB");
        }
    }

    /// The time of an event of the agent's hooks, with one guard.
    fn hooks(&mut self) {
        let all = self.report.outcome.hooks.iter();
        for event in all.filter(|hook| hook.program == HookProgram::Client) {
            for (which, took, limit) in [
                ("the median", event.p50_ms, 2.0),
                ("the 99th of 100", event.p99_ms, 5.0),
            ] {
                let what = format!("an event of hooks, {}: {which}", event.name);
                self.most(what, (Some(took), None), limit, "ms");
            }
        }
    }

    /// The cost of guards and receipts. There is a verdict if the limit is outside the confidence interval. Turns of
    /// those that wait for a disk may take so much longer as nobody notices.
    fn guards(&mut self) {
        for guard in &self.report.outcome.guards {
            let (limit, waits) = match guard.subject.family {
                Family::Brake => (1.0, false),
                Family::TwoOfThree => (1.1, true),
                _ => (1.05, true),
            };
            let [name, beside] = [&guard.name, &guard.beside].map(|name| {
                let short = name.strip_prefix("acp-chain, ");
                short.unwrap_or(name).to_owned()
            });
            for (measure, cost) in GUARD_MEASURES.iter().zip(&guard.costs) {
                let of = match measure {
                    Measure::Updates(100) => "an update of 100 B",
                    Measure::Updates(_) => "an update of 10 kB",
                    _ if waits => continue,
                    _ => "a turn",
                };
                let is_known =
                    |cost: Cost| (cost.times - limit).abs() >= cost.times * cost.uncertainty / 2.0;
                self.held(
                    format!("{name}, beside {beside}: {of}"),
                    cost.map(|cost| cost.times),
                    cost.is_none_or(is_known),
                    limit,
                    "×",
                    false,
                );
            }
            if waits {
                let p99 = |turn: Option<TurnTime>| turn.map(|turn| turn.p99_ms);
                let longer = minus(p99(guard.turn), p99(guard.turn_beside));
                let what = format!("{name}, beside {beside}: a turn, the 99th of 100, longer by");
                self.most(what, (longer, None), 5.0, "ms");
            }
        }
    }

    /// The time for 1 GB of recordings.
    fn scan(&mut self) {
        if let Some(scan) = &self.report.outcome.scan {
            let (seconds, processors) = (scan.seconds / scan.megabytes() * 1000.0, scan.processors);
            let what = format!(
                "1 GB of recordings through permissions and redact, on {processors} processors"
            );
            self.most(what, (Some(seconds), None), 20.0, "s");
        }
    }

    /// The cost of our own proxies, compared with as many idle ones.
    fn ours(&mut self) {
        let of = |family| self.report.of(family, 3);
        let (ours, same) = (of(Family::Ours), of(Family::Forwarding));
        let updates = ratio(ours.and_then(middle), same.and_then(middle));
        let prompts = ratio(ours.and_then(large_trip), same.and_then(large_trip));
        let what = |what| format!("rules, permissions, redact, beside 3 forwarding: {what}");
        let many = what("updates of 10 kB, as many by");
        let quiet = self.report.was_quiet(UPDATES[1]);
        self.held(many, updates, quiet, 0.5, "×", true);
        let longer = what("a prompt of 8 MiB, longer by");
        self.most(longer, (prompts, Some(LARGE_ROUND_TRIPS)), 2.0, "×");
    }

    fn starts(&mut self) {
        let of = |family, count| self.report.of(family, count).and_then(start);
        let agent = of(Family::Agent, 0);
        let five = minus(of(Family::Five, 5), agent);
        let same = minus(of(Family::Forwarding, 5), agent);
        let python = minus(of(Family::Python, 1), of(Family::Empty, 0));
        for (what, figure, limit) in [
            ("our five, over the agent alone", five, 15.0),
            ("5 forwarding, over the agent alone", same, 15.0),
            ("one in Python, over no proxies", python, 30.0),
        ] {
            let what = format!("start, cached: {what}");
            self.most(what, (figure, None), limit, "ms");
        }
    }

    fn memory(&mut self) {
        let of = |family, count| self.report.of(family, count).and_then(rest);
        let (five, same) = (of(Family::Five, 5), of(Family::Forwarding, 5));
        let more = [5, 20].map(|count| of(Family::Forwarding, count));
        let each = minus(more[1], more[0]).map(|more| more / 15.0);
        let peaks: Vec<_> = self
            .report
            .outcome
            .figures
            .iter()
            .filter(|figures| !matches!(figures.subject.family, Family::Relay | Family::Reference))
            .filter_map(|figures| Some((figures.name.clone(), mib(figures.peak?))))
            .collect();
        let project = minus(of(Family::Projects, 3), of(Family::Project, 3));
        let project = project.map(|more| more / number(PROJECTS - 1));
        for (what, figure, limit) in [
            ("our five", five, 25.0),
            ("5 forwarding", same, 25.0),
            ("each further one that forwards", each, 1.0),
            ("each further project, of 3 that forward", project, 8.0),
        ] {
            let what = format!("memory at rest: {what}");
            self.most(what, (figure, None), limit, "MiB");
        }
        for (name, peak) in peaks {
            let what = format!("most memory with a slow reader: {name}");
            self.most(what, (Some(peak), None), 64.0, "MiB");
        }
    }

    /// How costs grow. Growth below a tenth counts as none.
    fn many(&mut self) {
        let of = |family, count| self.report.of(family, count).and_then(trip);
        let time = |family, count| self.report.of(family, count).and_then(trip_time);
        // Not by the clock: the fewer proxies there are, the longer a round trip waits for processes to wake up, so
        // the first proxies seem to cost next to nothing.
        let (none, five, twenty) = (
            time(Family::Empty, 0),
            time(Family::Forwarding, 5),
            time(Family::Forwarding, 20),
        );
        let first = minus(five, none).map(|more| more / 5.0);
        let later = minus(twenty, five).map(|more| more / 15.0);
        let few = minus(of(Family::Few, MANY), of(Family::Forwarding, 3));
        let few = few.map(|more| more / number(MANY - 3));
        let sessions = ratio(of(Family::Sessions, 3), of(Family::Forwarding, 3));
        let quiet = Some(ROUND_TRIPS);
        let what = "the 6th to 20th proxy that forwards, beside the first five: processor time";
        self.most(what.into(), (ratio(later, first), quiet), 1.1, "×");
        let what = format!("{MANY} proxies of which 3 forward, over 3: each further one");
        self.most(what, (few, quiet), 0.3, "µs");
        let what = "1,000 sessions, beside one: a round trip";
        self.most(what.into(), (sessions, quiet), 1.1, "×");
        let projects = ratio(of(Family::Projects, 3), of(Family::Project, 3));
        let what = "100 projects and 1,000 sessions, beside one of each: a round trip";
        self.most(what.into(), (projects, quiet), 4.0, "×");
    }

    /// How much each proxy adds to the cost of none.
    fn each(&self, family: Family, counts: &[usize], of: Getter) -> Option<f64> {
        let none = self.report.of(Family::Empty, 0).and_then(of)?;
        let points = self.points(family, counts, of);
        let points: Option<Vec<_>> = std::iter::once(Some((0.0, none))).chain(points).collect();
        slope(&points?)
    }

    /// How much each bare call adds.
    fn each_bare(&self, of: Getter) -> Option<f64> {
        let points: Option<Vec<_>> = self.points(Family::Bare, &BARE, of).collect();
        slope(&points?)
    }

    fn points(
        &self,
        family: Family,
        counts: &[usize],
        of: Getter,
    ) -> impl Iterator<Item = Option<(f64, f64)>> {
        counts.iter().map(move |count| {
            let figure = self.report.of(family, *count).and_then(of)?;
            Some((number(*count), figure))
        })
    }

    /// A figure that may be at most this, if its measurement was quiet.
    fn most(&mut self, what: String, found: Measurement, limit: f64, unit: &'static str) {
        let (figure, measured) = found;
        let quiet = measured.is_none_or(|measured| self.report.was_quiet(measured));
        self.held(what, figure, quiet, limit, unit, false);
    }

    fn held(
        &mut self,
        what: String,
        figure: Option<f64>,
        quiet: bool,
        limit: f64,
        unit: &'static str,
        at_least: bool,
    ) {
        let figure = figure.filter(|_| quiet);
        let verdict = match figure {
            None if !quiet => Verdict::Noisy,
            None => Verdict::NotMeasured,
            Some(figure) if at_least && figure >= limit => Verdict::Met,
            Some(figure) if at_least => Verdict::Missed(limit / figure),
            Some(figure) if figure <= limit => Verdict::Met,
            Some(figure) => Verdict::Missed(figure / limit),
        };
        self.all.push(Target {
            what,
            figure,
            limit,
            at_least,
            unit,
            verdict,
        });
    }
}

const COUNTS_MANY: [usize; 5] = [COUNTS[0], COUNTS[1], COUNTS[2], COUNTS[3], MANY];

type Getter = fn(&Figures) -> Option<f64>;

fn trip(figures: &Figures) -> Option<f64> {
    figures.round_trip.map(|trip| trip.p50_us)
}

/// The processor seconds for 100,000 messages.
fn trip_time(figures: &Figures) -> Option<f64> {
    figures.round_trip.and_then(|trip| trip.cpu_s)
}

fn large_trip(figures: &Figures) -> Option<f64> {
    figures.large_round_trip.map(|trip| trip.p50_us)
}

fn small(figures: &Figures) -> Option<f64> {
    figures.updates[0].map(|updates| updates.per_second)
}

fn middle(figures: &Figures) -> Option<f64> {
    figures.updates[1].map(|updates| updates.per_second)
}

fn start(figures: &Figures) -> Option<f64> {
    figures.start.map(|start| start.p50_ms)
}

fn rest(figures: &Figures) -> Option<f64> {
    figures.rest.map(|rest| mib(rest.memory))
}

fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    of.zip(to.filter(|to| *to > 0.0)).map(|(of, to)| of / to)
}

fn minus(of: Option<f64>, less: Option<f64>) -> Option<f64> {
    of.zip(less).map(|(of, less)| of - less)
}
