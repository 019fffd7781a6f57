//! `acp-chain inspect`: access to the page, and its content.

mod browser;
mod gate;
mod page;
mod traces;

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

/// The program, serving a page.
struct Inspector {
    child: Child,
    /// The URL of the page.
    address: String,
}

impl Inspector {
    async fn start(args: &[&Path]) -> Self {
        Self::of(host::acp_chain("inspect").args(args)).await
    }

    async fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = in_time("the address", out.next_line()).await.unwrap();
        let Some(address) = address else {
            panic!("{}", told(&mut child).await);
        };
        Self { child, address }
    }

    fn port(&self) -> &str {
        self.address.split([':', '/']).nth(4).unwrap()
    }

    /// Interrupts the program. Returns its status and output.
    async fn interrupt(mut self) -> (ExitStatus, String) {
        let id = self.child.id().unwrap();
        let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        kill_process(id, Signal::INT).unwrap();
        let status = in_time("its end", self.child.wait()).await.unwrap();
        (status, told(&mut self.child).await)
    }
}

async fn told(child: &mut Child) -> String {
    let mut told = String::new();
    let mut err = child.stderr.take().unwrap();
    in_time("standard error", err.read_to_string(&mut told))
        .await
        .unwrap();
    told
}
