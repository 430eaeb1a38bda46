//! Tests `max(x, 0)` through the raw interface, with oneDNN linked or loaded.

// The tests call C functions.
#![allow(unsafe_code)]
#![cfg(any(feature = "static", feature = "dynamic"))]

mod compute;
#[cfg(feature = "static")]
mod linked;
#[cfg(not(feature = "static"))]
mod loaded;
