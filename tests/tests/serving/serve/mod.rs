//! `acp-chain serve` with clients that others wrote, and behind balancers that others wrote.

mod balancer;
mod balancers;
mod clients;
mod drivers;
mod kubernetes;
mod network;
mod packets;
mod replica;
mod turn;
