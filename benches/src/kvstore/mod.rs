//! Speed of key-value stores: gradients of several devices are summed, and the sums are copied back to the devices.
//!
//! The arrays have the shapes of a network's gradients ([`gradients`]). All devices are CPU contexts, so their arrays are in
//! the same host memory. mxrs ([`ours`]) and MXNet each have a process of its own, a [`Seat`], which is stopped while the
//! other one is measured. Orders and answers are lines of JSON:
//!
//! ```text
//! {"do": "load", "store": "local", "n_devices": 2, "shapes": [[64, 3, 7, 7], …]}  answers {"name": "mxrs 0.1.0"}
//! {"do": "run", "call": "pushpull", "n_steps": 4}                                 answers {"seconds": 0.31}
//! ```
//!
//! A step pushes and pulls every array once and waits for all of them. An order to run fills the gradients with ones first,
//! and checks the sums afterwards; neither counts.

pub mod gradients;
pub mod ours;
mod seat;

pub use seat::Seat;

use clap::ValueEnum;
use serde_json::{Value, json};

/// A store with devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the store.
    pub store: String,
    /// Number of CPU contexts.
    pub n_devices: usize,
}

impl Case {
    /// The order to load arrays of these shapes.
    pub fn to_order(&self, shapes: &[Vec<usize>]) -> Value {
        json!({ "do": "load", "store": self.store, "n_devices": self.n_devices, "shapes": shapes })
    }
}

/// The calls with which one array is pushed and pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Call {
    /// A call to push and a call to pull.
    PushPull,
    /// One call for both, as MXNet's module does.
    Pushpull,
}

impl Call {
    /// The word in orders and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::PushPull => "push, pull",
            Self::Pushpull => "pushpull",
        }
    }

    /// The call of this word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::PushPull, Self::Pushpull].into_iter().find(|call| call.word() == word)
    }
}

/// The largest number of steps of one order. Each step replaces the gradients by their sums over the devices. With 4 devices
/// the values are 4^12 = 2^24 after 12 steps, the limit up to which float32 represents all integers.
pub const MAX_STEPS: usize = 12;
