//! `acp-chain top`: running chains, and what their proxies do.
//!
//! | file | what it is |
//! |---|---|
//! | `hear` | listens to all chains |
//! | `model` | statistics |
//! | `rows` | their text |
//! | `screen` | drawing, and keys |

mod hear;
mod model;
mod rows;
mod screen;

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use self::hear::News;
use self::model::Model;
use self::screen::Screen;
use crate::system::process::memory_of_groups;

/// How often it is redrawn.
const FRAME: Duration = Duration::from_millis(250);

/// How many lines are processed at most before it is redrawn.
const BURST: usize = 10_000;

/// How often the memory of programs is read.
const LOOK: Duration = Duration::from_secs(1);

/// How long `--once` listens.
const LISTEN: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain top
  acp-chain top --once
  acp-chain top --json")]
pub struct Top {
    /// Listen for a second, print a table and end
    #[arg(long)]
    once: bool,
    /// The same as JSON
    #[arg(long)]
    json: bool,
}

impl Top {
    pub fn main(self) -> Result<(), String> {
        let is_once = self.once || self.json;
        let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if !is_once && !has_terminal {
            return Err("there is no terminal to draw on; `--once` prints a table".to_owned());
        }
        let news = hear::all()?;
        if is_once {
            let mut model = listen(&news);
            model.look(memory_of_groups);
            match self.json {
                true => say!("{:#}", rows::json(&model, Instant::now())),
                false if model.hosts().next().is_none() => say!("No chain runs."),
                false => put!("{}", rows::table(&model, Instant::now())),
            }
            return Ok(());
        }
        let wrong = |error| format!("the terminal cannot be drawn on: {error}");
        let mut terminal = ratatui::try_init().map_err(wrong)?;
        let done = watch(&mut terminal, &news).map_err(wrong);
        ratatui::restore();
        done
    }
}

/// The news of a while.
fn listen(news: &Receiver<News>) -> Model {
    let mut model = Model::default();
    let end = Instant::now() + LISTEN;
    loop {
        match news.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(news) => take(&mut model, news),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return model,
        }
        if Instant::now() >= end {
            return model;
        }
    }
}

fn take(model: &mut Model, news: News) {
    let now = Instant::now();
    match news {
        News::Begins(found) => model.begin(&found, now),
        News::Says(process, path, line) => model.take(process, &path, *line, now),
        News::Ends(process, path) => model.end(process, &path),
    }
}

/// Draws until the user quits.
fn watch(terminal: &mut DefaultTerminal, news: &Receiver<News>) -> std::io::Result<()> {
    let (mut model, mut screen) = (Model::default(), Screen::default());
    let mut looked = None::<Instant>;
    loop {
        for news in news.try_iter().take(BURST) {
            take(&mut model, news);
        }
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            model.look(memory_of_groups);
            looked = Some(Instant::now());
        }
        terminal.draw(|frame| screen.draw(frame, &model, Instant::now()))?;
        let drawn = Instant::now();
        // Keys are obeyed at once.
        while event::poll(FRAME.saturating_sub(drawn.elapsed()))? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Release => {}
                Event::Key(key) => {
                    let is_interrupt = key.code == KeyCode::Char('c')
                        && key.modifiers.contains(KeyModifiers::CONTROL);
                    if is_interrupt || !screen.key(key.code, &model, Instant::now()) {
                        return Ok(());
                    }
                    break;
                }
                Event::Resize(..) => break,
                _ => {}
            }
        }
    }
}
