//! Code that all peers (the libraries compared with mxrs) share: the main loop of a peer's process. Each peer is a program in
//! `src/bin` and needs the feature of the same name.

#[path = "../../src/score/serve.rs"]
pub mod serve;
