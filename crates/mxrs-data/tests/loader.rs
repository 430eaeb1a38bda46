//! Tests of the data loader: the same batches with any number of workers, errors at the right batch, a bounded number of
//! batches made ahead; and the loader as an iterator.

use mxrs_data::{DataBatch, DataDesc, DataIter, DataLoader, DataLoaderBuilder, Dataset, LastSamples, stack};
use mxrs_format::{Dense, Tensor};
use mxrs_types::{DType, Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A data set of numbers: reading one of them fails, and reading another panics.
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
            for (e, b) in [(1, 2), (0, 1), (1, usize::MAX), (2, 0), (1, 9)] {
                it.seek(e as u64, b as u64).unwrap();
                assert_eq!(it.epoch(), e as u64);
                // Reads one batch, so that the next seek leaves an epoch that was read in part.
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

/// A data set whose samples have two bytes and a label.
struct Pairs(usize);

impl Dataset for Pairs {
    fn len(&self) -> usize {
        self.0
    }
    fn get(&self, index: usize) -> Result<Vec<Dense>> {
        let data = Tensor::from_slice([2], &[index as u8, 200])?.into_dense()?;
        Ok(vec![data, Tensor::from_slice([], &[-(index as i32)])?.into_dense()?])
    }
}

fn pairs(n: usize, batch_size: usize, last: LastSamples) -> DataLoaderBuilder {
    DataLoader::builder(Arc::new(Pairs(n)), batch_size).shuffle(4).last_batch(last)
}

fn batches_of(iter: &mut impl DataIter) -> Vec<DataBatch> {
    std::iter::from_fn(|| iter.next_batch().unwrap()).collect()
}

/// The iterator returns the loader's batches as floats, with incomplete batches filled up. The batches do not depend on the
/// number of workers, and seeking to any position works.
#[test]
fn an_iterator_has_the_batches_of_the_loader() {
    for (last, n_batches, pads) in [
        (LastSamples::Keep, Some(3), [vec![0, 0, 2], vec![0, 0, 2], vec![0, 0, 2]]),
        (LastSamples::Discard, Some(2), [vec![0, 0], vec![0, 0], vec![0, 0]]),
        (LastSamples::RollOver, None, [vec![0, 0], vec![0, 0, 0], vec![0, 0]]),
    ] {
        let mut loader = pairs(10, 4, last).build().unwrap();
        let mut iter = pairs(10, 4, last).build_iter().unwrap();
        assert_eq!(iter.provide_data(), [DataDesc::new("data", [4, 2], DType::F32)]);
        assert_eq!(iter.provide_label(), [DataDesc::new("softmax_label", [4], DType::F32)]);
        assert_eq!((iter.n_examples(), iter.n_batches(), iter.batch_size()), (Some(10), n_batches, 4));
        let mut epochs = Vec::new();
        for (epoch, pads) in pads.iter().enumerate() {
            assert_eq!(iter.epoch(), epoch as u64);
            let batches = batches_of(&mut iter);
            assert_eq!(&batches.iter().map(|batch| batch.pad).collect::<Vec<_>>(), pads, "{last:?}");
            for batch in &batches {
                let firsts = loader.next_batch().unwrap().unwrap()[0].as_slice::<u8>().unwrap().to_vec();
                let firsts: Vec<u64> = firsts.iter().step_by(2).map(|number| u64::from(*number)).collect();
                assert_eq!(batch.index[..batch.n_valid()], firsts);
                assert_eq!(batch.index[batch.n_valid()..], batches[0].index[..batch.pad]);
                let rows: Vec<f32> = batch.index.iter().flat_map(|i| [*i as f32, 200.0]).collect();
                assert_eq!(batch.data[0].as_slice::<f32>().unwrap(), rows);
                let labels: Vec<f32> = batch.index.iter().map(|i| -(*i as f32)).collect();
                assert_eq!(batch.labels[0].as_slice::<f32>().unwrap(), labels);
            }
            assert_eq!(loader.next_batch().unwrap(), None);
            loader.reset().unwrap();
            iter.reset().unwrap();
            epochs.push(batches);
        }
        for workers in [0, 1, 3] {
            let mut iter = pairs(10, 4, last).num_workers(workers).build_iter().unwrap().names("x", "y");
            assert_eq!((&*iter.provide_data()[0].name, &*iter.provide_label()[0].name), ("x", "y"));
            for (epoch, batch) in [(2, 0), (1, 1), (0, 9), (0, 0)] {
                iter.seek(epoch as u64, batch as u64).unwrap();
                assert_eq!(batches_of(&mut iter), epochs[epoch][batch.min(epochs[epoch].len())..]);
            }
        }
    }
    // If there are fewer samples than rows of a batch, they are repeated several times.
    let only = batches_of(&mut pairs(3, 8, LastSamples::Keep).build_iter().unwrap()).remove(0);
    assert_eq!((only.pad, &only.index[3..6], &only.index[6..]), (5, &only.index[..3], &only.index[..2]));
}

#[test]
fn an_iterator_says_what_it_cannot_take() {
    let message = |builder: DataLoaderBuilder| builder.build_iter().map(|_| ()).unwrap_err().to_string();
    assert!(message(pairs(0, 4, LastSamples::Keep)).contains("samples of a data set"));
    assert!(message(pairs(3, 0, LastSamples::Keep)).contains("batch_size"));
    assert!(message(pairs(3, 4, LastSamples::Discard)).contains("at most the 3 samples"));
    assert!(message(pairs(3, 4, LastSamples::RollOver)).contains("at most the 3 samples"));
    let tensors = |n: usize| {
        pairs(8, 4, LastSamples::Keep).batchify(move |rows| Ok(stack(rows)?.into_iter().cycle().take(n).collect()))
    };
    assert!(message(tensors(3)).contains("data, or data and a label") && message(tensors(0)).contains("got 0"));
    let flat = Tensor::from_slice([3], &[0.0_f32; 3]).unwrap().into_dense().unwrap();
    let text = message(pairs(8, 4, LastSamples::Keep).batchify(move |_| Ok(vec![flat.clone()])));
    assert!(text.contains("one row of one sample"), "{text}");
    // An error in a sample is returned for the batch that contains it.
    let data = Numbers { bad: 4, ..numbers(9) };
    let mut iter = DataLoader::builder(Arc::new(data), 3).num_workers(2).build_iter().unwrap();
    assert!(iter.provide_label().is_empty());
    assert_eq!(iter.next_batch().unwrap().unwrap().index, [0, 1, 2]);
    assert!(iter.next_batch().unwrap_err().to_string().contains("sample 4"));
    assert_eq!(iter.next_batch().unwrap().unwrap().data[0].as_slice::<f32>().unwrap(), [6.0, 7.0, 8.0]);
    // All batches must have the shapes determined from the first sample.
    let first = |builder: DataLoaderBuilder| builder.build_iter().unwrap().next_batch().unwrap_err().to_string();
    let text = first(pairs(8, 4, LastSamples::Keep).batchify(|rows| Ok(stack(rows)?.split_off(rows.len() / 4))));
    assert!(text.contains("tensors of a batch"), "{text}");
    let text = first(pairs(8, 4, LastSamples::Keep).batchify(|rows| stack(&rows[rows.len() / 4..])));
    assert!(text.contains("shape of `data`: got (3, 2), expected (4, 2)"), "{text}");
}
