//! One batch: forward, backward, update, and what a metric sees of it.

use super::{Module, named, unbound};
use crate::metric::EvalMetric;
use crate::norm::clip_global_norm;
use mxrs_data::DataBatch;
use mxrs_format::{AlignedBytes, Dense, Tensor};
use mxrs_ndarray::NdArray;
use mxrs_types::{Result, ResultExt, Shape};
use std::ops::Deref;

/// A batch's memory on its way into an array.
struct Owned(AlignedBytes);

impl Deref for Owned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Moves a tensor into an array of its shape: copied once, by the engine.
fn feed(array: &NdArray, dense: Dense) -> Result<()> {
    let dense = match dense.dtype() == array.dtype() {
        true => dense,
        false => Tensor::Dense(Box::new(dense)).cast(array.dtype()).into_dense()?,
    };
    array.copy_from_owned(Owned(dense.into_parts().2))
}

impl Module {
    /// Runs a batch, as in training or as at inference; returns at once. Inputs and labels are in the order they were bound
    /// in; labels may be left out at inference. Another batch size than the one bound binds once more, with the same
    /// parameters.
    ///
    /// # Errors
    /// Parameters without values; shapes that do not fit the network; under `NaiveEngine` what kernels report, which
    /// otherwise comes with the outputs.
    pub fn forward(&mut self, batch: DataBatch, is_train: bool) -> Result<()> {
        self.expect_initialized()?;
        let shapes = |tensors: &[Dense]| tensors.iter().map(|t| t.shape().clone()).collect::<Vec<Shape>>();
        let data = shapes(&batch.data);
        let labels = if batch.labels.is_empty() { None } else { Some(shapes(&batch.labels)) };
        let labels = labels.filter(|_| !self.first().is_ok_and(|first| first.labels.is_empty()));
        self.choose(&data, labels.as_deref(), is_train)?;
        let bound = self.bound()?;
        let fed = bound.data.iter().zip(batch.data);
        let fed = fed.chain(bound.labels.iter().zip(batch.labels).filter(|_| labels.is_some()));
        for (desc, tensor) in fed {
            let array = bound.executor.argument(&desc.name)?;
            feed(array, tensor).context(|| format!("filling input `{}`", desc.name))?;
        }
        if is_train { bound.executor.forward_train() } else { bound.executor.forward() }
    }

    /// Computes the gradients of the batch that ran last in training. Outputs that are no losses need `head_grads`, one per
    /// output.
    ///
    /// # Errors
    /// As [`mxrs_exec::Executor::backward`].
    pub fn backward(&mut self, head_grads: &[NdArray]) -> Result<()> {
        self.bound()?.executor.backward(head_grads)
    }

    /// Both.
    ///
    /// # Errors
    /// As [`Self::forward`] and [`Self::backward`].
    pub fn forward_backward(&mut self, batch: DataBatch) -> Result<()> {
        self.forward(batch, true)?;
        self.backward(&[])
    }

    /// Updates the parameters by the gradients of the last batch; returns at once.
    ///
    /// # Errors
    /// No optimizer; what operators report.
    pub fn update(&mut self) -> Result<()> {
        let update = self.update.as_mut().ok_or_else(|| unbound("init_optimizer"))?;
        update.update_all(&self.nd, &self.params)
    }

    /// Scales the gradients of the last batch so that their norm over all parameters, divided by the batch size, is at most
    /// `max_norm`; returns that norm before. Waits for the gradients.
    ///
    /// # Errors
    /// No optimizer; what operators report.
    pub fn clip_gradients(&mut self, max_norm: f64) -> Result<f64> {
        let batch_size = self.batch_size()? as f64;
        let grads: Vec<&NdArray> = self.params.iter().map(|param| &param.grad).collect();
        Ok(clip_global_norm(&self.nd, &grads, max_norm * batch_size)? / batch_size)
    }

    /// Outputs of the batch that ran last; the next one with the same shapes overwrites them.
    ///
    /// # Errors
    /// Nothing is bound.
    pub fn get_outputs(&self) -> Result<&[NdArray]> {
        Ok(self.bound()?.executor.outputs())
    }

    /// Gradients of the inputs of the last batch, in their order.
    ///
    /// # Errors
    /// The module was bound without them.
    pub fn get_input_grads(&self) -> Result<Vec<NdArray>> {
        let bound = self.bound()?;
        bound.data.iter().map(|desc| bound.executor.gradient(&desc.name).cloned()).collect()
    }

    /// Shows the metric the labels and outputs of the last batch, of which `pad` rows only filled it up; returns at once.
    ///
    /// # Errors
    /// As [`EvalMetric::update_named`].
    pub fn update_metric(&self, metric: &mut dyn EvalMetric, pad: usize) -> Result<()> {
        let bound = self.bound()?;
        let mut labels = Vec::with_capacity(bound.labels.len());
        for desc in &bound.labels {
            labels.push((desc.name.as_str(), bound.executor.argument(&desc.name)?));
        }
        metric.update_named(&labels, &named(bound.executor.output_names(), bound.executor.outputs()), pad)
    }
}
