//! What those who come in are verified by, as it changes: files of tokens, keys of issuers, and our own certificate.
//!
//! A server may open no files and connect to nothing. So a process is started before those rights are given up, and has
//! none of its clients' words: it is told once what to watch, and later only that keys may be missing. Each time that
//! something has changed, it says all of it, as a line of JSON.

use std::io::{self, BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use acp_chain_remote::gate::tokens::{self, Token};
use acp_chain_remote::gate::{Gate, GateSettings, Jwks, JwksSource, Keys, PemPair};
use acp_chain_remote::server::tls::Tls;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval};

use crate::extension::fetch::{Patience, Web};
use crate::untrusted::Untrusted;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often keys of issuers are fetched.
const FETCH: Duration = Duration::from_mins(10);

/// No sooner are they fetched once more, whoever asks.
const PAUSE: Duration = Duration::from_secs(10);

/// The largest file or answer, in bytes.
const LONGEST: usize = 1 << 20;

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(5),
    silence: Duration::from_secs(5),
    whole: Duration::from_secs(8),
};

/// What there is to watch.
#[derive(Debug, Serialize, Deserialize)]
struct Watched {
    tokens: Option<PathBuf>,
    issuers: Vec<(String, JwksSource)>,
    /// The certificate and its key.
    tls: Option<(PathBuf, PathBuf)>,
}

