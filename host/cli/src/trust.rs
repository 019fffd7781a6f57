//! `acp-chain trust`: the user examines a project, and decides whether its proxies may run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::extension::consent::ask;
use super::progress::TERMINAL;
use crate::Result;
use acp_chain::host::ProxyPlan;
use acp_chain_app::project::{self, OpenProject, check_installed};
use acp_chain_app::protected::NamedFiles;
use acp_chain_app::{home, plan, runtime, shell};
use acp_chain_extension::Digest;
use acp_chain_manifest::Manifest;
use acp_chain_project::{Content, Keep, Record, Records, Standing, TrustDecision, vouched};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files::real;
use acp_chain_terms::question;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain trust
  acp-chain trust --show --json
  acp-chain trust ./project --revoke

Exit codes:
  0  what you asked for is done
  1  it is not, because you said no or because of an error
  2  the command line is wrong")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the flags that users know"
)]
pub struct Trust {
    /// A folder in the project; by default, the current one
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Never run its proxies, and never ask
    #[arg(long, group = "what")]
    deny: bool,
    /// Forget your decision about it
    #[arg(long, group = "what")]
    revoke: bool,
    /// List your decisions about projects
    #[arg(long, groups = ["what", "shown"], conflicts_with = "folder")]
    list: bool,
    /// Print the question and its key, and change nothing
    #[arg(long, groups = ["what", "shown"])]
    show: bool,
    /// Print the text to sign, which stands for the project's content
    #[arg(long, group = "what")]
    statement: bool,
    /// Do not ask if this is the project's current key: you agree to all of it
    #[arg(long, group = "what", value_name = "KEY")]
    digest: Option<Digest>,
    /// With `--list` or `--show`: print JSON
    #[arg(long, requires = "shown")]
    json: bool,
}

impl Trust {
    pub fn main(self) -> Result<ExitCode> {
        home::check_owners()?;
        let records = home::records()?;
        if self.list {
            return self.list(&records);
        }
        if !self.show && !self.statement {
            home::check_writable(records.folder())?;
        }
        let root = self.root(&records)?;
        let shown = Untrusted::new(root.display()).to_string();
        if self.revoke {
            if matches!(records.read(&root), Ok(None)) {
                say!("There is no decision about {shown}.");
                return Ok(ExitCode::SUCCESS);
            }
            records.forget(&root)?;
            say!("Your decision about {shown} is removed: its proxies do not run.");
            return Ok(ExitCode::SUCCESS);
        }
        if self.deny {
            let denied = Record::now(&root, TrustDecision::Denied);
            records.write(&denied)?;
            say!(
                "The proxies of {shown} never run, and no session mentions them. `acp-chain trust` there asks again."
            );
            return Ok(ExitCode::SUCCESS);
        }
        self.ask(&records, &root)
    }

    /// The root of the project. `--revoke` also takes a project that no longer exists, rather than one that contains
    /// it.
    fn root(&self, records: &Records) -> Result<PathBuf> {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        let root = project::root(folder);
        if self.revoke {
            let named = [real(folder), std::path::absolute(folder)];
            let is_inside = |folder: &&Path| match &root {
                Ok(root) => folder.starts_with(root),
                Err(_) => true,
            };
            let is_known = |folder: &&Path| matches!(records.read(folder), Ok(Some(_)));
            for folder in named.iter().flatten() {
                if let Some(known) = folder.ancestors().take_while(is_inside).find(is_known) {
                    return Ok(known.to_owned());
                }
            }
        }
        Ok(root?)
    }

