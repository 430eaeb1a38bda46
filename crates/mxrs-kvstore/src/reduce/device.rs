//! The sums of the store `device`: each key is summed on one of the devices that hold its values, from left to right.

use super::compressed::sum_compressed;
use super::tasks::{SumOf, copy, copy_to_all, sum, sum_to_all};
use super::{Buffers, Job, KeySize, Reducer, stored_and_outs};
use crate::sum::Order;
use crate::{Compression, KvStoreOptions};
use indexmap::IndexSet;
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Result};
use std::collections::HashMap;

/// Sums on devices.
pub(crate) struct DeviceReducer {
    buffers: Buffers,
    compression: Option<Compression>,
    options: KvStoreOptions,
    placement: Placement,
}

impl DeviceReducer {
    pub fn new(buffers: Buffers, options: &KvStoreOptions, compression: Option<Compression>) -> Self {
        Self { buffers, compression, options: options.clone(), placement: Placement::default() }
    }

    pub fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }
}

impl Reducer for DeviceReducer {
    fn place(&mut self, job: &Job<'_>, sizes: &dyn Fn() -> Vec<KeySize>) -> Result<Device> {
        match job.values {
            [value] => Ok(value.device()),
            values => {
                if !self.placement.is_begun() {
                    let devices: IndexSet<Device> = values.iter().map(NdArray::device).collect();
                    self.options.warn_of_indirect_copies(&devices.into_iter().collect::<Vec<_>>());
                }
                Ok(self.placement.of(job.number, values, sizes))
            }
        }
    }

    fn keeps_single(&self) -> bool {
        self.compression.is_none()
    }

    fn reduce(&mut self, job: &Job<'_>, out: &NdArray) -> Result<()> {
        if let Some(compression) = self.compression {
            return sum_compressed(&mut self.buffers, compression, job, out);
        }
        if let [value] = job.values {
            return copy(value, out, job.priority);
        }
        sum(&mut self.buffers, sum_of(job), out, job.values, 0..)
    }

    fn spread(&mut self, number: i64, stored: &NdArray, outs: &[NdArray], priority: i32) -> Result<()> {
        let are_all_on_host = stored.device().is_host() && outs.iter().all(|out| out.device().is_host());
        if self.placement.is_begun() || outs.len() < 2 || are_all_on_host {
            return copy_to_all(&self.buffers, stored, outs, priority);
        }
        // Before the first sum, it is not known on which devices the keys are summed. So the value goes to one device,
        // chosen by the number of the key, and from there to the others.
        let first = number.rem_euclid(outs.len() as i64) as usize;
        copy(stored, &outs[first], priority)?;
        let others = outs.iter().enumerate().filter(|&(i, _)| i != first);
        others.map(|(_, out)| out).try_for_each(|out| copy(&outs[first], out, priority))
    }

    fn reduce_and_spread(&mut self, job: &Job<'_>, stored: &NdArray, outs: &[NdArray]) -> Result<()> {
        let is_plain = self.compression.is_none();
        if is_plain && sum_to_all(&self.buffers, sum_of(job), &stored_and_outs(stored, outs), job.values)? {
            return Ok(());
        }
        self.reduce(job, stored)?;
        self.spread(job.number, stored, outs, job.priority)
    }

    fn compressed(&mut self) -> Option<&mut Buffers> {
        self.compression.is_some().then_some(&mut self.buffers)
    }
}

fn sum_of(job: &Job<'_>) -> SumOf {
    SumOf { number: job.number, slice: 0, priority: job.priority, order: Order::LeftToRight }
}

/// Which device sums which key, chosen so that all devices sum about the same number of elements.
#[derive(Default)]
pub(crate) struct Placement {
    /// The devices, with the number of elements that each sums.
    devices: Vec<(Device, u64)>,
    of_key: HashMap<i64, Device>,
}

impl Placement {
    pub fn is_begun(&self) -> bool {
        !self.devices.is_empty()
    }

    /// The device for this key. The first call places all keys, the largest first, each on the device with the fewest
    /// elements so far. Of several such devices, the first is taken.
    fn of(&mut self, number: i64, values: &[NdArray], sizes: &dyn Fn() -> Vec<KeySize>) -> Device {
        if let Some(&device) = self.of_key.get(&number) {
            return device;
        }
        for value in values {
            if self.devices.iter().all(|&(device, _)| device != value.device()) {
                self.devices.push((value.device(), 0));
            }
        }
        let mut sizes = sizes();
        sizes.sort_by_key(|&(number, n_elements)| (std::cmp::Reverse(n_elements), number));
        let mut found = values[0].device();
        for (key, n_elements) in sizes {
            if self.of_key.contains_key(&key) {
                continue;
            }
            if let Some((device, load)) = self.devices.iter_mut().min_by_key(|(_, load)| *load) {
                *load += n_elements as u64;
                self.of_key.insert(key, *device);
                if key == number {
                    found = *device;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_engine::{Engine, EngineConfig};
    use mxrs_ndarray::ArrayContext;
    use mxrs_storage::{Storage, StorageConfig};
    use mxrs_types::DType;

    #[test]
    fn large_keys_are_placed_first() {
        let engine = Engine::new(EngineConfig::default()).unwrap();
        let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
        let on = |id| NdArray::empty(&context, [1], DType::F32, Device::cpu(id), "value").unwrap();
        let values = [on(2), on(0), on(5)];
        let sizes = || vec![(0, 10), (1, 50), (2, 30), (3, 30), (4, 15), (5, 5)];
        let mut placement = Placement::default();
        let placed: Vec<u32> = (0..6).map(|key| placement.of(key, &values, &sizes).id).collect();
        // After keys 1, 2 and 3, the devices 2, 0 and 5 have 50, 30 and 30 elements. Key 4 (15) goes to device 0, the first
        // with 30. Keys 0 (10) and 5 (5) go to device 5, which then has the fewest.
        assert_eq!(placed, [5, 2, 0, 5, 0, 5]);
        assert_eq!(placement.devices.iter().map(|&(_, load)| load).collect::<Vec<_>>(), [50, 45, 45]);
        let more = || vec![(6, 1)];
        assert_eq!(placement.of(6, &values, &more), Device::cpu(0), "a key that comes later");
    }
}
