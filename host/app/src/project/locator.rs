//! Finds projects: each lookup in a separate thread, so a hanging disk delays only lookups on it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::state::State;
use super::wire::{Lookup, Reply, TrustedProject};
use acp_chain_extension::Digest;
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The maximum number of concurrent lookups.
const MOST: usize = 32;

/// The maximum number of projects whose states are remembered.
const KNOWN: usize = 256;

/// How long a project is examined of which a copy was kept. A session waits for the whole lookup twice as long.
const ENOUGH: Duration = Duration::from_secs(1);

/// Finds and examines projects.
pub trait Look: Send + Sync {
    /// The roots of the projects of a working directory, the nearest first.
    fn find(&self, cwd: &Path) -> Vec<PathBuf>;

    /// The state of the project with this root.
    fn state(&self, root: &Path) -> State;

    /// The key of the kept copy of a changed project: the content that the user agreed to.
    fn kept(&self, root: &Path) -> Option<Digest>;

    /// Called before each check of the project with this root, if its state is remembered. It may take as long as the
    /// check: the paths of components are those of the repository.
    fn begin(&self, root: &Path);
}

/// Finds projects for one connection. Clones share everything.
#[derive(Clone)]
pub struct Locator {
    look: Arc<dyn Look>,
    say: Arc<dyn Fn(&Reply) + Send + Sync>,
    /// Whether sessions must not begin in projects that are not trusted as they are.
    refuses: bool,
    /// The threads that may still be started for lookups.
    threads: Arc<Semaphore>,
    /// Those that may still be started to examine a project, each for as long as its files take to be read: lookups go
    /// on without them.
    examinations: Arc<Semaphore>,
    known: Arc<Mutex<HashMap<PathBuf, KnownProject>>>,
    enough: Duration,
}

/// The remembered state of a project.
#[derive(Default)]
struct KnownProject {
    /// The last state.
    state: Option<State>,
    /// The key of the content that the user agreed to, and that new sessions get. It stays when files change.
    in_force: Option<Digest>,
}

/// The state of a project, and its consequences.
struct Status {
    state: State,
    /// The key of the content that new sessions get.
    in_force: Option<Digest>,
    /// A notice for the user, if the state has changed.
    notice: Option<String>,
}

impl Locator {
    /// A locator that sends its results to `say`.
    pub fn new(
        look: impl Look + 'static,
        refuses: bool,
        say: impl Fn(&Reply) + Send + Sync + 'static,
    ) -> Self {
        Self {
            refuses,
            look: Arc::new(look),
            say: Arc::new(say),
            threads: Arc::new(Semaphore::new(MOST)),
            examinations: Arc::new(Semaphore::new(MOST)),
            known: Arc::default(),
            enough: ENOUGH,
        }
    }

    /// Starts a lookup. Each lookup is answered.
    pub fn begin(&self, lookup: Lookup) {
        let number = lookup.number;
        let cwd = quote(&lookup.cwd.to_string_lossy(), MAX_QUOTE);
        let this = self.clone();
        let answer = move || this.reply(number, this.answer(Path::new(&lookup.cwd)));
        let begun = apart(&self.threads, answer);
        if !begun {
            let why = format!("{MOST} lookups of projects are already under way");
            tracing::warn!("a session has no project: {why}");
            let notice = format!(
                "whether a project is at {cwd} is not known, as {why}. The session there begins without the project's \
                 proxies."
            );
            let (refused, notice) = if self.refuses {
                (Some(why), None)
            } else {
                (None, Some(notice))
            };
            self.reply(
                number,
                Reply {
                    refused,
                    notice,
                    ..Reply::default()
                },
            );
        }
    }

    fn reply(&self, number: u64, answer: Reply) {
        let watches = !self.known.lock().is_empty();
        (self.say)(&Reply {
            number: Some(number),
            watches,
            ..answer
        });
    }

    /// Checks all known projects again, and reports changes.
    pub fn again(&self) {
        let roots: Vec<_> = self.known.lock().keys().cloned().collect();
        // At most half of the threads: a project whose disk hangs delays only the others of its thread.
        let share = roots.len().div_ceil(MOST / 2).max(1);
        for roots in roots.chunks(share) {
            let (this, roots) = (self.clone(), roots.to_vec());
            let checked = apart(&self.threads, move || {
                for root in &roots {
                    let Status { notice, .. } = this.status(root);
                    if notice.is_some() {
                        (this.say)(&Reply {
                            notice,
                            ..Reply::default()
                        });
                    }
                }
            });
            if !checked {
                tracing::warn!("changes of projects are seen when sessions begin: lookups hang");
            }
        }
    }

    fn answer(&self, cwd: &Path) -> Reply {
        let mut reply = Reply::default();
        let mut notices = Vec::new();
        for root in self.look.find(cwd) {
            let status = self.status(&root);
            notices.extend(status.notice);
            let refused = self.refuses && !status.state.is_decided();
            reply.refused = reply
                .refused
                .or(refused.then(|| status.state.refusal(&root)));
            let guards_only = !reply.projects.is_empty();
            reply
                .projects
                .extend(status.in_force.map(|key| TrustedProject {
                    key,
                    name: name(&root),
                    root: root.into_os_string(),
                    guards_only,
                }));
        }
        reply.notice = (!notices.is_empty()).then(|| notices.join("\n"));
        reply
    }

