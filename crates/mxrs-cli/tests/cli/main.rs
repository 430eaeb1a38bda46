//! The built program from outside: what it prints, what it writes, how it exits.

mod convert_onnx;
mod diagnose;
mod env;
mod files;
mod help;
mod im2rec;
mod interrupt;
mod mxrs;
mod ops;
mod plan;
mod plot;
mod predict;
mod quantize;
mod score;
mod summary;
mod train;
mod tune;
mod usage;
