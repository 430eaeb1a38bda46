//! The locks and atomics of this crate, in one place so that they can be exchanged together.

pub(crate) use parking_lot::{Condvar, Mutex};
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, OnceLock};
