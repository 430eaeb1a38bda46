//! Sums along trees: each device adds what other devices send, until the root has the sum of all.

use super::buffers::{Buffers, Use};
use super::tasks::{SumOf, copy, sum};
use super::{DeviceReducer, Job, KeySize, Reducer};
use crate::KvStoreOptions;
use crate::sum::Order;
use crate::tree::{Plans, Send, TreeOptions};
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Error, Result};

/// Sums along trees. Compressed values, and keys with one value, are summed as in the store `device`.
pub(crate) struct TreeReducer {
    star: DeviceReducer,
    options: KvStoreOptions,
    tree: TreeOptions,
    /// The devices of the first sum, and the plans that were made for them.
    plans: Option<(Vec<Device>, Plans)>,
}

impl TreeReducer {
    pub fn new(star: DeviceReducer, options: &KvStoreOptions, tree: TreeOptions) -> Self {
        Self { star, options: options.clone(), tree, plans: None }
    }

    /// The plans for these devices.
    fn plans(&mut self, devices: Vec<Device>) -> Result<&Plans> {
        if self.plans.is_none() {
            tracing::info!("Using Tree for the sums of {}", list(&devices));
            self.options.warn_of_indirect_copies(&devices);
            let plans = Plans::new(&self.options.facts(&devices), &self.tree)?;
            if plans.plans.len() != devices.len() {
                let got = format!("facts about {} devices", plans.plans.len());
                return Err(Error::invalid("links of devices", got, format!("facts about {}", devices.len())));
            }
            self.plans = Some((devices.clone(), plans));
        }
        match &self.plans {
            Some((known, plans)) if *known == devices => Ok(plans),
            known => {
                let expected = known.as_ref().map_or_else(String::new, |(known, _)| list(known));
                let expected = format!("{expected}, the devices of the first push, in this order");
                Err(Error::invalid("devices of the values", list(&devices), expected))
            }
        }
    }
}

fn devices(arrays: &[NdArray]) -> Vec<Device> {
    arrays.iter().map(NdArray::device).collect()
}

fn list(devices: &[Device]) -> String {
    devices.iter().map(Device::to_string).collect::<Vec<_>>().join(", ")
}

/// The rows of an array that one plan sums. Returns the array itself if it is not cut into slices.
fn slice_of(array: &NdArray, rows: &std::ops::Range<usize>, n_slices: usize) -> Result<NdArray> {
    if n_slices == 1 { Ok(array.clone()) } else { array.detach().slice(rows.start, rows.end) }
}

impl Reducer for TreeReducer {
    fn place(&mut self, job: &Job<'_>, sizes: &dyn Fn() -> Vec<KeySize>) -> Result<Device> {
        if job.values.len() == 1 || !self.star.keeps_single() {
            return self.star.place(job, sizes);
        }
        self.plans(devices(job.values))?;
        Ok(job.values[0].device())
    }

    fn keeps_single(&self) -> bool {
        self.star.keeps_single()
    }

    fn reduce(&mut self, job: &Job<'_>, out: &NdArray) -> Result<()> {
        if job.values.len() == 1 || !self.star.keeps_single() {
            return self.star.reduce(job, out);
        }
        let plans = self.plans(devices(job.values))?.clone();
        let slices = plans.slices(out.shape().first().copied().unwrap_or(1), out.shape().n_elements());
        for (slice, rows) in slices.iter().enumerate() {
            let plan = &plans.plans[slice];
            let mut sums = Vec::with_capacity(job.values.len());
            for value in job.values {
                sums.push(slice_of(value, rows, slices.len())?);
            }
            let of = SumOf { number: job.number, slice, priority: job.priority, order: Order::LeftToRight };
            for (step, &Send { from, to }) in plan.sends.iter().enumerate() {
                let target = if step + 1 == plan.sends.len() {
                    slice_of(out, rows, slices.len())?
                } else {
                    let id = (Use::Partial, job.number, slice, to);
                    self.star.buffers().get(id, sums[to].shape(), out.dtype(), sums[to].device())?.0
                };
                let inputs = [sums[to].clone(), sums[from].clone()];
                sum(self.star.buffers(), of, &target, &inputs, [to, from].into_iter())?;
                sums[to] = target;
            }
        }
        Ok(())
    }

    fn spread(&mut self, number: i64, stored: &NdArray, outs: &[NdArray], priority: i32) -> Result<()> {
        let plans = match &self.plans {
            Some((known, plans)) if *known == devices(outs) => plans,
            _ => return self.star.spread(number, stored, outs, priority),
        };
        let slices = plans.slices(stored.shape().first().copied().unwrap_or(1), stored.shape().n_elements());
        for (plan, rows) in plans.plans.iter().zip(&slices) {
            let part = |array: &NdArray| slice_of(array, rows, slices.len());
            copy(&part(stored)?, &part(&outs[plan.root])?, priority)?;
            for &Send { from, to } in plan.sends.iter().rev() {
                copy(&part(&outs[to])?, &part(&outs[from])?, priority)?;
            }
        }
        Ok(())
    }

    fn compressed(&mut self) -> Option<&mut Buffers> {
        self.star.compressed()
    }
}
