//! The measurements of subjects, and the course of a run.
//!
//! Start and memory are measured with each subject alone, as processes of the same program share its memory.
//! Everything else is measured in turn, with all subjects running. What is smaller than the differences of such a run
//! is measured separately, in pairs: the cost of an unresponsive collector, within one process, that of guards and
//! receipts, and that of a change. The agent itself measures the events of its hooks.

mod alone;
pub mod beside;
mod collector;
mod guards;
mod hooks;
mod pairs;
mod rounds;
mod scan;
pub mod stats;

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

pub use self::beside::{Comparison, Cost};
pub use self::collector::ExportResult;
pub use self::guards::{GuardResult, MEASURES as GUARD_MEASURES, TurnTime};
pub use self::hooks::HookResult;
pub use self::pairs::{Measure, Share};
use self::rounds::LiveSubject;
pub use self::scan::ScanResult;
use crate::subjects::{COUNTS, Family, MANY, Places, REFERENCE_COUNTS, Subject, family};

/// The texts of updates, in bytes: a chunk of an answer, a tool's output, and a large file.
pub const SIZES: [usize; 3] = [100, 10_000, 8 << 20];

/// The last of them, which is also that of large prompts.
pub const LARGE: usize = SIZES[2];

/// A subject that is silent for this long hangs.
const PATIENCE: Duration = Duration::from_mins(3);

/// The extent of a run.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds, each of which visits every subject.
    pub rounds: usize,
    /// Rounds with messages of 8 MiB.
    pub large_rounds: usize,
    /// How long a turn takes.
    pub turn: Duration,
    /// How often each subject is started.
    pub starts: usize,
    /// How often each subject is started without compiled code.
    pub cold_starts: usize,
    /// For how long the client reads slowly.
    pub slow: Duration,
    /// How often the subjects that are measured in pairs are started.
    pub paired_starts: usize,
    /// How often the agent starts each process of its hooks, and how many single turns of guards are timed.
    pub events: usize,
    /// The size of the recordings that are scanned, in bytes.
    pub recorded: u64,
    /// How often they are scanned.
    pub scans: usize,
}

impl Effort {
    /// About a minute: to check that everything works.
    pub const QUICK: Self = Self {
        rounds: 3,
        large_rounds: 2,
        turn: Duration::from_millis(60),
        starts: 5,
        cold_starts: 1,
        slow: Duration::from_secs(2),
        paired_starts: 2,
        events: 200,
        recorded: 50_000_000,
        scans: 1,
    };

    /// The published extent.
    pub const WHOLE: Self = Self {
        rounds: 20,
        large_rounds: 10,
        turn: Duration::from_millis(250),
        starts: 30,
        cold_starts: 3,
        slow: Duration::from_secs(8),
        paired_starts: 20,
        events: 1000,
        recorded: 1_000_000_000,
        scans: 3,
    };
}

/// The measurements of one subject; `None` if not measured.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The subject.
    #[serde(flatten)]
    pub subject: Subject,
    /// The subject in words.
    pub name: String,
    /// From the start to the answer to `initialize`, with compiled code in the cache.
    pub start: Option<StartTime>,
    /// From the start to that answer without compiled code, in milliseconds.
    pub cold_start_ms: Option<f64>,
    /// At rest, after a hundred turns.
    pub rest: Option<IdleResources>,
    /// The most memory while the client read slowly, in bytes.
    pub peak: Option<u64>,
    /// A small prompt and its answer.
    pub round_trip: Option<RoundTrip>,
    /// A prompt of 8 MiB and its answer.
    pub large_round_trip: Option<RoundTrip>,
    /// Updates of each of the [`SIZES`].
    pub updates: [Option<Updates>; 3],
}

/// How long a subject takes to start, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StartTime {
    /// The median.
    pub p50_ms: f64,
    /// The longest.
    pub worst_ms: f64,
}

