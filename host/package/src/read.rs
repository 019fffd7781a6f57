//! A component's metadata, read from its outermost sections. Nested ones are ignored.

use std::io::{self, Read, Seek};

use semver::Version;
use serde_json::Value;
use wasmparser::{
    BinaryReader, ComponentExportSectionReader, ComponentImportSectionReader, ComponentName,
    ComponentNameSectionReader,
};

use crate::sections::{CUSTOM, Sections};
use crate::{About, Asks, DRAFT, Package, SECTION, is_name, no_name};

/// The maximum length of a text about a component, in bytes.
const TEXT: u64 = 4 << 10;

/// The maximum size of our section, and of the lists of imports and exports, in bytes.
const LARGE: u64 = 256 << 10;

const IMPORTS: u8 = 10;
const EXPORTS: u8 = 11;

/// Why a file is not an extension.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file is not a component.
    #[error("the file is not a WebAssembly component")]
    NoComponent,
    /// The file is a core module.
    #[error(
        "the file is a core WebAssembly module, not a component; turn it into one with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// The sections are malformed.
    #[error("the component is damaged: {0}")]
    Damaged(String),
    /// The file is a component without metadata.
    #[error(
        "the component is not an extension: it has no section `{SECTION}`; its author adds that with \
         `acp-chain package`"
    )]
    NoSection,
    /// The metadata is invalid.
    #[error("in its section `{section}`: {wrong}")]
    Wrong { section: String, wrong: String },
    /// The extension requires a newer host.
    #[error("it needs acp-chain {0} or newer; this is {own}", own = env!("CARGO_PKG_VERSION"))]
    TooNew(Version),
}

/// The texts about a component, by the names of their sections.
#[derive(Default)]
struct Texts {
    name: Option<String>,
    version: Option<String>,
    about: About,
    asks: Option<String>,
    imports: Vec<String>,
    exports: Vec<String>,
    draft: bool,
    /// Whether there was a section with names.
    is_named: bool,
}

impl Package {
    /// Reads a component's metadata.
    ///
    /// # Errors
    /// If it is not a component, not an extension, or has invalid metadata.
    pub fn read(component: impl Read + Seek) -> Result<Self, PackageError> {
        let said = Texts::read(component)?;
        let asks = said.asks.ok_or(PackageError::NoSection)?;
        let missing = |section: &str| {
            wrong(
                section,
                "it is missing: `acp-chain package` writes it".into(),
            )
        };
        let name = said.name.ok_or_else(|| missing("component-name"))?;
        if !is_name(&name) {
            return Err(wrong("component-name", no_name(&name)));
        }
        let version = said.version.ok_or_else(|| missing("version"))?;
        let version = Version::parse(&version)
            .map_err(|error| wrong("version", format!("{version:?} is not a version: {error}")))?;
        Ok(Self {
            name,
            version,
            about: said.about,
            asks: read_asks(&asks)?,
            imports: said.imports,
            exports: said.exports,
            draft: said.draft,
        })
    }
}

/// The requests of an extension, from their text.
fn read_asks(text: &str) -> Result<Asks, PackageError> {
    let malformed = |error: serde_json::Error| wrong(SECTION, error.to_string());
    // Checked first: an extension for a newer version may have unknown keys.
    let any: Value = serde_json::from_str(text).map_err(malformed)?;
    let host = any["host"]
        .as_str()
        .and_then(|host| Version::parse(host).ok());
    let own = Version::parse(env!("CARGO_PKG_VERSION"));
    if let Some(host) = host
        && own.is_ok_and(|own| own < host)
    {
        return Err(PackageError::TooNew(host));
    }
    let asks: Asks = serde_json::from_str(text).map_err(malformed)?;
    asks.check().map_err(|error| wrong(SECTION, error))?;
    Ok(asks)
}

fn wrong(section: &str, wrong: String) -> PackageError {
    let section = section.to_owned();
    PackageError::Wrong { section, wrong }
}

impl Texts {
    fn read(component: impl Read + Seek) -> Result<Self, PackageError> {
        let mut said = Self::default();
        let mut sections = Sections::begin(component)?;
        while let Some(id) = sections.next()? {
            match id {
                CUSTOM => said.custom(&mut sections)?,
                IMPORTS => {
                    let bytes = sections.rest(LARGE)?;
                    let reader = ComponentImportSectionReader::new(BinaryReader::new(&bytes, 0));
                    for import in reader.map_err(damaged)? {
                        let import = import.map_err(damaged)?;
                        said.imports.push(import.name.name.to_owned());
                    }
                }
                EXPORTS => {
                    let bytes = sections.rest(LARGE)?;
                    let reader = ComponentExportSectionReader::new(BinaryReader::new(&bytes, 0));
                    for export in reader.map_err(damaged)? {
                        let export = export.map_err(damaged)?;
                        said.exports.push(export.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(said)
    }

    fn custom<R: Read + Seek>(&mut self, sections: &mut Sections<R>) -> Result<(), PackageError> {
        let name = sections.name()?;
        if name == "component-name" {
            let bytes = sections.rest(LARGE)?;
            if std::mem::replace(&mut self.is_named, true) {
                return Err(wrong(&name, "it occurs twice".into()));
            }
            self.name = component_name(&bytes)?;
            return Ok(());
        }
        let about = &mut self.about;
        let (text, most) = match &*name {
            "version" => (&mut self.version, TEXT),
            "description" => (&mut about.description, TEXT),
            "authors" => (&mut about.authors, TEXT),
            "licenses" => (&mut about.licenses, TEXT),
            "source" => (&mut about.source, TEXT),
            "homepage" => (&mut about.homepage, TEXT),
            "revision" => (&mut about.revision, TEXT),
            SECTION => (&mut self.asks, LARGE),
            DRAFT => {
                self.draft = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        let read = String::from_utf8(sections.rest(most)?);
        let read = read.map_err(|_| wrong(&name, "it is not UTF-8".into()))?;
        set(text, &name, read)
    }
}

/// Sets a text that may occur only once.
fn set(text: &mut Option<String>, name: &str, read: String) -> Result<(), PackageError> {
    match text.replace(read) {
        Some(_) => Err(wrong(name, "it occurs twice".into())),
        None => Ok(()),
    }
}

fn component_name(section: &[u8]) -> Result<Option<String>, PackageError> {
    let names = ComponentNameSectionReader::new(BinaryReader::new(section, 0));
    let mut found = None;
    for name in names {
        if let ComponentName::Component { name, .. } = name.map_err(damaged)? {
            set(&mut found, "component-name", name.to_owned())?;
        }
    }
    Ok(found)
}

fn damaged(error: wasmparser::BinaryReaderError) -> PackageError {
    PackageError::Damaged(error.message().to_owned())
}
