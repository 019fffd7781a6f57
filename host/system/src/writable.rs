//! Whether our user may write files in a place, and what would let it. Nothing is written to find out.

use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind};
use std::path::Path;

use acp_chain_rpc::untrusted::Untrusted;

use super::files;

/// Why our user may not write in a place. It is displayed with the file or folder that is in the way.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    why: String,
    /// What would let our user write, if that is known.
    pub step: Option<String>,
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.why)
    }
}

/// An error if our user may not write a file, or to a folder. Of what does not exist yet, the nearest folder above it
/// decides.
pub fn check(path: &Path) -> Result<(), Refusal> {
    let mut all = path.ancestors();
    let there = all.find(|above| above.symlink_metadata().is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let shown = Untrusted::new(there.display());
    if there != path && !there.is_dir() {
        return Err(Refusal {
            why: format!("{shown} is not a folder"),
            step: None,
        });
    }
    files::check_writable(there).map_err(|error| Refusal {
        why: format!("{shown}: {error}"),
        step: step(there, &error),
    })
}

/// What the user can do about an error of the system about a file or folder, to be appended to it: nothing, unless our
/// user may not write there.
pub fn next_step(path: &Path, error: &io::Error) -> String {
    if !is_refused(error) {
        return String::new();
    }
    // A file is replaced by another one, so its folder may be in the way.
    let folder = path.parent().unwrap_or(path);
    let refused = check(path).and_then(|()| check(folder)).err();
    let step = refused.and_then(|refusal| refusal.step);
    step.map_or_else(String::new, |step| format!("; {step}"))
}

fn step(path: &Path, error: &io::Error) -> Option<String> {
    if is_refused(error) {
        files::step_to_own(path)
    } else {
        None
    }
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_folder_decides_about_what_does_not_exist() {
        let top = tempfile::tempdir().unwrap();
        assert_eq!(check(&top.path().join("a/b/c")), Ok(()));
        let file = top.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(check(&file), Ok(()));
        let refusal = check(&file.join("data/acp-chain")).unwrap_err();
        let expected = format!("{} is not a folder", file.display());
        assert_eq!(refusal.to_string(), expected);
        assert_eq!(refusal.step, None);
    }

    #[test]
    fn only_an_error_about_permissions_has_a_next_step() {
        let top = tempfile::tempdir().unwrap();
        for kind in [ErrorKind::StorageFull, ErrorKind::NotFound] {
            assert_eq!(next_step(top.path(), &kind.into()), "");
        }
        // Our user may write there by now.
        assert_eq!(
            next_step(top.path(), &ErrorKind::PermissionDenied.into()),
            ""
        );
    }
}
