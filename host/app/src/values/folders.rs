//! The folders of projects, by which their values are found.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use acp_chain_project::Records;
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

use crate::home;

/// How long a folder is looked for: as long as the database waits for other programs.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many lookups may hang.
const MOST: usize = 32;

/// The folder whose values those of a session in this folder are, without symbolic links: the nearest one upwards that
/// the user trusts as a project, or else the folder itself. The agent cannot change which one that is by a file.
///
/// A folder that is not there stays as it is named: the client and the agent may be on other machines.
fn folder(named: &Path, records: Option<&Records>) -> io::Result<PathBuf> {
    if !named.is_absolute() {
        return Ok(named.to_owned());
    }
    let real = match files::real(named) {
        Ok(real) => real,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(named.to_owned());
        }
        Err(error) => return Err(error),
    };
    let is_known = |folder: &&Path| records.is_some_and(|records| records.know(folder));
    let known = real.ancestors().find(is_known);
    Ok(known.unwrap_or(&real).to_owned())
}

type Find = dyn Fn(&Path) -> io::Result<PathBuf> + Send + Sync;

/// Looks for folders, each in a thread of its own: a hanging disk fails only the requests about its folders, and holds
/// the others up once.
pub struct Folders {
    find: Arc<Find>,
    patience: Duration,
    /// The folders that are looked for, or whose lookups hang.
    open: Arc<Mutex<HashSet<PathBuf>>>,
}

impl Folders {
    /// Looks for folders on this system.
    pub fn new() -> Self {
        let records = home::records().ok();
        Self::with(PATIENCE, move |named| folder(named, records.as_ref()))
    }

    fn with(
        patience: Duration,
        find: impl Fn(&Path) -> io::Result<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        Self {
            find: Arc::new(find),
            patience,
            open: Arc::default(),
        }
    }

    /// The [`folder`] of this one, or why it is not known.
    pub fn find(&self, named: &Path) -> Result<PathBuf, String> {
        let shown = Untrusted::new(named.display());
        let hangs = || format!("the folder {shown} is on a disk that does not answer");
        if !self.begin(named) {
            return Err(hangs());
        }
        let (tell, told) = channel();
        let (find, open, path) = (self.find.clone(), self.open.clone(), named.to_owned());
        let thread = thread::Builder::new().spawn(move || {
            let folder = find(path.as_path());
            open.lock().remove(&path);
            // If it took too long, the request has failed.
            let _ = tell.send(folder);
        });
        if let Err(error) = thread {
            self.open.lock().remove(named);
            return Err(format!("no thread can be started: {error}"));
        }
        match told.recv_timeout(self.patience) {
            Ok(found) => {
                found.map_err(|error| format!("the folder {shown} cannot be read: {error}"))
            }
            Err(_) => Err(hangs()),
        }
    }

    /// Whether a lookup of this folder may begin.
    fn begin(&self, named: &Path) -> bool {
        let mut open = self.open.lock();
        open.len() < MOST && open.insert(named.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::Sender;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_has_the_values_of_its_real_path() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap().join("work");
        fs::create_dir(&real).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for named in [&real, &link, &real.join("../work/.")] {
            assert_eq!(folder(named, None).unwrap(), real);
        }
        // A manifest alone, which the agent can write, does not move the values of what is below.
        fs::create_dir(real.join("sub")).unwrap();
        fs::write(real.join("acp-chain.toml"), "").unwrap();
        let records = Records::open(&home.path().join("trust"));
        let sub = real.join("sub");
        assert_eq!(folder(&sub, Some(&records)).unwrap(), sub);
    }

    #[test]
    fn a_folder_that_is_not_there_is_the_one_that_is_named() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        for named in [
            &*home.path().join("gone"),
            &file.join("below"),
            Path::new("rel"),
        ] {
            assert_eq!(folder(named, None).unwrap(), named);
        }
    }

    /// Lookups that do not end before the sender is dropped.
    fn hanging() -> (Folders, Sender<()>) {
        let (held, hang) = channel::<()>();
        let hang = Mutex::new(hang);
        let folders = Folders::with(Duration::ZERO, move |named| {
            let _ = hang.lock().recv();
            Ok(named.to_owned())
        });
        (folders, held)
    }

    #[test]
    fn a_lookup_that_hangs_is_not_begun_again_and_their_number_is_bounded() {
        let (folders, _held) = hanging();
        let work = Path::new("/work");
        let error = folders.find(work).unwrap_err();
        assert!(error.contains("/work is on a disk that"), "{error}");
        assert!(!folders.begin(work));
        for number in 1..MOST {
            assert!(folders.begin(&work.join(number.to_string())));
        }
        assert!(!folders.begin(Path::new("/other")));
    }

    #[test]
    fn what_is_found_is_returned_and_can_be_looked_for_again() {
        let folders = Folders::with(PATIENCE, |named| match named.to_str() {
            Some("/secret") => Err(ErrorKind::PermissionDenied.into()),
            _ => Ok("/found".into()),
        });
        for _ in 0..2 {
            assert_eq!(folders.find(Path::new("/a")), Ok("/found".into()));
        }
        let error = folders.find(Path::new("/secret")).unwrap_err();
        assert!(
            error.starts_with("the folder /secret cannot be read: "),
            "{error}"
        );
    }
}
