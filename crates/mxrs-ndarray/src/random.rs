//! The random numbers of operators: each device has some generators, which are used in turn, and each generator counts
//! its calls.
//!
//! The calls of an operator are reserved when the operator is pushed, so the same seed and the same order of pushes
//! give the same numbers on any engine and with any number of threads. A generator consists of a seed and a count, so
//! operators that use the same generator do not wait for each other.

use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::Device;
use std::num::NonZeroUsize;
use std::time::{SystemTime, UNIX_EPOCH};

/// Calls of one generator that are reserved for one operator: the calls numbered `first..first + n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCalls {
    /// Seed of the generator.
    pub seed: u64,
    /// The number of the first reserved call.
    pub first: u64,
}

/// How many random generators a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCopies {
    /// How many generators each CPU device has (`MXNET_CPU_PARALLEL_RAND_COPY`).
    pub cpu: NonZeroUsize,
    /// How many generators each GPU has (`MXNET_GPU_PARALLEL_RAND_COPY`).
    pub gpu: NonZeroUsize,
}

impl Default for RandomCopies {
    fn default() -> Self {
        Self { cpu: NonZeroUsize::MIN, gpu: NonZeroUsize::MIN.saturating_add(3) }
    }
}

/// The generators of all devices.
pub struct RandomSource {
    state: RankedMutex<State>,
    copies: RandomCopies,
}

struct State {
    /// The seed of devices without their own seed.
    seed: u64,
    /// The devices that have been used or seeded.
    devices: Vec<(Device, Generators)>,
}

/// The generators of one device.
struct Generators {
    /// The seed from which the seeds of the device's generators are computed.
    seed: u64,
    /// For each generator that has been used, the number of its next call.
    next: Vec<u64>,
    /// The index of the generator to use next.
    turn: usize,
}

impl RandomSource {
    /// Makes a source whose seed is the current time, as MXNet does if `seed` is not called.
    pub fn from_clock(copies: RandomCopies) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::new(now.as_nanos() as u64, copies)
    }

    /// Makes a source with this seed for all devices.
    pub fn new(seed: u64, copies: RandomCopies) -> Self {
        Self { state: RankedMutex::new(Rank::Leaf, State { seed, devices: Vec::new() }), copies }
    }

    /// Seeds every device; operators that are pushed later use the numbers of this seed from its start.
    pub fn seed(&self, seed: u64) {
        let mut state = self.state.lock();
        state.seed = seed;
        state.devices.clear();
    }

    /// Seeds one device; the generators of other devices continue.
    pub fn seed_device(&self, seed: u64, device: Device) {
        let mut state = self.state.lock();
        state.devices.retain(|(d, ..)| *d != device);
        state.devices.push((device, Generators::new(seed)));
    }

    /// Reserves `n` calls of the generator of `device` whose turn it is. A request for 0 calls does not advance the turn.
    pub fn reserve(&self, device: Device, n: u64) -> RandomCalls {
        let mut state = self.state.lock();
        let at = state.devices.iter().position(|(d, ..)| *d == device).unwrap_or_else(|| {
            let generators = Generators::new(state.seed);
            state.devices.push((device, generators));
            state.devices.len() - 1
        });
        let copies = if device.is_host() { self.copies.cpu } else { self.copies.gpu };
        let Generators { seed, next, turn } = &mut state.devices[at].1;
        let at = *turn;
        // Generators are used in the order 1, 2, …, 0, as in MXNet: the first request gets generator 1, if it exists,
        // and generator 0 is used last.
        let seed = seed_of(*seed, device, ((at + 1) % copies.get()) as u64);
        if n == 0 {
            return RandomCalls { seed, first: next.get(at).copied().unwrap_or(0) };
        }
        *turn = (at + 1) % copies.get();
        if at == next.len() {
            next.push(0);
        }
        let first = next[at];
        next[at] = first.wrapping_add(n);
        RandomCalls { seed, first }
    }
}

/// The state of one device's generators, from which [`RandomSource::restore`] continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomState {
    /// The seed from which the seeds of the device's generators are computed.
    pub seed: u64,
    /// For each generator that has been used, the number of its next call.
    pub next: Vec<u64>,
    /// The index of the generator to use next.
    pub turn: usize,
}

impl RandomSource {
    /// The state of the generators of `device`.
    pub fn state(&self, device: Device) -> RandomState {
        let state = self.state.lock();
        let of = state.devices.iter().find(|(d, _)| *d == device).map(|(_, generators)| generators);
        of.map_or_else(
            || RandomState { seed: state.seed, next: Vec::new(), turn: 0 },
            |Generators { seed, next, turn }| RandomState { seed: *seed, next: next.clone(), turn: *turn },
        )
    }

