//! Tests of `NdArrayIter`, `ResizeIter` and `PrefetchingIter` against models: content and order of batches, and that seeking
//! is equivalent to reading up to a position.

use mxrs_data::{DataBatch, DataDesc, DataIter, LastBatch, NdArrayIter, PrefetchingIter, ResizeIter};
use mxrs_format::{Dense, Tensor};
use mxrs_types::{DType, Error, Result};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An array of `n` rows of 3 numbers, from which the row can be identified.
fn rows(n: usize) -> Dense {
    let values: Vec<f32> = (0..3 * n).map(|i| i as f32).collect();
    Tensor::from_slice([n, 3], &values).unwrap().into_dense().unwrap()
}

fn labels(n: usize) -> Dense {
    let values: Vec<i32> = (0..n as i32).collect();
    Tensor::from_slice([n], &values).unwrap().into_dense().unwrap()
}

fn iter(n: usize, size: usize, shuffle: Option<u64>, last: LastBatch) -> NdArrayIter {
    let builder = NdArrayIter::builder(size).data("data", rows(n)).label("softmax_label", labels(n)).last_batch(last);
    shuffle.map_or(builder.clone(), |seed| builder.shuffle(seed)).build().unwrap()
}

/// The remaining batches of the epoch.
fn epoch_of(iter: &mut impl DataIter) -> Vec<DataBatch> {
    std::iter::from_fn(|| iter.next_batch().unwrap()).collect()
}

fn indices(batches: &[DataBatch]) -> Vec<(Vec<u64>, usize)> {
    batches.iter().map(|b| (b.index.clone(), b.pad)).collect()
}

/// A model of MXNet's `NDArrayIter` as a state machine: a cursor and, with roll_over, the rows kept from the previous epoch.
fn model(orders: &[Vec<u64>], size: usize, last: LastBatch) -> Vec<Vec<(Vec<u64>, usize)>> {
    let mut kept: Vec<u64> = Vec::new();
    let mut epochs = Vec::new();
    for order in orders {
        let mut queue: Vec<u64> = kept.drain(..).chain(order.iter().copied()).collect();
        let mut epoch = Vec::new();
        while queue.len() >= size {
            let rest = queue.split_off(size);
            epoch.push((queue, 0));
            queue = rest;
        }
        match last {
            LastBatch::Pad if !queue.is_empty() => {
                let pad = size - queue.len();
                queue.extend(order.iter().cycle().take(pad));
                epoch.push((queue, pad));
            }
            LastBatch::RollOver => kept = queue,
            _ => {}
        }
        epochs.push(epoch);
    }
    epochs
}

