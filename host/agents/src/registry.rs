//! The document that lists agents: `registry.json` of the ACP registry. Unknown parts are ignored, `null` counts as
//! missing, and a malformed entry does not affect others.

use std::collections::BTreeMap;
use std::env::consts;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::Error;
use crate::kind::Kind;
use crate::location::Location;
use crate::name::{is_name, list, nearest};
use crate::web::Web;

/// The public registry.
pub const PUBLIC: &str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json";

/// The maximum length of a registry, in bytes.
const LONGEST: u64 = 16 << 20;

/// The maximum length of an agent's arguments and variables together, in bytes. A user reads all of them before a yes.
const LAUNCH: usize = 4 << 10;

/// A registry, and its location.
#[derive(Clone, Debug)]
pub struct Registry {
    pub location: Location,
    agents: Vec<Value>,
}

#[derive(Deserialize)]
struct Document {
    agents: Vec<Value>,
}

impl Document {
    /// Parses a text in UTF-8, or, as Windows PowerShell writes it, in UTF-16.
    fn parse(text: &[u8]) -> serde_json::Result<Self> {
        let wide = text.strip_prefix(b"\xff\xfe").map(|text| {
            let (units, _) = text.as_chunks::<2>();
            String::from_utf16_lossy(
                &units
                    .iter()
                    .map(|unit| u16::from_le_bytes(*unit))
                    .collect::<Vec<_>>(),
            )
        });
        let text = wide.as_ref().map_or(text, |text| text.as_bytes());
        serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text))
    }
}

/// A registry's entry for an agent.
#[derive(Clone, Debug, Deserialize)]
pub struct Entry {
    /// Its name on the command line.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Its version, which tags spell with a `v`.
    #[serde(deserialize_with = "version")]
    pub version: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub description: String,
    /// The URL of its source.
    pub repository: Option<String>,
    /// The URL of its website.
    pub website: Option<String>,
    #[serde(default, deserialize_with = "authors")]
    pub authors: Vec<String>,
    /// An SPDX identifier, or `proprietary`.
    pub license: Option<String>,
    pub distribution: Distribution,
}

/// The distributions of an agent, one or several.
#[derive(Clone, Debug, Deserialize)]
pub struct Distribution {
    /// An archive per platform.
    binary: Option<BTreeMap<String, Archive>>,
    /// An npm package.
    npx: Option<Package>,
    /// A Python package.
    uvx: Option<Package>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// An archive with a program.
#[derive(Clone, Debug, Deserialize)]
pub struct Archive {
    /// Its URL or path.
    pub archive: String,
    /// Its digest, in hexadecimal digits.
    pub sha256: Option<String>,
    /// The program in it.
    pub cmd: String,
    #[serde(default, deserialize_with = "or_nothing")]
    pub args: Vec<String>,
    /// Variables added to our environment.
    #[serde(default, deserialize_with = "or_nothing")]
    pub env: BTreeMap<String, String>,
}

/// A package with a program.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Its name, and perhaps its version.
    pub package: String,
    /// The program in it, if it does not have the package's name.
    pub cmd: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub args: Vec<String>,
    /// Variables added to our environment.
    #[serde(default, deserialize_with = "or_nothing")]
    pub env: BTreeMap<String, String>,
}

