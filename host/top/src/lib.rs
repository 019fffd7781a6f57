//! Running chains, and what their proxies do: a table, JSON, and a screen.
//!
//! | file | what it is |
//! |---|---|
//! | `listen` | reads the lines of all chains |
//! | `model` | statistics |
//! | `rows` | the text of statistics |
//! | `screen` | drawing, and keys |

#![forbid(unsafe_code)]

mod listen;
mod model;
mod rows;
mod screen;

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::listen::News;
use self::model::Model;
use self::screen::Screen;
use acp_chain_system::process::memory_of_groups;
use acp_chain_system::stop;

/// How often the screen is redrawn.
const FRAME: Duration = Duration::from_millis(250);

/// How many lines are processed at most before the screen is redrawn.
const BURST: usize = 10_000;

/// How often the memory of programs is read.
const LOOK: Duration = Duration::from_secs(1);

/// How long a snapshot listens.
const LISTEN: Duration = Duration::from_secs(1);

/// Why there are no statistics.
#[derive(Debug, thiserror::Error)]
pub enum TopError {
    #[error("the running chains cannot be found: {0}")]
    Chains(io::Error),
    #[error("the terminal cannot be drawn on: {0}")]
    Terminal(io::Error),
}

/// The statistics of a second.
pub struct Snapshot(Model);

impl Snapshot {
    /// Listens to all running chains for a second.
    pub fn take() -> Result<Self, TopError> {
        let mut model = collect(&listen::all()?);
        model.look(memory_of_groups);
        Ok(Self(model))
    }

    /// Why the lines of a process cannot be read, for each such process.
    pub fn failures(&self) -> impl Iterator<Item = (u32, String)> {
        let hosts = self.0.hosts();
        hosts.filter_map(|host| Some((host.process, rows::reason(host.wrong.as_ref()?))))
    }

    /// Whether no chain runs.
    pub fn is_empty(&self) -> bool {
        self.0.hosts().next().is_none()
    }

    pub fn table(&self) -> String {
        rows::table(&self.0, Instant::now())
    }

    pub fn json(&self) -> Value {
        rows::json(&self.0, Instant::now())
    }
}

/// Draws the statistics on the terminal until the user quits, or a stop is requested.
pub fn show() -> Result<(), TopError> {
    let news = listen::all()?;
    let terminal = ratatui::try_init().map_err(TopError::Terminal)?;
    let done = draw(terminal, news).map_err(TopError::Terminal);
    restore();
    done
}

/// Restores the terminal. Gives up soon if the terminal is closed, or does not accept output.
fn restore() {
    let (done, is_done) = mpsc::channel();
    let restores = thread::Builder::new().name("restore".to_owned());
    let is_started = restores.spawn(move || {
        let _ = ratatui::try_restore();
        let _ = done.send(());
    });
    if is_started.is_ok() {
        let _ = is_done.recv_timeout(2 * FRAME);
    }
}

/// Collects news for [`LISTEN`].
fn collect(news: &Receiver<News>) -> Model {
    let mut model = Model::default();
    let end = Instant::now() + LISTEN;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match news.recv_timeout(left) {
            Ok(news) if !left.is_zero() => take(&mut model, news),
            _ => return model,
        }
    }
}

fn take(model: &mut Model, news: News) {
    let now = Instant::now();
    match news {
        News::Begins(found) => model.begin(&found, now),
        News::Says(process, path, line) => model.take(process, &path, *line, now),
        News::Fails(process, path, why) => model.fail(process, &path, why),
        News::Ends(process, path) => model.end(process, &path),
    }
}

/// Draws on a separate thread until the user quits, or a stop is requested: waiting for the events of a closed terminal
/// does not end.
fn draw(mut terminal: DefaultTerminal, news: Receiver<News>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (done, mut is_done) = oneshot::channel();
    let stops = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stops);
    runtime.block_on(async {
        let drawing = async {
            let draws = thread::Builder::new().name("draw".to_owned());
            draws.spawn(move || {
                let watched = watch(&mut terminal, &news, &asked);
                let _ = terminal.show_cursor();
                // Dropping it could write to a terminal that is closed.
                mem::forget(terminal);
                let _ = done.send(watched);
            })?;
            let outcome = (&mut is_done).await;
            outcome.unwrap_or_else(|error| Err(io::Error::other(error)))
        };
        tokio::select! {
            // Polled first, so that a stop is noticed before anything is drawn.
            biased;
            () = stop::requested() => {
                stops.store(true, Ordering::Relaxed);
                let _ = timeout(2 * FRAME, is_done).await;
                Ok(())
            }
            drawn = drawing => drawn,
        }
    })
}

/// Draws until the user quits, or a stop is requested.
fn watch(
    terminal: &mut DefaultTerminal,
    news: &Receiver<News>,
    stops: &AtomicBool,
) -> io::Result<()> {
    let (mut model, mut screen) = (Model::default(), Screen::default());
    let mut looked = None::<Instant>;
    while !stops.load(Ordering::Relaxed) {
        for news in news.try_iter().take(BURST) {
            take(&mut model, news);
        }
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            model.look(memory_of_groups);
            looked = Some(Instant::now());
        }
        terminal.draw(|frame| screen.draw(frame, &model, Instant::now()))?;
        let drawn = Instant::now();
        // Keys are handled at once.
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
    Ok(())
}
