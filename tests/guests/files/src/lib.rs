//! A test proxy that is built with WASI: it tries the access to the system that a request
//! `test/files` names, and answers with the outcome.

use std::fs;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use acp_chain_proxy::{
    Action, Configure, Edit, Proxy, Request, Response, Result, Subscription, export, mark,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// An access to the system, of which a sandbox permits little.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "try")]
enum Attempt {
    Read { path: String },
    Write { path: String, text: String },
    List { path: String },
    Remove { path: String },
    Link { from: String, to: String },
    Environment,
    Arguments,
    Connect { address: String },
    Bind { address: String },
    Clock,
    Sleep { millis: u64 },
    Break,
}

impl Attempt {
    fn make(self) -> std::io::Result<Value> {
        Ok(match self {
            Self::Read { path } => fs::read_to_string(path)?.into(),
            Self::Write { path, text } => fs::write(path, text)?.into(),
            Self::List { path } => {
                let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name()));
                let names = names.collect::<std::io::Result<Vec<_>>>()?;
                let names = names.iter().map(|name| name.to_string_lossy().into());
                Value::Array(names.collect())
            }
            Self::Remove { path } => fs::remove_file(path)?.into(),
            Self::Link { from, to } => fs::hard_link(from, to)?.into(),
            Self::Environment => std::env::vars().map(|(name, _)| name).collect(),
            Self::Arguments => std::env::args().collect(),
            Self::Connect { address } => TcpStream::connect(address).map(|_| Value::Null)?,
            Self::Bind { address } => UdpSocket::bind(address).map(|_| Value::Null)?,
            Self::Sleep { millis } => {
                std::thread::sleep(Duration::from_millis(millis));
                Value::Null
            }
            Self::Break => panic!("as requested"),
            Self::Clock => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                let _ = Instant::now();
                since.map_err(std::io::Error::other)?.as_secs().into()
            }
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// Whether to mark the end of each turn with the time.
    stamps: bool,
}

struct Files(Config);

impl Configure for Files {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self(config))
    }
}

impl Proxy for Files {
    fn subscriptions(&self) -> Vec<Subscription> {
        let mut subscriptions = vec![Subscription::requests("test/files")];
        if self.0.stamps {
            subscriptions.push(Subscription::responses("session/prompt"));
        }
        subscriptions
    }

    async fn on_response(&self, _: Response) -> Result {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since
            .map_err(|error| error.to_string())?
            .as_nanos()
            .to_string();
        let stamp = Edit::set(
            format!("/_meta/{}", mark().replace('/', "~1")),
            json!(nanos),
        );
        Ok(Action::Edit(vec![stamp]))
    }

    async fn on_request(&self, request: Request) -> Result {
        let attempt: Attempt = request.params.parse().map_err(|error| error.to_string())?;
        let outcome = match attempt.make() {
            Ok(value) => json!({ "done": value }),
            Err(error) => json!({ "failed": error.to_string() }),
        };
        Ok(Action::Respond(acp_chain_proxy::Json::from(outcome)))
    }
}

export!(Files);
