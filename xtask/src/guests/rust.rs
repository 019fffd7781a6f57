//! Proxies in Rust: built for `wasm32-unknown-unknown`, which has no operating system to import.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::component;
use crate::progress::{Progress, Step};
use crate::stamp::Stamp;
use crate::workspace::{GuestCrate, Workspace, cargo};

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds these crates in one go, each into its component.
pub fn build(
    workspace: &Workspace,
    progress: &Progress,
    guests: &[(&GuestCrate, PathBuf)],
) -> Result<()> {
    if guests.is_empty() {
        return Ok(());
    }
    progress.step("proxies in Rust", |step| {
        add_target(progress, step)?;
        let packages = guests
            .iter()
            .flat_map(|(guest, _)| ["--package", &guest.package]);
        step.run(
            cargo()
                .args(["build", "--lib", "--profile=guest", "--target", TARGET])
                .args(packages)
                .current_dir(workspace.path("")),
        )?;
        let modules = workspace.target(TARGET).join("guest");
        guests.iter().try_for_each(|(guest, file)| {
            let module = modules.join(&guest.library).with_extension("wasm");
            // A guest of the tests may be wrong on purpose.
            let check = !guest.folder.starts_with(workspace.path("tests"));
            encode(workspace, &module, file, check)
        })
    })
}

fn encode(workspace: &Workspace, module: &Path, component: &Path, check: bool) -> Result<()> {
    let stamp = Stamp::new(workspace, component).on_path(module)?;
    if stamp.is_current() {
        return Ok(());
    }
    component::encode(module, component)?;
    if check {
        component::check(component)?;
    }
    stamp.set()
}

/// Installing targets on demand is switched off in some set-ups, so it is done by name.
fn add_target(progress: &Progress, step: &Step) -> Result<()> {
    let sysroot = Command::new("rustc")
        .args(["--print=target-libdir", "--target", TARGET])
        .output()?;
    if Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).exists() {
        return Ok(());
    }
    progress.say(&format!(
        "The target {TARGET} is missing: rustup target add {TARGET}"
    ));
    step.run(Command::new("rustup").args(["target", "add", TARGET]))
}
