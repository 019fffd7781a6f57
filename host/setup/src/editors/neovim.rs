//! Neovim, with `CodeCompanion`, avante or agentic.nvim. They are configured by code anywhere, and often when first
//! used, so our code is a separate file: it changes the one function of each that takes an agent's command, when that
//! is loaded.

use super::editor::{Code, Editor, Kind};
use super::quoted;
use crate::launch::Launch;

pub(super) const NEOVIM: Editor = Editor {
    name: "neovim",
    title: "Neovim (CodeCompanion, avante, agentic.nvim)",
    kind: Kind::Code(Code {
        files: |places| places.in_settings(&format!("{}/plugin/acp-chain.lua", places.nvim)),
        is_own: true,
        comment: "--",
        text,
        check: None,
        others: "of plugins other than CodeCompanion, avante and agentic.nvim",
    }),
};

fn text(launch: &Launch, programs: &[String]) -> String {
    let list = |words: &[String]| {
        let words = words.iter().map(|word| quoted(word));
        words.collect::<Vec<_>>().join(", ")
    };
    include_str!("neovim.lua")
        .replace("@LAUNCH@", &list(&launch.before_command()))
        .replace("@PROGRAMS@", &list(programs))
}
