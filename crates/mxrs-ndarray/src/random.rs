//! Where random operators get their numbers from: a seed per device, and the number of the next call.
//!
//! Numbers are reserved when an operator is pushed, so the same seed and the same order of pushes give the same numbers
//! on any engine and with any number of threads.

use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::Device;
use std::time::{SystemTime, UNIX_EPOCH};

/// Calls reserved under one seed: numbers `first..first + n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCalls {
    /// Seed of the device's generator.
    pub seed: u64,
    /// First number reserved.
    pub first: u64,
}

/// Generators of all devices.
pub struct RandomSource {
    state: RankedMutex<State>,
}

struct State {
    /// Seed of devices that have none of their own.
    seed: u64,
    /// Devices that have drawn, or were seeded: device, seed, next number.
    devices: Vec<(Device, u64, u64)>,
}

impl RandomSource {
    /// Seeded by the clock, as MXNet is when nobody calls `seed`.
    pub fn from_clock() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::new(now.as_nanos() as u64)
    }

    /// Seeded by `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: RankedMutex::new(Rank::Leaf, State { seed, devices: Vec::new() }) }
    }

    /// Seeds every device; what is pushed later draws the numbers of this seed from its start.
    pub fn seed(&self, seed: u64) {
        let mut state = self.state.lock();
        state.seed = seed;
        state.devices.clear();
    }

    /// Seeds one device and leaves the others as they are.
    pub fn seed_device(&self, seed: u64, device: Device) {
        let mut state = self.state.lock();
        state.devices.retain(|(d, ..)| *d != device);
        state.devices.push((device, mixed(seed, device), 0));
    }

    /// Reserves `n` calls on `device`.
    pub fn reserve(&self, device: Device, n: u64) -> RandomCalls {
        let mut state = self.state.lock();
        let at = state.devices.iter().position(|(d, ..)| *d == device).unwrap_or_else(|| {
            let seed = mixed(state.seed, device);
            state.devices.push((device, seed, 0));
            state.devices.len() - 1
        });
        let (_, seed, next) = &mut state.devices[at];
        let first = *next;
        *next = next.wrapping_add(n);
        RandomCalls { seed: *seed, first }
    }
}

/// The seed of one device: distinct devices get distinct streams.
fn mixed(seed: u64, device: Device) -> u64 {
    // FNV-1a over the device's name, so that the numbers do not depend on how devices are represented.
    let name = device.to_string();
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3));
    if device == Device::cpu(0) { seed } else { seed ^ hash }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_the_same_seed_and_order_give_the_same_calls() {
        let draw = |source: &RandomSource| [3, 1, 2].map(|n| source.reserve(Device::cpu(0), n));
        let source = RandomSource::new(1);
        source.seed(7);
        let first = draw(&source);
        source.seed(7);
        assert_eq!(draw(&source), first);
        assert_eq!(first.map(|c| c.first), [0, 3, 4]);
    }

    #[test]
    fn r2_devices_have_streams_of_their_own() {
        let source = RandomSource::new(7);
        let seeds = [Device::cpu(0), Device::cpu(1), Device::gpu(0)].map(|d| source.reserve(d, 1).seed);
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2], "{seeds:?}");
    }

    #[test]
    fn seeding_one_device_leaves_the_others() {
        let source = RandomSource::new(7);
        source.reserve(Device::cpu(1), 5);
        source.seed_device(9, Device::cpu(0));
        assert_eq!(source.reserve(Device::cpu(1), 1).first, 5);
        assert_eq!(source.reserve(Device::cpu(0), 1), RandomCalls { seed: 9, first: 0 });
    }
}
