//! Writes metadata into a component, deterministically.

use std::io::Cursor;

use wasm_encoder::{ComponentSection, CustomSection};
use wasm_metadata::{AddMetadata, AddMetadataField};

use crate::sections::{CUSTOM, Sections};
use crate::{DRAFT, Package, PackageError, SECTION};

/// Why metadata could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A text does not have the form of its section.
    #[error("{0}")]
    Text(String),
    /// The result could not be read back.
    #[error(transparent)]
    Unreadable(#[from] PackageError),
}

/// The sections that are rewritten.
const OURS: [&str; 8] = [
    "version",
    "description",
    "authors",
    "licenses",
    "source",
    "homepage",
    "revision",
    SECTION,
];

impl Package {
    /// Replaces the metadata of a component. Its imports and exports are unchanged.
    ///
    /// # Errors
    /// If it is not a component, or cannot be read back.
    pub fn write(&self, component: &[u8]) -> Result<Vec<u8>, WriteError> {
        let text = |error: &dyn std::fmt::Display| WriteError::Text(format!("{error:#}"));
        let was_draft = is_draft(component)?;
        let component = without_sections(component)?;
        let mut metadata = AddMetadata::default();
        metadata.name = AddMetadataField::Set(self.name.clone());
        let about = &self.about;
        let wrong = |section: &str, value: &str, error: &dyn std::fmt::Display| {
            WriteError::Text(format!(
                "`{section}`: {value:?} cannot be written: {error:#}"
            ))
        };
        macro_rules! set {
            ($($field:ident),+) => {$(
                if let Some(value) = &about.$field {
                    let parsed = value.parse().map_err(|error: _| wrong(stringify!($field), value, &error))?;
                    metadata.$field = AddMetadataField::Set(parsed);
                }
            )+};
        }
        set!(description, authors, licenses, source, homepage, revision);
        let version = self.version.to_string();
        let parsed = version.parse();
        let parsed = parsed.map_err(|error: _| wrong("version", &version, &error))?;
        metadata.version = AddMetadataField::Set(parsed);
        let mut written = metadata.to_wasm(&component).map_err(|error| text(&error))?;
        let asks = serde_json::to_vec(&self.asks).map_err(|error| text(&error))?;
        let mut add = |name: &'static str, data: Vec<u8>| {
            let section = CustomSection {
                name: name.into(),
                data: data.into(),
            };
            section.append_to_component(&mut written);
        };
        add(SECTION, asks);
        // A draft stays a draft.
        if self.draft && !was_draft {
            add(DRAFT, Vec::new());
        }
        Self::read(Cursor::new(&written))?;
        Ok(written)
    }
}

fn is_draft(component: &[u8]) -> Result<bool, PackageError> {
    let mut sections = Sections::begin(Cursor::new(component))?;
    while let Some(id) = sections.next()? {
        if id == CUSTOM && sections.name()? == DRAFT {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A component without its metadata, except for its name, which is overwritten.
pub(crate) fn without_sections(component: &[u8]) -> Result<Vec<u8>, PackageError> {
    let mut left = Vec::with_capacity(component.len());
    let mut sections = Sections::begin(Cursor::new(component))?;
    let place = |at| usize::try_from(at).unwrap_or(usize::MAX);
    left.extend_from_slice(&component[..place(sections.range().end)]);
    while let Some(id) = sections.next()? {
        if id != CUSTOM || !OURS.contains(&&*sections.name()?) {
            let range = sections.range();
            left.extend_from_slice(&component[place(range.start)..place(range.end)]);
        }
    }
    Ok(left)
}