/// One distribution for this machine.
#[derive(Clone, Copy, Debug)]
pub enum Offer<'e> {
    /// An archive.
    Binary(&'e Archive),
    /// An npm package.
    Npx(&'e Package),
    /// A Python package.
    Uvx(&'e Package),
}

impl Registry {
    /// Reads the registry at a location.
    ///
    /// # Errors
    /// If it cannot be fetched, or is not a registry.
    pub fn read(location: Location, web: &dyn Web) -> Result<Self, Error> {
        let mut text = Vec::new();
        match &location {
            Location::Web(url) => web.get(url, LONGEST, &mut text).map_err(Error::Web)?,
            Location::File(path) => {
                open(path)?
                    .take(LONGEST + 1)
                    .read_to_end(&mut text)
                    .map_err(Error::disk(path))?;
            }
        }
        if text.len() as u64 > LONGEST {
            return Err(Error::TooLarge {
                what: location.to_string(),
                most: LONGEST,
            });
        }
        let document = Document::parse(&text).map_err(|error| Error::NoRegistry {
            from: location.to_string(),
            wrong: error.to_string(),
        });
        let Document { agents } = document?;
        Ok(Self { location, agents })
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// If there is none, or its entry is invalid.
    pub fn named(&self, name: &str) -> Result<Entry, Error> {
        let agents = self.agents.iter();
        let mut found = agents.filter(|agent| id(agent) == Some(name) && is_name(name));
        match (found.next(), found.next()) {
            (Some(agent), None) => self.entry(agent),
            (Some(_), Some(_)) => Err(self.wrong(name, "is listed twice".to_owned())),
            (None, _) => Err(Error::Unknown {
                name: name.to_owned(),
                from: self.location.to_string(),
                near: nearest(name, self.agents.iter().filter_map(id)),
            }),
        }
    }

    /// All agents, in order; invalid entries are errors.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, Error>> {
        self.agents.iter().map(|agent| self.entry(agent))
    }

    fn entry(&self, agent: &Value) -> Result<Entry, Error> {
        let name = id(agent).unwrap_or("without an id");
        let entry = Entry::deserialize(agent).map_err(|error| {
            let wrong = format!("cannot be read: {error}");
            self.wrong(name, wrong)
        })?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
        let is_version = (1..=64).contains(&entry.version.len())
            && entry
                .version
                .starts_with(|c: char| c.is_ascii_alphanumeric())
            && entry.version.chars().all(is_plain);
        match (is_name(&entry.id), is_version) {
            (false, _) => Err(Error::Name(entry.id)),
            (_, false) => {
                let wrong = format!("has the invalid version `{}`", entry.version);
                Err(self.wrong(name, wrong))
            }
            (true, true) => Ok(entry),
        }
    }

    pub(crate) fn wrong(&self, name: &str, wrong: String) -> Error {
        Error::Entry {
            name: name.to_owned(),
            from: self.location.to_string(),
            wrong,
        }
    }

    /// The best distribution for this machine, or the one that the user wants. An archive needs nothing else, so it is
    /// the first choice.
    ///
    /// # Errors
    /// If there is no such distribution.
    pub fn offer<'e>(&self, entry: &'e Entry, kind: Option<Kind>) -> Result<Offer<'e>, Error> {
        let way = &entry.distribution;
        let platform = platform();
        let binary = way.binary.as_ref().and_then(|targets| {
            let mut others = targets.iter();
            let other = others.find(|(target, _)| usual(target) == platform);
            targets.get(&platform).or(other.map(|(_, archive)| archive))
        });
        let all = [
            binary.map(Offer::Binary),
            way.npx.as_ref().map(Offer::Npx),
            way.uvx.as_ref().map(Offer::Uvx),
        ];
        let mut all = all.into_iter().flatten();
        let found = all.find(|offer| kind.is_none_or(|kind| kind == offer.kind()));
        let found = found.ok_or_else(|| {
            let archives = way.binary.iter().flat_map(BTreeMap::keys);
            let archives = archives.map(|target| format!("`binary` for {target}"));
            let packages = [("npx", way.npx.is_some()), ("uvx", way.uvx.is_some())];
            let packages = packages.iter().filter(|(_, is_there)| *is_there);
            let packages = packages.map(|(kind, _)| format!("`{kind}`"));
            let others = way.others.keys();
            let others =
                others.map(|kind| format!("`{kind}`, which this version does not support"));
            let ways: Vec<_> = archives.chain(packages).chain(others).collect();
            let ways = list(&ways, "nothing");
            let wanted = kind.map_or_else(
                || format!("a program for {platform}"),
                |kind| format!("`{}` for {platform}", kind.as_str()),
            );
            let wrong = format!("is not available as {wanted}: it has {ways}");
            self.wrong(&entry.id, wrong)
        })?;
        let (args, env) = found.launch();
        let is_unfit = |key: &&String| key.is_empty() || key.contains(['=', '\0']);
        if let Some(key) = env.keys().find(is_unfit) {
            let wrong = format!("has a variable `{key}`, which cannot be set");
            return Err(self.wrong(&entry.id, wrong));
        }
        let words = args.iter().chain(env.keys()).chain(env.values());
        let length: usize = words.map(String::len).sum();
        if length > LAUNCH {
            let wrong = format!(
                "has {length} bytes of arguments and variables, more than the maximum of {LAUNCH}: too much to be \
                 read before a yes"
            );
            return Err(self.wrong(&entry.id, wrong));
        }
        Ok(found)
    }
}

