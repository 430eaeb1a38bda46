//! mxrs as a server would use it: one model bound twice in one process, with a thread for each bound model.
//!
//! Both bound models read the same packed weights; each has its own arrays of activations. Two settings are needed for them
//! to run at the same time on one core each. `OMP_NUM_THREADS=1` keeps the loop of an operator on one thread.
//! `MXNET_CPU_WORKER_NTHREADS=2` ([`WORKERS`]) gives the engine two workers: a bound graph is one task of the engine, and
//! one worker, which is the default, would run the tasks of the two threads one after the other.

use super::ours::{DATA, first_output};
use super::serve::{Load, Network, Timed, timed};
use anyhow::{Context, Result, anyhow, ensure};
use mxrs::types::Shape;
use mxrs::{BoundModel, Model, Runtime};
use std::time::Duration;

/// Name of this mode in an order to load.
pub const MODE: &str = "shared";
/// Variable that sets the number of engine workers to the number of threads that run models.
pub const WORKERS: (&str, &str) = ("MXNET_CPU_WORKER_NTHREADS", "2");

/// One model, bound twice to the same shape.
pub(super) struct Shared([BoundModel; 2]);

impl Shared {
    /// Binds the model twice, but reads the files and packs the weights only once.
    ///
    /// # Errors
    /// Fails if a file cannot be read or its network cannot be bound.
    pub fn new(runtime: &Runtime, load: &Load) -> Result<Self> {
        let shape: Shape = load.shape.iter().copied().collect();
        let inputs: &[(&str, Shape)] = &[(DATA, shape)];
        let bound = Model::load_frozen(runtime, &load.symbol, &load.params, &[inputs, inputs])?;
        let bound: Result<[BoundModel; 2], Vec<BoundModel>> = bound.try_into();
        Ok(Self(bound.map_err(|bound| anyhow!("{} models were bound, not two", bound.len()))?))
    }

    /// Calls `work` with both models at the same time, each on its own thread.
    fn both<T: Send>(&self, work: impl Fn(&BoundModel) -> Result<T> + Sync) -> Result<[T; 2]> {
        let [first, second] = &self.0;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| work(second));
            let one = work(first);
            let other = other.join().map_err(|_| anyhow!("a thread panicked"))?;
            Ok([one?, other?])
        })
    }
}

fn run(bound: &BoundModel) -> Result<()> {
    first_output(bound.forward(&[])?).map(drop)
}

impl Network for Shared {
    fn run(&mut self) -> Result<()> {
        self.both(run).map(drop)
    }

    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
        let outputs = self.both(|bound| Ok(first_output(bound.forward(&[(DATA, batch)])?)?.to_vec::<f32>()?))?;
        let [first, second] = outputs;
        let is_same = first.iter().map(|x| x.to_bits()).eq(second.iter().map(|x| x.to_bits()));
        ensure!(is_same, "two models with the same weights answer differently");
        Ok(first)
    }

    fn timed(&mut self, time: Duration) -> Result<Timed> {
        let both = self.both(|bound| timed(time, || run(bound))).context("two at the same time")?;
        // The two threads start and end at slightly different times, so their speeds are added instead of their counts.
        let speed: f64 = both.iter().map(|one| one.n / one.seconds).sum();
        let seconds = both.iter().map(|one| one.seconds).fold(0.0, f64::max);
        Ok(Timed { n: speed * seconds, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::serve::{lenet, uniform};
    use mxrs::env::MapSource;
    use mxrs_engine::PoolId;

    /// The largest number of graphs that ran at the same time, with these environment variables.
    fn most_at_once(variables: &[(&str, &str)]) -> usize {
        let load = lenet(MODE);
        let runtime = Runtime::builder().env(&MapSource::new(variables.iter().copied())).build().unwrap();
        let mut shared = Shared::new(&runtime, &load).unwrap();
        let probabilities = shared.answer(&uniform(load.n_elements())).unwrap();
        assert!((probabilities[..10].iter().sum::<f32>() - 1.0).abs() < 1e-5, "{probabilities:?}");
        shared.run().unwrap();
        let Timed { n, seconds } = shared.timed(Duration::from_millis(200)).unwrap();
        assert!(n >= 2.0 && seconds >= 0.2, "{n} in {seconds} s");
        runtime.engine().counters().pool(PoolId::Cpu(0)).unwrap().peak_running
    }

    #[test]
    fn two_workers_run_two_models_at_the_same_time_and_one_does_not() {
        let threads = ("OMP_NUM_THREADS", "1");
        assert_eq!(most_at_once(&[threads, WORKERS]), 2);
        assert_eq!(most_at_once(&[threads]), 1);
    }
}
