//! The host's side: projects are found by `find-projects`, and their proxies run in `project-chain`. Each is started
//! when a session needs it, and `find-projects` ends when it has no project to watch.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use url::Url;

use super::wire::{LINE, Lookup, ProjectStart, Reply, TrustedProject, line};
use crate::hooks::AttachedHooks;
use crate::protected::NamedFiles;
use crate::receipts;
use crate::trace::TraceTarget;
use acp_chain_channel::{Failure, FailurePolicy};
use acp_chain_conductor::native::{CommandLine, Dialect, Process, Startable};
use acp_chain_conductor::{ChildIo, Launch, Member, Native, Program, Project, Projects, Word};
use acp_chain_manifest::ReceiptsEntry;
use acp_chain_rpc::transport::{Frame, LineReader};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The name in the log of the process that finds projects.
const LOCATOR: &str = "find-projects";

/// The maximum length of a working directory, in bytes. No system has longer ones.
const PATH: usize = 32 * 1024;

/// How many lookups may wait for an answer.
const MOST: usize = 256;

/// How often the process that finds projects may fail before it is no longer started.
const FAILURES: u32 = 4;

/// What the user is told of a session whose project cannot be looked up.
const UNFOUND: &str = "projects cannot be looked up, so a session begins without the proxies of its project; restart \
                       acp-chain";

/// How to find and run projects: two command lines of this program.
#[derive(Clone, Debug)]
pub struct Finder {
    locator: CommandLine,
    chain: CommandLine,
    /// The files of the rest of the chain, which no proxy of a project may write to.
    beside: NamedFiles,
    /// Whether sessions must not begin in projects that are not trusted as they are.
    refuses: bool,
    /// Whether all sessions have one project, whatever their folders.
    has_one: bool,
}

/// Finds the projects of one connection.
pub struct Client {
    start: Launch,
    run: Run,
    beside: NamedFiles,
    refuses: bool,
    has_one: bool,
    /// Whether the user was notified that a working directory says no folder.
    notified: bool,
    hooks: AttachedHooks,
    running: Option<Running>,
    failures: u32,
    /// The numbers of unanswered lookups.
    open: HashSet<u64>,
    /// Results and notices to be returned first.
    words: VecDeque<Word>,
}

/// Starts a process that runs the proxies of a project, with a name for the log.
type Run = Arc<dyn Fn(&str) -> Result<ChildIo, Failure> + Send + Sync>;

/// The process that finds projects.
struct Running {
    input: Box<dyn AsyncWrite + Send + Unpin>,
    output: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The process ends when this is dropped.
    _process: Option<Process>,
    /// Bytes to be written to the process.
    unwritten: BytesMut,
    /// Whether the process watches a project.
    watches: bool,
}

impl Finder {
    /// The command lines of `program`, which is this one, for a chain with these log arguments and this trace. With
    /// `project`, all sessions have that one.
    pub fn new(
        program: &Path,
        logging: &[OsString],
        target: Option<&TraceTarget>,
        project: Option<&Path>,
        beside: NamedFiles,
        refuses: bool,
    ) -> io::Result<Self> {
        let command = |name: &str, option: &str, path: Option<&Path>| {
            let mut args = logging.to_owned();
            args.push(name.into());
            if let Some(path) = path {
                args.extend([option.into(), std::path::absolute(path)?.into_os_string()]);
            }
            io::Result::Ok(CommandLine::new(program, args))
        };
        let trace = target.map(|target| &*target.path);
        let mut chain = command("project-chain", "--trace", trace)?;
        if target.is_some_and(|target| target.bodies) {
            chain.args.push("--trace-bodies".into());
        }
        Ok(Self {
            locator: command(LOCATOR, "--project", project)?,
            chain,
            beside,
            refuses,
            has_one: project.is_some(),
        })
    }

    /// Lets the chains of projects write receipts, too, if there is a log.
    #[must_use]
    pub fn with_receipts(mut self, target: Option<&ReceiptsEntry>) -> Self {
        let options = target.map(receipts::options);
        self.chain.args.extend(options.unwrap_or_default());
        self
    }

    /// The commands to start, the finder first.
    pub fn commands(&self) -> [CommandLine; 2] {
        [self.locator.clone(), self.chain.clone()]
    }

