//! `acp-chain test`: plays transcripts, and shows the differences.
//!
//! The components run in their sandboxes, as in a run. This process writes reports and updated transcripts, and
//! therefore keeps its rights.

mod find;
mod record;
mod stage;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) use find::warn_of_draft;
pub(super) use stage::{Stage, check_directories};

use crate::out::counted;
use crate::{Result, report_as};
use acp_chain_disk as disk;
use acp_chain_kit::transcript::{Played, Script, files, junit};
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain test
  acp-chain test tests/turn.transcript --update
  acp-chain test --from trace.jsonl --manifest acp-chain.toml tests/turn.transcript

Exit codes:
  0  everything matches
  1  something differs
  2  a transcript cannot be read or played, or the command line is wrong")]
pub struct Test {
    /// Transcripts, and folders with files `*.transcript`; by default, those in the folder `tests`. With `--from`,
    /// the transcript to write; by default, print it
    #[arg(value_name = "FILE|FOLDER")]
    paths: Vec<PathBuf>,
    /// Update the transcripts where they differ
    #[arg(long)]
    update: bool,
    /// Make a transcript from a recording of `acp-chain run --trace`
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["update", "junit", "filter"])]
    from: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write a JUnit XML report to this file"
    )]
    junit: Option<PathBuf>,
    /// With `--from`, the manifest of the recorded chain
    #[arg(
        long,
        value_name = "FILE",
        requires = "from",
        conflicts_with = "component"
    )]
    manifest: Option<PathBuf>,
    /// Play only transcripts with this text in their path
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// The component to test, instead of the first that a transcript names by its path. If a transcript names
    /// none, the default is the one that `acp-chain build` made in this folder, or the only one in this folder
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
}

/// The outcome of one transcript that can be played.
enum Verdict {
    /// Everything matched.
    Ok,
    /// The transcript was updated.
    Updated(Differences),
    /// Something differed.
    Differs(Differences),
}

/// The first line that differs, and the differences.
struct Differences(usize, Vec<String>);

impl Differences {
    /// Prints them, below what was done with the transcript of this name.
    fn print(&self, done: &str, name: &str) {
        let Self(first, lines) = self;
        say!("{done:8} {name}:{first}");
        for line in lines {
            say!("  {line}");
        }
    }
}

impl Test {
    pub fn main(self) -> ExitCode {
        let tested = match &self.from {
            Some(trace) => self.record(trace).map(|()| ExitCode::SUCCESS),
            None => self.test(),
        };
        report_as(2, tested)
    }

    /// Makes a transcript of a trace.
    fn record(&self, trace: &Path) -> Result<()> {
        let output = match &self.paths[..] {
            [] => None,
            [output] => Some(output.as_path()),
            _ => return Err("one trace makes one transcript: name one file for it".into()),
        };
        let chain = match (&self.manifest, &self.component) {
            (Some(manifest), _) => Some(record::Chain::Manifest(manifest)),
            (None, Some(component)) => Some(record::Chain::Component(component)),
            (None, None) => None,
        };
        record::record(trace, output, chain)
    }

    fn test(self) -> Result<ExitCode> {
        let (paths, is_named) = if self.paths.is_empty() {
            (vec![PathBuf::from("tests")], false)
        } else {
            (self.paths.clone(), true)
        };
        let mut files = if is_named || paths[0].is_dir() {
            files::find(&paths)?
        } else {
            Vec::new()
        };
        let paths: Vec<_> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let paths = Untrusted::new(paths.join(", "));
        if files.is_empty() {
            return Err(wrong!(
                "there are no transcripts to play in {paths}; a transcript is a file `NAME.transcript`, and \
                 `acp-chain test --from TRACE FILE` makes one of a run"
            ));
        }
        if let Some(filter) = &self.filter {
            files.retain(|file| file.to_string_lossy().contains(filter));
            if files.is_empty() {
                let filter = Untrusted::new(filter);
                return Err(wrong!(
                    "of the transcripts in {paths}, none has `{filter}` in its path"
                ));
            }
        }
        let stage = Stage::new(self.component.as_deref())?;
        let mut cases = Vec::new();
        let (mut differ, mut wrong) = (0, 0);
        for file in &files {
            let verdict = self.play(&stage, file);
            let name = Untrusted::new(file.display()).to_string();
            let failure = match verdict {
                Ok(Verdict::Ok) => {
                    say!("ok       {name}");
                    None
                }
                Ok(Verdict::Updated(differences)) => {
                    differences.print("updated", &name);
                    None
                }
                Ok(Verdict::Differs(differences)) => {
                    differ += 1;
                    differences.print("differs", &name);
                    let Differences(line, lines) = differences;
                    Some(format!("{name}:{line} differs\n{}", lines.join("\n")))
                }
                Err(error) => {
                    wrong += 1;
                    tell!("acp-chain: {error}");
                    Some(error.to_string())
                }
            };
            cases.push((name, failure));
        }
        if let Some(path) = &self.junit {
            let report = junit::report("acp-chain test", "transcripts", &cases)?;
            fs::write(path, report).map_err(|error| not_written(path, &error))?;
        }
        say!("");
        say!("{}", summary(files.len(), differ, wrong));
        Ok(match (wrong, differ) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(1),
            _ => ExitCode::from(2),
        })
    }

    fn play(&self, stage: &Stage, file: &Path) -> Result<Verdict> {
        let script = files::read(file)?;
        let played = stage.play(&script, file, false)?;
        if played.is_as_written() {
            return Ok(Verdict::Ok);
        }
        let differences = differences(&script, &played);
        if self.update && played.stopped().is_none() {
            replace(file, &played.updated(&script))?;
            return Ok(Verdict::Updated(differences));
        }
        Ok(Verdict::Differs(differences))
    }
}

/// The differences in order, and the warnings of the log.
fn differences(script: &Script, played: &Played) -> Differences {
    let differences = played.differences(script);
    let first = differences.first().map_or(1, |first| first.line);
    let mut lines = Vec::new();
    for difference in differences {
        if !lines.is_empty() {
            lines.push(format!("… line {}", difference.line));
        }
        lines.extend(difference.lines);
    }
    let log = played.log();
    if !log.is_empty() {
        lines.push("the log:".to_owned());
        lines.extend(log.into_iter().map(|line| format!("  {line}")));
    }
    Differences(first, lines)
}

fn summary(all: usize, differ: usize, wrong: usize) -> String {
    let transcripts = counted(all, "transcript");
    let as_written = match (differ, wrong) {
        (0, 0) => "all".to_owned(),
        _ => (all - differ - wrong).to_string(),
    };
    let differ = match differ {
        0 => String::new(),
        1 => ", 1 differs: `--update` writes the received messages into it".to_owned(),
        more => format!(", {more} differ: `--update` writes the received messages into them"),
    };
    let wrong = match wrong {
        0 => String::new(),
        more => format!(", {more} cannot be played"),
    };
    format!("{transcripts}, {as_written} as written{differ}{wrong}")
}

/// Replaces a transcript. A link to it stays one.
fn replace(path: &Path, text: &str) -> Result<()> {
    let path_itself = path.canonicalize();
    let replaced = path_itself.and_then(|path| disk::write(&path, text.as_bytes()));
    Ok(replaced.map_err(|error| not_written(path, &error))?)
}

fn not_written(path: &Path, error: &io::Error) -> String {
    let shown = Untrusted::new(path.display());
    format!("{shown}: the file cannot be written: {error}")
}
