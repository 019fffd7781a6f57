//! What the program promises on every system, tested on whatever system runs this: natively, by `cargo xtask
//! windows` under Wine, and some by `cargo xtask arm64` in an emulator. `docs/systems.md` has the promises.
//!
//! | file | what it tests |
//! |---|---|
//! | `turns` | a turn through components, and lines that end as in files of Windows |
//! | `kills` | what is left of an agent and what it started |
//! | `bridge` | an agent's MCP client, and the socket or pipe between |
//! | `words` | arguments, and programs that are found by name |
//! | `paths` | folders, manifests, devices |
//! | `cache` | compiled code from an earlier start |
//! | `editors` | configurations of editors, and what they then launch |
//! | `folders` | where the user's files are |
//! | `doctor` | `acp-chain doctor` |
//!
//! | file | what it is for |
//! |---|---|
//! | `user` | a user with files of their own, and the programs under test |
//! | `host` | `acp-chain run`, with the test as its client |
//! | `witness` | whether a process still runs |
//!
//! Windows has no variables that move the folders of a user: tests that need the usual ones write there only if
//! `ACP_CHAIN_TEST_PROFILE` is set, and fail otherwise.

mod bridge;
mod cache;
mod doctor;
mod editors;
mod folders;
mod host;
mod kills;
mod paths;
mod turns;
mod user;
mod witness;
mod words;
