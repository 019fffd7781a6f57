//! Agents that an editor could get: those that are installed by name, and those in `PATH`, which get a name first. If
//! an editor has no agent that the chain can be put in front of, one of them is added.

use std::path::Path;

use acp_chain_agents::Known;
use acp_chain_app::agent::{self, Candidate};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::masked;
use acp_chain_setup::{Editor, Error, Folders, Launch, Plan, Runs, Wanted, agents, plan, typed};

use super::{Setup, shown};
use crate::Result;
use crate::agent::name_command;
use crate::extension::consent::pick;

/// The command that gets an agent where there is none.
const GET: &str = "acp-chain agent add gemini";

/// Whether a user may mean this agent: by its name, or by that of its program in `PATH`.
fn is_called(candidate: &Candidate, name: &str) -> bool {
    let is_program = |known: &Known| known.program == name;
    candidate.name == name || candidate.in_path.is_some_and(is_program)
}

/// The agents that an editor could get.
pub struct Offer<'s> {
    editor: &'s Editor,
    setup: &'s Setup,
    candidates: Vec<Candidate>,
}

impl<'s> Offer<'s> {
    pub fn new(editor: &'s Editor, setup: &'s Setup) -> Self {
        let mut candidates = agent::candidates();
        // In code, a name is that of a program.
        candidates.retain(|candidate| !editor.is_code() || candidate.in_path.is_none());
        Self {
            editor,
            setup,
            candidates,
        }
    }

    /// The command lines to type, for an editor without a configuration of agents.
    pub fn lines(&self, launch: &Launch) -> Option<Vec<String>> {
        let named = &self.setup.agents;
        let is_wanted = |candidate: &&Candidate| {
            named.is_empty() || named.iter().any(|name| is_called(candidate, name))
        };
        let wanted: Vec<_> = self.candidates.iter().filter(is_wanted).collect();
        let in_path = wanted.iter().filter_map(|candidate| candidate.in_path);
        let commands: Vec<_> = in_path.map(Known::line).collect();
        let installed = wanted
            .iter()
            .filter(|candidate| candidate.in_path.is_none());
        let installed: Vec<_> = installed.map(|candidate| candidate.name.clone()).collect();
        let choice = Wanted {
            file: None,
            agents: installed.clone(),
            installed,
        };
        typed(self.editor, &choice, &commands, launch)
    }

    /// An error if there is no agent, with the command that gets one, or none of a name that is wanted.
    pub fn check(&self) -> Result<()> {
        if self.candidates.is_empty() {
            return Err(wrong!(
                "no agent was found, neither in your PATH nor installed by name: `{GET}` installs one"
            ));
        }
        let mut named = self.setup.agents.iter();
        let is_unknown = |name: &&String| {
            let mut all = self.candidates.iter();
            !all.any(|candidate| is_called(candidate, name))
        };
        if let Some(unknown) = named.find(is_unknown) {
            let there = self.candidates.iter().map(|candidate| &*candidate.name);
            return Err(wrong!(
                "no agent `{}` was found, neither in your PATH nor installed by name; there are `{}`",
                quote(unknown, MAX_QUOTE),
                there.collect::<Vec<_>>().join("`, `")
            ));
        }
        Ok(())
    }

    /// Warns of agents whose programs are not here. That is no error: an editor may have another `PATH`, or another
    /// current folder.
    pub fn warn_of_missing(&self, path: &Path) {
        let missing = self.missing(path);
        if missing.is_empty() {
            return;
        }
        let title = self.editor.title;
        for (name, program) in missing {
            say!(
                "! `{}` launches `{}`, which was not found here: correct it, unless {title} has another `PATH`.",
                quote(&name, MAX_QUOTE),
                quote(&masked(&program), MAX_QUOTE)
            );
        }
        // In code, `setup` adds none.
        if self.editor.is_code() {
            return;
        }
        let here: Vec<_> = self.candidates.iter().map(described).collect();
        if here.is_empty() {
            say!("No agent was found here: `{GET}` installs one.");
        } else {
            say!("Agents that are here: {}.", here.join(", "));
        }
    }

    /// The agents that the editor would launch, and their programs, which are not here.
    fn missing(&self, path: &Path) -> Vec<(String, String)> {
        let named = &self.setup.agents;
        let mut missing: Vec<_> = if self.editor.is_code() {
            let programs = named.iter();
            programs.map(|name| (name.clone(), name.clone())).collect()
        } else {
            // What cannot be read is an error of the plan.
            let (there, _) = agents(self.editor, path).unwrap_or_default();
            let chosen = there.into_iter().filter(|agent| {
                let is_chosen = named.is_empty() || named.contains(&agent.name);
                is_chosen && matches!(agent.runs, Runs::Other(_))
            });
            let programs =
                chosen.filter_map(|agent| Some((agent.name, agent.words.into_iter().next()?)));
            programs.collect()
        };
        // The editor alone knows where a relative path begins.
        let is_relative = |program: &str| {
            let path = Path::new(program);
            path.is_relative() && path.iter().count() > 1 && !program.starts_with("~/")
        };
        missing.retain(|(_, program)| !is_relative(program) && !agent::is_there(program));
        missing
    }

