//! One batch: forward, backward, update, and the update of a metric.

use super::group::{array_for, concatenate};
use super::{Module, named};
use crate::metric::EvalMetric;
use mxrs_data::DataBatch;
use mxrs_format::Dense;
use mxrs_ndarray::NdArray;
use mxrs_trace::api_call;
use mxrs_types::{Result, Shape};

impl Module {
    /// Runs a batch in training or inference mode; does not wait for the results. Inputs and labels are in the order in
    /// which they were bound; labels may be omitted at inference. For another batch size than the bound one, a second
    /// executor with the same parameters is bound.
    ///
    /// # Errors
    /// Returns an error if parameters have no values or shapes do not fit the network. Under `NaiveEngine`, also returns
    /// errors of kernels; with other engines, reading the outputs returns these.
    pub fn forward(&mut self, batch: DataBatch, is_train: bool) -> Result<()> {
        let _call = api_call("Module::forward");
        self.expect_initialized()?;
        let shapes = |tensors: &[Dense]| tensors.iter().map(|t| t.shape().clone()).collect::<Vec<Shape>>();
        let data = shapes(&batch.data);
        let labels = if batch.labels.is_empty() { None } else { Some(shapes(&batch.labels)) };
        let labels = labels.filter(|_| !self.first().is_ok_and(|first| first.labels.is_empty()));
        self.choose(&data, labels.as_deref(), is_train)?;
        let group = self.group()?;
        group.feed(batch, labels.is_some())?;
        group.forward(is_train)
    }

    /// Computes the gradients of the last batch that ran in training mode. Outputs that are not losses need `head_grads`,
    /// one array per output.
    ///
    /// # Errors
    /// Fails as [`mxrs_exec::Executor::backward`] does.
    pub fn backward(&mut self, head_grads: &[NdArray]) -> Result<()> {
        let _call = api_call("Module::backward");
        if self.loss_scaler().is_some() && !head_grads.is_empty() {
            return self.group()?.backward(&self.nd, &self.scaled(head_grads)?);
        }
        self.group()?.backward(&self.nd, head_grads)
    }

    /// Runs a batch in training mode, and computes its gradients.
    ///
    /// # Errors
    /// Fails as [`Self::forward`] and [`Self::backward`] do.
    pub fn forward_backward(&mut self, batch: DataBatch) -> Result<()> {
        self.forward(batch, true)?;
        self.backward(&[])
    }

    /// Updates the parameters by the gradients of the last batch; does not wait for the updates. With a
    /// [loss scale](Self::loss_scaling) it waits for the gradients, and skips the step if one is not finite.
    ///
    /// # Errors
    /// Returns an error if the module has no optimizer, or if an operator fails. Also fails if gradients are not finite even
    /// with the smallest loss scale.
    pub fn update(&mut self) -> Result<()> {
        let _call = api_call("Module::update");
        match self.loss_scaler() {
            Some(_) => self.update_scaled(),
            None => self.exchange()?.step(),
        }
    }

    /// Scales the gradients of the last batch so that their norm over all parameters, divided by the batch size, is at most
    /// `max_norm`; returns that norm before scaling. Of several contexts and workers it is the norm of the sums of their
    /// gradients, divided by the batch size of all workers; all workers call this function. An asynchronous store adds no
    /// gradients of other workers, so the norm is that of this worker. Waits for the gradients.
    ///
    /// # Errors
    /// Returns an error if the module has no optimizer, if an operator fails, or if a store of several workers updates the
    /// weights.
    pub fn clip_gradients(&mut self, max_norm: f64) -> Result<f64> {
        let factor = (self.batch_size()? * self.n_summed_workers()) as f64 * self.loss_scale();
        Ok(self.exchange()?.clip(max_norm * factor, false)? / factor)
    }

    /// Outputs of the batch that ran last. The next batch of the same shapes overwrites them. The parts of several contexts
    /// are concatenated along axis 0, on the first context.
    ///
    /// # Errors
    /// Returns an error if the module is not bound, or if outputs of several contexts cannot be concatenated.
    pub fn get_outputs(&self) -> Result<&[NdArray]> {
        self.group()?.outputs(&self.nd)
    }

    /// Gradients of the inputs of the last batch, in the order of the inputs. The parts of several contexts are concatenated
    /// along axis 0, on the first context.
    ///
    /// # Errors
    /// Returns an error if the module was bound without gradients of the inputs.
    pub fn get_input_grads(&self) -> Result<Vec<NdArray>> {
        let group = self.group()?;
        let grad = |name: &String| {
            let parts = group.executors().map(|executor| executor.gradient(name)).collect::<Result<Vec<_>>>()?;
            if let [one] = parts.as_slice() {
                return Ok((*one).clone());
            }
            let whole = array_for(&self.nd, &parts, &format!("gradient of `{name}`"))?;
            concatenate(&self.nd, &parts, &whole)?;
            Ok(whole)
        };
        self.unscaled(group.data.iter().map(|desc| grad(&desc.name)).collect::<Result<_>>()?)
    }

    /// Updates the metric with labels and outputs of the last batch, of which the last `pad` rows are padding; does not wait
    /// for the outputs.
    ///
    /// # Errors
    /// Fails as [`EvalMetric::update_named`] does.
    pub fn update_metric(&self, metric: &mut dyn EvalMetric, pad: usize) -> Result<()> {
        let _call = api_call("Module::update_metric");
        let group = self.group()?;
        let outputs = named(group.executor().output_names(), group.outputs(&self.nd)?);
        metric.update_named(&group.labels()?, &outputs, pad)
    }
}
