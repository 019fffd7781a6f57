//! The physical baseline: starts an agent and copies bytes as they arrive, with one thread per direction.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Error, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;

fn main() -> io::Result<()> {
    let mut agent = std::env::args_os().skip(1);
    let program = agent.next().ok_or_else(|| Error::other("no agent"))?;
    let mut child = Command::new(program)
        .args(agent)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (to, from) = child
        .stdin
        .take()
        .zip(child.stdout.take())
        .ok_or(Error::other("no pipes"))?;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    thread::spawn(move || copy(input, to));
    copy(from, output)?;
    child.wait().map(drop)
}

fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count])?,
        }
    }
}
