//! The sum over the devices of one worker. A store of several processes computes it before it sends anything.

use super::{Buffers, Job, Reducer};
use crate::in_process::entries::Entries;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::Result;

/// The parts of a store that sum the values of one key.
pub(crate) struct LocalSum<'a> {
    pub context: &'a ArrayContext,
    pub entries: &'a mut Entries,
    pub reducer: &'a mut dyn Reducer,
    pub buffers: &'a mut Buffers,
}

impl LocalSum<'_> {
    /// The sum of these values of a key, in host memory. A single value is returned as it is, or as its copy in host memory.
    ///
    /// # Errors
    /// Fails if memory is short, or a task is refused.
    pub fn on_host(&mut self, entry: usize, arrays: &[NdArray], priority: i32) -> Result<NdArray> {
        let Self { context, entries, reducer, buffers } = self;
        let number = entries.number(entry);
        let job = Job { number, values: arrays, priority };
        let sum = match arrays {
            [value] => value.clone(),
            _ => {
                let device = reducer.place(&job, &|| entries.sizes())?;
                let make =
                    |like: &NdArray| NdArray::empty(context, like.shape().clone(), like.dtype(), device, "kvstore");
                let sum = entries.target(entry, true, device, make)?;
                reducer.reduce(&job, &sum)?;
                sum
            }
        };
        buffers.on_host(&sum, (number, 0, 0), priority)
    }
}
