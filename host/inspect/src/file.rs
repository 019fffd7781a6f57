//! Reads lines from a file while it grows. A truncated or replaced file has started over, and becomes another source.
//! Its former content is then read from the file that keeps it, including lines not read before.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use acp_chain_trace::{Line, Reader, TraceError, kept};

use crate::log::{Entry, LineFile, Log, SourceId, lock, read_at};

/// The maximum number of lines added to the log at once.
const BATCH: usize = 4096;

/// The maximum number of lines of a file: browsers cannot scroll through more.
const MOST: usize = 1_000_000;

/// How often to check for new lines.
const PAUSE: Duration = Duration::from_millis(250);

/// The maximum length of a last line without a line break, in bytes.
const LAST: u64 = 1 << 20;

/// The size of the read buffer.
const BUFFER: usize = 1 << 20;

/// How much of the last line is compared to recognize a file, in bytes.
const KNOWN: usize = 4096;

/// An open file.
pub struct OpenFile {
    path: PathBuf,
    name: String,
    source: SourceId,
    file: LineFile,
    /// The former content, if the file started over.
    before: Option<LineFile>,
    /// Kept between reads, since it has state from earlier lines.
    reader: Reader<BufReader<Blocks>>,
    /// The end of the lines read so far, in bytes.
    at: u64,
    /// The position of the last line, and its beginning.
    last: (u64, Vec<u8>),
    lines: usize,
    /// The maximum number of lines, and whether the file has more.
    most: usize,
    has_more: bool,
    cut: usize,
}

/// Opens a file. `name` is its name on the page.
///
/// # Errors
/// If it cannot be read, or its first line is not from a trace.
pub fn open(log: &Log, path: &Path, name: &str) -> io::Result<OpenFile> {
    let file = open_file(path)?;
    let mut first = Reader::new(BufReader::new(&file));
    if let Some(Err(error)) = first.next() {
        return Err(io::Error::other(error.to_string()));
    }
    let file = Arc::new(Mutex::new(Some(file)));
    Ok(OpenFile {
        path: path.to_owned(),
        name: name.to_owned(),
        source: log.source(name),
        reader: reader(&file),
        file,
        before: None,
        at: 0,
        last: (0, Vec::new()),
        lines: 0,
        most: MOST,
        has_more: false,
        cut: 0,
    })
}

/// Opens a regular file. Opening a pipe would block until there is a writer.
fn open_file(path: &Path) -> io::Result<File> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !about.is_file() {
        return Err(io::Error::other("it is a pipe or a device, not a file"));
    }
    File::open(path)
}

