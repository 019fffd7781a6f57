//! Steps of work as the developer sees them: on a terminal, a spinner each; otherwise, a line when a step starts and
//! one when it ends.
//!
//! The output of a step's programs goes to a log file, and is shown only if the step fails.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// How much of a log an error shows; the rest is in the file.
const SHOWN_LINES: usize = 60;

/// The steps of a command; several may run at once.
pub struct Progress {
    bars: MultiProgress,
    logs: PathBuf,
    /// The names of the completed steps, and how long each took.
    times: Mutex<Vec<(String, Duration)>>,
}

/// Between the name of a completed step and its seconds.
const DONE: &str = ": done in ";

/// One step under way.
pub struct Step {
    bar: ProgressBar,
    log: PathBuf,
}

impl Progress {
    /// Logs go to this folder.
    pub fn new(logs: PathBuf) -> Self {
        Self {
            bars: MultiProgress::new(),
            logs,
            times: Mutex::default(),
        }
    }

    /// The completed steps with their times, in the order in which they ended.
    pub fn times(&self) -> Vec<(String, Duration)> {
        self.times
            .lock()
            .map_or_else(|_| Vec::new(), |times| times.clone())
    }

    fn took(&self, name: &str, time: Duration) {
        if let Ok(mut times) = self.times.lock() {
            times.push((name.to_owned(), time));
        }
    }

    /// Runs a program that has its own steps, and prints their starts and ends in the same format.
    pub fn follow(&self, command: &mut Command) -> Result<()> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.with_context(|| format!("{program} could not be started"))?;
        for line in child
            .stderr
            .take()
            .into_iter()
            .flat_map(|lines| BufReader::new(lines).lines())
        {
            let line = line?;
            let done = line.split_once(DONE);
            if let Some((name, seconds)) =
                done.and_then(|(name, rest)| Some((name, rest.strip_suffix(" s")?.parse().ok()?)))
            {
                self.took(name, Duration::from_secs_f64(seconds));
            }
            self.say(&line);
        }
        let status = child.wait()?;
        ensure!(status.success(), "{program} ended with {status}");
        Ok(())
    }

    /// Runs a step, and prints how long it took.
    pub fn step<T>(&self, name: &str, work: impl FnOnce(&Step) -> Result<T>) -> Result<T> {
        fs::create_dir_all(&self.logs)?;
        let log = self
            .logs
            .join(format!("{}.log", name.replace([' ', '/'], "-")));
        File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        let bar = self.bars.add(ProgressBar::new_spinner());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {wide_msg:.dim}")?
                .tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "),
        );
        bar.set_prefix(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        if bar.is_hidden() {
            eprintln!("{name} …");
        }

        let step = Step { bar, log };
        let start = Instant::now();
        let outcome = work(&step).with_context(|| format!("{name} failed"));
        step.bar.finish_and_clear();
        let time = start.elapsed();
        let verdict = if outcome.is_ok() {
            self.took(name, time);
            DONE
        } else {
            ": FAILED after "
        };
        self.say(&format!("{name}{verdict}{:.1} s", time.as_secs_f64()));
        outcome
    }

    /// Prints a line above the spinners.
    pub fn say(&self, line: &str) {
        self.bars.suspend(|| eprintln!("{line}"));
    }
}

impl Step {
    /// Like [`run`](Self::run), but what the program prints to standard output goes to a file, for another reader.
    pub fn run_into(&self, command: &mut Command, output: &Path) -> Result<()> {
        let output = File::create(output)?;
        self.run_with(command, Some(output))
    }

    /// Runs a program to its end, without input. If it fails, the error shows the end of its output.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        self.run_with(command, None)
    }

    fn run_with(&self, command: &mut Command, apart: Option<File>) -> Result<()> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut log = File::options().append(true).open(&self.log)?;
        writeln!(log, "$ {command:?}")?;
        let (output, input) = pipe()?;
        let stdout = match apart {
            Some(file) => Stdio::from(file),
            None => input.try_clone()?.into(),
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(input)
            .spawn()
            .with_context(|| format!("{program} could not be started; is it installed?"))?;
        // The command still owns ends of the pipe, so that reading would never end.
        command.stdout(Stdio::null()).stderr(Stdio::null());

        let mut line = Vec::new();
        let mut output = BufReader::new(output);
        while output.read_until(b'\n', &mut line)? > 0 {
            log.write_all(&line)?;
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            if !text.is_empty() {
                self.bar.set_message(text);
            }
            line.clear();
        }
        let status = child.wait()?;
        if !status.success() {
            bail!(
                "{program} ended with {status}:\n{}\nThe whole log: {}",
                self.log_end()?,
                self.log.display()
            );
        }
        Ok(())
    }

    fn log_end(&self) -> Result<String> {
        let log = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        let lines: Vec<&str> = log.lines().collect();
        Ok(lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n"))
    }
}
