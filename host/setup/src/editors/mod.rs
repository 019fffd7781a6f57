//! The editors, in one table: where each keeps its configuration, and how that launches agents. Specifics of an editor
//! are in its file.

mod acpx;
mod editor;
mod emacs;
mod jetbrains;
mod neovim;
mod toad;
mod vscode;
mod zed;

pub use self::editor::Editor;
pub(crate) use self::editor::{Code, Kind};

/// All supported editors, in display order.
pub const EDITORS: [Editor; 7] = [
    zed::ZED,
    jetbrains::JETBRAINS,
    vscode::VSCODE,
    neovim::NEOVIM,
    emacs::EMACS,
    toad::TOAD,
    acpx::ACPX,
];

/// A text in quotes, as Lisp, Lua and shells read it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

impl Editor {
    /// The editor of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        EDITORS.iter().find(|editor| editor.name == name)
    }
}
