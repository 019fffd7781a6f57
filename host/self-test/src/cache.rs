//! Compiled code is kept: a second start compiles nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use acp_chain_app::compile;
use acp_chain_sandbox::{Component, ComponentError, Engine};

use crate::stage::Stage;
use crate::verdict::{Verdict, ensure};

/// How often a component was compiled.
static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// Compiles as the program does, in a process of its own.
fn counted(wasm: &[u8]) -> Result<Vec<u8>, ComponentError> {
    COMPILED.fetch_add(1, Ordering::Relaxed);
    compile::apart(wasm)
}

pub fn look(stage: &Stage) -> Verdict {
    let folder = stage.path("compiled");
    let path = stage.path("component.wasm");
    let before = COMPILED.load(Ordering::Relaxed);
    let mut counts = Vec::new();
    // Each engine is that of another start.
    for _ in 0..2 {
        let engine = Engine::new(Some(&folder)).map_err(|error| error.to_string())?;
        let loaded = Component::load(&engine.compiling_by(counted), &path);
        loaded.map_err(|error| format!("the component cannot be loaded: {error}"))?;
        counts.push(COMPILED.load(Ordering::Relaxed) - before);
    }
    ensure(counts == [1, 1], || {
        let [first, both] = [counts[0], counts[1]];
        format!("the first start compiled {first} times, and both together {both} times")
    })?;
    Ok("the first start compiled, in a process of its own, and the second did not".to_owned())
}
