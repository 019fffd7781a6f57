//! The program that agents start for each event: `src/hook.rs`, compiled alone by `build.rs`.

#[cfg_attr(unix, path = "../../system/src/unix/blocking.rs")]
#[cfg_attr(windows, path = "../../system/src/windows/blocking.rs")]
mod blocking;
#[path = "../src/hook.rs"]
mod hook;
#[path = "../src/wire.rs"]
mod wire;

fn main() -> std::process::ExitCode {
    hook::main(std::env::args_os().skip(1), blocking::connect)
}
