//! The file of a trace. Several of our processes may write to it at once: a writer locks it, so that lines stay whole
//! and nobody writes while it [starts over](acp_chain_system::rotated).

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use acp_chain_system::rotated::Rotated;
use acp_chain_trace::{Line, Sink, kept};

/// A file with the traces of connections.
#[derive(Debug)]
pub struct TraceFile {
    file: Rotated,
    /// The headings of open connections.
    headings: HashMap<String, Heading>,
    /// The end of our last write, if any.
    end: Option<u64>,
}

/// The line that says that a connection begins, and whether it is in the file. It is written with the first event,
/// and whenever the file starts over.
#[derive(Debug)]
struct Heading {
    line: Vec<u8>,
    is_written: bool,
}

impl TraceFile {
    /// Opens a file, and the one beside it that [keeps](acp_chain_trace::kept) its old contents when it grows too
    /// long. New ones are created for their owner only, as they will contain conversations.
    ///
    /// # Errors
    ///
    /// If they cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Rotated::open(path, &kept(path))?,
            headings: HashMap::new(),
            end: None,
        })
    }

    /// Appends whole lines of these connections. If that fails, the file stays as it was.
    fn append(&mut self, lines: &[u8], connections: &[&str]) -> io::Result<()> {
        // Some file systems have no locks. Then two processes may start it over at once, and lose lines.
        let is_locked = self.file.file().lock().is_ok();
        let written = self.append_here(lines, connections);
        if is_locked {
            self.file.file().unlock()?;
        }
        written
    }

    fn append_here(&mut self, lines: &[u8], connections: &[&str]) -> io::Result<()> {
        let Some(length) = self.file.turn()? else {
            let text = self.headed(lines, connections);
            return self.file.append(&text, None);
        };
        let mut text = Vec::new();
        if length > 0 && !self.ends_whole()? {
            text.push(b'\n');
        }
        if self.end.is_some_and(|end| length < end) {
            // Our lines are gone.
            let headings = self.headings.values_mut();
            headings.for_each(|heading| heading.is_written = false);
        }
        text.append(&mut self.headed(lines, connections));
        self.file.append(&text, Some(length))?;
        self.end = Some(length + text.len() as u64);
        Ok(())
    }

    /// The lines, after the headings that are not written yet. A failure here is not retried.
    fn headed(&mut self, lines: &[u8], connections: &[&str]) -> Vec<u8> {
        let mut text = Vec::new();
        for connection in connections {
            if let Some(heading) = self.headings.get_mut(*connection)
                && !std::mem::replace(&mut heading.is_written, true)
            {
                text.extend_from_slice(&heading.line);
            }
        }
        text.extend_from_slice(lines);
        text
    }

    /// Whether the last line is complete: another process may have been killed.
    fn ends_whole(&self) -> io::Result<bool> {
        let mut file = self.file.file();
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last == *b"\n")
    }
}

impl Sink for TraceFile {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let (mut text, mut connections) = (Vec::new(), Vec::new());
        for line in lines {
            if line.version.is_some() {
                let heading = Heading {
                    line: json(line)?,
                    is_written: false,
                };
                self.headings.insert(line.connection.clone(), heading);
                continue;
            }
            if connections.last() != Some(&&*line.connection) {
                connections.push(&*line.connection);
            }
            text.append(&mut json(line)?);
        }
        let written = match text.is_empty() {
            true => Ok(()),
            false => self.append(&text, &connections),
        };
        for over in lines.iter().filter(|line| line.is_end()) {
            self.headings.remove(&over.connection);
        }
        written
    }
}

fn json(line: &Line) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(text: &str) -> Line {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn each_connection_has_its_heading_before_its_first_line_also_where_the_file_starts_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let mut file = TraceFile::open(&path).unwrap();
        let [x, y] = [
            r#"{"connection":"x","version":1}"#,
            r#"{"connection":"y","version":1}"#,
        ];
        let [of_x, of_y] = [
            r#"{"connection":"x","method":"m"}"#,
            r#"{"connection":"y","method":"m"}"#,
        ];
        let over = r#"{"connection":"x","ended":true}"#;
        let text = |lines: &[&str]| lines.join("\n") + "\n";
        file.write(&[line(x), line(y), line(of_y)]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text(&[y, of_y]));
        file.write(&[line(of_x), line(of_y)]).unwrap();
        let all = fs::read_to_string(&path).unwrap();
        assert_eq!(all, text(&[y, of_y, x, of_x, of_y]));
        // Another process has started it over.
        fs::write(&path, "").unwrap();
        file.write(&[line(of_y), line(of_x), line(of_y), line(over)])
            .unwrap();
        let all = fs::read_to_string(&path).unwrap();
        assert_eq!(all, text(&[y, x, of_y, of_x, of_y, over]));
        assert_eq!(file.headings.len(), 1);
    }
}
