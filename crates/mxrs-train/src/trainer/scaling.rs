//! The loss scale of a trainer, as MXNet's `amp.init_trainer`, `amp.scale_loss` and `amp.unscale`.

use super::Trainer;
use crate::LossScaler;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Error, Result};

/// The loss scale of a trainer.
pub(super) struct Scaling {
    pub scaler: LossScaler,
    /// Whether the gradients of this step are divided by the scale already.
    is_unscaled: bool,
}

impl Trainer {
    /// Lets steps divide gradients by a loss scale, and skip updates whose gradients are not finite. Multiply each loss by
    /// [`scale_loss`](Self::scale_loss) before `backward`. Steps then wait for the gradients.
    ///
    /// ```
    /// use mxrs_train::{LossScaler, Trainer};
    /// # use mxrs_engine::{Engine, EngineConfig};
    /// # use mxrs_exec::{BackwardOptions, BindOptions, Imperative, autograd};
    /// # use mxrs_ndarray::{ArrayContext, NdArray};
    /// # use mxrs_storage::{Storage, StorageConfig};
    /// # fn main() -> mxrs_types::Result<()> {
    /// # let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
    /// # let mut options = BindOptions::new(vec![std::sync::Arc::new(mxrs_op::ReferenceBackend)]);
    /// # options.ops = mxrs_ops::catalog();
    /// # let nd = Imperative::new(&context, &options)?;
    /// let weight = NdArray::from_slice(&context, [2], &[1.0f32, 2.0])?;
    /// let sgd = mxrs_optim::Sgd { lr: 0.5, ..Default::default() };
    /// let mut trainer = Trainer::new(&nd, &[("weight", &weight)], sgd)?;
    /// trainer.set_loss_scaler(LossScaler::dynamic())?;
    /// let loss = {
    ///     let _record = autograd::record();
    ///     let loss = nd.invoke("square", &Default::default(), &[&weight])?.remove(0);
    ///     trainer.scale_loss(&loss)?
    /// };
    /// nd.backward(&[&loss], &[], BackwardOptions::default())?;
    /// trainer.step(1)?;
    /// assert_eq!(weight.to_vec::<f32>()?, [0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if gradients are compressed, or if they are in float16 and servers update the weights.
    pub fn set_loss_scaler(&mut self, scaler: LossScaler) -> Result<()> {
        self.exchange.expect_scalable()?;
        self.scaling = Some(Scaling { scaler, is_unscaled: false });
        Ok(())
    }

    /// The loss scale and its counts, if there is one.
    pub fn loss_scaler(&self) -> Option<&LossScaler> {
        self.scaling.as_ref().map(|scaling| &scaling.scaler)
    }

    /// A loss times the loss scale. Call it while operators are recorded.
    ///
    /// # Errors
    /// Returns an error if the trainer has no loss scaler, or if the operator fails.
    pub fn scale_loss(&self, loss: &NdArray) -> Result<NdArray> {
        let scaler = self.loss_scaler().ok_or_else(|| without("scale_loss"))?;
        let attrs = Attrs::from([("scalar", scaler.scale().to_string())]);
        let outputs = self.exchange.imperative().invoke("_mul_scalar", &attrs, &[loss])?;
        outputs.into_iter().next().ok_or_else(|| Error::invalid("_mul_scalar", "no output", "one output"))
    }

    /// Divides the gradients by the loss scale now, to read or change them before the step.
    ///
    /// # Errors
    /// Returns an error if the trainer has no loss scaler, if the gradients are divided already, or if an operator fails.
    pub fn unscale(&mut self) -> Result<()> {
        let scaling = self.scaling.as_ref().ok_or_else(|| without("unscale"))?;
        if scaling.is_unscaled {
            return Err(Error::invalid("unscale", "gradients that are divided already", "one call for each step"));
        }
        self.exchange.divide_gradients(scaling.scaler.scale(), |copy, i| self.counts(copy, i))?;
        if let Some(scaling) = &mut self.scaling {
            scaling.is_unscaled = true;
        }
        Ok(())
    }

    /// The number that the gradients are multiplied by.
    pub(super) fn scale_of_gradients(&self) -> f64 {
        match &self.scaling {
            Some(scaling) if !scaling.is_unscaled => scaling.scaler.scale(),
            _ => 1.0,
        }
    }

    /// Whether the gradients are finite on all devices, and on all workers of a store that sums over workers. If they are,
    /// prepares the update to divide them by the loss scale. Counts the step in either case.
    pub(super) fn accepts_gradients(&mut self) -> Result<bool> {
        if self.scaling.is_none() {
            return Ok(true);
        }
        let mut is_finite = self.exchange.are_gradients_finite(|copy, i| self.counts(copy, i))?;
        // Workers of an asynchronous store do not wait for each other, so each decides alone whether it skips a step.
        let waiting = self.exchange.store().filter(|_| self.exchange.serving_store().is_none());
        if let Some(store) = waiting.filter(|store| store.num_workers() > 1) {
            is_finite = store.all_gather(&[u8::from(is_finite)])?.iter().all(|bytes| bytes.first() == Some(&1));
        }
        if is_finite {
            self.exchange.unscale_step(self.scale_of_gradients(), |copy, i| self.counts(copy, i))?;
        }
        if let Some(scaling) = &mut self.scaling {
            scaling.scaler.update(is_finite)?;
            scaling.is_unscaled = false;
        }
        Ok(is_finite)
    }

    /// Whether this copy's gradient is used by the next step.
    fn counts(&self, copy: usize, i: usize) -> bool {
        match &self.summed {
            Some(summed) => summed.get(i).copied().unwrap_or(false),
            None => self.is_fresh(copy, i),
        }
    }
}

fn without(method: &str) -> Error {
    Error::invalid(method, "a trainer without a loss scaler", "`set_loss_scaler` first")
}
