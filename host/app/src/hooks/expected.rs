//! What becomes of an agent's hooks, before a chain runs: for `acp-chain check`.

use acp_chain::host::ProxyPlan;
use acp_chain_conductor::native::CommandLine;
use acp_chain_manifest::{HooksMode, Manifest, User};

use super::{HooksPlan, identify, unchecked_reports};

/// What would become of the agent's hooks.
pub struct ExpectedHooks {
    /// Their mode, and whether they can be attached.
    pub text: String,
    /// Whether the chain starts.
    pub starts: bool,
}

impl HooksPlan {
    /// Also for these proxies of a project, in the session that it is about.
    #[must_use]
    pub fn and_of_project(
        mut self,
        user: &User,
        manifest: &Manifest,
        proxies: &[ProxyPlan],
    ) -> Self {
        let theirs = Self::new(None, user, manifest, proxies).proxies;
        let is_required = manifest.hooks == Some(HooksMode::Required);
        if is_required && !theirs.is_empty() && self.mode != HooksMode::Off {
            self.mode = HooksMode::Required;
        }
        self.proxies.extend(theirs);
        self
    }

    /// What becomes of the hooks of this agent; `None` if nothing wants them. Its package is read.
    pub fn expected(&self, agent: &CommandLine) -> Option<ExpectedHooks> {
        if self.proxies.is_empty() && self.mode != HooksMode::Required {
            return None;
        }
        let starts = |text| ExpectedHooks { text, starts: true };
        let (mode, otherwise) = match self.mode {
            HooksMode::Off => {
                let text = "off: tools that run unasked pass no proxy";
                return Some(starts(text.to_owned()));
            }
            HooksMode::BestEffort => ("best-effort", "you are told before the first prompt"),
            HooksMode::Required => ("required", "the chain does not start"),
        };
        let why = match identify(agent) {
            Ok(known) => match known.check_reports() {
                Ok(()) => {
                    let limit =
                        unchecked_reports().map_or(String::new(), |limit| format!("; {limit}"));
                    let text = format!("{mode}: those of {known} can be attached{limit}");
                    return Some(starts(text));
                }
                Err(why) => why.to_string(),
            },
            Err(why) => format!("they cannot be attached: {why}"),
        };
        Some(ExpectedHooks {
            text: format!("{mode}: {why}; {otherwise}"),
            starts: self.mode != HooksMode::Required,
        })
    }
}
