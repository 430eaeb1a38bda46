//! Binds a network and runs it in this process.

use super::subject::{DATA, Subject};
use super::{Case, Footprint, Mode, Variable, resident};
use anyhow::Result;
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::Executor;
use mxrs::ndarray::NdArray;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

/// Number of elements written at a time. Filling an array in pieces avoids a second copy of the whole array.
const PIECE: usize = 1 << 16;

/// A runtime with these environment variables and no others.
///
/// # Errors
/// Fails if a variable is unknown or its value is invalid.
pub fn runtime(set: &[Variable]) -> Result<Runtime> {
    Ok(Runtime::builder().env(&MapSource::new(set.iter().cloned())).build()?)
}

/// A bound network with parameters and a batch.
pub struct Bound {
    executor: Executor,
    mode: Mode,
}

impl Bound {
    /// Binds the network and fills every array.
    ///
    /// # Errors
    /// Fails if the network is unknown or cannot be bound.
    pub fn new(runtime: &Runtime, case: &Case) -> Result<Self> {
        let subject = Subject::new(&case.network)?;
        let options = subject.options(runtime.bind_options(), case.mode);
        let inputs = [(DATA, subject.shape(case.batch))];
        let executor = Executor::simple_bind(&subject.graph, runtime.arrays(), &inputs, &options)?;
        for (name, array) in executor.arrays() {
            fill(name, array, subject.n_classes)?;
        }
        // A frozen executor keeps weights only in the layouts of its kernels, as MXNet does.
        let executor = if case.mode == Mode::Inference { executor.freeze()? } else { executor };
        Ok(Self { executor, mode: case.mode })
    }

    /// Runs one step, waits for all results, and returns the seconds that it took.
    ///
    /// # Errors
    /// Fails if a kernel fails.
    pub fn step(&self) -> Result<f64> {
        let start = Instant::now();
        match self.mode {
            Mode::Inference => self.executor.forward()?,
            Mode::Training => {
                self.executor.forward_train()?;
                self.executor.backward(&[])?;
            }
        }
        self.executor.outputs().iter().try_for_each(NdArray::wait_to_read)?;
        self.executor.gradients().iter().try_for_each(|gradient| gradient.array.wait_to_read())?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Bytes planned, outputs included, and bytes of packed constants.
    fn planned(&self) -> (u64, u64) {
        let report = match self.mode {
            Mode::Inference => self.executor.report(),
            Mode::Training => self.executor.training_report(),
        };
        let outputs: usize = self.executor.outputs().iter().map(NdArray::size_bytes).sum();
        let (arena, packed) = report.map_or((0, 0), |r| (r.arena_bytes, r.packed_bytes));
        ((arena + outputs) as u64, packed as u64)
    }
}

/// Runs a case in this process, which should be newly started.
///
/// # Errors
/// Fails if [`Bound::new`] or [`Bound::step`] fails.
pub fn footprint(case: &Case, set: &[Variable], n_steps: usize) -> Result<Footprint> {
    let runtime = runtime(set)?;
    let started_bytes = resident::now()?;
    let bound = Bound::new(&runtime, case)?;
    let step_seconds = (0..n_steps).map(|_| bound.step()).collect::<Result<_>>()?;
    let (planned_bytes, packed_bytes) = bound.planned();
    let packed_bytes = Some(packed_bytes);
    Ok(Footprint { planned_bytes, packed_bytes, started_bytes, peak_bytes: resident::peak()?, step_seconds })
}

/// Fills an array according to the last part of its name: weights with random numbers scaled to keep the size of activations,
/// normalization with ones and zeros, data with random pixels, labels with class numbers.
fn fill(name: &str, array: &NdArray, n_classes: usize) -> Result<()> {
    let n = array.shape().n_elements();
    let fan_in = n / array.shape().first().copied().unwrap_or(1).max(1);
    let mut random = ChaCha8Rng::seed_from_u64(n as u64);
    let mut uniform = |scale: f32| (0..n.min(PIECE)).map(|_| random.random_range(-scale..=scale)).collect();
    let piece: Vec<f32> = match name.rsplit('_').next().unwrap_or_default() {
        DATA => uniform(1.0),
        "label" => (0..n.min(PIECE)).map(|i| (i % n_classes) as f32).collect(),
        "weight" => uniform((3.0 / fan_in as f32).sqrt()),
        "gamma" | "var" => vec![1.0; n.min(PIECE)],
        _ => vec![0.0; n.min(PIECE)],
    };
    let flat = array.reshape([n])?;
    for begin in (0..n).step_by(PIECE) {
        let end = (begin + PIECE).min(n);
        flat.slice(begin, end)?.copy_from(&piece[..end - begin])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_filled() {
        let runtime = runtime(&[("MXNET_ENGINE_TYPE".into(), "NaiveEngine".into())]).unwrap();
        let array = |n: usize| NdArray::zeros(runtime.arrays(), [n], mxrs::types::DType::F32).unwrap();
        let filled = |name: &str, n: usize| {
            let array = array(n);
            fill(name, &array, 10).unwrap();
            array.to_vec::<f32>().unwrap()
        };
        assert_eq!(filled("bn_gamma", 2 * PIECE + 3), vec![1.0; 2 * PIECE + 3]);
        assert_eq!(filled("softmax_label", 12)[8..], [8.0, 9.0, 0.0, 1.0]);
        assert!(filled("data", PIECE + 1).iter().all(|x| x.abs() <= 1.0 && *x != 0.0));
    }
}