/// The process, as the server has it.
pub struct KeysFeed {
    child: Child,
    asks: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl KeysFeed {
    /// Starts the process, if there is something to watch.
    pub fn begin(
        settings: &GateSettings,
        program: &Path,
        log: Option<&Path>,
    ) -> io::Result<Option<Self>> {
        let issuers = settings.issuers.iter();
        let tls = settings.tls.as_ref();
        let watched = Watched {
            tokens: settings.tokens.clone(),
            issuers: issuers
                .map(|issuer| (issuer.issuer.clone(), issuer.jwks.clone()))
                .collect(),
            tls: tls.map(|tls| (tls.cert.clone(), tls.key.clone())),
        };
        if watched.tokens.is_none() && watched.issuers.is_empty() && watched.tls.is_none() {
            return Ok(None);
        }
        watched.check().map_err(io::Error::other)?;
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(log) = log {
            command.arg("--log-file").arg(log);
        }
        let mut child = command.arg("watch-keys").spawn()?;
        let (Some(mut asks), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        serde_json::to_writer(&mut asks, &watched)?;
        asks.write_all(b"\n")?;
        Ok(Some(Self {
            child,
            asks,
            lines: BufReader::new(output).lines(),
        }))
    }

    /// What holds at first. It takes as long as issuers take to answer, but no more than some seconds each.
    pub fn first(&mut self) -> io::Result<Keys> {
        let first = next(&mut self.lines);
        first.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Keeps a gate, and what we show of ourselves, as it is said to be. Call it on a runtime, once rights are given up.
    pub fn keep(self, gate: Arc<Gate>, tls: Option<Tls>) -> io::Result<()> {
        let Self {
            mut child,
            mut asks,
            mut lines,
        } = self;
        let asking = gate.clone();
        tokio::spawn(async move {
            loop {
                asking.lacks_keys().await;
                // A line is far less than what fits into the pipe.
                if asks.write_all(b"\n").is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        let follow = move || {
            while let Some(next) = next(&mut lines) {
                match next {
                    Ok(keys) => apply(keys, &gate, tls.as_ref()),
                    Err(error) => tracing::error!("the keys are not understood: {error}"),
                }
            }
            let ended = child.wait();
            tracing::error!(
                "nobody watches the keys any more, so they stay as they are: {ended:?}"
            );
        };
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(follow)?;
        Ok(())
    }
}

fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<io::Result<Keys>> {
    let line = lines.next()?;
    Some(line.and_then(|line| serde_json::from_str(&line).map_err(Into::into)))
}

fn apply(keys: Keys, gate: &Gate, tls: Option<&Tls>) {
    if let (Some(tls), Some(pair)) = (tls, &keys.certificate)
        && let Err(error) = tls.renew(pair)
    {
        tracing::error!("{error}; the one before is shown");
    }
    gate.update(keys);
}

impl Watched {
    /// An error if a file is wrong now. Later, what it said before holds.
    fn check(&self) -> Result<(), String> {
        let shown = |path: &Path| Untrusted::new(path.display()).to_string();
        if let Some(path) = &self.tokens {
            read_tokens(path).map_err(|error| format!("{}: {error}", shown(path)))?;
        }
        for (_, source) in &self.issuers {
            if let JwksSource::File(path) = source {
                read_jwks(path).map_err(|error| format!("{}: {error}", shown(path)))?;
            }
        }
        Ok(())
    }
}

fn read_tokens(path: &Path) -> Result<Vec<Token>, String> {
    tokens::read(&text(path)?).map_err(|error| error.to_string())
}

fn read_jwks(path: &Path) -> Result<Jwks, String> {
    Jwks::read(text(path)?.as_bytes()).map_err(|error| error.to_string())
}

/// A file as it was when it was last looked at.
type Seen = Option<(SystemTime, u64)>;

/// What was found, of which the last that was right holds.
struct Watcher {
    watched: Watched,
    keys: Keys,
    seen: Vec<Seen>,
    web: Option<Web>,
}

/// `acp-chain watch-keys`.
pub fn main() -> ExitCode {
    let mut input = io::stdin().lock().lines();
    let watched = input.next().and_then(Result::ok);
    let watched = watched.and_then(|line| serde_json::from_str(&line).ok());
    let Some(watched) = watched else {
        eprintln!("acp-chain: `watch-keys` is for acp-chain itself to start");
        return ExitCode::from(2);
    };
    drop(input);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return ExitCode::FAILURE;
    };
    let (ask, asked) = mpsc::channel(1);
    thread::spawn(move || {
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            let _ = ask.try_send(());
        }
        // Nobody is there any more.
        std::process::exit(0);
    });
    runtime.block_on(Watcher::of(watched).watch(asked));
    ExitCode::SUCCESS
}

impl Watcher {
    fn of(watched: Watched) -> Self {
        let web = Web::new(PATIENCE);
        let web = web.inspect_err(|error| tracing::error!("keys cannot be fetched: {error}"));
        Self {
            watched,
            keys: Keys::default(),
            seen: Vec::new(),
            web: web.ok(),
        }
    }

    async fn watch(mut self, mut asked: mpsc::Receiver<()>) {
        self.read_files();
        self.fetch().await;
        self.tell();
        let mut fetched = Instant::now();
        let mut looks = interval(LOOK);
        loop {
            let is_asked = tokio::select! {
                _ = looks.tick() => false,
                ask = asked.recv() => ask.is_some(),
            };
            let before = self.keys.clone();
            self.read_files();
            if is_asked && fetched.elapsed() >= PAUSE || fetched.elapsed() >= FETCH {
                self.fetch().await;
                fetched = Instant::now();
            }
            if self.keys != before {
                self.tell();
            }
        }
    }

    fn tell(&self) {
        let mut line = serde_json::to_vec(&self.keys).unwrap_or_default();
        line.push(b'\n');
        let mut output = io::stdout().lock();
        if output
            .write_all(&line)
            .and_then(|()| output.flush())
            .is_err()
        {
            std::process::exit(0);
        }
    }

    /// Reads the files that have changed. What is wrong with one is told, and what it said before holds.
    fn read_files(&mut self) {
        let Watched {
            tokens,
            issuers,
            tls,
        } = &self.watched;
        let files = issuers.iter().filter_map(|(_, source)| match source {
            JwksSource::File(path) => Some(path),
            JwksSource::Url(_) => None,
        });
        let files = files
            .chain(tokens)
            .chain(tls.iter().flat_map(|(cert, key)| [cert, key]));
        let seen: Vec<Seen> = files.map(|path| look(path)).collect();
        if seen == self.seen {
            return;
        }
        self.seen = seen;
        if let Some(path) = tokens {
            keep(path, read_tokens(path), &mut self.keys.tokens);
        }
        for (issuer, source) in issuers {
            if let JwksSource::File(path) = source {
                let read = read_jwks(path);
                let mut jwks = self.keys.jwks.remove(issuer);
                keep(path, read.map(Some), &mut jwks);
                self.keys
                    .jwks
                    .extend(jwks.map(|jwks| (issuer.clone(), jwks)));
            }
        }
        if let Some((cert, key)) = tls {
            let pair = text(cert).and_then(|cert| {
                Ok(PemPair {
                    cert,
                    key: text(key)?,
                })
            });
            keep(cert, pair.map(Some), &mut self.keys.certificate);
        }
    }

    async fn fetch(&mut self) {
        let Some(web) = &self.web else { return };
        for (issuer, source) in &self.watched.issuers {
            let JwksSource::Url(url) = source else {
                continue;
            };
            let read = match web.whole(url, LONGEST).await {
                Ok(document) => Jwks::read(&document).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(jwks) => {
                    self.keys.jwks.insert(issuer.clone(), jwks);
                }
                Err(error) => {
                    let url = Untrusted::new(url);
                    tracing::error!("{url}: {error}; the keys of before hold");
                }
            }
        }
    }
}

fn look(path: &Path) -> Seen {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

fn text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let read = file.take(LONGEST as u64 + 1).read_to_string(&mut text);
    match read {
        Ok(count) if count > LONGEST => Err(format!("it has more than {LONGEST} bytes")),
        Ok(_) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

/// Takes what was read, or tells what is wrong.
fn keep<T>(path: &Path, read: Result<T, String>, place: &mut T) {
    match read {
        Ok(read) => *place = read,
        Err(error) => {
            let path = Untrusted::new(path.display());
            tracing::error!("{path}: {error}; what it said before holds");
        }
    }
}