const KINDS: [LastBatch; 3] = [LastBatch::Pad, LastBatch::Discard, LastBatch::RollOver];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every row appears as often as in the model, rows contain their own values, and seeking to any position works.
    #[test]
    fn arrays_are_delivered_as_the_model_says(n in 1_usize..20, size in 1_usize..8, seed in any::<Option<u64>>(), kind in 0_usize..3) {
        let last = KINDS[kind];
        prop_assume!(last == LastBatch::Pad || n >= size);
        let mut it = iter(n, size, seed, last);
        let mut epochs = Vec::new();
        for e in 0..4 {
            prop_assert_eq!(it.epoch(), e);
            epochs.push(epoch_of(&mut it));
            prop_assert_eq!(it.next_batch().unwrap(), None);
            it.reset().unwrap();
        }
        for batch in epochs.iter().flatten() {
            for (row, &from) in batch.index.iter().enumerate() {
                let want = [0, 1, 2].map(|c| (from * 3 + c) as f32);
                prop_assert_eq!(&batch.data[0].as_slice::<f32>().unwrap()[3 * row..][..3], &want[..]);
                prop_assert_eq!(batch.labels[0].as_slice::<i32>().unwrap()[row], from as i32);
            }
        }
        // The orders of the rows, read from an iterator with the same seed and batches of one row. Without a seed they are
        // ascending.
        let mut one = iter(n, 1, seed, LastBatch::Pad);
        let orders: Vec<Vec<u64>> = (0..4).map(|_| {
            let order: Vec<u64> = epoch_of(&mut one).iter().map(|b| b.index[0]).collect();
            one.reset().unwrap();
            order
        }).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(&sorted, &(0..n as u64).collect::<Vec<_>>());
            prop_assert!(seed.is_some() || order == &sorted);
        }
        let got: Vec<_> = epochs.iter().map(|e| indices(e)).collect();
        prop_assert_eq!(&got, &model(&orders, size, last));
        if let Some(count) = it.n_batches() {
            prop_assert!(epochs.iter().all(|e| e.len() as u64 == count));
        }
        for (e, epoch) in epochs.iter().enumerate() {
            for b in 0..=epoch.len() {
                it.seek(e as u64, b as u64).unwrap();
                prop_assert_eq!(&epoch_of(&mut it)[..], &epoch[b..]);
            }
        }
    }

    /// The epochs of a `ResizeIter` contain the batches of the inner iterator in sequence, and seeking to any position
    /// works, whether or not the inner iterator knows its length.
    #[test]
    fn epochs_of_another_length(n in 1_usize..12, size in 1_u64..9, reset_internal: bool, knows_length: bool) {
        let make = || {
            let inner = Faulty { knows_length, ..Faulty::new(iter(n, 2, Some(5), LastBatch::Pad), usize::MAX) };
            ResizeIter::new(inner, size, reset_internal).unwrap()
        };
        let n_inner = n.div_ceil(2) as u64;
        let mut inner = iter(n, 2, Some(5), LastBatch::Pad);
        let mut at = |epoch, batch| { inner.seek(epoch, batch).unwrap(); inner.next_batch().unwrap().unwrap() };
        let mut it = make();
        let mut epochs = Vec::new();
        let mut place = 0;
        for _ in 0..3 {
            let epoch = epoch_of(&mut it);
            prop_assert_eq!(epoch.len() as u64, size);
            for batch in &epoch {
                prop_assert_eq!(batch, &at(place / n_inner, place % n_inner));
                place += 1;
            }
            if reset_internal {
                place = place.next_multiple_of(n_inner);
            }
            epochs.push(epoch);
            it.reset().unwrap();
        }
        for (e, epoch) in epochs.iter().enumerate() {
            for b in 0..=epoch.len() {
                let mut it = make();
                it.seek(e as u64, b as u64).unwrap();
                prop_assert_eq!(it.epoch(), e as u64);
                prop_assert_eq!(&epoch_of(&mut it)[..], &epoch[b..]);
                it.reset().unwrap();
                if let Some(next) = epochs.get(e + 1) {
                    prop_assert_eq!(&epoch_of(&mut it), next);
                }
            }
        }
    }

    /// Prefetching gives the same batches, errors and ends of epochs for any sequence of calls.
    #[test]
    fn reading_ahead_changes_nothing(n in 1_usize..12, buffer in 1_usize..5, fault in 0_usize..20, calls in prop::collection::vec((0_u8..8, 0_u64..3, 0_u64..5), 1..40)) {
        let mut direct = Faulty::new(iter(n, 2, Some(1), LastBatch::Pad), fault);
        let mut ahead = PrefetchingIter::new(Faulty::new(iter(n, 2, Some(1), LastBatch::Pad), fault), buffer).unwrap();
        prop_assert_eq!(ahead.provide_data(), direct.provide_data());
        for (call, epoch, batch) in calls {
            match call {
                0 => prop_assert_eq!(ahead.reset(), direct.reset()),
                1 => prop_assert_eq!(ahead.seek(epoch, batch), direct.seek(epoch, batch)),
                _ => {
                    let (a, d) = (ahead.next_batch(), direct.next_batch());
                    prop_assert_eq!(a.map_err(|e| e.to_string()), d.map_err(|e| e.to_string()));
                }
            }
            prop_assert_eq!(ahead.epoch(), direct.epoch());
        }
    }
}

/// An iterator that fails for the batch number `fault` of every second epoch.
struct Faulty<I> {
    inner: I,
    fault: usize,
    at: usize,
    made: Arc<AtomicUsize>,
    knows_length: bool,
    panics: bool,
}

impl<I> Faulty<I> {
    fn new(inner: I, fault: usize) -> Self {
        Self { inner, fault, at: 0, made: Arc::default(), knows_length: true, panics: false }
    }
}

