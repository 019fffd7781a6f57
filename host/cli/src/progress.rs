//! Progress of slow operations: bars on a terminal, and elsewhere a line per download.

use std::fmt::Arguments;
use std::sync::LazyLock;
use std::time::Duration;

use acp_chain_app::Report;
use acp_chain_interactive::Screen;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::{dev, out};

/// How often progress is redrawn.
const TICK: Duration = Duration::from_millis(150);

/// The progress lines at the end of a terminal. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Progress(MultiProgress);

/// What the services report, on the terminal.
pub struct Terminal(LazyLock<Progress>);

/// The terminal of this process.
pub static TERMINAL: Terminal = Terminal(LazyLock::new(Progress::default));

impl Report for Terminal {
    fn while_loading(&self, proxy: &str, load: &mut dyn FnMut()) {
        self.0.while_loading(proxy, load);
    }

    fn listens(&self, url: &str) {
        say!("listening on {url}");
    }

    fn has_metrics(&self, url: &str) {
        say!("metrics at {url}");
    }

    fn warns(&self, text: &str) {
        tell!("acp-chain: {text}");
    }

    fn news(&self, text: &str) {
        dev::notices::send(text);
    }
}

impl Screen for Terminal {
    fn put(&self, text: Arguments<'_>) {
        out::put(text);
    }

    fn tell(&self, line: Arguments<'_>) {
        out::tell(line);
    }

    fn is_terminal(&self) -> bool {
        out::is_terminal()
    }
}

/// Bytes that are being downloaded or read. Dropping it removes it from the terminal.
#[derive(Debug)]
pub struct Transfer(ProgressBar);

impl Progress {
    /// Shows that something is being downloaded.
    pub fn download(&self, what: &str) -> Transfer {
        if !out::has_error_terminal() {
            tell!("acp-chain: getting {what}");
        }
        self.transfer(ProgressBar::no_length(), what)
    }

    /// Shows how much of so many bytes has been read.
    pub fn reading(&self, bytes: u64) -> Transfer {
        self.transfer(ProgressBar::new(bytes), "reading")
    }

    fn transfer(&self, bar: ProgressBar, what: &str) -> Transfer {
        let line = self.0.add(bar);
        let style = ProgressStyle::with_template("{msg}  {bytes} {wide_bar} {total_bytes}");
        if let Ok(style) = style {
            line.set_style(style);
        }
        line.set_message(what.to_owned());
        Transfer(line)
    }

    /// Shows that a proxy is being loaded, for as long as it takes.
    pub fn while_loading<T>(&self, id: &str, load: impl FnOnce() -> T) -> T {
        let line = self.0.add(ProgressBar::new_spinner());
        line.set_message(format!(
            "loading the proxy `{id}`; the first time, it is compiled"
        ));
        line.enable_steady_tick(TICK);
        let loaded = load();
        line.finish_and_clear();
        loaded
    }
}

impl Transfer {
    /// So many bytes more are there.
    pub fn add(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// Sets the number of bytes that are there, and the total.
    pub fn set(&self, there: u64, whole: Option<u64>) {
        if let Some(whole) = whole {
            self.0.set_length(whole);
        }
        self.0.set_position(there);
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
