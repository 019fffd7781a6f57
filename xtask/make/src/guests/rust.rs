//! Proxies in Rust, each built for the target that it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use acp_chain_author::component::Imports;
use acp_chain_package::Project;
use anyhow::Result;

use xtask::fetch::target;
use xtask::stamp::Stamp;
use xtask::workspace::{GuestCrate, Workspace, same_home};

/// A feature of all component runtimes: text is searched sixteen bytes at a time.
const FEATURES: [&str; 2] = ["-C", "target-feature=+simd128"];

/// Builds these crates, each into its component, with one cargo run for those of a target with the same features.
pub fn build(workspace: &Workspace, guests: &[(&GuestCrate, PathBuf)]) -> Result<()> {
    let mut runs = BTreeMap::<_, Vec<_>>::new();
    for (guest, file) in guests {
        runs.entry((&guest.target, &guest.features))
            .or_default()
            .push((guest, file));
    }
    for ((triple, features), guests) in runs {
        let imports = if triple.contains("wasi") {
            Imports::Wasi
        } else {
            Imports::Channel
        };
        let named: Vec<_> = [triple].into_iter().chain(features).map(|s| &**s).collect();
        let name = format!("proxies in Rust for {}", named.join(", "));
        workspace.step(&name, |step| {
            target::add(workspace, step, triple)?;
            let flags = FEATURES.map(str::to_owned).into_iter().chain(same_home());
            let flags = flags.collect::<Vec<_>>().join("\u{1f}");
            let words = format!("build --lib --profile=guest --target {triple}");
            let mut build = workspace.cargo(&words);
            for (guest, _) in &guests {
                build.args(["--package", &guest.package]);
            }
            build.arg("--target-dir").arg(workspace.target(""));
            step.run(build.env("CARGO_ENCODED_RUSTFLAGS", flags))?;
            let modules = workspace.target(triple).join("guest");
            guests.iter().try_for_each(|(guest, file)| {
                let module = modules.join(&guest.library).with_extension("wasm");
                // A guest of the tests may be wrong on purpose.
                let is_of_tests = guest.folder.starts_with(workspace.path("tests/guests"));
                let project = (!is_of_tests).then_some(&*guest.folder);
                encode(workspace, &module, file, project, imports)
            })
        })?;
    }
    Ok(())
}

/// Turns a module into a component, or with a project into an extension that may import this.
fn encode(
    workspace: &Workspace,
    module: &Path,
    component: &Path,
    project: Option<&Path>,
    imports: Imports,
) -> Result<()> {
    let mut stamp = Stamp::new(workspace, component).on_path(module)?;
    let package = project.map(Project::read).transpose()?;
    stamp = stamp.on(package.map(|project| format!("{:?}", project.package)));
    if stamp.is_current() {
        return Ok(());
    }
    super::encode(module, component)?;
    if let Some(project) = project {
        super::package(component, imports, project)?;
    }
    stamp.set()
}
