//! `acp-chain new`: creates a project for an extension.

use crate::Result;
use acp_chain_author::{LANGUAGES, Language, TEMPLATES};
use clap::builder::{PossibleValue, PossibleValuesParser};

use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain new shout --lang rust
  acp-chain new word-count --lang python --template tools")]
pub struct New {
    /// The name of the project, and of its folder, which is created here
    name: String,
    /// The language
    #[arg(long, value_parser = languages())]
    lang: String,
    /// The starting point: it changes prompts, answers permission requests, says something at the end of a
    /// turn, or gives the agent a tool
    #[arg(long, default_value = TEMPLATES[0], value_parser = PossibleValuesParser::new(TEMPLATES))]
    template: String,
}

fn languages() -> PossibleValuesParser {
    let languages = LANGUAGES.iter();
    PossibleValuesParser::new(
        languages.map(|language| PossibleValue::new(language.name).aliases(language.aliases)),
    )
}

impl New {
    pub fn main(self) -> Result<()> {
        let Self {
            name,
            lang,
            template,
        } = self;
        let language = Language::named(&lang).ok_or("there is no such language")?;
        let here = acp_chain_app::here()?;
        let folder = here.join(&name);
        let begun = acp_chain_author::new(language, &template, &name, &folder);
        begun.map_err(|error| Untrusted::new(error).to_string())?;
        say!("{}", Untrusted::new(folder.display()));
        say!("  a proxy in {}, as its README.md says", language.title);
        say!("Next:");
        say!("  cd {name}");
        say!("  acp-chain build --install");
        say!(
            "  acp-chain dev                      # shows what it does, and builds whenever you save"
        );
        say!("  acp-chain try --manifest chain.toml -- AGENT ARGS…");
        Ok(())
    }
}
