//! `acp-chain top`: running chains, and what their proxies do.
//!
//! | file | what it is |
//! |---|---|
//! | `listen` | reads the lines of all chains |
//! | `model` | statistics |
//! | `rows` | the text of statistics |
//! | `screen` | drawing, and keys |

mod listen;
mod model;
mod rows;
mod screen;

use std::io::{self, IsTerminal};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::listen::News;
use self::model::Model;
use self::screen::Screen;
use crate::out;
use acp_chain_system::process::memory_of_groups;
use acp_chain_system::stop;

/// How often the screen is redrawn.
const FRAME: Duration = Duration::from_millis(250);

/// How many lines are processed at most before the screen is redrawn.
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
    /// Listen for a second, print JSON and end
    #[arg(long)]
    json: bool,
}

impl Top {
    pub fn main(self) -> Result<(), String> {
        let is_once = self.once || self.json;
        let has_terminal = io::stdin().is_terminal() && out::is_terminal();
        if !is_once && !has_terminal {
            return Err("there is no terminal to draw on; `--once` prints a table".to_owned());
        }
        let news = listen::all()?;
        if is_once {
            let mut model = collect(&news);
            model.look(memory_of_groups);
            for host in model.hosts() {
                if let Some(wrong) = &host.wrong {
                    tell!(
                        "acp-chain: process {}: {}",
                        host.process,
                        rows::reason(wrong)
                    );
                }
            }
            if self.json {
                say!("{:#}", rows::json(&model, Instant::now()));
            } else if model.hosts().next().is_none() {
                say!("No chain runs.");
            } else {
                put!("{}", rows::table(&model, Instant::now()));
            }
            return Ok(());
        }
        let wrong = |error| format!("the terminal cannot be drawn on: {error}");
        let terminal = ratatui::try_init().map_err(wrong)?;
        let done = show(terminal, news).map_err(wrong);
        restore();
        done
    }
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
        News::Fails(process, path, why) => model.fail(process, &path, why),
        News::Ends(process, path) => model.end(process, &path),
    }
}

/// Draws on a separate thread until the user quits, or a stop is requested: waiting for the events of a closed terminal
/// does not end.
fn show(mut terminal: DefaultTerminal, news: Receiver<News>) -> io::Result<()> {
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