/// The resources of an idle subject.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IdleResources {
    /// Memory in bytes, shared memory divided (PSS).
    pub memory: u64,
    /// The part of it that is not a file's.
    pub own_memory: u64,
    /// Processes, the agent's included.
    pub processes: usize,
}

/// Sequential requests, each sent after the previous answer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundTrip {
    /// The number of samples.
    pub samples: usize,
    /// The median in microseconds.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The 99.9th percentile.
    pub p999_us: f64,
    /// Processor seconds of all its processes for 100,000 messages, two for each request.
    pub cpu_s: Option<f64>,
}

/// Updates as fast as they arrive.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Updates {
    /// How many per second.
    pub per_second: f64,
    /// Processor seconds of all its processes for 100,000 of them.
    pub cpu_s: Option<f64>,
}

/// How quiet the machine was during a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Noise {
    /// The measurement.
    pub what: &'static str,
    /// How often the relay was visited.
    pub visits: usize,
    /// The width of the confidence interval of the median of the rounds, relative to it. The median of a round's
    /// visits counts.
    pub uncertainty: f64,
}

/// All results of a run.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// By subject.
    pub figures: Vec<Figures>,
    /// By measurement in turn.
    pub noise: Vec<Noise>,
    /// A chain that exports, by the behaviour of its collector.
    pub exported: Vec<ExportResult>,
    /// The processes of an agent's hooks.
    pub hooks: Vec<HookResult>,
    /// Guards and receipts, each beside a chain without it.
    pub guards: Vec<GuardResult>,
    /// The scan of recordings.
    pub scan: Option<ScanResult>,
}

/// The numbers of components in [`Family::Bare`].
pub const BARE: [usize; 5] = [0, COUNTS[0], COUNTS[1], COUNTS[2], COUNTS[3]];

/// The numbers of proxies of traced chains.
const TRACED: [usize; 2] = [0, 3];

/// Measurements in turn, as named in [`Noise::what`].
pub const ROUND_TRIPS: &str = "round trips";
/// Round trips with prompts of 8 MiB.
pub const LARGE_ROUND_TRIPS: &str = "round trips of 8 MiB";
/// Updates of the [`SIZES`].
pub const UPDATES: [&str; 3] = ["updates of 100 B", "updates of 10 kB", "updates of 8 MiB"];

/// Measures everything, or only the subjects whose names end in one of these, beside the relay.
///
/// # Errors
/// If a subject misbehaves.
pub fn run(places: &Places, effort: &Effort, only: &[String]) -> Result<Outcome> {
    let watchdog = Watchdog::start();
    let is_meant = |figures: &Figures| {
        let is_named = |end: &String| figures.name.ends_with(end);
        let is_relay = figures.subject.family == Family::Relay;
        only.is_empty() || is_relay || only.iter().any(is_named)
    };
    let all = all().into_iter().map(Figures::of);
    let mut outcome = Outcome {
        figures: all.filter(is_meant).collect(),
        ..Outcome::default()
    };
    // First, as it is the one that can fail for what it reads.
    outcome.scan = Some(scan::run(places, effort, &watchdog)?);
    let figures = &mut outcome.figures;
    if only.is_empty() {
        alone::starts(places, effort, figures, &watchdog)?;
        alone::memory(places, effort, figures, &watchdog)?;
    }

    let subjects = figures
        .iter_mut()
        .filter(|figures| figures.subject.is_driven());
    let mut live = Vec::new();
    for figures in subjects {
        let name = figures.name.clone();
        watchdog.pet(&name);
        live.push(LiveSubject::begin(places, figures).context(name)?);
    }
    let noise = &mut outcome.noise;
    noise.push(rounds::round_trips(&mut live, effort, false, &watchdog)?);
    for (which, size) in SIZES.into_iter().enumerate() {
        if size == LARGE {
            live.retain(|live| live.figures.subject.is_driven_hard());
        }
        noise.push(rounds::updates(&mut live, effort, which, &watchdog)?);
    }
    noise.push(rounds::round_trips(&mut live, effort, true, &watchdog)?);
    drop(live);
    outcome.exported = collector::run(places, effort, &watchdog)?;
    outcome.hooks = hooks::run(places, effort, &watchdog)?;
    outcome.guards = guards::run(places, effort, &watchdog)?;
    Ok(outcome)
}