impl Offer<'_> {
    /// The kind of the agent.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Binary(_) => Kind::Binary,
            Self::Npx(_) => Kind::Npx,
            Self::Uvx(_) => Kind::Uvx,
        }
    }

    pub(crate) fn launch(&self) -> (&[String], &BTreeMap<String, String>) {
        match self {
            Self::Binary(archive) => (&archive.args, &archive.env),
            Self::Npx(package) | Self::Uvx(package) => (&package.args, &package.env),
        }
    }
}

/// The registry's name for this machine.
fn platform() -> String {
    let system = match consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{system}-{}", consts::ARCH)
}

/// A platform in the spelling of registries, from that of Node, Go or Rust.
fn usual(target: &str) -> String {
    let target = target.to_ascii_lowercase().replace('_', "-");
    let target = target.replace("x86-64", "x86_64");
    let (system, processor) = target.split_once('-').unwrap_or((&target, ""));
    let system = match system {
        "macos" | "osx" | "mac" => "darwin",
        "win32" | "win" => "windows",
        other => other,
    };
    let processor = match processor {
        "x64" | "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    };
    format!("{system}-{processor}")
}

fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let text = text.trim();
    let number = text.strip_prefix(['v', 'V', '=']).map(str::trim_start);
    let number = number.filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    Ok(number.unwrap_or(text).to_owned())
}

/// Names of authors: a list or a single one, each a text or, as in npm's packages, an object with a `name`.
fn authors<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let name = |author: &Value| {
        let name = author.as_str().or_else(|| author.get("name")?.as_str());
        name.map(str::to_owned)
    };
    Ok(match Value::deserialize(from)? {
        Value::Array(authors) => authors.iter().filter_map(name).collect(),
        author => name(&author).into_iter().collect(),
    })
}

fn id(agent: &Value) -> Option<&str> {
    agent.get("id")?.as_str()
}

