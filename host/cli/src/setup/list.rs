//! The editors found, and what each launches.

use std::path::Path;

use acp_chain_doctor::{launched, missing_program, setup_command};
use acp_chain_interactive::fitted;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::masked;
use acp_chain_setup::{EDITORS, Editor, Folders, Runs, agents};

/// Prints the editors found, and what each launches.
pub fn print(places: &Folders) {
    let mut is_any = false;
    for editor in &EDITORS {
        let found = editor.found(places);
        for path in &editor.everywhere(places) {
            is_any = true;
            say!("{}: {}", editor.title, Untrusted::new(path.display()));
            one(editor, path, &setup_command(editor, path, &found));
        }
        if let Some(program) = editor.program() {
            is_any = true;
            say!("{}: {}", editor.title, Untrusted::new(program.display()));
            say!(
                "  takes the agent to launch on its command line: `acp-chain setup {}`",
                editor.name
            );
        }
    }
    if !is_any {
        let names: Vec<_> = EDITORS.iter().map(|editor| editor.title).collect();
        let known = names.join(", ");
        let none = format!("No configuration of an editor was found; these are known: {known}.");
        say!("{}", fitted(&none, 0));
        let elsewhere = "`acp-chain setup EDITOR --file FILE` takes one that is elsewhere.";
        say!("{}", fitted(elsewhere, 0));
    }
}

/// What one configuration launches, and the command that changes it.
fn one(editor: &Editor, path: &Path, setup: &str) {
    let (found, is_chained) = match agents(editor, path) {
        Ok(found) => found,
        Err(error) => {
            show!("  {}", Untrusted::new(error));
            return;
        }
    };
    for agent in &found {
        let name = quote(&agent.name, MAX_QUOTE);
        if let Some(program) = missing_program(agent) {
            show!(
                "  ! `{name}` launches {}, which does not exist: `acp-chain doctor` has the command that corrects it",
                Untrusted::new(program.display())
            );
            continue;
        }
        match &agent.runs {
            Runs::Chain | Runs::ByHand => show!("  `{name}` launches {}", launched(agent)),
            Runs::Other(command) => {
                show!("  `{name}` launches {}", quote(&masked(command), MAX_QUOTE));
            }
            Runs::Unfit(why) => show!("  `{name}` {why}"),
        }
    }
    let is_open = found
        .iter()
        .any(|agent| matches!(agent.runs, Runs::Other(_)));
    let by_code = found.is_empty() && editor.is_code();
    match (is_open || by_code && !is_chained, by_code && is_chained) {
        (true, _) => show!("  `{setup}` puts acp-chain in front"),
        (_, true) => show!("  launches acp-chain"),
        _ if found.is_empty() => show!("  has no agents"),
        _ => {}
    }
}
