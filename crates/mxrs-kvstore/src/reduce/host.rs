//! The sums of the store `local`: on the host, and in groups of four values, as MXNet adds them.

use super::tasks::{SumOf, copy, copy_to_all, sum, sum_to_all};
use super::{Buffers, Job, KeySize, Reducer, stored_and_outs};
use crate::sum::Order;
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Result};

/// Sums on the host.
pub(crate) struct HostReducer {
    buffers: Buffers,
}

impl HostReducer {
    pub fn new(buffers: Buffers) -> Self {
        Self { buffers }
    }
}

impl Reducer for HostReducer {
    fn place(&mut self, _: &Job<'_>, _: &dyn Fn() -> Vec<KeySize>) -> Result<Device> {
        Ok(Device::cpu(0))
    }

    fn keeps_single(&self) -> bool {
        true
    }

    fn reduce(&mut self, job: &Job<'_>, out: &NdArray) -> Result<()> {
        if let [value] = job.values {
            return copy(value, out, job.priority);
        }
        sum(&mut self.buffers, sum_of(job), out, job.values, 0..)
    }

    fn spread(&mut self, _: i64, stored: &NdArray, outs: &[NdArray], priority: i32) -> Result<()> {
        copy_to_all(&self.buffers, stored, outs, priority)
    }

    fn reduce_and_spread(&mut self, job: &Job<'_>, stored: &NdArray, outs: &[NdArray]) -> Result<()> {
        if sum_to_all(&self.buffers, sum_of(job), &stored_and_outs(stored, outs), job.values)? {
            return Ok(());
        }
        self.reduce(job, stored)?;
        self.spread(job.number, stored, outs, job.priority)
    }
}

fn sum_of(job: &Job<'_>) -> SumOf {
    SumOf { number: job.number, slice: 0, priority: job.priority, order: Order::GroupsOfFour }
}
