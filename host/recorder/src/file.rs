//! The file of a trace. Several processes of this program may write to it at once: a writer locks the file, so that
//! lines stay whole and no other process writes during its [rotation](acp_chain_system::rotated).

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use acp_chain_system::rotated::Rotated;
use acp_chain_trace::{Line, Sink, kept};

/// A file with the traces of connections.
#[derive(Debug)]
pub struct TraceFile {
    file: Rotated,
    /// The headings of open connections, by name.
    headings: HashMap<String, Heading>,
    /// The length of the file after this process's last write, if any.
    end: Option<u64>,
}

/// The first line of a connection. It is written before the connection's first event, and again after each rotation of
/// the file.
#[derive(Debug)]
struct Heading {
    line: Vec<u8>,
    is_written: bool,
}

impl TraceFile {
    /// Opens a file, and the one beside it that [keeps](acp_chain_trace::kept) the old contents after a rotation. New
    /// files are readable by their owner only, as they will contain conversations.
    ///
    /// # Errors
    ///
    /// If a file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Rotated::open(path, &kept(path))?,
            headings: HashMap::new(),
            end: None,
        })
    }

    /// Appends whole lines of these connections. If that fails, the file is unchanged.
    fn append(&mut self, lines: &[u8], connections: &[&str]) -> io::Result<()> {
        // Some file systems have no locks. Then two processes may rotate the file at once, and lose lines.
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
            // The file was rotated by another process, without this process's headings.
            let headings = self.headings.values_mut();
            headings.for_each(|heading| heading.is_written = false);
        }
        text.append(&mut self.headed(lines, connections));
        self.file.append(&text, Some(length))?;
        self.end = Some(length + text.len() as u64);
        Ok(())
    }

    /// The lines, preceded by the headings that are not written yet. These count as written from now on, even if
    /// writing fails.
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

    /// Whether the last line is complete: another process may have been killed while writing.
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
        let written = if text.is_empty() {
            Ok(())
        } else {
            self.append(&text, &connections)
        };
        for last in lines.iter().filter(|line| line.is_end()) {
            self.headings.remove(&last.connection);
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
    fn each_connection_has_its_heading_before_its_first_line_also_after_a_rotation() {
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
        // Another process has rotated the file.
        fs::write(&path, "").unwrap();
        file.write(&[line(of_y), line(of_x), line(of_y), line(over)])
            .unwrap();
        let all = fs::read_to_string(&path).unwrap();
        assert_eq!(all, text(&[y, x, of_y, of_x, of_y, over]));
        assert_eq!(file.headings.len(), 1);
    }
}
