//! Arrays that get a sum at the moment when the store gets it.

use super::{DistSync, State};
use crate::in_process::entries::{Group as Grouped, Values};
use mxrs_ndarray::NdArray;
use mxrs_types::Device;

impl DistSync {
    /// For each group of values, the array that can get the sum at the same time as the store. Such an array is the only
    /// output of its key, is in host memory, and is not the pushed value itself. The list is empty if the store updates
    /// weights, because then the sum is not the result.
    pub(super) fn direct(
        &self,
        state: &State,
        values: &[Grouped<Values>],
        outs: &[Grouped<Vec<NdArray>>],
    ) -> Vec<Option<NdArray>> {
        if state.updater.is_some() || values.len() != outs.len() {
            return Vec::new();
        }
        let one = |((entry, values), (other, outs)): (&Grouped<Values>, &Grouped<Vec<NdArray>>)| {
            let (Values::Dense(values), [out]) = (values, outs.as_slice()) else { return None };
            let is_apart = values.iter().all(|value| value.var() != out.var());
            let is_plain = out.device() == Device::cpu(0) && out.dtype() == state.entries.stored(*entry).dtype();
            (entry == other && is_apart && is_plain).then(|| out.clone())
        };
        values.iter().zip(outs).map(one).collect()
    }
}
