//! Values that proxies store beyond a connection, as the program keeps them: whose they are, and what they survive.

mod broken;
mod ended;
mod kept;
mod owners;
mod world;
