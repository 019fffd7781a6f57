//! What is shown on a terminal while something takes long. Nothing, where standard error is none.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar};

/// How often it moves.
const TICK: Duration = Duration::from_millis(150);

/// The lines at the end of a terminal that tell what goes on. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Progress(MultiProgress);

impl Progress {
    /// Shows that a proxy is being compiled, for as long as it takes to load it.
    pub fn while_loading<T>(&self, id: &str, load: impl FnOnce() -> T) -> T {
        let line = self.0.add(ProgressBar::new_spinner());
        line.set_message(format!(
            "compiling the proxy `{id}`, for this time and all later ones"
        ));
        line.enable_steady_tick(TICK);
        let loaded = load();
        line.finish_and_clear();
        loaded
    }
}
