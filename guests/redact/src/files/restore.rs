//! Finds the secret of each marker in a text that is to be written.
//!
//! The text is compared with the file as the agent received it, line by line. A line that exists in the file keeps its
//! secrets. The secrets of lines that differ only in their secrets are clear only if exactly one stretch of the file
//! was changed, and it has none of these lines. In a new line, a marker is clear if all markers of its name stand for
//! one secret, or if it is the only one of its name in the changed part. If the agent has read only parts of the file,
//! only the lines of those parts are clear, as the rest may have other secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use super::File;
use super::markers::{markers, name};

/// A marker without a clear secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnclearMarker {
    /// Its line, counted from 1.
    pub(crate) line: usize,
    marker: String,
    /// Whether the file has secrets of this name.
    known: bool,
}

impl fmt::Display for UnclearMarker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            marker,
            known,
        } = self;
        write!(
            formatter,
            "in line {line}, `{marker}` stands for a secret that was kept from the agent, and writing it \
             would destroy the secret; "
        )?;
        formatter.write_str(if *known {
            "the file may have several of this name, and it is not clear which one this is: leave \
                 the lines with them as they were read, or read the whole file again"
        } else {
            "a secret is put back only into the file that it was read from, by the same path: read \
                 this file first, or leave the line out"
        })
    }
}

/// A line, and which markers are in it.
struct Line<'t> {
    text: &'t str,
    markers: Range<usize>,
}

/// The secrets of a text's markers, in order: a secret, or the marker itself if this proxy did not write it.
pub(super) fn secrets(
    known: Option<&File>,
    text: &str,
    is_given: impl Fn(&str) -> bool,
) -> Result<Vec<String>, UnclearMarker> {
    let places: Vec<_> = markers(text).collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let nothing = File::default();
    let file = known.unwrap_or(&nothing);
    let found = Comparison::of(file, text, &places).secrets();
    let hidden: BTreeSet<&str> = file.hidden().collect();
    let secret = |(found, place): (Option<usize>, &Range<usize>)| {
        let marker = &text[place.clone()];
        match found {
            Some(at) => Ok(file.secrets[at].clone()),
            _ if !is_given(name(marker)) && !hidden.contains(marker) => Ok(marker.to_owned()),
            _ => Err(UnclearMarker {
                line: 1 + text[..place.start].matches('\n').count(),
                marker: marker.to_owned(),
                known: hidden.contains(marker),
            }),
        }
    };
    found.into_iter().zip(&places).map(secret).collect()
}

/// A text with its markers replaced, in order.
pub(super) fn with(text: &str, secrets: &[String]) -> String {
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for (place, secret) in markers(text).zip(secrets) {
        out.push_str(&text[copied..place.start]);
        out.push_str(secret);
        copied = place.end;
    }
    out + &text[copied..]
}

impl File {
    /// The markers of its text with their secrets.
    fn pairs(&self) -> impl Iterator<Item = (&str, &String)> {
        let markers = markers(&self.text).map(|place| &self.text[place]);
        markers.zip(&self.secrets)
    }

    /// The markers with a secret.
    fn hidden(&self) -> impl Iterator<Item = &str> {
        let hidden = self.pairs().filter(|(marker, secret)| marker != secret);
        hidden.map(|(marker, _)| marker)
    }
}

/// A file as the agent received it, and the text that the agent writes.
struct Comparison<'c> {
    old: Vec<Line<'c>>,
    new: Vec<Line<'c>>,
    /// The markers of the text.
    markers: Vec<&'c str>,
    /// The number of equal lines at the beginning of both.
    same: usize,
    /// The markers of a line in the file; `None` if equal lines have different secrets.
    known: BTreeMap<&'c str, Option<Range<usize>>>,
    /// Whether one of the equal lines with different secrets is in the changed part, or may be in a part that the agent
    /// has not read.
    unclear: bool,
    /// Empty if the agent knows only parts of the file.
    names: BTreeMap<&'c str, NameMarkers>,
}

/// The markers of one name.
#[derive(Default)]
struct NameMarkers {
    /// A marker of the file, if all markers of the name stand for one secret.
    one: Option<usize>,
    /// The number of markers in the changed part of the file and of the text.
    changed: (usize, usize),
    /// A marker in the changed part of the file.
    last: usize,
}

