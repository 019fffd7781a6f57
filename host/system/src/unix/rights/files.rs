//! Landlock: the files that can be opened.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    make_bitflags,
};

use super::super::directory::Directory;

/// The rights to restrict, if the kernel supports that: everything in this version of Landlock.
const NEWEST: ABI = ABI::V7;

/// What a proxy may do in a granted directory.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | MakeReg | MakeDir | MakeSym | RemoveFile | RemoveDir | Refer
});

/// How often, and with what pauses, to check whether other threads have ended: the kernel may list a joined thread for
/// a moment.
const LOOKS: u32 = 5000;
const PAUSE: Duration = Duration::from_micros(200);

pub fn give_up(
    directories: &[(&Directory, bool)],
    cleared: Option<&Directory>,
) -> Result<(), String> {
    let threads = others();
    let status =
        restrict(directories, cleared).map_err(|error| format!("Landlock fails: {error}"))?;
    match status.landlock {
        LandlockStatus::NotImplemented => Err("this kernel has no Landlock".to_owned()),
        LandlockStatus::NotEnabled => {
            Err("this kernel was started without Landlock (`lsm=` on its command line)".to_owned())
        }
        LandlockStatus::Available { .. } => match threads {
            Ok(0) => Ok(()),
            Ok(count) => Err(format!("{count} other threads were running")),
            Err(error) => Err(format!("other threads may have been running: {error}")),
        },
    }
}

/// The number of our other threads.
fn others() -> io::Result<usize> {
    let count = || Ok(fs::read_dir("/proc/self/task")?.count().saturating_sub(1));
    for _ in 0..LOOKS {
        if count()? == 0 {
            return Ok(0);
        }
        thread::sleep(PAUSE);
    }
    count()
}

fn restrict(
    directories: &[(&Directory, bool)],
    cleared: Option<&Directory>,
) -> Result<RestrictionStatus, RulesetError> {
    let rules = directories.iter().map(|(directory, writes)| {
        let access = if *writes { READ | WRITE } else { READ };
        Ok::<_, RulesetError>(PathBeneath::new(directory.as_fd(), access))
    });
    let cleared = cleared.map(|directory| {
        let access = BitFlags::from(AccessFs::RemoveFile);
        Ok(PathBeneath::new(directory.as_fd(), access))
    });
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(rules.chain(cleared))?
        .restrict_self()
}