/// Opens a regular file: opening a pipe would wait for a writer.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let about = std::fs::metadata(path).map_err(Error::disk(path))?;
    if about.is_file() {
        File::open(path).map_err(Error::disk(path))
    } else {
        Err(Error::disk(path)(std::io::Error::other("it is not a file")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(agents: &str) -> Registry {
        let text = format!(r#"{{"version":"1.0.0","new":[1],"agents":{agents}}}"#);
        let Document { agents } = serde_json::from_str(&text).unwrap();
        let location = Location::File("registry.json".into());
        Registry { location, agents }
    }

    fn entry(id: &str, distribution: &str) -> String {
        format!(
            r#"{{"id":"{id}","name":"N","version":"1.0.0","description":"D","more":1,"distribution":{distribution}}}"#
        )
    }

    #[test]
    fn unknown_fields_are_ignored_and_a_malformed_entry_affects_no_other() {
        let good = entry("good", r#"{"npx":{"package":"p","new":true},"docker":{}}"#);
        let registry = registry(&format!(r#"[{good},{{"id":"bad"}},7]"#));
        let found = registry.named("good").unwrap();
        let offer = registry.offer(&found, None).unwrap();
        assert_eq!(offer.kind(), Kind::Npx);
        let error = registry.named("bad").unwrap_err().to_string();
        assert!(error.contains("the agent `bad` cannot be read"), "{error}");
        assert_eq!(registry.entries().filter(Result::is_err).count(), 2);
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest() {
        let registry = registry(&format!("[{}]", entry("gemini", "{}")));
        let error = registry.named("gemni").unwrap_err().to_string();
        assert!(error.contains("did you mean `gemini`?"), "{error}");
        let error = registry.named("xyz").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn an_unavailable_agent_is_reported_with_its_distributions() {
        let target = r#"{"archive":"https://a/b.zip","cmd":"./a"}"#;
        let other = format!(r#"{{"binary":{{"plan9-mips":{target}}},"docker":{{}}}}"#);
        let registry = registry(&format!("[{}]", entry("a", &other)));
        let found = registry.named("a").unwrap();
        let error = registry.offer(&found, None).unwrap_err().to_string();
        assert!(
            error
                .contains("`binary` for plan9-mips, `docker`, which this version does not support"),
            "{error}"
        );
    }

    #[test]
    fn an_archive_for_this_machine_goes_before_packages() {
        let target = r#"{"archive":"https://a/b.zip","cmd":"./a"}"#;
        let both = format!(
            r#"{{"uvx":{{"package":"p"}},"binary":{{"{}":{target}}}}}"#,
            platform()
        );
        let registry = registry(&format!("[{}]", entry("a", &both)));
        let found = registry.named("a").unwrap();
        let kind = |kind| registry.offer(&found, kind).map(|offer| offer.kind());
        assert_eq!(kind(None).unwrap(), Kind::Binary);
        assert_eq!(kind(Some(Kind::Uvx)).unwrap(), Kind::Uvx);
        assert!(kind(Some(Kind::Npx)).is_err());
    }

    #[test]
    fn a_registry_may_begin_with_a_mark_of_its_encoding() {
        let text = r#"{"agents":[{"id":"é"}]}"#;
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [b"\xff\xfe", &*wide].concat(),
        ] {
            let Document { agents } = Document::parse(&bytes).unwrap();
            assert_eq!(id(&agents[0]), Some("é"));
        }
    }

    #[test]
    fn spellings_of_other_programs_are_accepted() {
        let target = format!(
            r#"{{"{}":{{"archive":"https://a/b.zip","cmd":"a","args":null,"env":null,"sha256":null}}}}"#,
            platform()
                .replace("x86_64", "x64")
                .replace("aarch64", "arm64")
        );
        for (version, expected) in [
            ("v2.1.0", "2.1.0"),
            ("V2", "2"),
            (" 2.1.0\\n", "2.1.0"),
            ("=1.0", "1.0"),
            ("nightly-2026-01-01", "nightly-2026-01-01"),
            ("version", "version"),
        ] {
            let registry = registry(&format!(
                r#"[{{"id":"a","name":"A","version":"{version}","description":null,"license":null,
                    "authors":{{"name":"Somebody"}},"distribution":{{"binary":{target},"npx":null}}}}]"#
            ));
            let found = registry.named("a").unwrap();
            assert_eq!(found.version, expected);
            assert_eq!(found.authors, ["Somebody"]);
            let offer = registry.offer(&found, None).unwrap();
            assert_eq!(offer.kind(), Kind::Binary);
            assert!(offer.launch().0.is_empty());
        }
    }

    #[test]
    fn platforms_have_several_spellings() {
        for (target, expected) in [
            ("darwin-arm64", "darwin-aarch64"),
            ("macos-x64", "darwin-x86_64"),
            ("linux_amd64", "linux-x86_64"),
            ("linux_x86_64", "linux-x86_64"),
            ("win32-x64", "windows-x86_64"),
            ("windows-x86_64", "windows-x86_64"),
        ] {
            assert_eq!(usual(target), expected, "{target}");
        }
    }

    #[test]
    fn a_variable_that_cannot_be_set_is_an_error_of_its_entry() {
        for key in ["", "A=B", "A\\u0000"] {
            let offer = format!(r#"{{"npx":{{"package":"p","env":{{"{key}":"x"}}}}}}"#);
            let registry = registry(&format!("[{}]", entry("a", &offer)));
            let found = registry.named("a").unwrap();
            let error = registry.offer(&found, None).unwrap_err().to_string();
            assert!(error.contains("which cannot be set"), "{error}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_read_before_a_yes_is_an_error_of_its_entry() {
        for (length, is_read) in [(LAUNCH - 8, true), (LAUNCH + 1, false)] {
            let long = "x".repeat(length);
            for more in [
                format!(r#""args":["--acp","{long}"]"#),
                format!(r#""env":{{"A":"{long}"}}"#),
            ] {
                let offer = format!(r#"{{"npx":{{"package":"p",{more}}}}}"#);
                let registry = registry(&format!("[{}]", entry("a", &offer)));
                let found = registry.named("a").unwrap();
                match registry.offer(&found, None) {
                    Ok(_) => assert!(is_read, "{length}"),
                    Err(error) => {
                        assert!(!is_read, "{length}: {error}");
                        assert!(error.to_string().contains("too much to be read"), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_that_are_paths_are_rejected() {
        for id in ["..", "../x", "a/b", "", "-rf", ".git"] {
            let registry = registry(&format!("[{}]", entry(id, "{}")));
            assert!(registry.named(id).is_err(), "{id}");
            assert!(registry.entries().all(|entry| entry.is_err()), "{id}");
        }
    }
}
