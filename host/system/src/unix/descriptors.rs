//! The limit of open files, pipes and sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of this process and its children as far as the system allows. Returns the new limit.
pub fn raise() -> usize {
    let Rlimit { maximum, current } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    let has = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    has.map_or(usize::MAX, |has| usize::try_from(has).unwrap_or(usize::MAX))
}
