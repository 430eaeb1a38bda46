//! What the peers share: the inside of a peer's process. Each peer is a program of `src/bin` with a feature of its name.

#[path = "../../src/score/serve.rs"]
pub mod serve;
