//! The limit of open files, pipes and sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What macOS always allows (`OPEN_MAX`). It refuses more, even where the hard limit is higher or there is none.
const CERTAIN: u64 = 10_240;

/// Raises the limit of this process and its children as far as the system allows. Returns the new limit.
pub fn raise() -> usize {
    let Rlimit { maximum, current } = getrlimit(Resource::Nofile);
    let wanted = [maximum, Some(CERTAIN)].into_iter();
    let mut higher = wanted.filter(|wanted| is_higher(*wanted, current));
    let raised = higher.find(|wanted| {
        let limit = Rlimit {
            current: *wanted,
            maximum,
        };
        setrlimit(Resource::Nofile, limit).is_ok()
    });
    let has = raised.unwrap_or(current);
    has.map_or(usize::MAX, |has| usize::try_from(has).unwrap_or(usize::MAX))
}

/// Whether a limit is higher than another; `None` is none.
fn is_higher(limit: Option<u64>, than: Option<u64>) -> bool {
    match (limit, than) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(limit), Some(than)) => limit > than,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_never_lowered() {
        for (limit, than, higher) in [
            (Some(2), Some(1), true),
            (Some(1), Some(1), false),
            (None, Some(1), true),
            (Some(1), None, false),
            (None, None, false),
        ] {
            assert_eq!(is_higher(limit, than), higher, "{limit:?} {than:?}");
        }
        let before = getrlimit(Resource::Nofile).current;
        let has = raise();
        assert_eq!(raise(), has);
        let before = before.map_or(usize::MAX, |before| usize::try_from(before).unwrap());
        assert!(has >= before);
    }
}
