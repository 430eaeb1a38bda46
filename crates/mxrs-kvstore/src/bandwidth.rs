//! Measures how fast a store sums arrays over its workers. On request, each round is followed by the transport's own sum of
//! the same number of bytes, for comparison.

use crate::dist::AllReduce;
use crate::{Key, KvStore, Value};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{DType, Error, Result};
use std::time::{Duration, Instant};

/// The values that a worker pushes repeat after this number of elements.
const PERIOD: usize = 61;

/// The workload that is measured: the sizes of the keys, and the number of rounds in which all of them are summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Number of float32 elements of each key, in the order of the layers of a network.
    pub sizes: Vec<usize>,
    /// Whether the keys of the first layers have priority. They are pushed last, as in a backward pass.
    pub by_priority: bool,
    /// The number of the first key. No other load of the store has the same keys.
    pub first_key: i64,
    /// Rounds before those that are measured.
    pub n_warmup: usize,
    /// Rounds that are measured.
    pub n_rounds: usize,
    /// Whether each round is followed by one call of the transport's own sum, such as `MPI_Allreduce`.
    pub with_transport: bool,
}

/// What was measured: for each round, the time of the slowest worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    /// The time to push and pull all keys, and to wait for the sums.
    pub store: Vec<Duration>,
    /// The time until the first layer has its sum, with which the next forward pass begins.
    pub first: Vec<Duration>,
    /// The time of one call of the transport's own sum of the same number of elements. Empty if the transport has no such
    /// function.
    pub transport: Vec<Duration>,
    /// The relative error of the sums after the last round: the total difference from the expected sums, divided by the
    /// total of the expected sums. It is 0 without compression.
    pub error: f64,
}

/// Measures a store. All workers call this function with equal loads. The keys stay in the store.
///
/// # Errors
/// Fails if the store fails, if a worker is lost, or if there is not enough memory.
pub fn measure(store: &dyn KvStore, context: &ArrayContext, load: &Load) -> Result<Rounds> {
    let (rank, n_workers) = (store.rank(), store.num_workers());
    let keys: Vec<Key> = (load.first_key..).take(load.sizes.len()).map(Key::Int).collect();
    let zeros = |n: &usize| NdArray::zeros(context, [*n], DType::F32);
    let first = load.sizes.iter().map(zeros).collect::<Result<Vec<_>>>()?;
    store.init(&keys.iter().cloned().zip(first).collect::<Vec<_>>())?;
    let values = load.sizes.iter().map(|n| NdArray::from_slice(context, [*n], &elements(rank, *n)));
    let values = values.collect::<Result<Vec<_>>>()?;
    let outs = load.sizes.iter().map(zeros).collect::<Result<Vec<_>>>()?;
    let n_elements = load.sizes.iter().sum();
    let mut sum = AllReduce::default();
    if load.with_transport {
        sum = AllReduce { values: elements(rank, n_elements), sums: vec![0.0; n_elements], time: Duration::ZERO };
    }
    let (mut ours, mut firsts, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..load.n_warmup + load.n_rounds {
        store.barrier()?;
        let since = Instant::now();
        for (i, ((key, value), out)) in keys.iter().zip(&values).zip(&outs).enumerate().rev() {
            let priority = if load.by_priority { i32::try_from(i).map_or(i32::MIN, |i| -i) } else { 0 };
            store.pushpull(&[(key.clone(), Value::from(value))], &[(key.clone(), out.clone())], priority)?;
        }
        outs.first().map_or(Ok(()), NdArray::wait_to_read)?;
        let first = since.elapsed();
        outs.iter().try_for_each(NdArray::wait_to_read)?;
        let time = since.elapsed();
        let is_measured = round >= load.n_warmup;
        firsts.extend(is_measured.then_some(first));
        ours.extend(is_measured.then_some(time));
        if load.with_transport {
            store.barrier()?;
            if let Some(done) = store.transport_sum(std::mem::take(&mut sum))? {
                sum = done;
                theirs.extend(is_measured.then_some(sum.time));
            }
        }
    }
    let error = error(&outs, n_workers)?;
    let [ours, firsts, theirs] = [ours, firsts, theirs].map(|times| slowest(store, &times));
    Ok(Rounds { store: ours?, first: firsts?, transport: theirs?, error })
}

/// The value of a worker: small whole numbers, whose sums are exact in every order.
fn elements(rank: usize, n: usize) -> Vec<f32> {
    (0..n).map(|i| element(rank, i)).collect()
}

fn element(rank: usize, i: usize) -> f32 {
    ((i % PERIOD + 3 * rank) % PERIOD) as f32 - 30.0
}

fn error(outs: &[NdArray], n_workers: usize) -> Result<f64> {
    let (mut difference, mut magnitude) = (0.0, 0.0);
    let expected: Vec<f32> = (0..PERIOD).map(|i| (0..n_workers).map(|rank| element(rank, i)).sum()).collect();
    for out in outs {
        for (got, expected) in out.to_vec::<f32>()?.iter().zip(expected.iter().cycle()) {
            difference += f64::from((got - expected).abs());
            magnitude += f64::from(expected.abs());
        }
    }
    Ok(if magnitude > 0.0 { difference / magnitude } else { difference })
}

/// For each round, the time of the slowest worker.
fn slowest(store: &dyn KvStore, times: &[Duration]) -> Result<Vec<Duration>> {
    let bytes: Vec<u8> = times.iter().flat_map(|time| time.as_secs_f64().to_le_bytes()).collect();
    let mut slowest = times.to_vec();
    for (rank, theirs) in store.all_gather(&bytes)?.iter().enumerate() {
        if theirs.len() != bytes.len() {
            let got = format!("{} bytes", theirs.len());
            let expected = format!("{}: all workers must measure the same", bytes.len());
            return Err(Error::invalid(format!("times of worker {rank}"), got, expected));
        }
        for (slowest, time) in slowest.iter_mut().zip(theirs.chunks_exact(8)) {
            let seconds = <[u8; 8]>::try_from(time).map_or(0.0, f64::from_le_bytes);
            *slowest = (*slowest).max(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        }
    }
    Ok(slowest)
}
