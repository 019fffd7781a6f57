//! Creates a project, and updates our parts of one.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::Error;
use crate::build::find;
use crate::languages::{Files, Language, add};

/// The templates of a project, in every language.
pub const TEMPLATES: [&str; 4] = ["prompt", "guard", "observer", "tools"];

static ALL: Dir = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The folders of a project that contain only our files.
const OURS: [&str; 2] = ["sdk", "wit/deps/acp-chain-proxy"];

/// The files, with a text in each, that identify our folders in all versions.
const MARKS: [(&str, &str); 2] = [
    ("LICENSE-MIT", "The acp-chain developers"),
    ("proxy.wit", "package acp-chain:proxy"),
];

/// The name of the projects in the templates.
const NAME: &str = "my-proxy";

/// The project's documentation: first its purpose, then how to build and use it.
const README: &str = "README.md";

/// Writes a project of this name into a new or empty folder.
pub fn new(language: &Language, template: &str, name: &str, folder: &Path) -> Result<(), Error> {
    language.check_name(name)?;
    let taken = || {
        Error::new(format_args!(
            "{} exists and is not empty; choose another folder, or empty it",
            folder.display()
        ))
    };
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => return Err(taken()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(taken()),
        Err(error) => return Err(Error::disk(folder)(error)),
    }
    write(files(language, template, name), folder)
}

/// Replaces the SDK and the interface in a project with ours; returns its language.
pub fn sdk(project: &Path) -> Result<&'static str, Error> {
    let (_, folder, language) = find(project)?;
    OURS.iter().try_for_each(|ours| remove(&folder, ours))?;
    write(sdk_files(language), &folder)?;
    Ok(language.title)
}

/// Removes one of our folders from a project, including files of older versions. Removes no other folder, and never
/// the target of a link.
fn remove(project: &Path, ours: &str) -> Result<(), Error> {
    let folder = project.join(ours);
    if fs::symlink_metadata(&folder).is_err() {
        return Ok(());
    }
    let not_ours = |what: &str| {
        Error::new(format_args!(
            "{} {what}, and the SDK of acp-chain goes there; rename it",
            folder.display()
        ))
    };
    let real = |path: &Path| path.canonicalize().map_err(Error::disk(path));
    if real(&folder)? != real(project)?.join(ours) {
        return Err(not_ours("is a link, or behind one"));
    }
    let mut files = fs::read_dir(&folder).map_err(Error::disk(&folder))?;
    let is_ours = MARKS.iter().any(|(file, mark)| {
        let text = fs::read_to_string(folder.join(file));
        text.is_ok_and(|text| text.contains(mark))
    });
    if files.next().is_some() && !is_ours {
        return Err(not_ours("has files, and none of acp-chain"));
    }
    fs::remove_dir_all(&folder).map_err(Error::disk(&folder))
}

fn write(files: Files, folder: &Path) -> Result<(), Error> {
    for (path, content) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::disk(parent))?;
        fs::write(&path, content).map_err(Error::disk(&path))?;
    }
    Ok(())
}

/// All the files of a project.
fn files(language: &Language, template: &str, name: &str) -> Files {
    let mut files = Files::new();
    let mut readme = format!("# {NAME}\n");
    let layers = language.layers.iter();
    let layers = layers.flat_map(|layer| [format!("{layer}/all"), format!("{layer}/{template}")]);
    for layer in [format!("all/{template}")].into_iter().chain(layers) {
        let Some(folder) = ALL.get_dir(&layer) else {
            continue;
        };
        add(&mut files, Path::new(""), folder);
        if let Some(part) = files.remove(Path::new(README)) {
            readme.push('\n');
            readme += &String::from_utf8_lossy(&part);
        }
    }
    files.insert(README.into(), readme.into_bytes().into());
    for content in files.values_mut() {
        let text: String = String::from_utf8_lossy(content)
            .split_inclusive('\n')
            .map(|line| named(line, name))
            .collect();
        *content = text.into_bytes().into();
    }
    files.append(&mut sdk_files(language));
    files
}

/// A line of a template with this name. A comment behind a command stays at its column, or two spaces behind the
/// command.
fn named(line: &str, name: &str) -> String {
    let replaced = |text: &str| text.replace(NAME, name);
    match line.split_once("  # ") {
        Some((command, comment)) if command.contains(NAME) => {
            let width = command.chars().count();
            let shown = replaced(command.trim_end());
            format!("{shown:width$}  # {}", replaced(comment))
        }
        _ => replaced(line),
    }
}

/// Our parts of a project.
fn sdk_files(language: &Language) -> Files {
    let mut files = Files::new();
    (language.sdk)(&mut files);
    for (file, text) in LICENSES {
        files.insert(Path::new("sdk").join(file), text.as_bytes().into());
    }
    files
}

/// The licenses of the SDK.
const LICENSES: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LANGUAGES, component};

    #[test]
    fn comments_stay_at_their_column_whatever_the_name() {
        let column = |line: &str| line.chars().take_while(|char| *char != '#').count();
        for language in LANGUAGES {
            for name in ["it", NAME, "a-name-of-some-length"] {
                let made = files(language, TEMPLATES[0], name);
                let readme = String::from_utf8_lossy(&made[Path::new(README)]);
                let (_, usage) = readme.split_once("## Use\n").expect("how to use it");
                let commented = usage.lines().filter(|line| line.contains("  # "));
                let columns: Vec<_> = commented.map(column).collect();
                assert_eq!(columns.len(), 2, "{readme}");
                assert_eq!(columns[0], columns[1], "{readme}");
            }
        }
    }

    #[test]
    fn projects_use_the_version_of_the_interface_that_they_contain() {
        let expected = component::version();
        for language in LANGUAGES {
            for template in TEMPLATES {
                for (path, content) in files(language, template, "it") {
                    let text = String::from_utf8(content.into_owned()).expect("text");
                    let named = text.split("acp-chain:proxy/").skip(1);
                    let versions =
                        named.filter_map(|rest| rest.split_once('@').map(|(_, version)| version));
                    for version in versions {
                        let is = version.starts_with(expected);
                        assert!(is, "{} {template}: {}", language.name, path.display());
                    }
                }
            }
        }
    }
}
