//! The places of the metadata in each kind of file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Fields, MetadataError, Table, json_error, read, toml_error};
use crate::About;

/// The files, by their names.
pub const NAMES: [&str; 4] = [
    "extension.toml",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
];

/// The format of a file.
pub enum Format {
    Own,
    Cargo,
    Npm,
    Python,
}

/// `extension.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtensionToml {
    name: String,
    version: String,
    description: Option<String>,
    authors: Option<Vec<String>>,
    license: Option<String>,
    source: Option<String>,
    homepage: Option<String>,
    revision: Option<String>,
    #[serde(default)]
    asks: Table,
}

#[derive(Deserialize)]
struct Cargo {
    package: Option<CargoPackage>,
}

#[derive(Deserialize)]
struct CargoPackage {
    name: String,
    version: Option<InheritedValue<String>>,
    description: Option<InheritedValue<String>>,
    authors: Option<InheritedValue<Vec<String>>>,
    license: Option<InheritedValue<String>>,
    repository: Option<InheritedValue<String>>,
    homepage: Option<InheritedValue<String>>,
    metadata: Option<CargoMetadata>,
}

/// A value that a member may inherit from its workspace.
#[derive(Deserialize)]
#[serde(untagged)]
enum InheritedValue<T> {
    Own(T),
    #[expect(dead_code, reason = "it can only be true")]
    Workspace {
        workspace: bool,
    },
}

#[derive(Deserialize)]
struct CargoMetadata {
    #[serde(rename = "acp-chain")]
    table: Option<Table>,
}

/// A `Cargo.toml` of a workspace.
#[derive(Default, Deserialize)]
struct CargoRoot {
    workspace: Option<CargoWorkspace>,
}

#[derive(Default, Deserialize)]
struct CargoWorkspace {
    #[serde(default)]
    package: CargoShared,
}

#[derive(Default, Deserialize)]
struct CargoShared {
    version: Option<String>,
    description: Option<String>,
    authors: Option<Vec<String>>,
    license: Option<String>,
    repository: Option<String>,
    homepage: Option<String>,
}