    /// Continues on `device` from the state `to`. If the number of generators differs from that of the state, the
    /// numbers start again from the beginning.
    pub fn restore(&self, device: Device, to: &RandomState) {
        let copies = if device.is_host() { self.copies.cpu } else { self.copies.gpu }.get();
        let mut state = self.state.lock();
        state.devices.retain(|(d, _)| *d != device);
        let fits = to.next.len() <= copies && to.turn < copies;
        let (next, turn) = if fits { (to.next.clone(), to.turn) } else { (Vec::new(), 0) };
        state.devices.push((device, Generators { seed: to.seed, next, turn }));
    }
}

impl Generators {
    fn new(seed: u64) -> Self {
        Self { seed, next: Vec::new(), turn: 0 }
    }
}

/// The seed of the generator numbered `copy`: as in MXNet, the device's id plus `16 * copy` plus 127 times the global
/// seed. Devices of another kind than `cpu` get different seeds, even with the same id.
fn seed_of(seed: u64, device: Device, copy: u64) -> u64 {
    let kind = Device { id: 0, ..device };
    // FNV-1a hash of the name of the device's kind, so that the random numbers do not depend on how devices are
    // represented.
    let hash = |name: String| {
        name.bytes().fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3))
    };
    let of_kind = if kind == Device::cpu(0) { 0 } else { hash(kind.to_string()) };
    of_kind ^ u64::from(device.id).wrapping_add(copy.wrapping_mul(16)).wrapping_add(seed.wrapping_mul(127))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn source(seed: u64, n_cpu: usize) -> RandomSource {
        RandomSource::new(seed, RandomCopies { cpu: NonZeroUsize::new(n_cpu).unwrap(), ..RandomCopies::default() })
    }

    #[test]
    fn r1_the_same_seed_and_order_give_the_same_calls() {
        for n_copies in [1, 2, 3] {
            let draw = |source: &RandomSource| [3, 1, 2, 5].map(|n| source.reserve(Device::cpu(0), n));
            let source = source(1, n_copies);
            source.seed(7);
            let first = draw(&source);
            source.reserve(Device::cpu(0), 9);
            source.seed(7);
            assert_eq!(draw(&source), first);
        }
    }

    #[test]
    fn r2_devices_and_copies_have_streams_of_their_own() {
        let source = source(7, 2);
        let devices = [Device::cpu(0), Device::cpu(1), Device::gpu(0), Device::gpu(1), Device::cpu_pinned(0)];
        let seeds: BTreeSet<u64> = devices.iter().flat_map(|d| [0; 2].map(|_| source.reserve(*d, 1).seed)).collect();
        assert_eq!(seeds.len(), 2 * devices.len(), "{seeds:?}");
    }

    /// As in MXNet, on device id `d` with global seed `s`, generator `i` is seeded with `d + 16 i + 127 s`. The generators
    /// are used in turn (`MXNET_CPU_PARALLEL_RAND_COPY`).
    #[test]
    fn copies_take_turns() {
        let one = source(7, 1);
        let calls = [3, 1, 2].map(|n| one.reserve(Device::cpu(2), n));
        assert_eq!(calls.map(|c| (c.seed, c.first)), [0, 3, 4].map(|first| (2 + 127 * 7, first)));
        let two = source(7, 2);
        let calls = [3, 1, 2, 4].map(|n| two.reserve(Device::cpu(2), n));
        let (a, b) = (2 + 16 + 127 * 7, 2 + 127 * 7);
        assert_eq!(calls.map(|c| (c.seed, c.first)), [(a, 0), (b, 0), (a, 3), (b, 1)]);
        let next = two.reserve(Device::cpu(2), 0);
        assert_eq!((next, two.reserve(Device::cpu(2), 1)), (next, next), "no call, no turn");
    }

    #[test]
    fn a_restored_source_goes_on_where_the_other_was() {
        for n_copies in [1, 3] {
            let (first, second) = (source(7, n_copies), source(99, n_copies));
            for n in [3, 1, 2, 2] {
                first.reserve(Device::cpu(0), n);
            }
            second.restore(Device::cpu(0), &first.state(Device::cpu(0)));
            for n in [1, 4, 2, 5] {
                assert_eq!(first.reserve(Device::cpu(0), n), second.reserve(Device::cpu(0), n));
            }
        }
        let fresh = source(7, 1).state(Device::cpu(0));
        assert_eq!(fresh, RandomState { seed: 7, next: vec![], turn: 0 });
    }

    #[test]
    fn seeding_one_device_leaves_the_others() {
        let source = source(7, 1);
        source.reserve(Device::cpu(1), 5);
        source.seed_device(9, Device::cpu(0));
        assert_eq!(source.reserve(Device::cpu(1), 1).first, 5);
        assert_eq!(source.reserve(Device::cpu(0), 1), RandomCalls { seed: 9 * 127, first: 0 });
    }
}
