//! The agent, on its standard input and output.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;

fn main() -> io::Result<()> {
    // Unbuffered by the standard library.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    match acp_chain_bench::agent::serve(input, output) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}
