//! `acp-chain agent add`: installs an agent from a registry, or records the user's own command.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Result;
use acp_chain_agents::{Error, Install, Kind, Record, Store, correction, own};
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};

use super::place::{self, Fetcher, RegistryArgs, command, shown};
use crate::extension::consent::agrees;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
pub struct Add {
    /// Its name in the registry, or, with a command, your name for it
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    #[command(flatten)]
    from: RegistryArgs,
    /// The kind of installation, if there are several
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(["binary", "npx", "uvx"]).map(kind))]
    kind: Option<Kind>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Your own command, and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["registry", "kind"])]
    words: Vec<OsString>,
}

/// Gives a command a name. Returns its record.
pub fn name_command(name: &str, words: &[OsString]) -> Result<Record> {
    let store = place::store_to_change()?;
    let changing = store.change().map_err(shown)?;
    check_free(&store, name)?;
    let record = own(name, words).map_err(shown)?;
    changing.put(&record, None).map_err(shown)?;
    Ok(record)
}

/// An error if an agent has this name.
fn check_free(store: &Store, name: &str) -> Result<()> {
    let Some(there) = store.taken(name).map_err(shown)? else {
        return Ok(());
    };
    let kind = store.find(&there).map_err(shown)?.kind;
    Err(shown(Error::Taken { name: there, kind }).into())
}

fn kind(text: String) -> Kind {
    match &*text {
        "binary" => Kind::Binary,
        "npx" => Kind::Npx,
        _ => Kind::Uvx,
    }
}

impl Add {
    pub fn main(self) -> Result<ExitCode> {
        if !self.words.is_empty() {
            let record = name_command(&self.name, &self.words)?;
            say!("`{}` launches {}.", self.name, command(&record));
            let (program, args) = (&self.words[0], &self.words[1..]);
            if let Some(correction) = correction(program, args) {
                let name = &self.name;
                say!(
                    "! {}: `acp-chain agent remove {name}`, and add that.",
                    Untrusted::new(correction)
                );
            }
            self.say_next();
            return Ok(ExitCode::SUCCESS);
        }
        let store = place::store_to_change()?;
        let changing = store.change().map_err(shown)?;
        // Obstacles are reported before anything is fetched.
        check_free(&store, &self.name)?;
        let fetcher = Fetcher::new()?;
        let registry = self.from.read(&fetcher, None).map_err(|error| {
            let name = &self.name;
            wrong!(
                "{error}. Without a registry, `acp-chain agent add {name} -- COMMAND` gives a command of yours that name"
            )
        })?;
        let entry = registry.named(&self.name).map_err(shown)?;
        let offer = registry.offer(&entry, self.kind).map_err(shown)?;
        let install = Install {
            changing: &changing,
            registry: &registry,
            entry: &entry,
            offer,
            before: None,
            web: &fetcher,
        };
        let Some(staged) = install.stage().map_err(shown)? else {
            let (name, kind) = (self.name, install.offer.kind());
            return Err(shown(Error::Taken { name, kind }).into());
        };
        place::show(&entry, &staged);
        if !agrees(self.yes, &format!("Install it as `{}`?", self.name))? {
            return Ok(ExitCode::FAILURE);
        }
        staged.put(&changing).map_err(shown)?;
        say!("`{}` is installed.", self.name);
        self.say_next();
        Ok(ExitCode::SUCCESS)
    }

    fn say_next(&self) {
        let name = &self.name;
        say!("Take a turn with it behind your chain:  acp-chain try {name}");
        say!("Let an editor launch it:                acp-chain setup EDITOR --agent {name}");
    }
}