/// Whether both are the same file.
#[cfg(unix)]
fn is_same(one: &File, other: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |file: &File| {
        let about = file.metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    place(one) == place(other)
}

/// Always true: files are compared only by their content here.
#[cfg(not(unix))]
fn is_same(_: &File, _: &File) -> bool {
    true
}

fn reader(file: &LineFile) -> Reader<BufReader<Blocks>> {
    let from = Blocks {
        file: Arc::clone(file),
        at: 0,
        end: 0,
    };
    Reader::new(BufReader::with_capacity(BUFFER, from))
}

/// Reads a file as it grows, until there is an error, which is passed to `tell`.
pub fn follow(log: &Log, mut opened: OpenFile, tell: impl Fn(&str)) {
    loop {
        if let Err(error) = opened.read_on(log) {
            tell(&error.to_string());
            log.notice(&format!("{}:{error}", opened.name));
            return;
        }
        if opened.has_more {
            let problem = format!(
                "{}:{}: only the lines up to here are shown, the most that a browser can show; split the trace to see the others",
                opened.name, opened.lines
            );
            tell(&problem);
            log.notice(&problem);
            return;
        }
        std::thread::sleep(PAUSE);
        if opened.has_started_over() {
            opened.start_over(log);
        }
    }
}

impl OpenFile {
    /// Reads the lines that are complete now.
    ///
    /// # Errors
    /// If one is not from a trace.
    pub fn read_on(&mut self, log: &Log) -> Result<(), TraceError> {
        let end = self.end(log)?;
        if end <= self.at {
            return Ok(());
        }
        self.reader.input().get_mut().end = end;
        let mut batch = Vec::with_capacity(BATCH);
        let mut last = None;
        let mut failed = None;
        loop {
            match self.reader.next() {
                None => break,
                Some(Ok(_)) if self.lines == self.most => {
                    self.has_more = true;
                    break;
                }
                Some(Ok((number, line))) => {
                    let (at, text) = self.reader.text();
                    last = Some((at, text.len()));
                    batch.push(Entry::in_file(line, number, text, &self.file, at));
                    self.lines = number;
                }
                Some(Err(error)) => {
                    failed = Some(error);
                    break;
                }
            }
            if batch.len() == BATCH {
                log.append(self.source, std::mem::take(&mut batch));
            }
        }
        log.append(self.source, batch);
        self.at = end;
        if let Some((at, len)) = last {
            let mut text = vec![0; len.min(KNOWN)];
            if read_at(&self.file, at, &mut text).is_ok() {
                self.last = (at, text);
            }
        }
        if self.reader.cut() > self.cut {
            self.cut = self.reader.cut();
            log.notice(&format!(
                "{}: {} lines end too early, as when the program is killed while it writes; they are skipped",
                self.name, self.cut
            ));
        }
        failed.map_or(Ok(()), Err)
    }

    /// The number of lines read.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The end of the last complete line.
    fn end(&self, log: &Log) -> io::Result<u64> {
        let mut opened = lock(&self.file);
        let Some(file) = opened.as_mut() else {
            return Ok(self.at);
        };
        let len = file.seek(SeekFrom::End(0))?;
        let end = self.after_last_break(file, len)?;
        if self.at > 0 || end == len {
            return Ok(end);
        }
        // A file that is no longer written may lack the last line break, or not be a trace.
        if end == 0 {
            return Ok(len);
        }
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(end))?;
        file.take(LAST).read_to_end(&mut rest)?;
        if serde_json::from_slice::<Line>(&rest).is_ok() {
            return Ok(len);
        }
        log.notice(&format!(
            "{}: the last line ends too early, as when the program is killed while it writes",
            self.name
        ));
        Ok(end)
    }

    /// The position after the last line break; at least the end of the lines read so far.
    fn after_last_break(&self, file: &mut File, len: u64) -> io::Result<u64> {
        let mut block = vec![0; 64 * 1024];
        let mut end = len;
        while end > self.at {
            let from = end.saturating_sub(block.len() as u64).max(self.at);
            let count = usize::try_from(end - from).map_err(io::Error::other)?;
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut block[..count])?;
            if let Some(found) = memchr::memrchr(b'\n', &block[..count]) {
                return Ok(from + found as u64 + 1);
            }
            end = from;
        }
        Ok(self.at)
    }

    /// Whether the path has another file now, or a shorter one, or one with other content. A copy of the file replaces
    /// it without starting over.
    fn has_started_over(&self) -> bool {
        let Ok(now) = open_file(&self.path) else {
            return false;
        };
        let has_less = now.metadata().is_ok_and(|about| about.len() < self.at);
        if has_less || !self.has_last_line(&now) {
            return true;
        }
        let mut opened = lock(&self.file);
        if opened.as_ref().is_some_and(|opened| is_same(opened, &now)) {
            return false;
        }
        // The copy may have more lines.
        let is_copy = !self.last.1.is_empty();
        if is_copy {
            *opened = Some(now);
        }
        !is_copy
    }

    fn start_over(&mut self, log: &Log) {
        let Ok(file) = open_file(&self.path) else {
            return;
        };
        // The content from before the former one is no longer kept anywhere.
        if let Some(before) = self.before.take() {
            *lock(&before) = None;
            log.drop_lost();
        }
        let mut opened = lock(&self.file);
        // A replaced file, still open, has all lines.
        let replaced = opened.take().filter(|file| self.has_last_line(file));
        *opened = replaced.or_else(|| {
            let former = open_file(&kept(&self.path)).ok();
            former.filter(|former| self.has_last_line(former))
        });
        drop(opened);
        // Read the lines added since the last check.
        if let Err(error) = self.read_on(log) {
            log.notice(&format!("{}:{error}", self.name));
        }
        let next = Arc::new(Mutex::new(Some(file)));
        self.reader = reader(&next);
        self.before = Some(std::mem::replace(&mut self.file, next));
        self.source = log.source(&self.name);
        (self.at, self.lines, self.cut) = (0, 0, 0);
        self.last = (0, Vec::new());
        self.has_more = false;
        log.notice(&format!("{}: the file started over", self.name));
    }

    /// Whether a file has the lines read so far, judging by the last one.
    fn has_last_line(&self, mut file: &File) -> bool {
        let (at, text) = &self.last;
        let mut there = vec![0; text.len()];
        let read = file.seek(SeekFrom::Start(*at));
        let read = read.and_then(|_| file.read_exact(&mut there));
        read.is_ok() && there == *text
    }
}

