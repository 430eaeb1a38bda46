//! The memory of a ready program, on each of its devices.

use crate::packed::Packed;
use mxrs_ndarray::NdArray;
use mxrs_storage::Block;
use mxrs_types::Device;
use std::sync::Arc;

/// The memory of a program on one device.
#[derive(Clone)]
pub struct Home {
    /// The device.
    pub device: Device,
    /// The arena of temporaries, if there are any.
    pub arena: Option<Arc<Block>>,
    /// The packed constants.
    pub packed: Arc<Packed>,
}

/// The memory of a program on all its devices.
#[derive(Clone)]
pub struct Memory {
    /// The memory on the default device.
    pub main: Home,
    /// The memory on other devices.
    pub others: Vec<Home>,
    /// The [crossing arrays](crate::program::Program::crossings).
    pub crossings: Vec<NdArray>,
}

impl Memory {
    /// The memory of a program on one device.
    pub fn on_one(device: Device, arena: Option<Arc<Block>>, packed: Arc<Packed>) -> Self {
        Self { main: Home { device, arena, packed }, others: Vec::new(), crossings: Vec::new() }
    }

    /// The memory on a device of the program.
    pub fn on(&self, device: Device) -> &Home {
        self.others.iter().find(|home| home.device == device).unwrap_or(&self.main)
    }

    /// The memory on each device.
    pub fn homes(&self) -> impl Iterator<Item = &Home> {
        std::iter::once(&self.main).chain(&self.others)
    }
}
