//! Lines, as they arrive.

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

use crate::{Error, Result, Screen};
use acp_chain_channel::limits::LINE;

/// The invitation to a prompt.
pub const INVITATION: &str = "> ";

/// Lines, as they arrive.
pub struct Prompts<R> {
    screen: &'static dyn Screen,
    reader: BufReader<R>,
    /// The beginning of the next line.
    part: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Prompts<R> {
    /// The lines of this stream; invitations go to the screen.
    pub fn new(reader: R, screen: &'static dyn Screen) -> Self {
        Self {
            screen,
            reader: BufReader::new(reader),
            part: Vec::new(),
        }
    }

    /// The next line that is not blank, if there is one; after a blank one, the invitation is shown again. Cancel safe.
    pub async fn next(&mut self, invitation: &str) -> Result<Option<String>> {
        loop {
            let mut reader = (&mut self.reader).take(LINE as u64);
            let read = reader.read_until(b'\n', &mut self.part).await;
            read.map_err(Error::io("standard input cannot be read"))?;
            if self.part.is_empty() {
                return Ok(None);
            }
            let line = String::from_utf8_lossy(&self.part).trim_end().to_owned();
            self.part.clear();
            if !line.trim().is_empty() {
                return Ok(Some(line));
            }
            self.invite(invitation);
        }
    }

    /// Shows in a terminal that a line is expected.
    pub fn invite(&self, invitation: &str) {
        if self.screen.is_terminal() {
            self.screen.put(format_args!("{invitation}"));
        }
    }
}