    /// The client that starts these programs, which are in the order of [`commands`](Self::commands).
    pub fn client(self, [locator, chain]: [Startable; 2], hooks: AttachedHooks) -> Client {
        let locate = move || start(&locator, LOCATOR);
        let run = move |id: &str| start(&chain, id);
        Client {
            refuses: self.refuses,
            has_one: self.has_one,
            hooks,
            ..Client::new(Box::new(locate), Arc::new(run), self.beside)
        }
    }
}

/// The absolute path that a working directory is, or that it names by a URL: some clients name folders as editors do.
fn folder(cwd: &Path) -> Option<PathBuf> {
    let is_url = |text: &&str| text.len() <= PATH && text.starts_with("file:");
    let url = cwd.to_str().filter(is_url);
    let url = url.and_then(|text| Url::parse(text).ok());
    let named = url.and_then(|url| url.to_file_path().ok());
    named.or_else(|| cwd.has_root().then(|| cwd.to_owned()))
}

impl Projects for Client {
    fn find(&mut self, number: u64, cwd: &Path) {
        let named = if self.has_one {
            Some(cwd.to_owned())
        } else {
            folder(cwd)
        };
        let Some(folder) = named else {
            return self.without_folder(number, cwd);
        };
        let is_none = folder.as_os_str().len() > PATH || self.open.len() >= MOST;
        if is_none || !self.ensure_running() {
            let unknown = self.unknown("projects cannot be looked up");
            if unknown.is_ok() {
                self.words.push_back(Word::Notice(UNFOUND.to_owned()));
            }
            self.words.push_back(Word::Found(number, unknown));
            return;
        }
        if let Some(running) = &mut self.running {
            let cwd = folder.into_os_string();
            running
                .unwritten
                .extend_from_slice(&line(&Lookup { number, cwd }));
            self.open.insert(number);
        }
    }

    fn are_required(&self) -> bool {
        self.refuses
    }

    fn next(&mut self) -> Pin<Box<dyn Future<Output = Word> + Send + '_>> {
        Box::pin(async {
            loop {
                if let Some(word) = self.words.pop_front() {
                    return word;
                }
                let Some(running) = &mut self.running else {
                    return std::future::pending().await;
                };
                match running.next().await {
                    Some(said) => self.take(said),
                    None => self.fail(),
                }
            }
        })
    }
}

impl Client {
    fn new(start: Launch, run: Run, beside: NamedFiles) -> Self {
        Self {
            start,
            run,
            beside,
            refuses: false,
            has_one: false,
            notified: false,
            hooks: AttachedHooks::default(),
            running: None,
            failures: 0,
            open: HashSet::new(),
            words: VecDeque::new(),
        }
    }

    /// Starts the finder unless it runs; false if it cannot be started.
    fn ensure_running(&mut self) -> bool {
        if self.running.is_some() {
            return true;
        }
        if self.failures >= FAILURES {
            return false;
        }
        match (self.start)() {
            Ok(io) => {
                self.running = Some(Running {
                    input: io.input,
                    output: LineReader::new(io.output, LINE),
                    _process: io.process,
                    unwritten: BytesMut::new(),
                    watches: false,
                });
                true
            }
            Err(error) => {
                self.failures += 1;
                let why = format!("projects cannot be found: {error}");
                tracing::error!("{why}");
                self.words.push_back(Word::Notice(why));
                false
            }
        }
    }

    fn take(&mut self, said: Reply) {
        if let Some(notice) = said.notice {
            self.words.push_back(Word::Notice(notice));
        }
        if let Some(number) = said.number.filter(|number| self.open.remove(number)) {
            let found = match said.refused {
                Some(why) => Err(why),
                None => Ok(self.project(&said.projects)),
            };
            self.words.push_back(Word::Found(number, found));
        }
        if let Some(running) = &mut self.running {
            running.watches |= said.watches;
            // An idle finder only takes memory.
            if self.open.is_empty() && !running.watches {
                self.running = None;
            }
        }
    }

    /// The finder has ended. The next lookup starts another one.
    fn fail(&mut self) {
        self.running = None;
        self.failures += 1;
        let what =
            "the process that finds projects has ended; sessions that waited for it have none";
        tracing::error!("{what}");
        self.words.push_back(Word::Notice(what.to_owned()));
        for number in std::mem::take(&mut self.open) {
            let unknown = self.unknown(what);
            self.words.push_back(Word::Found(number, unknown));
        }
    }

