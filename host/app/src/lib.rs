//! What the program `acp-chain` does, without its command line: it takes values, and [reports](report::Report) instead
//! of printing. Each module uses only those below it in this table.
//!
//! | file | what it is |
//! |---|---|
//! | `serve` | a server: a chain for each client |
//! | `dev` | builds a project whenever its sources change, and swaps the result into the running chain |
//! | `project_chain` | the process that runs the proxies of a project |
//! | `connect` | the process that stands in for a remote agent |
//! | `mcp_shim` | the process that stands in for an MCP server of a chain |
//! | `run` | a chain as a command line describes it, for one client |
//! | `dry_run` | what is taken from proxies before a dry run |
//! | `plan` | the steps until a chain runs: planned, loaded, started |
//! | `project` | projects of sessions: found, and opened |
//! | `protected` | files that no proxy may write to |
//! | `proxies` | the proxies of a manifest, before they are loaded |
//! | `trace` | the file of a trace, and its socket for listeners |
//! | `otel` | exporting a trace, from a process of its own |
//! | `receipts` | receipts of a run, and the process that writes them |
//! | `values` | stored values of proxies: whose they are, and the process that has them |
//! | `beside` | processes of ours beside a chain |
//! | `sign_in` | an agent's ways to sign in |
//! | `hooks` | the agent's own hooks: which agent it is, and attaching them for one run |
//! | `agent` | agents by name, command or URL |
//! | `place` | a manifest with its lock, and the installed extensions, for those who change them |
//! | `home` | the user's folders, settings and extensions |
//! | `serve_settings` | `[serve]` of the user's config.toml |
//! | `compile` | compiling a component, in a process of its own |
//! | `report` | what services report |
//! | `error` | why something does not work |
//! | `shell` | paths as words of a shell |
//! | `variables` | variables of the environment that steer programs |
//! | `trail` | the names that resolving a path looks up |

#![forbid(unsafe_code)]

pub mod agent;
pub mod beside;
pub mod compile;
pub mod connect;
pub mod dev;
mod dry_run;
mod error;
pub mod home;
pub mod hooks;
pub mod mcp_shim;
pub mod otel;
pub mod place;
pub mod plan;
pub mod project;
pub mod project_chain;
pub mod protected;
pub mod proxies;
pub mod receipts;
mod report;
pub mod run;
pub mod serve;
mod serve_settings;
pub mod shell;
pub mod sign_in;
pub mod trace;
mod trail;
pub mod values;
pub mod variables;

use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};

use acp_chain_system::stdio;

pub use self::error::{ChainError, Error};
pub use self::report::{Report, Silent};

/// A runtime on this thread.
pub fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(Error::Runtime)
}

/// Our standard input and output.
pub fn streams() -> Result<
    (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    Error,
> {
    let input = stdio::input().map_err(Error::Streams)?;
    Ok((input, stdio::output().map_err(Error::Streams)?))
}

/// The current folder.
pub fn here() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(Error::Here)
}
