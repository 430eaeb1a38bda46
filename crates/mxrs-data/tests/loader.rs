//! The data loader: the same batches with any number of workers, errors in their place, no more made than asked for.

use mxrs_data::{DataLoader, DataLoaderBuilder, Dataset, LastSamples};
use mxrs_format::{Dense, Tensor};
use mxrs_types::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers, one of which cannot be had and one of which panics.
struct Numbers {
    n: usize,
    bad: usize,
    panics: usize,
    made: AtomicUsize,
}

fn numbers(n: usize) -> Numbers {
    Numbers { n, bad: usize::MAX, panics: usize::MAX, made: AtomicUsize::new(0) }
}

impl Dataset for Numbers {
    fn len(&self) -> usize {
        self.n
    }
    fn get(&self, index: usize) -> Result<Vec<Dense>> {
        self.made.fetch_add(1, Ordering::SeqCst);
        assert!(index != self.panics, "number {index} panics");
        if index == self.bad {
            return Err(Error::invalid("number", index, "another"));
        }
        Ok(vec![Tensor::from_slice([1], &[index as i64])?.into_dense()?])
    }
}

fn epoch_of(loader: &mut DataLoader) -> Vec<Result<Vec<i64>>> {
    std::iter::from_fn(|| loader.next_batch().transpose())
        .map(|batch| batch.map(|tensors| tensors[0].as_slice().unwrap().to_vec()))
        .collect()
}

fn loader(n: usize, workers: usize) -> DataLoaderBuilder {
    DataLoader::builder(Arc::new(numbers(n)), 3).num_workers(workers).shuffle(4)
}

#[test]
fn batches_do_not_depend_on_workers_and_can_be_gone_to() {
    for last in [LastSamples::Keep, LastSamples::Discard, LastSamples::RollOver] {
        let mut reference = loader(10, 0).last_batch(last).build().unwrap();
        let mut epochs = Vec::new();
        for _ in 0..3 {
            epochs.push(epoch_of(&mut reference));
            reference.reset().unwrap();
        }
        assert_ne!(epochs[0], epochs[1]);
        for workers in [1, 2, 5] {
            let mut it = loader(10, workers).last_batch(last).prefetch(2).build().unwrap();
            for epoch in &epochs {
                assert_eq!(&epoch_of(&mut it), epoch);
                assert_eq!(it.n_batches(), epoch.len());
                it.reset().unwrap();
            }
            for (e, b) in [(1, 2), (0, 1), (2, 0), (1, 9)] {
                it.seek(e as u64, b as u64).unwrap();
                assert_eq!(it.epoch(), e as u64);
                // Left half read, and gone elsewhere.
                assert_eq!(it.next_batch().unwrap().is_some(), b < epochs[e].len());
                it.seek(e as u64, b as u64).unwrap();
                assert_eq!(epoch_of(&mut it), epochs[e][b.min(epochs[e].len())..]);
            }
        }
    }
}

#[test]
fn an_error_or_panic_is_that_of_its_batch() {
    for workers in [1, 3] {
        let data = Numbers { bad: 4, panics: 7, ..numbers(12) };
        let mut it = DataLoader::builder(Arc::new(data), 3).num_workers(workers).build().unwrap();
        let batches = epoch_of(&mut it);
        assert_eq!((&batches[0], &batches[3]), (&Ok(vec![0, 1, 2]), &Ok(vec![9, 10, 11])));
        assert!(batches[1].as_ref().unwrap_err().to_string().contains("sample 4"));
        assert!(batches[2].as_ref().unwrap_err().to_string().contains("number 7 panics"));
    }
}

#[test]
fn only_so_many_are_made_ahead() {
    let data = Arc::new(numbers(300));
    let mut it =
        DataLoader::builder(Arc::clone(&data) as Arc<dyn Dataset>, 3).num_workers(2).prefetch(4).build().unwrap();
    it.next_batch().unwrap().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(40));
    assert_eq!(data.made.load(Ordering::SeqCst), 3 * 5);
    drop(it);
    assert_eq!(data.made.load(Ordering::SeqCst), 3 * 5);
    let empty = DataLoader::builder(Arc::new(numbers(0)), 3).num_workers(2).build().unwrap().next_batch();
    assert_eq!(empty.unwrap(), None);
    assert!(DataLoader::builder(Arc::new(numbers(1)), 0).build().is_err());
}
