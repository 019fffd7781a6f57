//! Bindings of a world, by a generator of wit-bindgen.

use std::fs;
use std::path::{Path, PathBuf};

use wit_bindgen_core::wit_parser::{Resolve, WorldId};
use wit_bindgen_core::{Files, WorldGenerator};

use crate::{Error, component};

/// Generates the bindings of a world into a folder; returns the files.
pub(crate) fn generate(
    wit: &Path,
    world: &str,
    into: &Path,
    generator: impl FnOnce(&Resolve, WorldId) -> Box<dyn WorldGenerator>,
) -> Result<Vec<PathBuf>, Error> {
    let (mut resolve, world) = component::read(wit, Some(world))?;
    let mut generated = Files::default();
    let done = generator(&resolve, world).generate(&mut resolve, world, &mut generated);
    done.map_err(|error| Error::at(wit, format_args!("{error:#}")))?;

    let mut files = Vec::new();
    for (name, content) in generated.iter() {
        let file = into.join(name);
        let folder = file.parent().unwrap_or(into);
        fs::create_dir_all(folder).map_err(Error::disk(folder))?;
        fs::write(&file, content).map_err(Error::disk(&file))?;
        files.push(file);
    }
    Ok(files)
}
