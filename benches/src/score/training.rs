//! mxrs in training: a step is forward, backward and an update by stochastic gradient descent with momentum, as in the other
//! peers.

use super::ours::DATA;
use super::serve::{Load, Network};
use anyhow::{Context, Result, bail};
use mxrs::Model;
use mxrs::Runtime;
use mxrs::data::{DataBatch, DataDesc};
use mxrs::exec::BindOptions;
use mxrs::format::{Checkpoint, Options, Tensor};
use mxrs::ndarray::NdArray;
use mxrs::optim::Sgd;
use mxrs::train::{BindFor, InitOptions, Module};
use mxrs::types::{DType, Shape};

const LABEL: &str = "softmax_label";

/// A network that is trained on one batch.
pub struct Trained {
    module: Module,
    shape: Shape,
    n_classes: usize,
    batch: Option<DataBatch>,
}

impl Trained {
    /// Binds the network, loads the parameters from the file and creates the optimizer.
    ///
    /// # Errors
    /// Fails if a file cannot be used, or if the type is neither float32 nor bfloat16 (mixed precision).
    pub fn new(runtime: &Runtime, load: &Load) -> Result<Self> {
        let autocast = match load.dtype.as_str() {
            "float32" => None,
            "bfloat16" => Some(DType::BF16),
            other => bail!("no training in {other}"),
        };
        let shape: Shape = load.shape.iter().copied().collect();
        let graph = Model::load_graph(runtime, &load.symbol)?;
        let params = Checkpoint::open(&load.params, &Options::default())?.value;
        let options = BindOptions { autocast, ..runtime.bind_options() };
        let mut module = Module::new(&(runtime.arrays().clone(), options), &graph)?;
        let rows = *shape.first().context("a batch without rows")?;
        let data = DataDesc::new(DATA, shape.clone(), DType::F32);
        let label = DataDesc::new(LABEL, [rows], DType::F32);
        module.bind(&[data], &[label], BindFor::default())?;
        module.init_params(Some(&params), &InitOptions::default())?;
        module.init_optimizer(Sgd { lr: 0.001, momentum: 0.9, wd: 1e-4, ..Sgd::default() })?;
        let n_classes = module.get_outputs()?.first().and_then(|y| y.shape().get(1).copied()).context("no classes")?;
        Ok(Self { module, shape, n_classes, batch: None })
    }

    fn step(&mut self) -> Result<()> {
        let batch = self.batch.clone().context("no batch was given")?;
        self.module.forward_backward(batch)?;
        self.module.update()?;
        let executor = self.module.executor()?;
        executor.outputs().iter().try_for_each(NdArray::wait_to_read)?;
        executor.arrays().iter().try_for_each(|(_, array)| array.wait_to_read())?;
        Ok(())
    }
}

impl Network for Trained {
    fn run(&mut self) -> Result<()> {
        self.step()
    }

    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
        let rows = self.shape[0];
        let labels: Vec<f32> = (0..rows).map(|row| (row * 7919 % self.n_classes) as f32).collect();
        let data = Tensor::from_slice(self.shape.clone(), batch)?.into_dense()?;
        let label = Tensor::from_slice([rows], &labels)?.into_dense()?;
        self.batch =
            Some(DataBatch { data: vec![data], labels: vec![label], index: (0..rows as u64).collect(), pad: 0 });
        self.step()?;
        Ok(self.module.get_outputs()?.first().context("the network has no output")?.to_vec::<f32>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::serve::{lenet, uniform};

    #[test]
    fn steps_make_the_batch_likelier() {
        let load = lenet("training");
        let runtime = Runtime::builder().build().unwrap();
        for dtype in ["float32", "bfloat16"] {
            check(&runtime, &Load { dtype: dtype.into(), ..load.clone() });
        }
        assert!(Trained::new(&runtime, &Load { dtype: "float16".into(), ..load }).is_err());
    }

    fn check(runtime: &Runtime, load: &Load) {
        let mut trained = Trained::new(runtime, load).unwrap();
        assert!(trained.run().is_err(), "no batch yet");
        let batch = uniform(load.n_elements());
        let likelihood = |probabilities: &[f32]| probabilities[0] * probabilities[10 + 7919 % 10];
        let first = likelihood(&trained.answer(&batch).unwrap());
        (0..3).for_each(|_| trained.run().unwrap());
        assert!(likelihood(&trained.answer(&batch).unwrap()) > first);
    }
}
