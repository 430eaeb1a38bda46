//! Cross-entropy of independent classes.

use super::{Weights, label_like, softrelu};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// Binary cross-entropy of the sigmoid of a prediction `x` with a label `l`: `relu(x) - x l + ln(1 + e^-|x|)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SigmoidBceLoss {
    /// Whether predictions already are probabilities (default: no).
    pub from_sigmoid: bool,
    /// Factor of the loss of positive labels; 1 if `None`.
    pub pos_weight: Option<f64>,
}

impl SigmoidBceLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        const EPS: f64 = 1e-12;
        let label = label_like(nd, label, pred)?;
        let loss = if self.from_sigmoid {
            let positive = nd.mul(&nd.log(&nd.add_scalar(pred, EPS)?)?, &label)?;
            let positive = nd.mul_scalar(&positive, self.pos_weight.unwrap_or(1.0))?;
            let rest = nd.log(&nd.add_scalar(&nd.rsub_scalar(pred, 1.0)?, EPS)?)?;
            let negative = nd.mul(&rest, &nd.rsub_scalar(&label, 1.0)?)?;
            nd.negative(&nd.add(&positive, &negative)?)?
        } else {
            let tail = softrelu(nd, &nd.negative(&nd.abs(pred)?)?)?;
            match self.pos_weight {
                None => nd.add(&nd.sub(&nd.relu(pred)?, &nd.mul(pred, &label)?)?, &tail)?,
                Some(weight) => {
                    // With w = `pos_weight`, the loss is x - x l + (1 + (w - 1) l) (ln(1 + e^-|x|) + relu(-x))
                    let factor = nd.add_scalar(&nd.mul_scalar(&label, weight - 1.0)?, 1.0)?;
                    let tail = nd.add(&tail, &nd.relu(&nd.negative(pred)?)?)?;
                    nd.add(&nd.sub(pred, &nd.mul(pred, &label)?)?, &nd.mul(&factor, &tail)?)?
                }
            }
        };
        weights.finish(nd, loss)
    }
}
