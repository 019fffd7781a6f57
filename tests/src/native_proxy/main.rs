//! `native-proxy`: a proxy that is a program. It passes everything on, either way, and breaks where
//! it is told to.
//!
//! Its requests have its own ids, numbers from 0 on, or strings with `--strings`.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use acp_chain_tests::envelope::{Message, quoted};
use clap::Parser;
use serde_json::value::RawValue;

/// A proxy that passes everything on.
#[derive(Debug, Default, Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag, free of the others"
)]
struct Habits {
    /// Speak the older dialect, `_proxy/…`, and none other.
    #[arg(long)]
    older: bool,
    /// Give its requests strings for ids.
    #[arg(long)]
    strings: bool,
    /// Exit with code 3 in place of passing on a message of that method.
    #[arg(long, value_name = "METHOD")]
    exit_on: Option<String>,
    /// Exit at once, with that code.
    #[arg(long, value_name = "CODE")]
    exit: Option<i32>,
    /// Write what is no message before each that it passes on.
    #[arg(long)]
    garbage: bool,
    /// Pass on nothing of that method, and do not answer it.
    #[arg(long, value_name = "METHOD")]
    swallow: Option<String>,
    /// Break as told only where this file is not there yet; it is made.
    #[arg(long, value_name = "FILE")]
    once: Option<PathBuf>,
    /// Write its process id to that file.
    #[arg(long, value_name = "FILE")]
    pid: Option<PathBuf>,
    /// Start a child that sleeps for ever, and write its process id to that file.
    #[arg(long, value_name = "FILE")]
    child: Option<PathBuf>,
    /// Live on when its input has ended.
    #[arg(long)]
    survive_eof: bool,
    /// Do nothing but sleep for ever: what that child does.
    #[arg(long)]
    sleep: bool,
}

fn main() -> io::Result<()> {
    let mut habits = Habits::parse();
    if habits.sleep {
        sleep();
    }
    if let Some(path) = &habits.pid {
        std::fs::write(path, std::process::id().to_string())?;
    }
    if let Some(path) = &habits.child {
        let child = Command::new(std::env::current_exe()?)
            .arg("--sleep")
            .stdin(Stdio::null())
            .spawn()?;
        std::fs::write(path, child.id().to_string())?;
    }
    if let Some(path) = habits.once.clone() {
        match path.exists() {
            true => {
                habits.exit_on = None;
                habits.exit = None;
                habits.swallow = None;
            }
            false => std::fs::write(path, "")?,
        }
    }
    if let Some(code) = habits.exit {
        eprintln!("its last words");
        std::process::exit(code);
    }
    let survives = habits.survive_eof;
    let mut proxy = Proxy {
        habits,
        asked: 0,
        open: HashMap::new(),
        out: io::stdout().lock(),
    };
    for line in io::stdin().lock().lines() {
        proxy.receive(&line?)?;
    }
    if survives {
        sleep();
    }
    Ok(())
}

/// Lives until it is killed.
fn sleep() -> ! {
    loop {
        std::thread::park();
    }
}

struct Proxy<W> {
    habits: Habits,
    asked: u64,
    /// Whose request each of its own stands for.
    open: HashMap<String, String>,
    out: W,
}

/// What `proxy/successor` carries.
#[derive(serde::Deserialize)]
struct Carried {
    method: String,
    params: Option<Box<RawValue>>,
}

impl<W: Write> Proxy<W> {
    fn receive(&mut self, line: &str) -> io::Result<()> {
        let message = Message::parse(line).map_err(io::Error::other)?;
        let Some(method) = message.method.clone() else {
            return self.answer(&message);
        };
        let (initialize, successor) = match self.habits.older {
            true => ("_proxy/initialize", "_proxy/successor"),
            false => ("proxy/initialize", "proxy/successor"),
        };
        let params = message.params.clone();
        if method == "$/cancel_request" {
            return self.cancel(params.as_deref().unwrap_or_default());
        }
        if method == successor {
            let carried: Carried = serde_json::from_str(params.as_deref().unwrap_or_default())?;
            let params = carried.params.map(|params| params.get().to_owned());
            return self.pass(&carried.method, params.as_deref(), message.id, None);
        }
        if method == initialize {
            return self.pass("initialize", params.as_deref(), message.id, Some(successor));
        }
        if method.starts_with("proxy/") || method.starts_with("_proxy/") {
            let id = message.id.unwrap_or_default();
            let error = r#"{"code":-32601,"message":"Method not found"}"#;
            return self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
        }
        self.pass(&method, params.as_deref(), message.id, Some(successor))
    }

    /// Passes a message on: plain, or to the successor.
    fn pass(
        &mut self,
        method: &str,
        params: Option<&str>,
        id: Option<String>,
        successor: Option<&str>,
    ) -> io::Result<()> {
        if self.habits.exit_on.as_deref() == Some(method) {
            eprintln!("its last words");
            std::process::exit(3);
        }
        if self.habits.swallow.as_deref() == Some(method) {
            return Ok(());
        }
        if self.habits.garbage {
            self.say("this is no message")?;
            self.say(r#"{"jsonrpc":"2.0","id":"nobody's","result":{}}"#)?;
            self.say(r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{}}"#)?;
        }
        let id = id.map_or(String::new(), |theirs| {
            let own = match self.habits.strings {
                true => quoted(&format!("own-{}", self.asked)),
                false => self.asked.to_string(),
            };
            self.asked += 1;
            let member = format!(r#","id":{own}"#);
            self.open.insert(own, theirs);
            member
        });
        let method = quoted(method);
        let params = params.map_or(String::new(), |params| format!(r#","params":{params}"#));
        let line = match successor {
            None => format!(r#"{{"jsonrpc":"2.0"{id},"method":{method}{params}}}"#),
            Some(successor) => format!(
                r#"{{"jsonrpc":"2.0"{id},"method":"{successor}","params":{{"method":{method}{params}}}}}"#
            ),
        };
        self.say(&line)
    }

    fn answer(&mut self, message: &Message) -> io::Result<()> {
        let id = message.id.clone().unwrap_or_default();
        let Some(theirs) = self.open.remove(&id) else {
            return Ok(());
        };
        let outcome = match (&message.result, &message.error) {
            (Some(result), _) => format!(r#""result":{result}"#),
            (None, error) => format!(r#""error":{}"#, error.as_deref().unwrap_or("null")),
        };
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{theirs},{outcome}}}"#))
    }

    fn cancel(&mut self, params: &str) -> io::Result<()> {
        #[derive(serde::Deserialize)]
        struct Cancel {
            #[serde(rename = "requestId")]
            request: Box<RawValue>,
        }
        let cancel: Cancel = serde_json::from_str(params)?;
        let mut open = self.open.iter();
        let own = open.find(|(_, theirs)| *theirs == cancel.request.get());
        let Some((own, _)) = own else { return Ok(()) };
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{own}}}}}"#
        );
        self.say(&line)
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}
