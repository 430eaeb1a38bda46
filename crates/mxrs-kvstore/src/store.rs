//! The interface of all stores.

use crate::{Compression, Key, RowSparse, StoreType, Updater, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Result};

/// A request for some rows of a stored value.
#[derive(Clone, Debug)]
pub struct RowPull {
    /// The key.
    pub key: Key,
    /// The numbers of the rows, in any order and with repetitions.
    pub ids: Vec<i64>,
    /// The devices that get the rows.
    pub devices: Vec<Device>,
}

/// Arrays by key, summed over devices.
///
/// All keys of one store are numbers, or all are texts. A call may name a key several times, once per device; the values of
/// one key are summed in the order in which they are given. Calls only push tasks to the engine; reading an array waits for
/// them. The error of a failed task is returned where an array that depends on it is read.
///
/// Calls from one thread take effect in their order: a pull returns what the last push before it left. Of two tasks that
/// could both run, the one with the larger priority is started first.
pub trait KvStore: Send + Sync {
    /// The type of the store.
    fn store_type(&self) -> &StoreType;

    /// Stores the first value of each key.
    ///
    /// # Errors
    /// Fails if a key already has a value, or is a number where other keys are texts.
    fn init(&self, values: &[(Key, NdArray)]) -> Result<()>;

    /// Sums the values of each key. With an [updater](Self::set_updater), the updater changes the stored value by the sum;
    /// otherwise the sum replaces the stored value.
    ///
    /// # Errors
    /// Fails for a key without a value, a wrong shape or type, a mixture of dense and row-sparse values for one key, or the
    /// error of the updater.
    fn push(&self, values: &[(Key, Value)], priority: i32) -> Result<()>;

    /// Copies the stored value of each key to the array that is given with it. All these arrays are dense, so MXNet's
    /// `ignore_sparse` has no effect to choose.
    ///
    /// # Errors
    /// Fails for a key without a value, a wrong shape or type, or if a recorder refuses the write.
    fn pull(&self, outs: &[(Key, NdArray)], priority: i32) -> Result<()>;

    /// [`Self::push`], then [`Self::pull`] to `outs`. Without `outs`, the pull overwrites the values, which are dense.
    ///
    /// # Errors
    /// The errors of both. Also fails if a key in `outs` has another number of arrays than it has values.
    fn pushpull(&self, values: &[(Key, Value)], outs: &[(Key, NdArray)], priority: i32) -> Result<()>;

    /// [`Self::init`], then [`Self::pull`].
    ///
    /// # Errors
    /// The errors of both.
    fn broadcast(&self, values: &[(Key, NdArray)], outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        self.init(values)?;
        self.pull(outs, priority)
    }

    /// Returns rows of stored values: for each request, one copy per device. The rows are sorted by number, without
    /// repetitions.
    ///
    /// # Errors
    /// Fails for a key without a value, a value without rows, a row number that is out of range, or if memory is short.
    fn row_sparse_pull(&self, pulls: &[RowPull], priority: i32) -> Result<Vec<Vec<RowSparse>>>;

    /// Sets the rule by which later pushes update the stored values.
    ///
    /// # Errors
    /// Fails if the store cannot update values.
    fn set_updater(&self, updater: Box<dyn Updater>) -> Result<()>;

    /// Compresses what devices send to each other from now on. Must be called before [`Self::init`].
    ///
    /// # Errors
    /// Fails if the store does not compress, if a key has a value already, or if a compression is set already.
    fn set_gradient_compression(&self, compression: Compression) -> Result<()>;

    /// The number of this worker, from 0.
    fn rank(&self) -> usize {
        0
    }

    /// The number of workers.
    fn num_workers(&self) -> usize {
        1
    }

    /// Waits until all workers have called this function.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    fn barrier(&self) -> Result<()> {
        Ok(())
    }
}
