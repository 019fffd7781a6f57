//! The sockets at which a chain can be watched, and at which the hooks of agents report.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use acp_chain_ends::editor::lines;
use acp_chain_hooks::server::{Arrival, Reports, Server};
use acp_chain_hooks::{Answer, SOCKET, TOKEN, client, dialect};
use acp_chain_live::chains;
use acp_chain_system::files;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::editor::Editor;
use crate::stage::Stage;
use crate::verdict::{Reason, Verdict, ensure};
use crate::{PATIENCE, PartError, write_line};

/// A dialect of hooks, and an event of it.
const EVENT: [&str; 2] = ["pi", "before_tool"];

/// What a hook reports, and what it is answered.
const REPORT: &str = "{}";
const ANSWER: &str = "no";

/// The exit code of a refusal.
const REFUSED: u8 = 2;

/// The part that watches a chain, by the id of its process: `acp-chain self-test-part watch PROCESS`.
pub const WATCH: &str = "watch";

/// A running chain is found by its socket, which is in a folder of our user's only, and sends the heading of its trace.
pub fn live(stage: &Stage) -> Verdict {
    if let Err(error) = chains()
        && error.kind() == io::ErrorKind::Unsupported
    {
        return Err(Reason::NotHere(error.to_string()));
    }
    let editor = Editor::launch(stage, true)?;
    let started = stage
        .command()
        .args(["self-test-part", WATCH, &editor.id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut watcher = started.map_err(|error| format!("a watcher cannot be started: {error}"))?;
    let output = watcher.stdout.take().ok_or("the watcher has no output")?;
    let line = lines(output).recv_timeout(PATIENCE);
    // It may still wait.
    let _ = watcher.kill().and_then(|()| watcher.wait());
    let line = line.unwrap_or_else(|_| "the chain says nothing to its watcher".to_owned());
    ensure(line.starts_with('{'), || {
        format!("the chain cannot be watched: {line}{}", stage.last_words())
    })?;
    editor.close()?;
    Ok("a running chain was found and watched by a program of the same user".to_owned())
}

/// Finds a chain, and writes the first line that it sends, or why there is none.
pub fn watch(process: &OsStr) -> Result<(), PartError> {
    let line = heading(process).unwrap_or_else(|error| error.to_string());
    write_line(line.trim_end())?;
    Ok(())
}

fn heading(process: &OsStr) -> Result<String, PartError> {
    let process: u32 = process.to_str().ok_or("not a process")?.parse()?;
    let mut found = chains()?.into_iter();
    let chain = found.find(|chain| chain.process == process);
    let chain = chain.ok_or("it is not found by its socket")?;
    let mut line = String::new();
    BufReader::new(chain.connect()?).read_line(&mut line)?;
    Ok(line)
}

/// The client that agents start for their hooks reports to the host, and ends as that answers; a forged report is
/// refused.
pub fn hooks(stage: &Stage) -> Verdict {
    let runtime = acp_chain_app::runtime().map_err(|error| error.to_string())?;
    let looked = runtime.block_on(look(stage));
    looked.map_err(|error| Reason::Broken(error.to_string()))?;
    Ok("a hook's report arrived, its client ended as the host answered, and a forged one was refused".to_owned())
}

async fn look(stage: &Stage) -> Result<(), PartError> {
    let program = match client() {
        Some(program) => {
            let path = stage.path("hook.exe");
            files::write_program(&path, program)?;
            // Not where programs may not be.
            files::may_run(&path).then_some(path)
        }
        None => None,
    };
    let command = || match &program {
        Some(path) => Command::new(path),
        None => {
            let mut command = stage.command();
            command.arg("hook");
            command
        }
    };
    let known = dialect(EVENT[0]).ok_or("its dialect is not known")?;
    let mut reports = Server::open(known, None)?.begin()?;
    let (socket, token) = (reports.path().to_owned(), reports.token().to_owned());
    let (output, answered) = tokio::join!(
        report(command(), &socket, &token),
        timeout(PATIENCE, answer(&mut reports))
    );
    answered.map_err(|_| "the report of a hook did not arrive")??;
    let output = output?;
    let is_kept = ended(&output) == (Some(i32::from(REFUSED)), ANSWER.as_bytes());
    if !is_kept {
        return Err(
            format!("the client of a hook did not end as it was answered: {output:?}").into(),
        );
    }
    let forged = report(command(), &socket, "forged").await?;
    if ended(&forged) != (Some(i32::from(REFUSED)), &b""[..]) {
        return Err(format!("a forged report was not refused: {forged:?}").into());
    }
    Ok(())
}

fn ended(output: &Output) -> (Option<i32>, &[u8]) {
    (output.status.code(), &output.stdout)
}

/// Answers the first report.
async fn answer(reports: &mut Reports) -> Result<(), PartError> {
    let Arrival::Report(report) = reports.next().await else {
        return Err("the client of a hook withdrew its report".into());
    };
    if report.text != REPORT {
        return Err(format!("the report of a hook arrived as {:?}", report.text).into());
    }
    let answer = Answer {
        code: REFUSED,
        stdout: ANSWER.to_owned(),
        stderr: String::new(),
    };
    reports.answer(report.number, answer);
    Ok(())
}

/// Runs the client of a hook, as an agent does.
async fn report(command: Command, socket: &Path, token: &str) -> Result<Output, PartError> {
    let mut command = tokio::process::Command::from(command);
    let mut hook = command
        .args(EVENT)
        .env(SOCKET, socket)
        .env(TOKEN, token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("the client of a hook cannot be started: {error}"))?;
    let mut input = hook
        .stdin
        .take()
        .ok_or("the client of a hook has no input")?;
    input.write_all(REPORT.as_bytes()).await?;
    drop(input);
    let output = timeout(PATIENCE, hook.wait_with_output()).await;
    Ok(output.map_err(|_| "the client of a hook does not end")??)
}
