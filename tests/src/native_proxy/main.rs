//! `native-proxy`: a native proxy that forwards everything in both directions, and breaks as its
//! flags say.
//!
//! Its requests have ids of its own: numbers from 0, or strings with `--strings`.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use acp_chain_tests::envelope::Message;
use acp_chain_tests::passing::PassingProxy;
use clap::Parser;

/// A proxy that forwards everything.
#[derive(Debug, Default, Parser)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag, free of the others"
)]
struct Habits {
    /// Speak only the older dialect, `_proxy/…`.
    #[arg(long)]
    older: bool,
    /// Use strings as request ids.
    #[arg(long)]
    strings: bool,
    /// Exit with code 3 instead of forwarding a message of that method.
    #[arg(long, value_name = "METHOD")]
    exit_on: Option<String>,
    /// Exit at once, with that code.
    #[arg(long, value_name = "CODE")]
    exit: Option<i32>,
    /// Write invalid messages before each forwarded message.
    #[arg(long)]
    garbage: bool,
    /// Neither forward nor answer messages of that method.
    #[arg(long, value_name = "METHOD")]
    swallow: Option<String>,
    /// Break only if this file does not exist yet, and create it.
    #[arg(long, value_name = "FILE")]
    once: Option<PathBuf>,
    /// Write the process id to that file.
    #[arg(long, value_name = "FILE")]
    pid: Option<PathBuf>,
    /// Start a child that sleeps for ever, and write the child's process id to that file.
    #[arg(long, value_name = "FILE")]
    child: Option<PathBuf>,
    /// Keep running after the input has ended.
    #[arg(long)]
    survive_eof: bool,
    /// Only sleep for ever, as that child does.
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
        if path.exists() {
            habits.exit_on = None;
            habits.exit = None;
            habits.swallow = None;
        } else {
            std::fs::write(path, "")?;
        }
    }
    if let Some(code) = habits.exit {
        eprintln!("its last words");
        std::process::exit(code);
    }
    let survives = habits.survive_eof;
    let mut proxy = Proxy {
        passing: PassingProxy::new(habits.older, habits.strings),
        habits,
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

/// Sleeps until the process is killed.
fn sleep() -> ! {
    loop {
        std::thread::park();
    }
}

struct Proxy<W> {
    habits: Habits,
    passing: PassingProxy,
    out: W,
}

impl<W: Write> Proxy<W> {
    fn receive(&mut self, line: &str) -> io::Result<()> {
        let message = Message::parse(line).map_err(io::Error::other)?;
        if let Some(method) = self.passing.method(&message) {
            if self.habits.exit_on.as_ref() == Some(&method) {
                eprintln!("its last words");
                std::process::exit(3);
            }
            if self.habits.swallow.as_ref() == Some(&method) {
                return Ok(());
            }
            if self.habits.garbage {
                self.say("this is not a message")?;
                self.say(r#"{"jsonrpc":"2.0","id":"nobody's","result":{}}"#)?;
                self.say(r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{}}"#)?;
            }
        }
        match self.passing.pass(&message)? {
            Some(line) => self.say(&line),
            None => Ok(()),
        }
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}
