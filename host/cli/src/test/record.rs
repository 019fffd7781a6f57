//! `acp-chain test --from TRACE`: a transcript from a run.
//!
//! The messages that both ends send are taken from the trace; those that they receive are what the chain sends now, so
//! the transcript passes. Values that vary become wildcards.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use crate::Result;
use acp_chain_trace::Reader;

use super::not_written;
use super::stage::Stage;
use crate::out::print_all;
use crate::trace::{warn_of_cut, wrong};
use acp_chain_kit::transcript::{Script, recorded};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

/// How often a transcript is updated until it passes.
const TRIES: usize = 3;

/// The recorded chain, if it is not the component of this folder.
#[derive(Clone, Copy)]
pub enum Chain<'a> {
    /// This component alone.
    Component(&'a Path),
    /// The proxies of this manifest.
    Manifest(&'a Path),
}

/// Makes a transcript, and prints it if no file is given.
pub fn record(trace: &Path, output: Option<&Path>, chain: Option<Chain>) -> Result<()> {
    if let Some(output) = output.filter(|output| output.exists()) {
        return Err(is_there(output).into());
    }
    let shown = Untrusted::new(trace.display());
    let file =
        File::open(trace).map_err(|error| wrong!("{shown}: the trace cannot be read: {error}"))?;
    let mut reader = Reader::new(BufReader::new(file));
    let steps = recorded(&mut reader).map_err(|error| wrong(trace, &error))?;
    warn_of_cut(trace, reader.cut());
    let path = output.unwrap_or(Path::new("recorded.transcript"));
    let mut text = format!("{}{steps}", head(chain, path)?);
    let stage = Stage::new(None)?;
    let recorded = expected(&text);
    for attempt in 0.. {
        let script = Script::read(&text)
            .map_err(|wrong| wrong!("{shown}: as a transcript, line {wrong}"))?;
        let played = stage.play(&script, path, attempt > 0)?;
        if played.is_as_written() {
            break;
        }
        let why = match (played.stopped().is_some(), attempt < TRIES) {
            (false, true) => {
                text = played.updated(&script);
                continue;
            }
            (true, _) => {
                "with this chain it does not get as far as in the trace; name that of the trace by \
                 `--manifest FILE`"
            }
            (false, false) => "it gives another result each time",
        };
        let lines = played.differences(&script).into_iter();
        let lines = lines.flat_map(|difference| difference.lines);
        let lines: Vec<_> = lines.map(|line| format!("\n  {line}")).collect();
        return Err(wrong!("{shown}: {why}:{}", lines.concat()));
    }
    match output {
        Some(output) => create(output, &text)?,
        None => print_all(text.as_bytes()),
    }
    let now = expected(&text);
    let others = recorded.difference(&now).count();
    if others > 0 {
        let differ = if others == 1 { "differs" } else { "differ" };
        tell!(
            "acp-chain: {shown}: {others} of the messages that the ends received in the trace {differ} now; the \
             transcript has the current ones"
        );
    }
    Ok(())
}

/// Creates a new file.
fn create(path: &Path, text: &str) -> Result<()> {
    let file = File::create_new(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    Ok(written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(path),
        _ => not_written(path, &error),
    })?)
}

fn is_there(path: &Path) -> String {
    let shown = Untrusted::new(path.display());
    format!("{shown}: there is such a file already; name another, or remove it")
}

/// The messages that the ends receive in a transcript.
fn expected(text: &str) -> BTreeSet<String> {
    let steps = Script::read(text)
        .map(|script| script.steps)
        .unwrap_or_default();
    let steps = steps.into_iter().filter(|step| step.act.is_expected());
    steps.map(|step| step.act.to_string()).collect()
}

/// The head of a transcript at `path`.
fn head(chain: Option<Chain>, path: &Path) -> Result<String> {
    // Resolved, since a `..` after a link would lead elsewhere.
    let real = |path: &Path| {
        let shown = Untrusted::new(path.display());
        files::real(path).map_err(|error| format!("{shown}: {error}"))
    };
    let folder = path.parent().unwrap_or(path);
    let folder = real(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let way = |file: &Path| {
        let way = way(&folder?, &real(file)?);
        Ok::<_, String>(toml::Value::String(way.to_string_lossy().into_owned()))
    };
    Ok(match chain {
        None => String::new(),
        Some(Chain::Component(component)) => {
            format!("[[proxy]]\npath = {}\n---\n", way(component)?)
        }
        Some(Chain::Manifest(manifest)) => format!("manifest = {}\n---\n", way(manifest)?),
    })
}

/// The relative path from a folder to a file.
fn way(folder: &Path, file: &Path) -> PathBuf {
    let (from, to): (Vec<Component>, Vec<Component>) =
        (folder.components().collect(), file.components().collect());
    let same = from
        .iter()
        .zip(&to)
        .take_while(|(one, other)| one == other)
        .count();
    let up = from[same..].iter().map(|_| Component::ParentDir);
    up.chain(to[same..].iter().copied()).collect()
}
