//! One batch: forward, backward, update, and the update of a metric.

use super::{Module, named, unbound};
use crate::metric::EvalMetric;
use crate::norm::clip_global_norm;
use mxrs_data::DataBatch;
use mxrs_format::{AlignedBytes, Dense, Tensor};
use mxrs_ndarray::NdArray;
use mxrs_types::{Result, ResultExt, Shape};
use std::ops::Deref;

/// Memory of a batch that is being copied into an array.
struct Owned(AlignedBytes);

impl Deref for Owned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Writes a tensor into an array of the same shape, converted to the array's dtype. The engine copies the elements once.
fn feed(array: &NdArray, dense: Dense) -> Result<()> {
    let dense = match dense.dtype() == array.dtype() {
        true => dense,
        false => Tensor::Dense(Box::new(dense)).cast(array.dtype()).into_dense()?,
    };
    array.copy_from_owned(Owned(dense.into_parts().2))
}

impl Module {
    /// Runs a batch in training or inference mode; does not wait for the results. Inputs and labels are in the order in
    /// which they were bound; labels may be omitted at inference. For another batch size than the bound one, a second
    /// executor with the same parameters is bound.
    ///
    /// # Errors
    /// Returns an error if parameters have no values or shapes do not fit the network. Under `NaiveEngine`, also returns
    /// errors of kernels; with other engines, reading the outputs returns these.
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

    /// Computes the gradients of the last batch that ran in training mode. Outputs that are not losses need `head_grads`,
    /// one array per output.
    ///
    /// # Errors
    /// Fails as [`mxrs_exec::Executor::backward`] does.
    pub fn backward(&mut self, head_grads: &[NdArray]) -> Result<()> {
        self.bound()?.executor.backward(head_grads)
    }

    /// Runs a batch in training mode, and computes its gradients.
    ///
    /// # Errors
    /// Fails as [`Self::forward`] and [`Self::backward`] do.
    pub fn forward_backward(&mut self, batch: DataBatch) -> Result<()> {
        self.forward(batch, true)?;
        self.backward(&[])
    }

    /// Updates the parameters by the gradients of the last batch; does not wait for the updates.
    ///
    /// # Errors
    /// Returns an error if the module has no optimizer, or if an operator fails.
    pub fn update(&mut self) -> Result<()> {
        let update = self.update.as_mut().ok_or_else(|| unbound("init_optimizer"))?;
        update.update_all(&self.nd, &self.params)
    }

    /// Scales the gradients of the last batch so that their norm over all parameters, divided by the batch size, is at most
    /// `max_norm`; returns that norm before scaling. Waits for the gradients.
    ///
    /// # Errors
    /// Returns an error if the module has no optimizer, or if an operator fails.
    pub fn clip_gradients(&mut self, max_norm: f64) -> Result<f64> {
        let batch_size = self.batch_size()? as f64;
        let grads: Vec<&NdArray> = self.params.iter().map(|param| &param.grad).collect();
        Ok(clip_global_norm(&self.nd, &grads, max_norm * batch_size)? / batch_size)
    }

    /// Outputs of the batch that ran last. The next batch of the same shapes overwrites them.
    ///
    /// # Errors
    /// Returns an error if the module is not bound.
    pub fn get_outputs(&self) -> Result<&[NdArray]> {
        Ok(self.bound()?.executor.outputs())
    }

    /// Gradients of the inputs of the last batch, in the order of the inputs.
    ///
    /// # Errors
    /// Returns an error if the module was bound without gradients of the inputs.
    pub fn get_input_grads(&self) -> Result<Vec<NdArray>> {
        let bound = self.bound()?;
        bound.data.iter().map(|desc| bound.executor.gradient(&desc.name).cloned()).collect()
    }

    /// Updates the metric with labels and outputs of the last batch, of which the last `pad` rows are padding; does not wait
    /// for the outputs.
    ///
    /// # Errors
    /// Fails as [`EvalMetric::update_named`] does.
    pub fn update_metric(&self, metric: &mut dyn EvalMetric, pad: usize) -> Result<()> {
        let bound = self.bound()?;
        let mut labels = Vec::with_capacity(bound.labels.len());
        for desc in &bound.labels {
            labels.push((desc.name.as_str(), bound.executor.argument(&desc.name)?));
        }
        metric.update_named(&labels, &named(bound.executor.output_names(), bound.executor.outputs()), pad)
    }
}