    fn list(&self, records: &Records) -> Result<ExitCode> {
        let all = records.all()?;
        if self.json {
            let all = all.iter().map(|record| {
                let root = Path::new(&record.root).display().to_string();
                json!({ "root": root, "since": record.since, "verdict": record.verdict })
            });
            say!("{:#}", json!({ "projects": all.collect::<Vec<_>>() }));
            return Ok(ExitCode::SUCCESS);
        }
        for record in &all {
            let verdict = match &record.verdict {
                TrustDecision::Trusted { .. } => "trusted",
                TrustDecision::Denied => "denied",
            };
            let root = Untrusted::new(Path::new(&record.root).display());
            say!(
                "{root}\n  {verdict} since {}",
                Untrusted::new(&record.since)
            );
        }
        if all.is_empty() {
            say!("There are no decisions about projects.");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn ask(&self, records: &Records, root: &Path) -> Result<ExitCode> {
        let (user, installed) = home::settings()?;
        let content = Content::read(root, &installed.carried, Keep::Components)?;
        if self.statement {
            put!("{}", content.statement());
            return Ok(ExitCode::SUCCESS);
        }
        check_installed(&content, &installed)?;
        let own = Manifest::of_user(&user, &installed)?;
        let beside = NamedFiles::default().and(&own);
        let opened = OpenProject::new(content, &user, &installed, &beside)?;
        let key = opened.content.key();
        let standing = records.standing(root, Some(&opened.content))?;
        let agreed = opened.agreed();
        let signer = match &standing {
            Standing::Unknown | Standing::Changed(_) => {
                vouched(&opened.content, &agreed, &user.signers)
            }
            Standing::Trusted(_) | Standing::Denied(_) => None,
        };
        if self.show && self.json {
            let root = root.display().to_string();
            let facts = json!({ "root": root, "key": key, "trusted": is_same(&standing, &agreed), "proxies": agreed });
            say!("{facts:#}");
            return Ok(ExitCode::SUCCESS);
        }
        say!("The project {}", Untrusted::new(root.display()));
        let question = match &standing {
            Standing::Trusted(record) | Standing::Changed(record)
                if !is_same(&standing, &agreed) =>
            {
                question::difference(&opened, record.agreed().unwrap_or_default())
            }
            Standing::Trusted(record) if !self.show => {
                say!(
                    "is trusted since {}, as it is now.",
                    Untrusted::new(&record.since)
                );
                load(&opened.manifest, opened.proxies)?;
                return Ok(ExitCode::SUCCESS);
            }
            _ => question::all(&opened),
        };
        for line in question.lines {
            show!("{line}");
        }
        if let Some(signer) = signer {
            show!(
                "\nIt is trusted as it is, for it is signed by {signer}, whom your config.toml trusts"
            );
        }
        say!("\nThe key of all this is {key}");
        if self.show {
            if question.is_cut {
                say!("Part of this is too long to be shown here; `--json` prints all of it.");
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !self.is_agreed(root, key, question.is_cut)? {
            say!("Nothing was changed.");
            return Ok(ExitCode::FAILURE);
        }
        // A project that cannot run is not trusted. The sandbox loads exactly the content that was shown.
        load(&opened.manifest, opened.proxies)?;
        records.trust(&opened.content, agreed)?;
        say!(
            "New sessions in {} have its proxies.",
            Untrusted::new(root.display())
        );
        Ok(ExitCode::SUCCESS)
    }

    /// Whether the user agrees, by `--digest` or when asked. A question that is cut is not asked.
    fn is_agreed(&self, root: &Path, key: Digest, is_cut: bool) -> Result<bool> {
        match self.digest {
            Some(agreed) if agreed == key => Ok(true),
            Some(agreed) => Err(wrong!(
                "`--digest {agreed}` was given, and the key is {key}: look at what is different, and give that \
                 one if you agree; nothing was changed"
            )),
            None if is_cut => {
                let folder = shell::word(root);
                Err(wrong!(
                    "part of this is too long to be shown here, so you are not asked; nothing was changed. \
                     `acp-chain trust --show --json {folder}` prints all of it; if you agree to that, say \
                     `acp-chain trust --digest {key} {folder}`"
                ))
            }
            None => ask(
                "Let these proxies see and do that, in every session in this project?",
                Err(wrong!(
                    "there is no terminal to ask on; nothing was changed. If you agree to all of this, say \
                     `acp-chain trust --digest {key} {}`",
                    shell::word(root)
                )),
            ),
        }
    }
}

/// Whether the user agreed to these files, and to the proxies and permissions that they result in now.
fn is_same(standing: &Standing, agreed: &[acp_chain_project::Agreed]) -> bool {
    matches!(standing, Standing::Trusted(record) if record.lets(agreed))
}

/// Compiles all components of a project, so that no session has to. Fails if one cannot run.
fn load(manifest: &Manifest, proxies: Vec<ProxyPlan>) -> Result<()> {
    let runtime = runtime()?;
    let loaded = runtime.block_on(plan::load(None, proxies, &TERMINAL))?;
    for proxy in loaded {
        if let Some(Err(error)) = proxy.component {
            return Err(manifest.about(&proxy.plan.entry, &error).into());
        }
    }
    Ok(())
}
