//! The editors found, and what each launches.

use std::path::{Path, PathBuf};

use acp_chain_setup::{Agent, EDITORS, Editor, Folders, Runs, agents};

use super::finding::Finding;
use super::{Doctor, Findings, all};
use acp_chain_app::agent::AgentChoice;
use acp_chain_app::shell;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::masked;

pub fn look(doctor: &Doctor) -> Vec<Finding> {
    let Some(places) = Folders::of_user() else {
        return vec![Finding::note(
            "there is no home folder to look for configurations of editors in",
        )];
    };
    let mut findings = Vec::new();
    for editor in &EDITORS {
        let found = editor.found(&places);
        for path in &editor.everywhere(&places) {
            let setup = setup_command(editor, path, &found);
            findings.extend(all(configuration(doctor, editor, path, &setup)));
        }
        findings.extend(editor.program().map(|program| {
            let program = Untrusted::new(program.display());
            Finding::note(format!(
                "{} ({program}) takes the agent to launch on its command line",
                editor.title
            ))
            .run(format!("acp-chain setup {}", editor.name))
        }));
    }
    if findings.is_empty() {
        let names: Vec<_> = EDITORS.iter().map(|editor| editor.title).collect();
        findings.push(Finding::note(format!(
            "no configuration of an editor was found; these are known: {}",
            names.join(", ")
        )));
    }
    findings
}

/// One configuration, and the command that changes it.
fn configuration(doctor: &Doctor, editor: &Editor, path: &Path, setup: &str) -> Findings {
    let at = format!("{}, {}", editor.title, Untrusted::new(path.display()));
    let (found, is_chained) = agents(editor, path).map_err(|error| {
        Finding::problem(format!("{}: {error}", editor.title))
            .step("fix the file; its editor may not read it either")
    })?;
    if editor.is_code() {
        return Ok(vec![if is_chained {
            Finding::fine(format!("{at}: launches acp-chain"))
        } else {
            Finding::note(format!("{at}: does not launch acp-chain")).run(setup)
        }]);
    }
    if found.is_empty() {
        return Ok(vec![Finding::note(format!("{at}: has no agents"))]);
    }
    let findings = found
        .iter()
        .map(|agent| one(doctor, &at, path, setup, agent));
    Ok(findings.collect())
}

fn one(doctor: &Doctor, at: &str, path: &Path, setup: &str, agent: &Agent) -> Finding {
    let name = quote(&agent.name, MAX_QUOTE);
    let only = format!("{setup} --agent {}", shell::word(Path::new(&agent.name)));
    match &agent.runs {
        Runs::Chain | Runs::ByHand => {
            let Some(program) = missing_program(agent) else {
                return behind(doctor, at, &name, agent);
            };
            let finding = Finding::problem(format!(
                "{at}: `{name}` launches {}, which does not exist",
                Untrusted::new(program.display())
            ));
            match agent.runs {
                Runs::Chain => finding.run(only + &with(agent)),
                // `acp-chain setup` leaves it alone.
                _ => finding.step(format!(
                    "correct the path of acp-chain in {}",
                    path.display()
                )),
            }
        }
        Runs::Other(command) => Finding::note(format!(
            "{at}: `{name}` launches {}, without acp-chain",
            quote(command, MAX_QUOTE)
        ))
        .run(only),
        Runs::Unfit(why) => Finding::note(format!("{at}: `{name}` {why}")),
    }
}

/// The extensions of an entry that `acp-chain setup` wrote, for its command line: without them, they would be removed.
fn with(agent: &Agent) -> String {
    let names = extensions(agent).into_iter();
    let options = names.map(|name| format!(" --with {}", shell::word(Path::new(name))));
    options.collect()
}

/// The extensions of an entry that `acp-chain setup` wrote.
pub fn extensions(agent: &Agent) -> Vec<&String> {
    let words = agent.words.get(2..).unwrap_or_default();
    let pairs = words.chunks(2).map_while(|pair| match pair {
        [option, value] if option != "--" && option.starts_with("--") => Some((option, value)),
        _ => None,
    });
    let names = pairs.filter(|(option, _)| *option == "--with");
    names.map(|(_, name)| name).collect()
}

/// The agent behind acp-chain.
fn behind(doctor: &Doctor, at: &str, name: &str, agent: &Agent) -> Finding {
    let options = (doctor.options)(agent);
    if let Some(why) = options.as_ref().and_then(|options| options.check().err()) {
        return Finding::problem(format!(
            "{at}: the chain of `{name}` would not start: {why}"
        ))
        .step("change that entry, or the file that the message names");
    }
    let choice = options.as_ref().map(|options| &options.agent);
    let data = choice.and_then(|choice| choice.data.as_deref());
    let option = data.map_or(String::new(), |data| {
        format!(" --data {}", shell::word(data))
    });
    match choice.and_then(AgentChoice::unknown) {
        Some(missing) => Finding::problem(format!(
            "{at}: `{name}` launches the agent `{}`, which is not installed",
            quote(missing, MAX_QUOTE)
        ))
        .run(format!(
            "acp-chain agent add {}{option}",
            shell::word(Path::new(missing))
        )),
        None => Finding::fine(format!("{at}: `{name}` launches {}", launched(agent))),
    }
}

/// What an entry behind the chain launches, without the options for files that `acp-chain setup` adds.
pub fn launched(agent: &Agent) -> String {
    let at = agent.words.iter().position(|word| word == "--");
    let (ours, of_agent) = agent.words.split_at(at.unwrap_or(agent.words.len()));
    let mut words = vec!["acp-chain"];
    let mut rest = ours.iter().skip(1);
    while let Some(word) = rest.next() {
        if matches!(&**word, "--settings" | "--data") {
            rest.next();
        } else {
            words.push(word);
        }
    }
    words.extend(of_agent.iter().map(String::as_str));
    quote(&masked(&words.join(" ")), MAX_QUOTE)
}

/// The acp-chain that an agent of an editor launches, if that does not exist.
pub fn missing_program(agent: &Agent) -> Option<&Path> {
    let program = agent.words.first().map(Path::new)?;
    (agent.is_chained() && program.is_absolute() && !program.is_file()).then_some(program)
}

/// The command that changes one of the configurations found.
pub fn setup_command(editor: &Editor, path: &Path, found: &[PathBuf]) -> String {
    let setup = format!("acp-chain setup {}", editor.name);
    match found {
        [only] if only == path => setup,
        _ => format!("{setup} --file {}", shell::word(path)),
    }
}
