//! Checks that gradients are finite, and divides gradients by the loss scale.

use super::Exchange;
use mxrs_exec::autograd;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Error, Result};

/// Largest number of gradients that one call looks at, as in MXNet.
const AT_ONCE: usize = 200;

impl Exchange {
    /// Whether every element of these gradients is finite on every device; `counts` is given the number of the device and that
    /// of the parameter. Waits for the gradients.
    ///
    /// # Errors
    /// Returns an error if computing a gradient failed.
    pub fn are_gradients_finite(&self, counts: impl Fn(usize, usize) -> bool) -> Result<bool> {
        let _paused = autograd::pause();
        let mut answers = Vec::new();
        for (at, copy) in self.copies.iter().enumerate() {
            let grads = copy.iter().enumerate().filter(|(i, _)| counts(at, *i)).map(|(_, param)| &param.grad);
            let mut grads: Vec<&NdArray> = grads.collect();
            // A call needs gradients of one type.
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

    /// Divides these gradients by `scale`.
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

    /// Lets the next step divide gradients by `scale`. The updater divides, if it is the one of this process. Servers do not know
    /// the scale, which each worker changes for itself, so gradients for them are divided here, before they are sent.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn unscale_step(&self, scale: f64, counts: impl Fn(usize, usize) -> bool) -> Result<()> {
        match self.serving_store() {
            Some(_) if scale == 1.0 => Ok(()),
            Some(_) => self.divide_gradients(scale, counts),
            None => {
                // All earlier updates are done, because these gradients were computed from their weights.
                self.updater().set_loss_scale(scale);
                Ok(())
            }
        }
    }

    /// Checks that gradients may be multiplied by a loss scale.
    ///
    /// # Errors
    /// Returns an error if gradients are compressed: the threshold of compression would have to change with the scale. Also
    /// returns one if gradients in float16 are divided by the scale before servers get them: small ones would be 0 again.
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
