//! `acp-chain man`: the manual pages, made from the help texts.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::roff::{Roff, roman};

use super::Cli;
use super::out::print_all;
use crate::Result;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain man | man -l -
  acp-chain man ~/.local/share/man/man1")]
pub struct Man {
    /// Write one page for each command into this folder; by default, print the page of acp-chain itself
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Man {
    pub fn main(self) -> Result<()> {
        // Otherwise there would be another page for each command.
        let mut whole = Cli::command().disable_help_subcommand(true);
        whole.build();
        match &self.folder {
            Some(folder) => write(&whole, folder)?,
            None => print_all(&page(&whole)?),
        }
        Ok(())
    }
}

/// Writes the pages of all commands for people.
fn write(whole: &Command, folder: &Path) -> Result<()> {
    let commands = whole.get_subcommands();
    let shown = commands.filter(|command| !command.is_hide_set());
    for command in shown.chain([whole]) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let file = folder.join(format!("{name}.1"));
        let written = page(command).and_then(|page| {
            fs::create_dir_all(folder)?;
            fs::write(&file, page)
        });
        let shown = Untrusted::new(file.display());
        written.map_err(|error| wrong!("{shown} cannot be written: {error}"))?;
    }
    Ok(())
}

/// A page. Text after the options in the help becomes sections, each under its first line.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let page = clap_mangen::Man::new(command.clone());
    let name = command.get_display_name().unwrap_or(command.get_name());
    // The page has no date: `render_title` would put the text after it in its place.
    let version = env!("CARGO_PKG_VERSION");
    let mut text = Vec::new();
    writeln!(
        text,
        r#".TH "{name}" "1" "" "acp-chain {version}" "User Commands""#
    )?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    let more = command.get_after_help().map(ToString::to_string);
    let mut roff = Roff::new();
    for section in more.unwrap_or_default().split("\n\n") {
        let (heading, lines) = section.split_once('\n').unwrap_or((section, ""));
        let heading = heading.split([',', ':']).next().unwrap_or_default();
        roff.control("SH", [heading.to_uppercase().as_str()]);
        // Keeps the line breaks.
        roff.control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line.trim_start())]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut text)?;
    Ok(text)
}
