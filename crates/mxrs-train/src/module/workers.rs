//! A module whose store connects several workers: what they agree on, and what they average.

use super::Module;
use super::copies::mean;
use mxrs_kvstore::{Family, KvStore};
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, ResultExt};
use std::sync::Arc;

impl Module {
    /// The store, if it connects several workers that wait for each other. Those of an asynchronous store do not.
    fn workers(&self) -> Option<&Arc<dyn KvStore>> {
        self.kvstore().filter(|store| store.num_workers() > 1 && store.store_type().family() != Family::DistAsync)
    }

    /// The number of workers that the store connects; 1 without a store.
    pub(super) fn n_workers(&self) -> usize {
        self.kvstore().map_or(1, |store| store.num_workers())
    }

    /// The number of workers whose batch sizes are added for the division of gradients. It is larger than 1 only with stores
    /// that sum gradients over workers. An asynchronous store updates by the gradient of one worker at a time. With
    /// `horovod` and `byteps`, MXNet's module leaves the division by the number of workers to the program, and so does this
    /// one.
    pub(super) fn n_summed_workers(&self) -> usize {
        let sums = |store: &&Arc<dyn KvStore>| matches!(store.store_type().family(), Family::DistSync | Family::P3);
        self.kvstore().filter(sums).map_or(1, |store| store.num_workers())
    }

    /// Whether this is the worker that writes checkpoints.
    pub(super) fn is_first_worker(&self) -> bool {
        self.kvstore().is_none_or(|store| store.rank() == 0)
    }

    /// Whether `is_here` is true on any worker. All workers must call this function.
    pub(super) fn is_any(&self, is_here: bool) -> Result<bool> {
        let Some(store) = self.workers() else { return Ok(is_here) };
        Ok(store.all_gather(&[u8::from(is_here)])?.iter().any(|bytes| bytes.first() == Some(&1)))
    }

    /// After a batch: whether any worker was asked to stop. Fails unless all workers have a next batch or none has.
    pub(super) fn ends(&self, is_asked: bool, has_next: bool, batch: u64) -> Result<bool> {
        let Some(store) = self.workers() else { return Ok(is_asked) };
        let all = store.all_gather(&[u8::from(is_asked), u8::from(has_next)])?;
        let others = all.iter().position(|bytes| bytes.get(1) != Some(&u8::from(has_next)));
        if let Some(rank) = others {
            let (ended, goes_on) = if has_next { (rank, store.rank()) } else { (store.rank(), rank) };
            let got = format!("an epoch of {} batches, while worker {goes_on} has more", batch + 1);
            let expected = "the same number of batches on every worker; ResizeIter changes the number";
            return Err(Error::invalid(format!("training data of worker {ended}"), got, expected));
        }
        Ok(all.iter().any(|bytes| bytes.first() == Some(&1)))
    }

    /// Fails unless `own` is the same text on all workers. `what` names it in the error.
    pub(super) fn expect_equal(&self, what: &str, own: &str) -> Result<()> {
        let Some(store) = self.workers() else { return Ok(()) };
        let all = store.all_gather(own.as_bytes())?;
        let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
        match (1..all.len()).find(|&rank| all[rank] != all[0]) {
            None => Ok(()),
            Some(rank) => {
                let expected = format!("{}, as worker 0 has", text(0));
                Err(Error::invalid(format!("{what} of worker {rank}"), text(rank), expected))
            }
        }
    }

    /// Replaces these auxiliary states, which are equal on all contexts, by their means over the workers in the order of
    /// ranks. All workers must call this function.
    pub(super) fn average_over_workers(&self, names: &[&str]) -> Result<()> {
        let Some(store) = self.workers().filter(|_| !names.is_empty()) else { return Ok(()) };
        let mut bytes = Vec::new();
        for name in names {
            let array = self.first()?.executor().argument(name)?;
            array
                .read_bytes(<[u8]>::to_vec)
                .context(|| format!("reading `{name}`"))?
                .iter()
                .for_each(|b| bytes.push(*b));
        }
        let all = store.all_gather(&bytes)?;
        let mut begin = 0;
        for name in names {
            let copies = self.copies_of(name)?;
            let array = copies[0];
            let range = begin..begin + array.size_bytes();
            begin = range.end;
            let of_worker = |bytes: &Vec<u8>| {
                let bytes = bytes.get(range.clone()).ok_or_else(|| {
                    let got = format!("{} bytes", bytes.len());
                    Error::invalid("auxiliary states of a worker", got, "those of the same network")
                })?;
                NdArray::from_bytes(&self.context, array.shape().clone(), array.dtype(), bytes)
            };
            let arrays = all.iter().map(of_worker).collect::<Result<Vec<_>>>()?;
            let what = || format!("the mean of `{name}` over the workers");
            let mean = mean(&self.nd, &arrays.iter().collect::<Vec<_>>()).context(what)?;
            copies.iter().try_for_each(|copy| copy.copy_from_array(&mean))?;
        }
        Ok(())
    }
}
