//! Typed lines: edited in a terminal, otherwise as they arrive.

use tokio::io::AsyncRead;

use super::editor::{Editor, Reply};
use super::prompts::Prompts;
use crate::{Result, Screen};

/// What a user has typed.
#[derive(Debug, PartialEq, Eq)]
pub enum InputEvent {
    Line(String),
    Ended,
    Interrupt,
}

/// Where lines come from.
pub struct Input<R> {
    editor: Option<Editor>,
    prompts: Prompts<R>,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// Lines from the editor, if there is one, or from a stream; invitations go to the screen.
    pub fn new(editor: Option<Editor>, stream: R, screen: &'static dyn Screen) -> Self {
        Self {
            editor,
            prompts: Prompts::new(stream, screen),
        }
    }

    /// Shows that a line is expected, unless the editor does so itself.
    pub fn invite(&self, invitation: &str) {
        if self.editor.as_ref().is_none_or(|editor| editor.is_reading) {
            self.prompts.invite(invitation);
        }
    }

    /// The next line that is not blank. Cancel safe.
    pub async fn next(&mut self, invitation: &str) -> Result<InputEvent> {
        if let Some(editor) = &mut self.editor {
            match editor.next(invitation).await {
                Some(Reply::Line(line)) => return Ok(InputEvent::Line(line.trim_end().to_owned())),
                Some(Reply::Ended) => return Ok(InputEvent::Ended),
                Some(Reply::Interrupted) => return Ok(InputEvent::Interrupt),
                Some(Reply::Ready | Reply::Unusable) | None => {
                    self.editor = None;
                    self.prompts.invite(invitation);
                }
            }
        }
        let line = self.prompts.next(invitation).await?;
        Ok(line.map_or(InputEvent::Ended, InputEvent::Line))
    }

    /// Keeps a prompt in the history of the editor.
    pub fn keep(&mut self, prompt: &str) {
        if let Some(editor) = &mut self.editor {
            editor.keep(prompt);
        }
    }

    /// Gives the terminal back.
    pub async fn close(&mut self) {
        if let Some(editor) = self.editor.take() {
            editor.close().await;
        }
    }
}