/// Whether a `package.json` has our table. Others may have fields that we cannot read.
#[derive(Deserialize)]
struct NpmMarked {
    #[serde(rename = "acpChain")]
    table: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Npm {
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    author: Option<Person>,
    license: Option<String>,
    repository: Option<Repository>,
    homepage: Option<String>,
    #[serde(rename = "acpChain")]
    table: Option<Table>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Person {
    Text(String),
    Parts {
        name: Option<String>,
        email: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Repository {
    Text(String),
    Parts { url: String },
}

#[derive(Deserialize)]
struct Python {
    project: Option<PythonProject>,
    tool: Option<PythonTool>,
}

#[derive(Deserialize)]
struct PythonProject {
    name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    #[serde(default)]
    authors: Vec<Person>,
    license: Option<Value>,
    #[serde(default)]
    urls: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct PythonTool {
    #[serde(rename = "acp-chain")]
    table: Option<Table>,
}

impl Format {
    /// The format for a file name; any unknown name counts as our own format.
    pub fn of(path: &Path) -> Self {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("Cargo.toml") => Self::Cargo,
            Some("package.json") => Self::Npm,
            Some("pyproject.toml") => Self::Python,
            _ => Self::Own,
        }
    }

    /// The metadata of a file; `None` if it has no table of ours.
    pub fn read(&self, path: &Path) -> Result<Option<Fields>, MetadataError> {
        let text = read(path)?;
        let toml = |error| toml_error(path, &text, &error);
        match self {
            Self::Own => {
                let own: ExtensionToml = toml::from_str(&text).map_err(toml)?;
                Ok(Some(own.fields()))
            }
            Self::Cargo => toml::from_str::<Cargo>(&text).map_err(toml)?.fields(path),
            Self::Python => Ok(toml::from_str::<Python>(&text).map_err(toml)?.fields()),
            Self::Npm => {
                let json = |error| json_error(path, &error);
                let marked: NpmMarked = serde_json::from_str(&text).map_err(json)?;
                if marked.table.is_none() {
                    return Ok(None);
                }
                let npm: Npm = serde_json::from_str(&text).map_err(json)?;
                Ok(npm.fields())
            }
        }
    }
}

impl ExtensionToml {
    fn fields(self) -> Fields {
        Fields {
            name: Some(self.name),
            version: Some(self.version),
            about: About {
                description: self.description,
                authors: self.authors.map(|authors| authors.join(", ")),
                licenses: self.license,
                source: self.source,
                homepage: self.homepage,
                revision: self.revision,
            },
            table: self.asks,
        }
    }
}

impl Cargo {
    fn fields(self, path: &Path) -> Result<Option<Fields>, MetadataError> {
        let Some(package) = self.package else {
            return Ok(None);
        };
        let Some(table) = package.metadata.and_then(|metadata| metadata.table) else {
            return Ok(None);
        };
        let shared = CargoShared::above(path)?;
        let authors = pick(package.authors, shared.authors);
        Ok(Some(Fields {
            name: Some(package.name),
            version: pick(package.version, shared.version),
            about: About {
                description: pick(package.description, shared.description),
                authors: authors.map(|authors| authors.join(", ")),
                // An older form of the license expression, which registries still accept.
                licenses: pick(package.license, shared.license)
                    .map(|license| license.replace('/', " OR ")),
                source: pick(package.repository, shared.repository),
                homepage: pick(package.homepage, shared.homepage),
                revision: None,
            },
            table,
        }))
    }
}

fn pick<T>(own: Option<InheritedValue<T>>, shared: Option<T>) -> Option<T> {
    match own? {
        InheritedValue::Own(own) => Some(own),
        InheritedValue::Workspace { .. } => shared,
    }
}

impl CargoShared {
    /// The settings of a manifest's workspace.
    fn above(path: &Path) -> Result<Self, MetadataError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        for folder in path.ancestors().skip(1) {
            let manifest = folder.join("Cargo.toml");
            if !manifest.exists() {
                continue;
            }
            let text = read(&manifest)?;
            let root: CargoRoot =
                toml::from_str(&text).map_err(|error| toml_error(&manifest, &text, &error))?;
            if let Some(workspace) = root.workspace {
                return Ok(workspace.package);
            }
        }
        Ok(Self::default())
    }
}

impl Npm {
    fn fields(self) -> Option<Fields> {
        let table = self.table?;
        // Without the scope, which is not part of the extension's name.
        let name = self.name.map(|name| match name.rsplit_once('/') {
            Some((_, name)) => name.to_owned(),
            None => name,
        });
        let source = self.repository.map(|repository| match repository {
            Repository::Text(url) | Repository::Parts { url } => url,
        });
        Some(Fields {
            name,
            version: self.version,
            about: About {
                description: self.description,
                authors: self.author.and_then(Person::text),
                licenses: self.license,
                source: source.map(|url| url.trim_start_matches("git+").to_owned()),
                homepage: self.homepage,
                revision: None,
            },
            table,
        })
    }
}

impl Python {
    fn fields(self) -> Option<Fields> {
        let table = self.tool?.table?;
        let Some(project) = self.project else {
            return Some(Fields {
                table,
                ..Fields::default()
            });
        };
        let mut urls = project.urls;
        urls = urls
            .into_iter()
            .map(|(label, url)| (label.to_lowercase(), url))
            .collect();
        let authors: Vec<_> = project
            .authors
            .into_iter()
            .filter_map(Person::text)
            .collect();
        let license = project.license.and_then(|license| match license {
            Value::String(license) => Some(license),
            other => other["text"].as_str().map(str::to_owned),
        });
        Some(Fields {
            name: project.name,
            version: project.version,
            about: About {
                description: project.description,
                authors: (!authors.is_empty()).then(|| authors.join(", ")),
                licenses: license,
                source: urls.remove("source").or_else(|| urls.remove("repository")),
                homepage: urls.remove("homepage"),
                revision: None,
            },
            table,
        })
    }
}

impl Person {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Parts { name, email } => match (name, email) {
                (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
                (one, other) => one.or(other),
            },
        }
    }
}
