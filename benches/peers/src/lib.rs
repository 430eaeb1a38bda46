//! Code that all peers share: the main loop of a peer's process. Each peer is a program in `src/bin` and needs the feature
//! of the same name.

#[path = "../../src/score/serve.rs"]
pub mod serve;
