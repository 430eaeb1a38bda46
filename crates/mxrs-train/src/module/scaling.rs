//! The loss scale of a module: the graph with scaled losses, and updates that check the gradients.

use super::Module;
use crate::LossScaler;
use mxrs_exec::Executor;
use mxrs_format::Tensor;
use mxrs_graph::{Graph, scale_losses};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Result, ResultExt};

/// What a module with a loss scale has in addition.
pub(super) struct Scaling {
    scaler: LossScaler,
    /// The network with scaled losses, which executors with gradients run.
    pub graph: Graph,
    /// The variables of `graph` that hold the scale.
    pub variables: Vec<String>,
}

impl Scaling {
    /// Writes the scale into the arrays of an executor.
    pub fn write(&self, executor: &Executor) -> Result<()> {
        for name in &self.variables {
            let array = executor.argument(name)?;
            // A scale that is too large for the type becomes infinite, and so do the gradients.
            let scale = Tensor::from_slice(array.shape().clone(), &[self.scaler.scale()])?.cast(array.dtype());
            array.copy_from_bytes(scale.stored_bytes()).context(|| "setting the loss scale".to_owned())?;
        }
        Ok(())
    }
}

impl Module {
    /// Multiplies losses by a loss scale, for [mixed precision](Self::amp) in float16. It multiplies the gradients of losses such
    /// as `SoftmaxOutput`, and the gradients of outputs that [`backward`](Self::backward) is given.
    /// [`update`](Self::update) divides gradients by the scale. If one of them is not finite on any device or worker, it changes
    /// neither weights nor states and counts of the optimizer. It waits for the gradients. With an asynchronous store each
    /// worker has a scale of its own, skips its own steps, and divides its gradients before it sends them.
    ///
    /// Between `backward` and `update` the arrays of gradients are scaled, so a monitor sees scaled gradients.
    /// [`clip_gradients`](Self::clip_gradients) and [`get_input_grads`](Self::get_input_grads) take the scale into account.
    ///
    /// # Errors
    /// Returns an error if the module is bound already.
    pub fn loss_scaling(mut self, scaler: LossScaler) -> Result<Self> {
        self.expect_unbound("loss_scaling")?;
        let scaled = scale_losses(&self.graph, &self.options.ops)?;
        self.scaling = Some(Scaling { scaler, graph: scaled.graph, variables: scaled.variables });
        Ok(self)
    }

    /// The loss scale and its counts, if losses are scaled.
    pub fn loss_scaler(&self) -> Option<&LossScaler> {
        self.scaling.as_ref().map(|scaling| &scaling.scaler)
    }

    /// The number by which losses are multiplied; 1 without a loss scale.
    pub(super) fn loss_scale(&self) -> f64 {
        self.loss_scaler().map_or(1.0, LossScaler::scale)
    }

    /// Continues from the loss scale of a checkpoint. Does nothing if this module does not scale its losses.
    pub(super) fn restore_loss_scaler(&mut self, saved: &LossScaler) -> Result<()> {
        if let Some(scaling) = &mut self.scaling {
            scaling.scaler.resume(saved);
        }
        self.write_loss_scale()
    }

    fn write_loss_scale(&self) -> Result<()> {
        let Some(scaling) = &self.scaling else { return Ok(()) };
        let executors = self.groups.iter().flat_map(|group| group.executors());
        executors.filter(|executor| !executor.gradients().is_empty()).try_for_each(|executor| scaling.write(executor))
    }

    /// Gradients of outputs, times the loss scale.
    pub(super) fn scaled(&self, head_grads: &[NdArray]) -> Result<Vec<NdArray>> {
        self.times(head_grads, self.loss_scale())
    }

    /// Gradients, divided by the loss scale.
    pub(super) fn unscaled(&self, grads: Vec<NdArray>) -> Result<Vec<NdArray>> {
        if self.scaling.is_none() {
            return Ok(grads);
        }
        self.times(&grads, 1.0 / self.loss_scale())
    }

    fn times(&self, arrays: &[NdArray], factor: f64) -> Result<Vec<NdArray>> {
        let attrs = Attrs::from([("scalar", factor.to_string())]);
        let call = |array: &NdArray| self.nd.invoke("_mul_scalar", &attrs, &[array]);
        Ok(arrays.iter().map(call).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Updates the parameters by scaled gradients, or skips the step.
    pub(super) fn update_scaled(&mut self) -> Result<()> {
        let is_finite = self.exchange()?.are_gradients_finite(|_, _| true)?;
        let is_finite = !self.is_any(!is_finite)?;
        let scale = self.loss_scale();
        if is_finite {
            let exchange = self.exchange()?;
            exchange.unscale_step(scale, |_, _| true)?;
            exchange.step()?;
        }
        if let Some(scaling) = &mut self.scaling {
            scaling.scaler.update(is_finite)?;
        }
        if self.loss_scale() == scale { Ok(()) } else { self.write_loss_scale() }
    }

    /// The graph that an executor runs.
    pub(super) fn bound_graph(&self, with_gradients: bool) -> &Graph {
        self.scaling.as_ref().filter(|_| with_gradients).map_or(&self.graph, |scaling| &scaling.graph)
    }
}