    /// Determines the current state of a project.
    fn status(&self, root: &Path) -> Status {
        // This may take long; other lookups must not wait for it.
        let state = self.examine(root);
        let in_force = match &state {
            State::Trusted(key) => Some(*key),
            State::Changed | State::Wrong(_) | State::Gone => self.look.kept(root),
            State::Unknown | State::Denied => None,
        };
        let mut status = Status {
            state,
            in_force,
            notice: None,
        };
        if !self.remembers(root) {
            return status;
        }
        let mut all = self.known.lock();
        let known = all.entry(root.to_owned()).or_default();
        // Sessions keep what they got even if no copy was kept.
        let runs = known
            .in_force
            .filter(|_| matches!(status.state, State::Changed | State::Wrong(_)));
        status.in_force = status.in_force.or(runs);
        known.in_force = status.in_force;
        let before = known.state.replace(status.state.clone());
        if before.as_ref() != Some(&status.state) {
            let is_in_force = status.in_force.is_some();
            status.notice = status.state.notice(before.as_ref(), root, is_in_force);
        }
        status
    }

    /// The state of a project. If that is not known in time and the user has agreed to some content, that content
    /// counts: a commit that makes files large, or their paths deep, must not let sessions begin without their guards.
    fn examine(&self, root: &Path) -> State {
        let (tell, told) = channel();
        let (this, path) = (self.clone(), root.to_owned());
        let state = move || {
            // Watched before it is examined, so that no change is missed. Its components may be in other folders now.
            if this.remembers(&path) {
                this.look.begin(&path);
            }
            drop(tell.send(this.look.state(&path)));
        };
        let is_begun = apart(&self.examinations, state);
        let late = || {
            let shown = Untrusted::new(root.display());
            State::Wrong(format!("{shown} takes too long to be read"))
        };
        let kept = || self.look.kept(root).is_some();
        if !is_begun {
            return if kept() {
                late()
            } else {
                self.look.state(root)
            };
        }
        told.recv_timeout(self.enough).unwrap_or_else(|_| {
            let whenever = if kept() { None } else { told.recv().ok() };
            whenever.unwrap_or_else(late)
        })
    }

    /// Whether the state of this project is remembered, or may be.
    fn remembers(&self, root: &Path) -> bool {
        let all = self.known.lock();
        all.contains_key(root) || all.len() < KNOWN
    }
}

/// Runs `work` in a separate thread. Returns false if too many run.
fn apart(threads: &Arc<Semaphore>, work: impl FnOnce() + Send + 'static) -> bool {
    let Ok(permit) = Arc::clone(threads).try_acquire_owned() else {
        return false;
    };
    let thread = thread::Builder::new().spawn(move || {
        let _permit = permit;
        work();
    });
    thread.is_ok()
}