    /// Answers the lookup of a working directory that says no folder. A client that names one so names all so.
    fn without_folder(&mut self, number: u64, cwd: &Path) {
        let shown = quote(&cwd.to_string_lossy(), MAX_QUOTE);
        let why = format!(
            "whether a project is at {shown} is not known, as that is not an absolute path"
        );
        tracing::warn!("{why}");
        let unknown = self.unknown(&why);
        if unknown.is_ok() && !std::mem::replace(&mut self.notified, true) {
            let text = format!("{why}. The session there begins without the project's proxies.");
            self.words.push_back(Word::Notice(text));
        }
        self.words.push_back(Word::Found(number, unknown));
    }

    /// The result of a failed lookup.
    fn unknown(&self, why: &str) -> Result<Option<Project>, String> {
        if self.refuses {
            Err(why.to_owned())
        } else {
            Ok(None)
        }
    }

    /// Combines these projects into one: the proxies of the nearest are in front.
    fn project(&self, trusted: &[TrustedProject]) -> Option<Project> {
        let nearest = trusted.first()?;
        let keys: Vec<_> = trusted
            .iter()
            .map(|project| project.key.to_string())
            .collect();
        let begins = trusted.iter().map(|project| {
            let begin = ProjectStart {
                root: project.root.clone(),
                key: project.key,
                guards_only: project.guards_only,
                hooks: self.hooks.clone(),
                beside: self.beside.clone(),
            };
            let name = quote(&project.name, MAX_QUOTE);
            (format!("project {name}"), Arc::clone(&self.run), begin)
        });
        let begins: Vec<_> = begins.collect();
        let make = || {
            let members = begins.into_iter();
            members
                .map(|(id, run, begin)| member(id, run, begin))
                .collect()
        };
        Some(Project {
            key: keys.join(" ").into(),
            name: quote(&nearest.name, MAX_QUOTE),
            make: Box::new(make),
        })
    }
}

/// The proxies of a project, as one proxy.
fn member(id: String, run: Run, begin: ProjectStart) -> Result<Member, Failure> {
    let name = id.clone();
    let mut launch: Launch = Box::new(move || {
        let io = run(&id)?;
        Ok(ChildIo {
            input: Box::new(PrefixedWriter {
                first: line(&begin).into(),
                rest: io.input,
            }),
            ..io
        })
    });
    Ok(Member::Native(Native {
        name,
        dialect: Some(Dialect::Proxy),
        on_failure: FailurePolicy::default(),
        sees_tool_runs: true,
        program: Some(Program {
            io: launch()?,
            launch,
        }),
    }))
}

fn start(program: &Startable, name: &str) -> Result<ChildIo, Failure> {
    ChildIo::start(program, Some(name)).map_err(|error| Failure::new(error.to_string()))
}

impl Running {
    /// Writes waiting bytes, and reads the next reply; `None` at the end. Cancel safe.
    async fn next(&mut self) -> Option<Reply> {
        loop {
            if let Some(frame) = self.output.next_frame() {
                let said = match &frame {
                    Frame::Line(line) => serde_json::from_slice(line).ok(),
                    Frame::Message(_) | Frame::TooLong { .. } | Frame::Torn(_) => None,
                };
                return said.or_else(|| {
                    tracing::error!("{LOCATOR} sent a malformed answer");
                    None
                });
            }
            let (input, unwritten) = (&mut self.input, &mut self.unwritten);
            let writing = async {
                if unwritten.is_empty() {
                    std::future::pending().await
                } else {
                    input.write(unwritten).await
                }
            };
            let filled = tokio::select! {
                wrote = writing => match wrote {
                    Ok(count) => {
                        self.unwritten.advance(count);
                        continue;
                    }
                    Err(_) => return None,
                },
                filled = self.output.fill() => filled,
            };
            if !filled.ok()? {
                return None;
            }
        }
    }
}

/// A stream with bytes to be written before all others.
struct PrefixedWriter<W> {
    first: bytes::Bytes,
    rest: W,
}