/// All subjects, in the order of the report.
fn all() -> Vec<Subject> {
    let many = [&COUNTS[..], &[MANY]].concat();
    let mut all = vec![
        Subject::new(Family::Agent, 0),
        Subject::new(Family::Relay, 0),
    ];
    all.extend(family(Family::Bare, &BARE));
    all.push(Subject::new(Family::Empty, 0));
    all.extend(family(Family::Forwarding, &COUNTS));
    all.extend(family(Family::Traced, &TRACED));
    all.extend(family(Family::WithoutBody, &many));
    all.extend(family(Family::Elsewhere, &many));
    all.push(Subject::new(Family::Few, MANY));
    all.push(Subject::new(Family::Sessions, 3));
    all.push(Subject::new(Family::Project, 3));
    all.push(Subject::new(Family::Projects, 3));
    all.push(Subject::new(Family::Ours, 3));
    all.push(Subject::new(Family::Five, 5));
    all.push(Subject::new(Family::Python, 1));
    all.extend(family(Family::Reference, &REFERENCE_COUNTS));
    all
}

impl Subject {
    /// Whether its start is measured, and its memory at rest.
    fn is_started(&self) -> bool {
        !matches!(
            self.family,
            Family::WithoutBody | Family::Elsewhere | Family::Sessions | Family::Traced
        )
    }

    /// Whether it is measured without compiled code.
    fn is_started_cold(&self) -> bool {
        matches!(self.family, Family::Five | Family::Python)
    }

    /// Whether messages are sent through it.
    fn is_driven(&self) -> bool {
        !matches!(self.family, Family::Five | Family::Python)
    }

    /// Whether large messages are sent through it.
    fn is_driven_hard(&self) -> bool {
        match self.family {
            Family::Few
            | Family::Sessions
            | Family::Projects
            | Family::Elsewhere
            | Family::Traced => false,
            Family::Reference => [0, 3].contains(&self.proxies),
            _ => self.is_driven(),
        }
    }

    /// Whether its client reads slowly.
    fn is_flooded(&self) -> bool {
        match self.family {
            Family::Relay | Family::Empty | Family::Ours => true,
            Family::Forwarding | Family::WithoutBody => self.proxies == 5,
            Family::Reference => [0, 3].contains(&self.proxies),
            _ => false,
        }
    }
}

impl Figures {
    /// No measurements yet.
    #[must_use]
    pub fn of(subject: Subject) -> Self {
        Self {
            name: subject.to_string(),
            subject,
            start: None,
            cold_start_ms: None,
            rest: None,
            peak: None,
            round_trip: None,
            large_round_trip: None,
            updates: [None; 3],
        }
    }
}

/// Ends the run if a subject hangs. The subject's processes end with their input.
#[derive(Debug)]
pub struct Watchdog(Arc<Mutex<(Instant, String)>>);

impl Watchdog {
    fn start() -> Self {
        let last = Arc::new(Mutex::new((Instant::now(), "nothing".to_owned())));
        let seen = Arc::downgrade(&last);
        thread::spawn(move || {
            while let Some(last) = seen.upgrade() {
                let (at, what) = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                drop(last);
                if at.elapsed() > PATIENCE {
                    let seconds = PATIENCE.as_secs();
                    eprintln!("no progress for {seconds} s; the last was by {what}");
                    process::exit(1);
                }
                thread::sleep(Duration::from_secs(1));
            }
        });
        Self(last)
    }

    /// Notes progress.
    fn pet(&self, what: &str) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.0 = Instant::now();
        what.clone_into(&mut last.1);
    }
}
