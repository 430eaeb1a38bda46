//! The interface of all stores.

use crate::dist::AllReduce;
use crate::{Compression, Key, RowSparse, StoreType, Updater, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Error, Result};
use std::ops::Range;

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

/// What compression has left over of the values of one key from one device.
#[derive(Clone, Debug)]
pub struct Residual {
    /// The key.
    pub key: Key,
    /// The position of the device among the values of the key.
    pub position: usize,
    /// One float32 element for each element of the value, on one axis, in host memory.
    pub array: NdArray,
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

    /// What compression has left over so far, which the next push adds. The arrays are the store's own; later pushes change
    /// them. Empty for a store without compression.
    ///
    /// # Errors
    /// Fails if another process has them.
    fn residuals(&self) -> Result<Vec<Residual>> {
        Ok(Vec::new())
    }

    /// Continues from these residuals, as a store that had the same pushes would. The arrays are copied.
    ///
    /// # Errors
    /// Fails for a key without a value, for an array of another size or type, or if the store has no compression.
    fn set_residuals(&self, residuals: &[Residual]) -> Result<()> {
        match residuals.first() {
            None => Ok(()),
            Some(first) => {
                let expected = "a store that compresses gradients";
                Err(Error::invalid(format!("residual of key {}", first.key), self.store_type(), expected))
            }
        }
    }

    /// The number of this worker, from 0.
    fn rank(&self) -> usize {
        0
    }

    /// The number of workers.
    fn num_workers(&self) -> usize {
        1
    }

    /// The elements of the flattened value of a key that this worker updates, if workers divide the updates; `None` means all.
    /// Some of the stores with several workers exchange the plan of the division in the first call, so all workers must
    /// make it.
    ///
    /// # Errors
    /// Fails for a key without a value, if the workers have different keys, or if a worker is lost.
    fn updated_part(&self, key: &Key) -> Result<Option<Range<usize>>> {
        let _ = key;
        Ok(None)
    }

    /// The states of the updaters, if servers update the values: one file of states for each server. `None` if the workers
    /// have the states.
    ///
    /// # Errors
    /// Fails if a server is lost.
    fn updater_states(&self) -> Result<Option<Vec<Vec<u8>>>> {
        Ok(None)
    }

    /// Gives states to the servers that update the values; each takes its part. Returns false if there are no such servers.
    ///
    /// # Errors
    /// Fails if the states do not fit, or if a server is lost.
    fn set_updater_states(&self, states: &[u8]) -> Result<bool> {
        let _ = states;
        Ok(false)
    }

    /// Waits until worker 0 has given states to the servers that update the values, or until these have made updates. Workers that
    /// resume call it before their first push: an update would otherwise be made without the states from which worker 0
    /// resumes. Does nothing if there are no such servers.
    ///
    /// # Errors
    /// Fails if worker 0 neither gives states nor pushes in time, or if a server is lost.
    fn wait_for_updater_states(&self) -> Result<()> {
        Ok(())
    }

    /// Notes that the training of this worker has failed. Servers then wait for it when it ends, because it may be started again.
    /// Stores without servers do nothing.
    fn fail(&self) {}

    /// Gives bytes to all workers, and returns those of every worker by rank. Waits until all workers have called this
    /// function. All workers make their calls of this function, [`Self::gather`] and [`Self::barrier`] in the same order.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(vec![bytes.to_vec()])
    }

    /// Gives bytes to worker 0, which gets those of every worker by rank. The others get `None`, and do not wait.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        Ok(Some(vec![bytes.to_vec()]))
    }

    /// Sums values of all workers by the transport's own function, such as `MPI_Allreduce`, with which this store is compared.
    /// `None` if the transport has none. All workers call it at the same time, while nothing else is exchanged.
    ///
    /// # Errors
    /// Fails if the transport fails, or if a worker is lost.
    fn transport_sum(&self, sum: AllReduce) -> Result<Option<AllReduce>> {
        let _ = sum;
        Ok(None)
    }

    /// Waits until all workers have called this function.
    ///
    /// # Errors
    /// Fails if a worker is lost.
    fn barrier(&self) -> Result<()> {
        Ok(())
    }
}
