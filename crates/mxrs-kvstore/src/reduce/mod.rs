//! How the values of one key are summed, and how a stored value gets to the devices.

mod buffers;
mod compressed;
mod device;
mod host;
mod local;
mod rows;
mod tasks;
mod tree;

pub(crate) use buffers::Buffers;
pub(crate) use compressed::encode;
pub(crate) use device::DeviceReducer;
pub(crate) use host::HostReducer;
pub(crate) use local::LocalSum;
pub(crate) use rows::{assign_rows, gather_rows, sum_row_sparse};
pub(crate) use tasks::copy;
pub(crate) use tree::TreeReducer;

use crate::sum::SumThreads;
use crate::{KvStoreOptions, StoreType};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// For a store of several processes: the threads that sum values of workers, and the reducer that sums the values of one
/// process's devices.
pub(crate) fn of_process(
    store_type: &StoreType,
    context: &ArrayContext,
    options: &KvStoreOptions,
) -> (Arc<SumThreads>, Box<dyn Reducer>) {
    if store_type.reduces_on_device() {
        let threads = SumThreads::of_devices(options);
        let buffers = Buffers::new(context, threads.clone());
        return (threads, Box::new(DeviceReducer::new(buffers, options, None)));
    }
    let threads = SumThreads::of_host(options);
    let buffers = Buffers::new(context, threads.clone());
    (threads, Box::new(HostReducer::new(buffers)))
}

/// The values of one key in one push.
pub(crate) struct Job<'a> {
    /// The number of the key.
    pub number: i64,
    /// The values, one per device, with the shape and type of the stored value.
    pub values: &'a [NdArray],
    pub priority: i32,
}

/// The number of a key, and its number of elements.
pub(crate) type KeySize = (i64, usize);

/// One way to sum the values of several devices.
pub(crate) trait Reducer: Send {
    /// The device that shall hold the sum of this job. `sizes` returns the sizes of all keys of the store.
    ///
    /// # Errors
    /// Fails if the values are on other devices than the values of earlier jobs.
    fn place(&mut self, job: &Job<'_>, sizes: &dyn Fn() -> Vec<KeySize>) -> Result<Device>;

    /// Whether a single value is stored as it is, without a copy, as its own sum.
    fn keeps_single(&self) -> bool;

    /// Pushes the tasks that write the sum to `out`, which is on the device that [`Self::place`] returned.
    ///
    /// # Errors
    /// Fails if memory is short, or a task is refused.
    fn reduce(&mut self, job: &Job<'_>, out: &NdArray) -> Result<()>;

    /// Pushes the tasks that copy `stored` to all of `outs`.
    ///
    /// # Errors
    /// Fails if a task is refused.
    fn spread(&mut self, number: i64, stored: &NdArray, outs: &[NdArray], priority: i32) -> Result<()>;

    /// [`Self::reduce`] to `stored`, then [`Self::spread`] to `outs`.
    ///
    /// # Errors
    /// The errors of both.
    fn reduce_and_spread(&mut self, job: &Job<'_>, stored: &NdArray, outs: &[NdArray]) -> Result<()> {
        self.reduce(job, stored)?;
        self.spread(job.number, stored, outs, job.priority)
    }

    /// The buffers that hold the residuals of compression. `None` if this reducer does not compress.
    fn compressed(&mut self) -> Option<&mut Buffers> {
        None
    }
}

/// The stored value and the arrays that get a copy of it.
fn stored_and_outs(stored: &NdArray, outs: &[NdArray]) -> Vec<NdArray> {
    std::iter::once(stored).chain(outs).cloned().collect()
}
