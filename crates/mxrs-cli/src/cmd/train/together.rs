//! What the workers of a training must have in common before it begins.

use super::examples::Source;
use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use crate::interrupt;
use mxrs::kvstore::{Family, StoreType};
use mxrs::train::KvStore;
use mxrs::train::resume::Position;
use mxrs::{Error, Runtime};
use mxrs_sync::atomic::Ordering;
use std::sync::Arc;

/// Gives all workers the same number of batches per epoch: the number of the worker with the most examples. Returns it too.
///
/// # Errors
/// Fails if a worker is lost.
pub fn equal_epochs(store: &dyn KvStore, source: Source, epoch_size: u64) -> Outcome<(Source, u64)> {
    let own = source.train.n_batches().unwrap_or(epoch_size);
    let all = store.all_gather(&own.to_le_bytes())?;
    let sizes = all.iter().map(|bytes| <[u8; 8]>::try_from(bytes.as_slice()).map_or(0, u64::from_le_bytes));
    let most = sizes.max().unwrap_or(own);
    if own == most {
        return Ok((source, most));
    }
    tracing::info!("worker {}: epochs of {most} batches instead of {own}, as other workers have", store.rank());
    Ok((source.resized(most)?, most))
}

/// The number of updates of a weight while a worker trains on one batch. With an asynchronous store it is the number of
/// workers, because the servers update a weight by the gradient of each worker.
pub fn updates_per_batch(store: Option<&dyn KvStore>) -> u64 {
    match store {
        Some(store) if store.store_type().must_update() => store.num_workers() as u64,
        _ => 1,
    }
}

/// The number of examples by which gradients are divided with the store `horovod`: the batches of all workers. `None` with
/// other stores, for which the module divides. With `horovod`, MXNet leaves the division by the number of workers to the
/// program, and so does the module.
pub fn horovod_batch(plan: &Plan, store: Option<&dyn KvStore>) -> Option<usize> {
    let store = store.filter(|store| store.store_type().family() == Family::Horovod)?;
    Some(plan.batch_size * store.num_workers())
}

/// Runs this process as a server, until all workers have left.
///
/// # Errors
/// Fails as [`Runtime::run_server`] does.
pub fn serve(plan: &Plan, runtime: &Runtime) -> Outcome {
    let store: StoreType = plan.training.kv_store.parse().map_err(Failure::binding)?;
    if !store.must_update() {
        tracing::warn!("the store `{store}` has no servers: this process has nothing to do");
        return Ok(());
    }
    let flag = interrupt::flag();
    runtime.run_server(Some(Arc::clone(&flag))).map_err(Failure::from)?;
    if flag.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Checks that all workers begin with the same checkpoint, or all without one.
///
/// # Errors
/// [`Failure::Input`] if a worker sees another checkpoint. Fails if a worker is lost.
pub fn same_checkpoint(store: &dyn KvStore, from: Option<Position>) -> Outcome {
    let own = from.map_or("none".to_owned(), |at| format!("that of epoch {}, batch {}", at.epoch, at.batch));
    let all = store.all_gather(own.as_bytes())?;
    let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    match (1..all.len()).find(|&rank| all[rank] != all[0]) {
        None => Ok(()),
        Some(rank) => {
            let expected = format!("{}, as worker 0 has: all workers must see the same files", text(0));
            Err(Failure::Input(Error::invalid(format!("checkpoint of worker {rank}"), text(rank), expected)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::data::NdArrayIter;
    use mxrs::env::MapSource;
    use mxrs::format::Tensor;
    use mxrs::kvstore::KvStoreOptions;
    use mxrs::kvstore::dist::{Connect, DistSync, Group, GroupOptions, local_workers};

    /// Three workers with 5, 12 and 8 examples, which are 2, 3 and 2 batches of 4.
    #[test]
    fn shares_of_unequal_size_give_equally_many_steps() {
        let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
        let arrays = runtime.arrays();
        let worker = |connect: Connect, n_examples: usize| {
            let group = Group::start(connect, GroupOptions::default()).unwrap();
            let store =
                DistSync::new("dist_sync".parse().unwrap(), arrays, &KvStoreOptions::default(), &group).unwrap();
            let data = Tensor::from_slice([n_examples, 1], &vec![0.0f32; n_examples]).unwrap().into_dense().unwrap();
            let train = Box::new(NdArrayIter::builder(4).data("data", data).build().unwrap());
            let source = Source { train, eval: None, n_examples: n_examples as u64 };
            let equal = equal_epochs(&store, source, n_examples.div_ceil(4) as u64);
            let (mut source, epoch_size) = equal.unwrap_or_else(|failure| panic!("{failure}"));
            let n_steps = [0, 1].map(|_| {
                let mut n_steps = 0;
                while source.train.next_batch().unwrap().is_some() {
                    n_steps += 1;
                }
                source.train.reset().unwrap();
                n_steps
            });
            (epoch_size, n_steps)
        };
        let all: Vec<(u64, [u64; 2])> = std::thread::scope(|scope| {
            let start = |(connect, n_examples)| scope.spawn(move || worker(connect, n_examples));
            let threads: Vec<_> = local_workers(3).into_iter().zip([5, 12, 8]).map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(all, [(3, [3, 3]); 3]);
    }
}