    /// Plans the change, with one of the agents if the editor has none that the chain can be put in front of.
    pub fn plan(&self, places: &Folders, launch: &Launch) -> Result<Plan> {
        let named = &self.setup.agents;
        let planned = match self.planned(named, places, launch) {
            Ok(planned) => planned,
            Err(error) => {
                let fits = |candidate: &&Candidate| {
                    let name = std::slice::from_ref(&candidate.name);
                    self.planned(name, places, launch).is_ok()
                };
                let fit: Vec<_> = self.candidates.iter().filter(fits).collect();
                let is_open = named.is_empty() && has_none(&error);
                let Some(name) = is_open.then(|| self.chosen(&error, &fit)).flatten() else {
                    return Err(self.with_next(error, &fit));
                };
                self.planned(&[name], places, launch).map_err(shown)?
            }
        };
        let is_installed = |name: &&String| self.in_path(name).is_none();
        for name in planned.added.iter().filter(is_installed) {
            agent::installed(name)?;
        }
        Ok(planned)
    }

    /// Gives a name to each added agent that is only in `PATH`.
    pub fn install(&self, added: &[String]) -> Result<()> {
        for candidate in added.iter().filter_map(|name| self.in_path(name)) {
            let words = candidate.in_path.map(Known::words);
            let record = name_command(&candidate.name, &words.unwrap_or_default())?;
            say!(
                "`{name}` is the name of {} now: `acp-chain agent remove {name}` forgets it.",
                quote(
                    &record.words().cloned().collect::<Vec<_>>().join(" "),
                    MAX_QUOTE
                ),
                name = candidate.name
            );
        }
        Ok(())
    }

    /// What adds an agent again, behind the chain, that stays as it is; empty if nothing does, or the plan does.
    pub fn beside(&self, name: &str, planned: &Plan) -> String {
        let is_here = self
            .candidates
            .iter()
            .any(|candidate| candidate.name == name);
        let is_planned = planned.added.iter().any(|added| added == name);
        if !is_here || is_planned || self.editor.is_code() {
            return String::new();
        }
        let (editor, options) = (self.editor.name, self.setup.options());
        format!(" `acp-chain setup {editor} --agent {name}{options}` adds it behind the chain.")
    }

    fn planned(&self, names: &[String], places: &Folders, launch: &Launch) -> Result<Plan, Error> {
        let there = self.candidates.iter().filter(|candidate| {
            // One in `PATH` gets its name only if it is chosen.
            candidate.in_path.is_none() || names.contains(&candidate.name)
        });
        let wanted = Wanted {
            file: self.setup.file.clone(),
            agents: names.to_vec(),
            installed: there.map(|candidate| candidate.name.clone()).collect(),
        };
        plan(self.editor, places, &wanted, launch)
    }

    /// The candidate of this name, if it is only in `PATH`.
    fn in_path(&self, name: &str) -> Option<&Candidate> {
        let mut all = self.candidates.iter();
        all.find(|candidate| candidate.name == name && candidate.in_path.is_some())
    }

    /// The only candidate that fits, or the one that the user chooses.
    fn chosen(&self, error: &Error, fit: &[&Candidate]) -> Option<String> {
        if let [only] = fit {
            let why = match error {
                Error::NotFound { title, .. } => format!("{title} has no configuration yet"),
                other => Untrusted::new(other).to_string(),
            };
            say!("{why}; {} is added.", described(only));
            return Some(only.name.clone());
        }
        if self.setup.yes || self.setup.print || fit.is_empty() {
            return None;
        }
        let title = self.editor.title;
        let choices: Vec<_> = fit.iter().map(|candidate| described(candidate)).collect();
        let question =
            format!("{title} has no agent that the chain can be put in front of. To be added:");
        pick(&question, &choices).map(|at| fit[at].name.clone())
    }

    /// An error, with the next command if there is one: with those that fit, or that gets an agent.
    fn with_next(&self, error: Error, fit: &[&Candidate]) -> crate::Error {
        let is_unknown = matches!(error, Error::UnknownAgent { .. });
        let is_missing = has_none(&error) || is_unknown;
        let told = shown(error);
        if !is_missing || self.editor.is_code() {
            return told.into();
        }
        let (editor, options) = (self.editor.name, self.setup.options());
        if self.candidates.is_empty() {
            // An unknown name is told with those that are installed already.
            let installed = if is_unknown {
                " either"
            } else {
                ", and none is installed by name"
            };
            return wrong!(
                "{told}; no agent was found in your PATH{installed}: `{GET}` installs one, which \
                 `acp-chain setup {editor}{options}` then adds"
            );
        }
        let commands = fit.iter().map(|candidate| {
            let (name, what) = (&candidate.name, described(candidate));
            format!("\n  acp-chain setup {editor} --agent {name}{options}    # {what}")
        });
        match &*commands.collect::<String>() {
            "" => told.into(),
            commands => wrong!("{told}. To add one that is here:{commands}"),
        }
    }
}

/// Whether the editor has no agent that the chain can be put in front of.
fn has_none(error: &Error) -> bool {
    matches!(
        error,
        Error::NoAgents { .. } | Error::NotFound { .. } | Error::Unfit { .. }
    )
}

/// A candidate, and where it is.
fn described(candidate: &Candidate) -> String {
    match candidate.in_path {
        Some(known) => format!("`{}` of your PATH", known.line()),
        None => format!("the installed `{}`", candidate.name),
    }
}