/// A part of a shared file.
struct Blocks {
    file: LineFile,
    at: u64,
    end: u64,
}

impl Read for Blocks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut opened = lock(&self.file);
        let Some(file) = opened.as_mut() else {
            return Ok(0);
        };
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let len = into.len().min(left);
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut into[..len])?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const LINE: &str = r#"{"connection":"c","from":"client","to":"a","kind":"notification","method":"m","params":{"n":1}}"#;

    fn read(log: &Log, row: u64) -> String {
        let (_, places) = log.places(row, 1);
        String::from_utf8(places[0].read().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_file_is_read_as_it_grows_and_a_line_is_read_when_it_is_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::of_files();
        writeln!(file, "{LINE}\n").unwrap();
        let mut opened = open(&log, file.path(), "t").unwrap();
        opened.read_on(&log).unwrap();
        assert_eq!((log.range().end, opened.lines()), (1, 1));
        let second = LINE.replace("n\":1", "n\":2");
        write!(file, "{}", &second[..20]).unwrap();
        opened.read_on(&log).unwrap();
        assert_eq!(log.range().end, 1);
        writeln!(file, "{}", &second[20..]).unwrap();
        opened.read_on(&log).unwrap();
        assert_eq!(log.range().end, 2);
        assert_eq!(read(&log, 1).trim(), second);
    }

    #[test]
    fn a_line_that_is_not_from_a_trace_is_reported_with_its_number() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::of_files();
        writeln!(file, "{LINE}").unwrap();
        let mut opened = open(&log, file.path(), "t").unwrap();
        opened.read_on(&log).unwrap();
        writeln!(file, "{LINE}\n[1]").unwrap();
        let error = opened.read_on(&log).unwrap_err().to_string();
        assert!(error.starts_with("3: not a line of a trace"), "{error}");
        assert_eq!(log.range().end, 2);
    }

    #[test]
    fn a_file_that_starts_over_goes_on_and_what_was_in_it_is_read_where_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let log = Log::of_files();
        std::fs::write(&path, format!("{LINE}\n{LINE}\n")).unwrap();
        let mut opened = open(&log, &path, "t").unwrap();
        opened.read_on(&log).unwrap();
        // It starts over before this line is seen.
        let unseen = LINE.replace("n\":1", "n\":2");
        std::fs::write(kept(&path), format!("{LINE}\n{LINE}\n{unseen}\n")).unwrap();
        std::fs::write(&path, LINE.replace("n\":1", "n\":3") + "\n").unwrap();
        assert!(opened.has_started_over());
        opened.start_over(&log);
        opened.read_on(&log).unwrap();
        for (row, said) in [(0, "\"n\":1"), (2, "\"n\":2"), (3, "\"n\":3")] {
            assert!(read(&log, row).contains(said), "{row}");
        }
        // The first file is no longer kept once the second one is, and another is not taken for the second.
        std::fs::write(&path, "").unwrap();
        opened.start_over(&log);
        assert_eq!(log.range(), 3..4);
        let (_, places) = log.places(3, 1);
        places[0].read().unwrap_err();
        // It has started over once, though nothing stands in it yet.
        opened.read_on(&log).unwrap();
        assert!(!opened.has_started_over());
    }

    #[test]
    fn a_file_that_another_one_replaces_goes_on_there() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("t"), folder.path().join("new"));
        let log = Log::of_files();
        std::fs::write(&path, format!("{LINE}\n{LINE}\n")).unwrap();
        let mut opened = open(&log, &path, "t").unwrap();
        opened.read_on(&log).unwrap();
        assert!(!opened.has_started_over());
        let other = LINE.replace("n\":1", "n\":2") + "\n";
        std::fs::write(&new, other.repeat(3)).unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert!(opened.has_started_over());
        opened.start_over(&log);
        opened.read_on(&log).unwrap();
        assert!(!opened.has_started_over());
        // It is cut, and has more than before when it is looked at again.
        let another = LINE.replace("n\":1", "n\":3") + "\n";
        std::fs::write(&path, another.repeat(4)).unwrap();
        assert!(opened.has_started_over());
        opened.start_over(&log);
        opened.read_on(&log).unwrap();
        assert_eq!(log.range().end, 9);
        assert!(read(&log, 8).contains("\"n\":3"));
    }

    #[test]
    fn what_was_replaced_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("t"), folder.path().join("new"));
        let log = Log::of_files();
        std::fs::write(&path, format!("{LINE}\n")).unwrap();
        let mut opened = open(&log, &path, "t").unwrap();
        opened.read_on(&log).unwrap();
        // It is replaced before this line is seen.
        let unseen = LINE.replace("n\":1", "n\":2");
        std::fs::write(&path, format!("{LINE}\n{unseen}\n")).unwrap();
        std::fs::write(&new, LINE.replace("n\":1", "n\":3") + "\n").unwrap();
        std::fs::rename(&new, &path).unwrap();
        opened.start_over(&log);
        opened.read_on(&log).unwrap();
        for (row, said) in [(0, "\"n\":1"), (1, "\"n\":2"), (2, "\"n\":3")] {
            assert!(read(&log, row).contains(said), "{row}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused() {
        let log = Log::of_files();
        let error = open(&log, Path::new("/dev/null"), "t").err().unwrap();
        assert_eq!(error.to_string(), "it is a pipe or a device, not a file");
    }

    #[test]
    fn a_trace_of_the_reference_conductor_keeps_its_requests_apart_while_it_grows() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::of_files();
        let mut opened = None;
        for id in 1..=2 {
            let line = format!(
                r#"{{"type":"request","ts":0.001,"from":"Client","to":"Agent","id":{id},"method":"m","params":{{}}}}"#
            );
            writeln!(file, "{line}").unwrap();
            let opened = opened.get_or_insert_with(|| open(&log, file.path(), "t").unwrap());
            opened.read_on(&log).unwrap();
        }
        let mut cursor = crate::log::Cursor::default();
        let mut news = Vec::new();
        while let Some(some) = log.news(&mut cursor) {
            news.extend_from_slice(&some);
        }
        let objects = serde_json::Deserializer::from_slice(&news).into_iter();
        let requests = objects.filter_map(|object: serde_json::Result<serde_json::Value>| {
            object.unwrap()["rows"][8][0].as_i64()
        });
        assert_eq!(requests.collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn of_a_long_file_the_first_lines_are_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::of_files();
        std::fs::write(file.path(), format!("{LINE}\n").repeat(3)).unwrap();
        let mut opened = open(&log, file.path(), "t").unwrap();
        opened.most = 3;
        opened.read_on(&log).unwrap();
        assert!(!opened.has_more);
        std::fs::write(file.path(), format!("{LINE}\n").repeat(5)).unwrap();
        let problems = Mutex::new(Vec::new());
        follow(&log, opened, |text| lock(&problems).push(text.to_owned()));
        assert_eq!(log.range().end, 3);
        let problems = problems.into_inner().unwrap().concat();
        assert!(
            problems.starts_with("t:3: only the lines up to here are shown"),
            "{problems}"
        );
    }
}
