//! The host's side: projects are found by `find-projects`, and their proxies run in `project-chain`. Neither is
//! started before a session asks for it.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::wire::{Begin, LINE, Lookup, Said, Trusted, line};
use crate::chain::{ChildIo, Launch, Member, Native, Program, Project, Projects, Word};
use crate::channel::{Failure, FailurePolicy};
use crate::native::{CommandLine, Dialect, Process, Startable};
use crate::rpc::{Frame, LineReader};
use crate::untrusted::{MAX_QUOTE, quote};

/// What is said of the process that finds projects in the log.
const LOCATOR: &str = "find-projects";

/// The longest working directory that is looked at, in bytes. No system has longer ones.
const PATH: usize = 32 * 1024;

/// So many lookups may wait for an answer.
const MOST: usize = 256;

/// So often the process is started that finds projects.
const STARTS: u32 = 4;

/// How projects are found and run: by two command lines of this program.
#[derive(Clone, Debug)]
pub struct Finding {
    locator: CommandLine,
    chain: CommandLine,
    /// What else runs in front of and behind the proxies of a project.
    programs: Vec<CommandLine>,
}

/// What the command line says about projects.
#[derive(Debug, Default)]
pub struct Asked<'a> {
    /// The project of every session.
    pub project: Option<&'a Path>,
    /// Where the log and the trace go.
    pub logging: &'a [OsString],
    pub trace: Option<&'a Path>,
}

/// Finds the projects of one connection.
pub struct Client {
    locator: Startable,
    chain: Startable,
    programs: Arc<[CommandLine]>,
    running: Option<Running>,
    starts: u32,
    /// Lookups without an answer.
    open: HashSet<u64>,
    /// What is to be said first.
    words: VecDeque<Word>,
}

/// The process that finds projects.
struct Running {
    _process: Process,
    input: Box<dyn AsyncWrite + Send + Unpin>,
    output: LineReader<Box<dyn tokio::io::AsyncRead + Send + Unpin>>,
    /// What waits to be written to it.
    unwritten: BytesMut,
}

impl Finding {
    /// What `program`, which is this one, is to be started as.
    pub fn new(program: &Path, asked: &Asked, programs: Vec<CommandLine>) -> io::Result<Self> {
        let command = |name: &str, option: &str, path: Option<&Path>| {
            let mut args = asked.logging.to_vec();
            args.push(name.into());
            if let Some(path) = path {
                args.extend([option.into(), std::path::absolute(path)?.into_os_string()]);
            }
            io::Result::Ok(CommandLine {
                program: program.as_os_str().to_owned(),
                args,
                env: Vec::new(),
            })
        };
        Ok(Self {
            locator: command(LOCATOR, "--project", asked.project)?,
            chain: command("project-chain", "--trace", asked.trace)?,
            programs,
        })
    }

    /// What is to be started, the finder first.
    pub fn commands(&self) -> [CommandLine; 2] {
        [self.locator.clone(), self.chain.clone()]
    }

    /// With what may be started, in the order of [`commands`](Self::commands).
    pub fn client(self, [locator, chain]: [Startable; 2]) -> Client {
        Client {
            locator,
            chain,
            programs: self.programs.into(),
            running: None,
            starts: 0,
            open: HashSet::new(),
            words: VecDeque::new(),
        }
    }
}

impl Projects for Client {
    fn find(&mut self, number: u64, cwd: &Path) {
        let is_none = cwd.as_os_str().len() > PATH || self.open.len() >= MOST;
        if is_none || !self.is_running() {
            self.words.push_back(Word::Found(number, None));
            return;
        }
        if let Some(running) = &mut self.running {
            let cwd = cwd.as_os_str().to_owned();
            running
                .unwritten
                .extend_from_slice(&line(&Lookup { number, cwd }));
            self.open.insert(number);
        }
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
                    Some(said) => self.hear(said),
                    None => self.lose(),
                }
            }
        })
    }
}

impl Client {
    /// Whether there is somebody to ask, who is started if not.
    fn is_running(&mut self) -> bool {
        if self.running.is_some() {
            return true;
        }
        if self.starts >= STARTS {
            return false;
        }
        self.starts += 1;
        match Process::start(&self.locator, Some(LOCATOR)) {
            Ok((process, input, output)) => {
                self.running = Some(Running {
                    _process: process,
                    input: Box::new(input),
                    output: LineReader::new(Box::new(output), LINE),
                    unwritten: BytesMut::new(),
                });
                true
            }
            Err(error) => {
                let why = format!("projects cannot be found: {error}");
                tracing::error!("{why}");
                self.words.push_back(Word::Notice(why));
                false
            }
        }
    }

    fn hear(&mut self, said: Said) {
        if let Some(notice) = said.notice {
            self.words.push_back(Word::Notice(notice));
        }
        let Some(number) = said.number.filter(|number| self.open.remove(number)) else {
            return;
        };
        let project = said.project.map(|trusted| self.project(&trusted));
        self.words.push_back(Word::Found(number, project));
    }

    /// Nobody answers any more. The next lookup starts another one.
    fn lose(&mut self) {
        self.running = None;
        let what =
            "the process that finds projects has ended; sessions that waited for it have none";
        tracing::error!("{what}");
        self.words.push_back(Word::Notice(what.to_owned()));
        let open = self.open.drain();
        self.words
            .extend(open.map(|number| Word::Found(number, None)));
    }

    fn project(&self, trusted: &Trusted) -> Project {
        let begin = Begin {
            root: trusted.root.clone(),
            key: trusted.key,
            programs: self.programs.to_vec(),
        };
        let name = quote(&trusted.name, MAX_QUOTE);
        let (id, chain) = (format!("project {name}"), self.chain.clone());
        Project {
            key: trusted.key.to_string().into(),
            name,
            make: Box::new(move || member(id, chain, begin).map(|member| vec![member])),
        }
    }
}

/// The proxies of a project, as one proxy.
fn member(id: String, chain: Startable, begin: Begin) -> Result<Member, Failure> {
    let name = id.clone();
    let mut launch: Launch = Box::new(move || {
        let started = Process::start(&chain, Some(&id));
        let (process, input, output) = started.map_err(|error| Failure::new(error.to_string()))?;
        Ok(ChildIo {
            output: Box::new(output),
            input: Box::new(Preceded {
                first: line(&begin).into(),
                rest: input,
            }),
            process: Some(process),
        })
    });
    Ok(Member::Native(Native {
        name,
        dialect: Some(Dialect::Proxy),
        on_failure: FailurePolicy::default(),
        program: Some(Program {
            io: launch()?,
            launch,
        }),
    }))
}

impl Running {
    /// Writes what waits, and reads what is said; none at its end. Cancel safe.
    async fn next(&mut self) -> Option<Said> {
        loop {
            if let Some(frame) = self.output.next_frame() {
                let said = match &frame {
                    Frame::Line(line) => serde_json::from_slice(line).ok(),
                    Frame::TooLong { .. } | Frame::Torn(_) => None,
                };
                return said.or_else(|| {
                    tracing::error!("{LOCATOR} says what nobody understands");
                    None
                });
            }
            let (input, unwritten) = (&mut self.input, &mut self.unwritten);
            let writing = async {
                match unwritten.is_empty() {
                    true => std::future::pending().await,
                    false => input.write(unwritten).await,
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

/// A stream in front of which something else is written.
struct Preceded<W> {
    first: bytes::Bytes,
    rest: W,
}

impl<W: AsyncWrite + Unpin> Preceded<W> {
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

impl<W: AsyncWrite + Unpin> AsyncWrite for Preceded<W> {
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