impl<I: DataIter> DataIter for Faulty<I> {
    fn provide_data(&self) -> &[DataDesc] {
        self.inner.provide_data()
    }
    fn provide_label(&self) -> &[DataDesc] {
        self.inner.provide_label()
    }
    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }
    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let Some(batch) = self.inner.next_batch()? else {
            return Ok(None);
        };
        self.at += 1;
        self.made.fetch_add(1, Ordering::SeqCst);
        if self.at == self.fault && self.inner.epoch().is_multiple_of(2) {
            assert!(!self.panics, "batch {} cannot be thought", self.at);
            return Err(Error::invalid("batch", self.at, "another"));
        }
        Ok(Some(batch))
    }
    fn reset(&mut self) -> Result<()> {
        self.at = 0;
        self.inner.reset()
    }
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.at = batch as usize;
        self.inner.seek(epoch, batch)
    }
    fn epoch(&self) -> u64 {
        self.inner.epoch()
    }
    fn n_examples(&self) -> Option<u64> {
        self.inner.n_examples().filter(|_| self.knows_length)
    }
}

#[test]
fn no_more_than_the_buffer_is_read_ahead_and_dropping_stops_it() {
    let faulty = Faulty::new(iter(1000, 1, None, LastBatch::Pad), usize::MAX);
    let made = Arc::clone(&faulty.made);
    let mut ahead = PrefetchingIter::new(faulty, 3).unwrap();
    for taken in 1..=5 {
        ahead.next_batch().unwrap().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let n = made.load(Ordering::SeqCst);
        assert!((taken..=taken + 3).contains(&n), "{n} made, {taken} taken");
    }
    assert_eq!(made.load(Ordering::SeqCst), 8, "it does read ahead");
    drop(ahead);
    let stopped = made.load(Ordering::SeqCst);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(made.load(Ordering::SeqCst), stopped);
}

#[test]
fn a_panic_while_reading_ahead_is_an_error() {
    let faulty = Faulty { panics: true, ..Faulty::new(iter(9, 1, None, LastBatch::Pad), 3) };
    let mut ahead = PrefetchingIter::new(faulty, 2).unwrap();
    assert_eq!(ahead.next_batch().unwrap().unwrap().index, [0]);
    assert_eq!(ahead.next_batch().unwrap().unwrap().index, [1]);
    let error = ahead.next_batch().unwrap_err().to_string();
    assert!(error.contains("batch 3 cannot be thought"), "{error}");
    assert!(ahead.next_batch().is_err() && ahead.reset().is_err() && ahead.seek(0, 0).is_err());
}

#[test]
fn shapes_names_and_sizes_are_checked() {
    let build = |size, data: &[(&str, Dense)], last| {
        let builder = NdArrayIter::builder(size).last_batch(last);
        data.iter().fold(builder, |b, (name, array)| b.data(*name, array.clone())).build()
    };
    let message = |size, data: &[(&str, Dense)], last| build(size, data, last).unwrap_err().to_string();
    let scalar = Tensor::from_slice([], &[1.0_f32]).unwrap().into_dense().unwrap();
    let vast = Dense::new(DType::F32, [1, usize::MAX / 2, 0].into(), Default::default()).unwrap();
    assert!(message(0, &[("a", rows(2))], LastBatch::Pad).contains("batch_size"));
    assert!(message(1, &[], LastBatch::Pad).contains("data: got no array"));
    assert!(message(1, &[("a", scalar)], LastBatch::Pad).contains("at least one row"));
    assert!(message(1, &[("a", rows(0))], LastBatch::Pad).contains("at least one row"));
    assert!(message(1, &[("a", rows(2)), ("b", rows(3))], LastBatch::Pad).contains("2 rows"));
    assert!(message(1, &[("a", rows(2)), ("a", rows(2))], LastBatch::Pad).contains("name"));
    assert!(message(3, &[("a", rows(2))], LastBatch::Discard).contains("batch_size"));
    assert!(message(usize::MAX, &[("a", rows(2))], LastBatch::Pad).contains("size of"));
    assert!(
        build(usize::MAX / 2, &[("a", vast)], LastBatch::Pad).is_ok(),
        "nothing is allocated before a batch is asked for"
    );
    assert!(LastBatch::from_name("padd").unwrap_err().to_string().contains("roll_over"));
    assert_eq!(["pad", "discard", "roll_over"].map(|name| LastBatch::from_name(name).unwrap()), KINDS);
    let it = iter(5, 2, None, LastBatch::Pad);
    assert_eq!(it.provide_data(), [DataDesc::new("data", [2, 3], DType::F32)]);
    assert_eq!(it.provide_label(), [DataDesc::new("softmax_label", [2], DType::I32)]);
    assert!(ResizeIter::new(it, 0, true).is_err());
}
