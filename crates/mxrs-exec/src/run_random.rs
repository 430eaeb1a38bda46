//! The random calls of one run: a device takes its numbers from its own generator.

use crate::program::Program;
use mxrs_ndarray::{ArrayContext, RandomCalls};
use mxrs_types::Device;
use std::sync::Arc;

/// The random calls that were reserved for one run.
#[derive(Clone)]
pub enum RunRandom {
    /// All random steps of the program are on one device.
    One(RandomCalls),
    /// Random steps are on several devices, and the generator of each device reserves calls. Each reserves as many as the
    /// program makes on all devices together, so that the number of a step in the program is valid for every device.
    Several(Arc<[(Device, RandomCalls)]>),
}

impl RunRandom {
    /// Reserves the random calls of a run of a program.
    pub fn reserve(context: &ArrayContext, program: &Program, devices: &[Device]) -> Self {
        let reserve = |device: Device| context.random().reserve(device, u64::from(program.n_random));
        match devices {
            [] => Self::One(RandomCalls { seed: 0, first: 0 }),
            [one] => Self::One(reserve(*one)),
            several => Self::Several(several.iter().map(|device| (*device, reserve(*device))).collect()),
        }
    }

    /// The calls of the steps on a device.
    pub fn on(&self, device: Device) -> RandomCalls {
        match self {
            Self::One(calls) => *calls,
            Self::Several(of) => {
                let found = of.iter().find(|(known, _)| *known == device);
                found.map_or(RandomCalls { seed: 0, first: 0 }, |(_, calls)| *calls)
            }
        }
    }
}

/// The devices on which steps of a program draw random numbers.
pub fn random_devices(program: &Program) -> Vec<Device> {
    let mut devices = Vec::new();
    for step in program.steps.iter().filter(|step| step.random.is_some()) {
        if !devices.contains(&step.device) {
            devices.push(step.device);
        }
    }
    devices
}