/// The display name of a project: its folder.
fn name(root: &Path) -> String {
    let name = root.file_name().unwrap_or(root.as_os_str());
    quote(&name.to_string_lossy(), MAX_QUOTE)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender};

    use super::*;

    /// Every folder is a project. Those below `/hangs` never answer.
    struct Played(Mutex<Vec<State>>, Mutex<Receiver<()>>);

    impl Look for Played {
        fn find(&self, cwd: &Path) -> Vec<PathBuf> {
            if cwd.starts_with("/hangs") {
                // The sender is kept until the test is over.
                let _ = self.1.lock().recv();
            }
            let found = cwd.is_absolute().then(|| cwd.to_owned());
            found.into_iter().collect()
        }

        fn kept(&self, _: &Path) -> Option<Digest> {
            None
        }

        fn state(&self, _: &Path) -> State {
            let mut states = self.0.lock();
            match states.len() {
                1 => states[0].clone(),
                _ => states.remove(0),
            }
        }

        fn begin(&self, _: &Path) {}
    }

    fn locator(states: Vec<State>) -> (Locator, Receiver<Reply>, Sender<()>) {
        let (say, said) = channel();
        let (held, hangs) = channel();
        let look = Played(Mutex::new(states), Mutex::new(hangs));
        let locator = Locator::new(look, false, move |one: &Reply| {
            let copy = Reply {
                number: one.number,
                projects: one.projects.clone(),
                refused: one.refused.clone(),
                notice: one.notice.clone(),
                watches: one.watches,
            };
            let _ = say.send(copy);
        });
        (locator, said, held)
    }

    fn lookup(number: u64, cwd: &str) -> Lookup {
        Lookup {
            number,
            cwd: cwd.into(),
        }
    }

    fn key(content: &str) -> Digest {
        Digest::of(content.as_bytes())
    }

    #[test]
    fn hanging_lookups_delay_no_others_and_are_bounded() {
        let (locator, said, held) = locator(vec![State::Trusted(key("it"))]);
        for number in 0..MOST as u64 - 1 {
            locator.begin(lookup(number, "/hangs/here"));
        }
        locator.begin(lookup(100, "/work"));
        let answer = said.recv().unwrap();
        assert_eq!(answer.number, Some(100));
        assert!(answer.watches);
        assert_eq!(answer.projects[0].name, "work");
        // The previous thread may not have ended yet: then the first of these is refused, otherwise the second.
        locator.begin(lookup(200, "/hangs/too"));
        locator.begin(lookup(201, "/hangs/too"));
        let refused = said.recv().unwrap();
        assert!(matches!(refused.number, Some(200 | 201)), "{refused:?}");
        assert!(refused.projects.is_empty());
        let notice = refused.notice.unwrap();
        assert!(notice.contains("/hangs/too is not known, as"), "{notice}");
        drop(held);
    }

    /// A project of which a copy was kept, and whose folders are found, and files read, for as long as the sender is
    /// there.
    struct Slow(Mutex<Receiver<()>>);

    impl Look for Slow {
        fn find(&self, cwd: &Path) -> Vec<PathBuf> {
            vec![cwd.to_owned()]
        }

        fn state(&self, _: &Path) -> State {
            let _ = self.0.lock().recv();
            State::Changed
        }

        fn kept(&self, _: &Path) -> Option<Digest> {
            Some(key("kept"))
        }

        fn begin(&self, _: &Path) {
            let _ = self.0.lock().recv();
        }
    }

    #[test]
    fn files_that_take_long_to_find_or_to_read_do_not_disarm_a_project() {
        let (say, said) = channel();
        let (held, hangs) = channel();
        let mut locator = Locator::new(Slow(Mutex::new(hangs)), false, move |reply: &Reply| {
            let keys = reply.projects.iter().map(|project| project.key);
            let _ = say.send((keys.collect::<Vec<_>>(), reply.notice.clone()));
        });
        locator.enough = Duration::ZERO;
        locator.begin(lookup(1, "/work"));
        let (keys, notice) = said.recv().unwrap();
        assert_eq!(keys, [key("kept")]);
        let notice = notice.unwrap();
        assert!(notice.contains("takes too long to be read"), "{notice}");
        // However many wait for them: the agent could change them again and again.
        for number in 2..3 * MOST as u64 {
            locator.begin(lookup(number, "/work"));
            let (keys, _) = said.recv().unwrap();
            assert_eq!(keys, [key("kept")]);
        }
        drop(held);
    }

    #[test]
    fn agreed_content_stays_in_force_while_the_files_change() {
        let states = vec![
            State::Trusted(key("old")),
            State::Wrong("/work/acp-chain.toml:1:1: no".to_owned()),
            State::Changed,
            State::Trusted(key("new")),
            State::Unknown,
        ];
        let (locator, said, _held) = locator(states);
        let ask = || {
            locator.begin(lookup(1, "/work"));
            let answer = said.recv().unwrap();
            (
                answer.projects.first().map(|project| project.key),
                answer.notice.unwrap_or_default(),
            )
        };
        assert_eq!(ask(), (Some(key("old")), String::new()));
        let (in_force, notice) = ask();
        assert_eq!(in_force, Some(key("old")));
        assert!(
            notice.contains(
                "acp-chain.toml:1:1: no. New sessions have the proxies that you agreed to before"
            ),
            "{notice}"
        );
        let (in_force, notice) = ask();
        assert_eq!(in_force, Some(key("old")));
        assert!(
            notice.contains("has changed since you agreed to its proxies"),
            "{notice}"
        );
        let (in_force, notice) = ask();
        assert_eq!(in_force, Some(key("new")));
        assert!(notice.contains("is trusted now"), "{notice}");
        let (in_force, notice) = ask();
        assert_eq!(in_force, None);
        assert!(notice.contains("is no longer trusted"), "{notice}");
        // A state is reported once.
        assert_eq!(ask(), (None, String::new()));
    }

    #[test]
    fn changes_are_reported_without_a_lookup() {
        let states = vec![State::Trusted(key("old")), State::Trusted(key("new"))];
        let (locator, said, _held) = locator(states);
        locator.begin(lookup(1, "/work"));
        assert_eq!(said.recv().unwrap().notice, None);
        locator.again();
        let reply = said.recv().unwrap();
        assert_eq!((reply.number, &reply.projects[..]), (None, &[][..]));
        let notice = reply.notice.unwrap();
        assert!(
            notice.contains("new sessions have its proxies as they are now"),
            "{notice}"
        );
    }

    #[test]
    fn a_denied_project_is_watched_but_not_mentioned() {
        let (locator, said, _held) = locator(vec![State::Denied]);
        locator.begin(lookup(1, "relative: it has no project"));
        assert!(!said.recv().unwrap().watches);
        locator.begin(lookup(2, "/work"));
        let answer = said.recv().unwrap();
        assert!(answer.watches);
        assert_eq!((&answer.projects[..], answer.notice), (&[][..], None));
    }
}