impl<'c> Comparison<'c> {
    fn of(file: &'c File, text: &'c str, places: &[Range<usize>]) -> Self {
        let (old, new) = (lines(&file.text), lines(text));
        let most = old.len().min(new.len());
        let is_same = |(old, new): &(&Line, &Line)| old.text == new.text;
        let same = old.iter().zip(&new).take_while(is_same).count();
        let backwards = old.iter().rev().zip(new.iter().rev());
        let end = backwards.take(most - same).take_while(is_same).count();
        let mut known: BTreeMap<&str, Option<Range<usize>>> = BTreeMap::new();
        for Line { text, markers } in old.iter().filter(|line| !line.markers.is_empty()) {
            let secrets = &file.secrets[markers.clone()];
            let alike = known.entry(text).or_insert_with(|| Some(markers.clone()));
            *alike = alike
                .take()
                .filter(|other| file.secrets[other.clone()] == *secrets);
        }
        let changed = [&old[same..old.len() - end], &new[same..new.len() - end]];
        let is_unclear = |line: &Line| known.get(line.text) == Some(&None);
        let unclear = !file.whole || changed.into_iter().flatten().any(is_unclear);
        let markers: Vec<_> = places.iter().map(|place| &text[place.clone()]).collect();
        let names = if file.whole {
            names(file, &markers, changed)
        } else {
            BTreeMap::new()
        };
        Self {
            old,
            new,
            markers,
            same,
            known,
            unclear,
            names,
        }
    }

    /// For each marker of the text the corresponding one of the file, if it is clear.
    fn secrets(&self) -> Vec<Option<usize>> {
        let lines = self.new.iter().enumerate();
        let lines = lines.filter(|(_, line)| !line.markers.is_empty());
        lines
            .flat_map(|(at, line)| self.of_line(at, line))
            .collect()
    }

    fn of_line(&self, at: usize, line: &Line) -> Vec<Option<usize>> {
        let markers = line.markers.clone();
        let own = match self.known.get(line.text) {
            Some(Some(own)) => own,
            Some(None) if self.unclear => return markers.map(|_| None).collect(),
            Some(None) if at < self.same => &self.old[at].markers,
            Some(None) => &self.old[self.old.len() - (self.new.len() - at)].markers,
            None => return markers.map(|marker| self.of_name(marker)).collect(),
        };
        own.clone().map(Some).collect()
    }

    /// The secret's marker for a marker in a new line.
    fn of_name(&self, marker: usize) -> Option<usize> {
        let named = self.names.get(self.markers[marker])?;
        let only = (named.changed == (1, 1)).then_some(named.last);
        named.one.or(only)
    }
}

/// The markers of each name, with those in the changed lines of the file and of the text.
fn names<'c>(
    file: &'c File,
    written: &[&'c str],
    changed: [&[Line<'c>]; 2],
) -> BTreeMap<&'c str, NameMarkers> {
    let mut all: BTreeMap<&str, NameMarkers> = BTreeMap::new();
    let own: Vec<_> = file.pairs().map(|(marker, _)| marker).collect();
    for (at, marker) in own.iter().enumerate() {
        let first = || NameMarkers {
            one: Some(at),
            ..NameMarkers::default()
        };
        let named = all.entry(marker).or_insert_with(first);
        named.one = named
            .one
            .filter(|one| file.secrets[*one] == file.secrets[at]);
    }
    let [old, new] = changed;
    for at in old.iter().flat_map(|line| line.markers.clone()) {
        let named = all.entry(own[at]).or_default();
        named.changed.0 += 1;
        named.last = at;
    }
    for at in new.iter().flat_map(|line| line.markers.clone()) {
        all.entry(written[at]).or_default().changed.1 += 1;
    }
    all
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut markers = markers(text).peekable();
    let (mut at, mut count) = (0, 0);
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        at += whole.len();
        let first = count;
        while markers.next_if(|marker| marker.end <= at).is_some() {
            count += 1;
        }
        lines.push(Line {
            // A file may get other line endings.
            text: whole.trim_end_matches(['\n', '\r']),
            markers: first..count,
        });
    }
    lines
}
