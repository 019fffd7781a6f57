//! Shows the user an extension and what it asks for, and asks whether the user agrees.

use std::io::{BufRead, IsTerminal, stdin};

use super::about::{self, Reasons};
use super::candidate::{Candidate, shown};
use crate::{Result, out};
use acp_chain_extension::Digest;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_terms::about::signed;

/// Options with which the user agrees in advance.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Consent {
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Do not ask if the component has this digest: you agree to the powers that it asks for
    #[arg(long, value_name = "DIGEST", conflicts_with = "yes")]
    pub accept_powers: Option<Digest>,
}

impl Consent {
    /// Whether the user agrees to what was just shown; `unasked` without a terminal to ask on. `is_more` means that
    /// `--yes` is not enough.
    pub fn ask(
        self,
        question: &str,
        digest: &Digest,
        is_more: bool,
        unasked: Result<bool>,
    ) -> Result<bool> {
        match self.accept_powers {
            Some(accepted) if accepted == *digest => Ok(true),
            Some(accepted) => Err(wrong!(
                "`--accept-powers {accepted}` was given, and this is {digest}: look at what it asks for, \
                 and give that digest if you agree; nothing was changed"
            )),
            None if self.yes && !is_more => Ok(true),
            None => ask(question, unasked),
        }
    }
}

/// Whether the user agrees, by `--yes` or when asked. A no is confirmed.
pub fn agrees(yes: bool, question: &str) -> Result<bool> {
    let unasked = "there is no terminal to ask on; nothing was changed. If you agree, pass `--yes`";
    let is_agreed = yes || ask(question, Err(unasked.into()))?;
    if !is_agreed {
        say!("Nothing was changed.");
    }
    Ok(is_agreed)
}

/// Whether the user agrees when asked on the terminal; `unasked` if there is none, or if what is asked about, on standard
/// output, goes elsewhere: the user may see a part of it, or nothing.
pub fn ask(question: &str, unasked: Result<bool>) -> Result<bool> {
    if !stdin().is_terminal() || !out::is_terminal() || !out::has_error_terminal() {
        return unasked;
    }
    out::write(format_args!("{question} [y/N] "));
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    let said = line.trim().to_lowercase();
    Ok(read.is_ok() && matches!(&*said, "y" | "yes"))
}

/// Lets the user choose one of several on the terminal, by number; `None` without a terminal, or a choice. `question`
/// is the beginning of it.
pub fn pick(question: &str, choices: &[String]) -> Option<usize> {
    if !stdin().is_terminal() || !out::has_error_terminal() {
        return None;
    }
    out::write(format_args!("{question}\n"));
    for (choice, number) in choices.iter().zip(1..) {
        out::write(format_args!("  {number}. {choice}\n"));
    }
    loop {
        out::write(format_args!("The number of your choice, or nothing: "));
        let mut line = String::new();
        stdin().lock().read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            return None;
        }
        let number: Option<usize> = line.trim().parse().ok();
        let at = number.and_then(|number| number.checked_sub(1));
        if let Some(at) = at.filter(|at| *at < choices.len()) {
            return Some(at);
        }
    }
}

/// Prints an extension's description, its source, and what it asks for.
pub fn show(candidate: &Candidate) {
    let release = &candidate.release;
    let (digest, size) = (release.digest, release.size);
    about::print(&candidate.package, digest, size, Reasons::Folded);
    show!("It comes from {}", shown(&release.source));
    show!("It is {}", signed(release));
    if let Some(why) = &candidate.unread {
        show!("! its signatures cannot be read: {}", quote(why, MAX_QUOTE));
    }
    show!("It imports {}", about::imports(&release.imports));
}
