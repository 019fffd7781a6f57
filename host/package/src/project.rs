//! An extension's metadata in its project's own files, without duplication: `Cargo.toml`
//! (`[package.metadata.acp-chain]`), `package.json` (`"acpChain"`), `pyproject.toml` (`[tool.acp-chain]`), and for all
//! other languages `extension.toml`.

mod formats;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_powers::FailurePolicy;
use semver::Version;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::asks::{AskedMethods, Asks, RequestedPower};
use crate::{About, Package, is_name, no_name};

use formats::Format;

/// The maximum length of a file with metadata, or of a schema, in bytes.
const LONGEST: u64 = 4 << 20;

/// An author's metadata for an extension.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// The file with the metadata.
    pub file: PathBuf,
    /// The metadata known without the component.
    pub package: Package,
}

/// Why an author's files give no usable metadata. The message names the file, and the line if known.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// No file has metadata.
    #[error(
        "{}: no metadata of an extension found; write `[package.metadata.acp-chain]` into \
         Cargo.toml, `\"acpChain\"` into package.json, `[tool.acp-chain]` into pyproject.toml, or an \
         extension.toml; `acp-chain new` creates a project with it",
        .0.display()
    )]
    None(PathBuf),
    /// Two files have metadata.
    #[error("{} and {} both have metadata of the extension; name one of them", .0.display(), .1.display())]
    Two(PathBuf, PathBuf),
    /// A file cannot be read.
    #[error("{}: the file cannot be read: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Its content is invalid.
    #[error("{}{place}: {wrong}", path.display())]
    Wrong {
        path: PathBuf,
        /// `:line:column`, counted from 1, where that is known.
        place: String,
        wrong: String,
    },
}

/// The content of a file, in any format.
#[derive(Default)]
struct Fields {
    name: Option<String>,
    version: Option<String>,
    about: About,
    table: Table,
}

/// Our table in the file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    /// Replaces the name of the project.
    name: Option<String>,
    host: Option<Version>,
    #[serde(default)]
    powers: BTreeMap<String, String>,
    #[serde(default)]
    methods: BTreeMap<String, AskedMethods>,
    config: Option<Config>,
    #[serde(default)]
    limits: BTreeMap<String, Value>,
    on_failure: Option<FailurePolicy>,
    #[serde(default)]
    guard: bool,
    #[serde(default)]
    guards_by: Vec<String>,
    /// The target, for the build.
    #[serde(rename = "target")]
    _target: Option<String>,
}

/// The schema of a configuration, or a file with it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Config {
    File(PathBuf),
    Schema(Map<String, Value>),
}

impl Project {
    /// Reads the metadata in a folder, or in a file.
    ///
    /// # Errors
    /// If there is no metadata, or it is not that of an extension.
    pub fn read(path: &Path) -> Result<Self, MetadataError> {
        if !path.is_dir() {
            let fields = Format::of(path).read(path)?;
            let fields = fields.ok_or_else(|| MetadataError::None(path.into()))?;
            return Self::from_fields(path, fields);
        }
        let mut found: Option<(PathBuf, Fields)> = None;
        for name in formats::NAMES {
            let file = path.join(name);
            if !file.exists() {
                continue;
            }
            if let Some(fields) = Format::of(&file).read(&file)? {
                if let Some((first, _)) = found {
                    return Err(MetadataError::Two(first, file));
                }
                found = Some((file, fields));
            }
        }
        let (file, fields) = found.ok_or_else(|| MetadataError::None(path.into()))?;
        Self::from_fields(&file, fields)
    }

    fn from_fields(file: &Path, fields: Fields) -> Result<Self, MetadataError> {
        let wrong = |wrong: String| MetadataError::Wrong {
            path: file.into(),
            place: String::new(),
            wrong,
        };
        let table = fields.table;
        let name = table.name.or(fields.name).ok_or_else(|| {
            wrong("the extension has no name; set `name` beside its powers".into())
        })?;
        if !is_name(&name) {
            let no_name = no_name(&name);
            let wrong_name = format!("{no_name}; set another `name` beside its powers");
            return Err(wrong(wrong_name));
        }
        let version = fields.version.ok_or_else(|| {
            wrong("the extension has no `version`; write one, such as 0.1.0".into())
        })?;
        let version = Version::parse(&version)
            .map_err(|error| wrong(format!("{version:?} is not a version: {error}")))?;
        let config = table.config.map(|config| config.read(file));
        let asks = Asks {
            host: table.host,
            powers: RequestedPower::in_order(table.powers),
            methods: table.methods,
            config: config.transpose()?,
            limits: table.limits,
            on_failure: table.on_failure,
            guard: table.guard,
            guards_by: table.guards_by,
        };
        asks.check().map_err(wrong)?;
        Ok(Self {
            file: file.into(),
            package: Package {
                name,
                version,
                about: fields.about,
                asks,
                imports: Vec::new(),
                exports: Vec::new(),
                draft: false,
            },
        })
    }
}

impl Config {
    /// The schema. A file is relative to the one that names it.
    fn read(self, beside: &Path) -> Result<Map<String, Value>, MetadataError> {
        match self {
            Self::Schema(schema) => Ok(schema),
            Self::File(name) => {
                let path = beside.with_file_name("").join(name);
                let text = read(&path)?;
                serde_json::from_str(&text).map_err(|error| json_error(&path, &error))
            }
        }
    }
}

/// Reads a text. It may be that of a repository whose author is not trusted, so it is a file, of a bounded length.
fn read(path: &Path) -> Result<String, MetadataError> {
    let bounded = || {
        // Checked first: opening a pipe would wait for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let text = io::read_to_string(File::open(path)?.take(LONGEST + 1))?;
        if text.len() as u64 > LONGEST {
            let what = format!("it is larger than {} MiB", LONGEST >> 20);
            return Err(io::Error::other(what));
        }
        Ok(text)
    };
    bounded().map_err(|error| MetadataError::Unreadable {
        path: path.into(),
        error,
    })
}

fn json_error(path: &Path, error: &serde_json::Error) -> MetadataError {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    MetadataError::Wrong {
        path: path.into(),
        place: format!(":{}:{}", error.line(), error.column()),
        wrong: text.strip_suffix(&place).unwrap_or(&text).to_owned(),
    }
}

fn toml_error(path: &Path, text: &str, error: &toml::de::Error) -> MetadataError {
    let place = error.span().map(|span| {
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        );
        format!(":{line}:{column}")
    });
    MetadataError::Wrong {
        path: path.into(),
        place: place.unwrap_or_default(),
        wrong: error.message().replace('\n', ", "),
    }
}
