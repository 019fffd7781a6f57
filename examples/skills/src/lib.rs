//! An example of a proxy: skills, which the agent reads when it needs them.
//!
//! - The model receives the purposes of the skills when a session's agent connects.
//! - The text of a skill is a resource, `skill:/NAME`, read through the client when the agent reads it, so that
//!   unused skills take no room in the context.

use acp_chain_proxy::{
    Call, Configure, Contents, Peer, Proxy, Resource, Resources, Result, export,
};
use serde_json::json;

/// The prefix of the URIs.
const SKILL: &str = "skill:/";

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    skill: Vec<Skill>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Skill {
    /// A short word.
    name: String,
    /// The purpose of the skill, and when to read it.
    description: String,
    /// The absolute path of the file with the text of the skill.
    path: String,
}

struct Skills(Vec<Skill>);

impl Configure for Skills {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self(config.skill))
    }
}

impl Proxy for Skills {}

impl Resources for Skills {
    fn resources(&self, _session: Option<&str>) -> Vec<Resource> {
        let skills = self.0.iter().map(|skill| {
            Resource::new(format!("{SKILL}{}", skill.name), &skill.name)
                .description(&skill.description)
                .mime_type("text/markdown")
        });
        skills.collect()
    }

    async fn read(&self, call: Call<String>) -> Result<Option<Contents>> {
        let name = call.arguments.strip_prefix(SKILL);
        let Some(skill) = self.0.iter().find(|skill| Some(&*skill.name) == name) else {
            return Ok(None);
        };
        let params = json!({ "sessionId": call.session, "path": skill.path });
        let file = Peer::Client.request("fs/read_text_file", params).await?;
        let text: String = file.at("/content").ok_or("the client gave no content")?;
        Ok(Some(Contents::text(text).mime_type("text/markdown")))
    }

    fn reading_instructions(&self, _session: Option<&str>) -> Option<String> {
        let skills = self.0.iter();
        let skills = skills.map(|skill| format!("- {SKILL}{}: {}", skill.name, skill.description));
        let skills: Vec<_> = skills.collect();
        let text = "There are skills for some tasks. When one fits what you are about to do, read its \
                    resource first, and do as it says:";
        (!skills.is_empty()).then(|| format!("{text}\n{}", skills.join("\n")))
    }
}

export!(Skills: Resources);

#[cfg(test)]
mod tests;
