//! `acp-chain trust`: the user examines a project, and decides whether its proxies may run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::opened::Opened;
use super::{question, shell};
use crate::extension::consent::{Answer, Consent};
use crate::folders;
use crate::plan;
use crate::protected::Named;
use acp_chain_extension::{Digest, Installed};
use acp_chain_manifest::Manifest;
use acp_chain_project::{Content, Keep, Record, Records, Standing, TrustDecision, vouched};
use acp_chain_rpc::untrusted::Untrusted;

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
    pub fn main(self) -> Result<ExitCode, String> {
        folders::check_owners()?;
        let records = super::records()?;
        if self.list {
            return self.list(&records);
        }
        let root = self.root(&records)?;
        let shown = Untrusted::new(root.display()).to_string();
        if self.revoke {
            records.forget(&root).map_err(|error| error.to_string())?;
            say!("Your decision about {shown} is removed: its proxies do not run.");
            return Ok(ExitCode::SUCCESS);
        }
        if self.deny {
            let denied = Record::now(&root, TrustDecision::Denied);
            records.write(&denied).map_err(|error| error.to_string())?;
            say!(
                "The proxies of {shown} never run, and no session mentions them. `acp-chain trust` there asks again."
            );
            return Ok(ExitCode::SUCCESS);
        }
        self.ask(&records, &root)
    }

    /// The root of the project. `--revoke` also takes a project that no longer exists, rather than one that contains
    /// it.
    fn root(&self, records: &Records) -> Result<PathBuf, String> {
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        let root = super::root(folder);
        if self.revoke {
            let named = [folder.canonicalize(), std::path::absolute(folder)];
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
        root
    }

    fn list(&self, records: &Records) -> Result<ExitCode, String> {
        let all = records.all().map_err(|error| error.to_string())?;
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

    fn ask(&self, records: &Records, root: &Path) -> Result<ExitCode, String> {
        let user = crate::user().map_err(|error| error.to_string())?;
        let installed = crate::installed(&user)?;
        let content = Content::read(root, &installed.carried, Keep::Components);
        let content = content.map_err(|error| error.to_string())?;
        if self.statement {
            put!("{}", content.statement());
            return Ok(ExitCode::SUCCESS);
        }
        check_installed(&content, &installed)?;
        let own = Manifest::of_user(&user, &installed).map_err(|error| error.to_string())?;
        let beside = Named::default().and(&own);
        let opened = Opened::new(content, &user, &installed, &beside)?;
        let key = opened.content.key();
        let standing = records.standing(root, Some(&opened.content));
        let standing = standing.map_err(|error| error.to_string())?;
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
                load(&opened)?;
                return Ok(ExitCode::SUCCESS);
            }
            _ => question::all(&opened),
        };
        for line in question.lines {
            say!("{line}");
        }
        if let Some(signer) = signer {
            say!(
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
        load(&opened)?;
        let trusted = records.trust(&opened.content, agreed);
        trusted.map_err(|error| error.to_string())?;
        say!(
            "New sessions in {} have its proxies.",
            Untrusted::new(root.display())
        );
        Ok(ExitCode::SUCCESS)
    }

    /// Whether the user agrees, by `--digest` or when asked. A question that is cut is not asked.
    fn is_agreed(&self, root: &Path, key: Digest, is_cut: bool) -> Result<bool, String> {
        match self.digest {
            Some(agreed) if agreed == key => return Ok(true),
            Some(agreed) => {
                return Err(format!(
                    "`--digest {agreed}` was given, and the key is {key}: look at what is different, and give that \
                     one if you agree; nothing was changed"
                ));
            }
            None if is_cut => {
                let folder = shell::word(root);
                return Err(format!(
                    "part of this is too long to be shown here, so you are not asked; nothing was changed. \
                     `acp-chain trust --show --json {folder}` prints all of it; if you agree to that, say \
                     `acp-chain trust --digest {key} {folder}`"
                ));
            }
            None => {}
        }
        let question = "Let these proxies see and do that, in every session in this project?";
        match Consent::default().ask(question, &key, true)? {
            Answer::Yes => Ok(true),
            Answer::No => Ok(false),
            Answer::Unasked => Err(format!(
                "there is no terminal to ask on; nothing was changed. If you agree to all of this, say \
                 `acp-chain trust --digest {key} {}`",
                shell::word(root)
            )),
        }
    }
}

/// Whether the user agreed to these files, and to the proxies and permissions that they result in now.
fn is_same(standing: &Standing, agreed: &[acp_chain_project::Agreed]) -> bool {
    matches!(standing, Standing::Trusted(record) if record.lets(agreed))
}

/// Fails if a locked extension is missing. Nothing is downloaded for an untrusted project.
pub fn check_installed(content: &Content, installed: &Installed) -> Result<(), String> {
    let is_missing = |locked: &&acp_chain_extension::Locked| {
        let digest = &locked.agreed.digest;
        let store = installed.store.as_ref();
        installed.carried.of_digest(digest).is_none()
            && store.and_then(|store| store.find(digest)).is_none()
    };
    let missing = content.lock().extensions().filter(is_missing);
    let missing: Vec<_> = missing.map(|locked| format!("`{}`", locked.name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} locked, and not installed here; `acp-chain install --manifest {}` fetches what is locked, and runs \
         nothing",
        match missing.len() {
            1 => format!("{} is", missing[0]),
            _ => format!("{} are", missing.join(", ")),
        },
        shell::word(&content.root().join(acp_chain_project::MANIFEST))
    ))
}

/// Compiles all components of a project, so that no session has to. Fails if one cannot run.
fn load(opened: &Opened) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    let compiled = runtime.block_on(plan::load(&opened.manifest, &opened.directories))?;
    for (entry, compiled) in opened.manifest.proxies.iter().zip(compiled) {
        if let Some(Err(error)) = compiled {
            return Err(opened.manifest.about(entry, &error));
        }
    }
    Ok(())
}