impl<W: AsyncWrite + Unpin> PrefixedWriter<W> {
    fn poll_first(&mut self, context: &mut Context) -> Poll<io::Result<()>> {
        while self.first.has_remaining() {
            let written = ready!(Pin::new(&mut self.rest).poll_write(context, &self.first))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.first.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for PrefixedWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_first(context))?;
        Pin::new(&mut self.rest).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        ready!(self.poll_first(context))?;
        Pin::new(&mut self.rest).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.rest).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, duplex};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use acp_chain_extension::Digest;

    /// The test's ends of all started processes.
    type Ends = UnboundedReceiver<BufReader<DuplexStream>>;

    /// A process played by the test.
    fn played() -> (
        impl Fn(&str) -> Result<ChildIo, Failure> + Send + Sync,
        Ends,
    ) {
        let (started, ends) = unbounded_channel();
        let start = move |_: &str| {
            let (ours, theirs) = duplex(4096);
            let _ = started.send(BufReader::new(ours));
            let (output, input) = tokio::io::split(theirs);
            Ok(ChildIo::over(output, input))
        };
        (start, ends)
    }

    fn client() -> (Client, Ends, Ends) {
        let (locate, locators) = played();
        let (run, chains) = played();
        let client = Client::new(
            Box::new(move || locate("")),
            Arc::new(run),
            NamedFiles::default(),
        );
        (client, locators, chains)
    }

    async fn line_of(end: &mut BufReader<DuplexStream>) -> String {
        let mut line = String::new();
        end.read_line(&mut line).await.unwrap();
        line
    }

    /// The next result or notice, while the process at the other end answers with these lines.
    async fn answered(
        client: &mut Client,
        end: &mut BufReader<DuplexStream>,
        said: &[Reply],
    ) -> (Word, String) {
        let play = async {
            let asked = line_of(end).await;
            for said in said {
                end.write_all(&line(said)).await.unwrap();
            }
            asked
        };
        tokio::join!(client.next(), play)
    }

    #[tokio::test]
    async fn a_trusted_project_is_run_by_a_process_whose_first_line_names_it() {
        let (mut client, mut locators, mut chains) = client();
        client.find(7, Path::new("/home/me/work/src"));
        let mut locator = locators.recv().await.unwrap();
        let key = Digest::of(b"it");
        let trusted = TrustedProject {
            key,
            root: "/home/me/work".into(),
            name: "work".to_owned(),
            guards_only: false,
        };
        let answer = Reply {
            number: Some(7),
            projects: vec![trusted],
            watches: true,
            ..Reply::default()
        };
        let (word, asked) = answered(&mut client, &mut locator, &[answer]).await;
        let asked: Lookup = serde_json::from_str(&asked).unwrap();
        assert_eq!(
            (asked.number, &*asked.cwd.to_string_lossy()),
            (7, "/home/me/work/src")
        );
        let Word::Found(7, Ok(Some(project))) = word else {
            panic!("{word:?}")
        };
        assert_eq!((&*project.key, &*project.name), (&*key.to_string(), "work"));
        let members = (project.make)().unwrap();
        let Ok([Member::Native(native)]) = <[Member; 1]>::try_from(members) else {
            panic!("one process")
        };
        assert_eq!(native.name, "project work");
        let mut program = native.program.unwrap();
        // A restarted process gets the same first line.
        for mut io in [program.io, (program.launch)().unwrap()] {
            io.input
                .write_all(b"{\"method\":\"proxy/initialize\"}\n")
                .await
                .unwrap();
            io.input.flush().await.unwrap();
            let mut chain = chains.recv().await.unwrap();
            let begin: ProjectStart = serde_json::from_str(&line_of(&mut chain).await).unwrap();
            assert_eq!(
                (begin.key, &*begin.root.to_string_lossy()),
                (key, "/home/me/work")
            );
            assert!(line_of(&mut chain).await.contains("proxy/initialize"));
        }
    }

    #[tokio::test]
    async fn notices_precede_the_answer_and_may_come_without_a_lookup() {
        let (mut client, mut locators, _chains) = client();
        client.find(1, Path::new("/work"));
        let mut locator = locators.recv().await.unwrap();
        let notice = |text: &str| Some(text.to_owned());
        let answer = Reply {
            number: Some(1),
            notice: notice("look"),
            watches: true,
            ..Reply::default()
        };
        let later = Reply {
            notice: notice("it changed"),
            ..Reply::default()
        };
        // An unrequested answer is ignored.
        let stray = Reply {
            number: Some(9),
            ..Reply::default()
        };
        let said = [answer, stray, later];
        let (word, _) = answered(&mut client, &mut locator, &said).await;
        assert!(
            matches!(&word, Word::Notice(text) if text == "look"),
            "{word:?}"
        );
        let word = client.next().await;
        assert!(matches!(&word, Word::Found(1, Ok(None))), "{word:?}");
        let word = client.next().await;
        assert!(
            matches!(&word, Word::Notice(text) if text == "it changed"),
            "{word:?}"
        );
    }

    #[tokio::test]
    async fn a_finder_without_a_project_to_watch_ends_and_is_started_again() {
        let (mut client, mut locators, _chains) = client();
        for number in 0..2 * u64::from(FAILURES) {
            client.find(number, Path::new("/nowhere"));
            let mut locator = locators.recv().await.unwrap();
            let answer = Reply {
                number: Some(number),
                ..Reply::default()
            };
            let (word, _) = answered(&mut client, &mut locator, &[answer]).await;
            assert!(
                matches!(&word, Word::Found(found, Ok(None)) if *found == number),
                "{word:?}"
            );
            assert_eq!(line_of(&mut locator).await, "", "its input has ended");
        }
    }

    #[tokio::test]
    async fn a_finder_stays_for_lookups_and_for_a_project() {
        let (mut client, mut locators, _chains) = client();
        client.find(1, Path::new("/nowhere"));
        client.find(2, Path::new("/work"));
        let mut locator = locators.recv().await.unwrap();
        let answer = |number, watches| Reply {
            number: Some(number),
            watches,
            ..Reply::default()
        };
        // The first was answered before the project was found.
        for (number, watches) in [(2, true), (1, false)] {
            let said = [answer(number, watches)];
            let (word, _) = answered(&mut client, &mut locator, &said).await;
            assert!(
                matches!(&word, Word::Found(found, Ok(None)) if *found == number),
                "{word:?}"
            );
        }
        client.find(3, Path::new("/work"));
        let (word, asked) = answered(&mut client, &mut locator, &[answer(3, true)]).await;
        assert!(asked.contains(r#""number":3"#), "{asked}");
        assert!(matches!(word, Word::Found(3, Ok(None))), "{word:?}");
    }

    #[tokio::test]
    async fn every_lookup_is_answered_even_if_the_finder_ends() {
        let (mut client, mut locators, _chains) = client();
        let too_long = "/".to_owned() + &"a".repeat(PATH);
        client.find(0, Path::new(&too_long));
        assert!(matches!(client.next().await, Word::Notice(text) if text == UNFOUND));
        assert!(matches!(client.next().await, Word::Found(0, Ok(None))));
        for number in 1..=u64::from(FAILURES) {
            client.find(number, Path::new("/work"));
            let end = locators.recv().await.unwrap();
            drop(end);
            let word = client.next().await;
            assert!(
                matches!(&word, Word::Notice(text) if text.contains("has ended")),
                "{word:?}"
            );
            let word = client.next().await;
            assert!(
                matches!(&word, Word::Found(found, Ok(None)) if *found == number),
                "{word:?}"
            );
        }
        // No process is started after so many failures, and each session tells so.
        client.find(100, Path::new("/work"));
        assert!(matches!(client.next().await, Word::Notice(text) if text == UNFOUND));
        assert!(matches!(client.next().await, Word::Found(100, Ok(None))));
        assert!(locators.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_folder_may_be_named_by_its_url_and_what_names_none_is_told_once() {
        let (mut client, mut locators, _chains) = client();
        for number in [1, 2] {
            client.find(number, Path::new("./work"));
            if number == 1 {
                let word = client.next().await;
                let told = "./work is not known, as that is not an absolute path";
                assert!(
                    matches!(&word, Word::Notice(text) if text.contains(told)),
                    "{word:?}"
                );
            }
            let word = client.next().await;
            assert!(
                matches!(&word, Word::Found(found, Ok(None)) if *found == number),
                "{word:?}"
            );
        }
        client.refuses = true;
        client.find(3, Path::new("work"));
        assert!(matches!(client.next().await, Word::Found(3, Err(_))));
        assert!(locators.try_recv().is_err());
        client.find(4, Path::new("file:///home/my%20work"));
        let mut locator = locators.recv().await.unwrap();
        let answer = Reply {
            number: Some(4),
            ..Reply::default()
        };
        let (_, asked) = answered(&mut client, &mut locator, &[answer]).await;
        let asked: Lookup = serde_json::from_str(&asked).unwrap();
        assert_eq!(asked.cwd, "/home/my work");
    }

    #[tokio::test]
    async fn waiting_lookups_are_bounded() {
        let (mut client, mut locators, _chains) = client();
        for number in 0..=MOST as u64 {
            client.find(number, Path::new("/work"));
        }
        let _locator = locators.recv().await.unwrap();
        assert!(matches!(client.next().await, Word::Notice(text) if text == UNFOUND));
        let word = client.next().await;
        assert!(
            matches!(&word, Word::Found(number, Ok(None)) if *number == MOST as u64),
            "{word:?}"
        );
    }
}
