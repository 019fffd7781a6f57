//! The program for its users: its commands, and the files that they read and write. Some rooms need the programs that
//! `cargo xtask peers` fetches.

mod agents;
mod carried;
mod command_line;
mod dist;
mod doctor;
mod explain;
mod http_proxy;
mod inspect;
mod install;
mod live;
mod manifest;
mod otel;
mod project;
mod receipts;
mod rules_of_agents;
mod scan;
mod self_test;
mod self_update;
mod setup;
mod setup_elsewhere;
mod state;
mod told;
mod trace;
mod try_turn;
mod values;
