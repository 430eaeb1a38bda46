//! Checks that gradients are finite, and divides gradients by the loss scale.

use super::Exchange;
use mxrs_exec::autograd;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Error, Result};

/// Largest number of gradients that one call of `multi_all_finite` checks, as in MXNet.
const AT_ONCE: usize = 200;

impl Exchange {
    /// Whether every element of the chosen gradients is finite. `counts(device, parameter)` chooses: it is given both
    /// indices and says whether this gradient is checked. Waits for the gradients.
    ///
    /// # Errors
    /// Returns an error if computing a gradient failed.
    pub fn are_gradients_finite(&self, counts: impl Fn(usize, usize) -> bool) -> Result<bool> {
        let _paused = autograd::pause();
        let mut answers = Vec::new();
        for (at, copy) in self.copies.iter().enumerate() {
            let grads = copy.iter().enumerate().filter(|(i, _)| counts(at, *i)).map(|(_, param)| &param.grad);
            let mut grads: Vec<&NdArray> = grads.collect();
            // Sorted by dtype, because all gradients of one call of `multi_all_finite` must have the same dtype.
            grads.sort_by_key(|grad| grad.dtype());
            for of_type in grads.chunk_by(|a, b| a.dtype() == b.dtype()) {
                for some in of_type.chunks(AT_ONCE) {
                    let attrs = Attrs::from([("num_arrays", some.len().to_string())]);
                    answers.extend(self.nd.invoke("multi_all_finite", &attrs, some)?);
                }
            }
        }
        let mut is_finite = true;
        for answer in answers {
            is_finite &= answer.to_vec::<f32>()?.first() == Some(&1.0);
        }
        Ok(is_finite)
    }

    /// Divides the gradients that `counts(device, parameter)` chooses by `scale`.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn divide_gradients(&self, scale: f64, counts: impl Fn(usize, usize) -> bool) -> Result<()> {
        let _paused = autograd::pause();
        let attrs = Attrs::from([("scalar", (1.0 / scale).to_string())]);
        for (at, copy) in self.copies.iter().enumerate() {
            for (_, param) in copy.iter().enumerate().filter(|(i, _)| counts(at, *i)) {
                self.nd.invoke_into("_mul_scalar", &attrs, &[&param.grad], &[&param.grad])?;
            }
        }
        Ok(())
    }

    /// Makes the next step divide gradients by `scale`. An updater in this process divides them itself. Servers cannot,
    /// because each worker changes its own scale and servers do not know it. So gradients for servers are divided here,
    /// before they are sent.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn unscale_step(&self, scale: f64, counts: impl Fn(usize, usize) -> bool) -> Result<()> {
        match self.serving_store() {
            Some(_) if scale == 1.0 => Ok(()),
            Some(_) => self.divide_gradients(scale, counts),
            None => {
                // No earlier update can read the new scale: all of them are done, because these gradients were computed from
                // the weights that they wrote.
                self.updater().set_loss_scale(scale);
                Ok(())
            }
        }
    }

    /// Checks that gradients may be multiplied by a loss scale.
    ///
    /// # Errors
    /// Returns an error if gradients are compressed: the threshold of compression would have to change with the scale. Also
    /// returns one for gradients in float16 that servers receive: they would be divided by the scale before they are sent,
    /// and small ones would become 0 again.
    pub fn expect_scalable(&self) -> Result<()> {
        if self.is_compressing || self.updater().is_compressing() {
            return Err(Error::invalid("loss scale", "compressed gradients", "gradients that are not compressed"));
        }
        let first = self.copies.first().into_iter().flatten();
        let half = first.filter(|_| self.serving_store().is_some()).find(|param| param.grad.dtype() == DType::F16);
        match half {
            None => Ok(()),
            Some(param) => {
                let got = format!("the gradient of `{}` in float16, for servers", param.name);
                let expected = "gradients in float32, as those of Module::amp, or a store without servers";
                Err(Error::invalid("loss scale", got, expected))
            }
        }
    }
}
