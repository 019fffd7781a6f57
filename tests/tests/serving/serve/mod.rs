//! `acp-chain serve` with third-party clients, and behind third-party balancers.

mod balancer;
mod balancers;
mod clients;
mod drivers;
mod kubernetes;
mod network;
mod packets;
mod replica;
mod systemd;
mod turn;
