//! A custom operator that every process has: the square of each element. The samples of `Custom` call it, so that its path is
//! tested like that of every other operator.

use super::{CustomGradient, CustomOp};
use crate::numeric;
use mxrs_op::{RefInput, RefOutput};
use mxrs_types::Result;

/// The name under which it is registered.
pub const NAME: &str = "_mxrs_square";

/// The operator.
pub struct Square;

impl CustomOp for Square {
    fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: bool) -> Result<()> {
        numeric::map(inputs, outputs, |x| x * x, |x| x.wrapping_mul(x));
        Ok(())
    }

    fn backward(&self, call: &CustomGradient<'_>, gradients: &mut [RefOutput<'_>]) -> Result<()> {
        let operands = [call.out_grads[0], call.inputs[0]];
        numeric::zip(&operands, gradients, |grad, x| 2.0 * x * grad, |grad, x| x.wrapping_mul(grad).wrapping_mul(2));
        Ok(())
    }
}
