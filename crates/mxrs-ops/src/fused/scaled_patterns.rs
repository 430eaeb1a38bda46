//! The chains of a product with one factor per image and channel, and a convolution: `_sg_scaled_conv`.
//!
//! The convolution may be followed by `BatchNorm` of constants, a sum and a function, as in `patterns.rs`.

use super::patterns::{Part, functions, normalized};
use super::scaled_convolution::NAME;
use crate::nn::convolution::ConvolutionParams;
use mxrs_op::{Member, NewCall, Operand, Pattern, Stage};

/// Name of the stage of the convolution.
const CONVOLUTION: &str = "convolution";

/// The pattern. With `is_normalized`, batch normalization may follow the convolution, with `has_sum` a sum, and with
/// `has_function` a function.
pub(super) fn scaled([is_normalized, has_sum, has_function]: [bool; 3]) -> Pattern {
    let sum = || Stage { enters_by: &[0, 1], ..Stage::of("sum", &["elemwise_add"]) };
    let conv = Stage {
        accepts: |_, call| !call.params.get::<ConvolutionParams>().is_channels_last(),
        is_required: true,
        ..Stage::of(CONVOLUTION, &["Convolution"])
    };
    let mut then = vec![conv];
    then.extend(is_normalized.then(normalized));
    then.extend(has_sum.then(sum));
    then.extend(has_function.then(functions).into_iter().flatten());
    let seed =
        Stage { accepts: |_, call| position_of_factors(call).is_some(), ..Stage::of("scale", &["broadcast_mul"]) };
    Pattern { name: "Factors and Convolution", seed, then, replace }
}

/// The position of the input that has one value per image and channel of the other input.
fn position_of_factors(call: &Member<'_>) -> Option<usize> {
    let sizes = |i: usize| -> Option<[usize; 4]> { call.inputs.get(i)?.shape[..].try_into().ok() };
    let [a, b] = [sizes(0)?, sizes(1)?];
    let are_factors = |data: [usize; 4], factors: [usize; 4]| factors == [data[0], data[1], 1, 1];
    match (are_factors(a, b), are_factors(b, a)) {
        (true, _) => Some(1),
        (_, true) => Some(0),
        _ => None,
    }
}

fn replace(chain: &[Member<'_>]) -> Option<Vec<NewCall>> {
    let [scale, rest @ ..] = chain else { return None };
    let factors = position_of_factors(scale)?;
    let mut calls = Vec::new();
    let Part { attrs, mut inputs, sum, .. } = Part::of(rest, 1, &mut calls)?;
    // The data of the convolution is the product that starts the chain. The fused call reads the data of this product
    // instead.
    inputs[0] = Operand::Input { member: 0, position: 1 - factors };
    inputs.extend(sum);
    inputs.push(Operand::Input { member: 0, position: factors });
    calls.push(NewCall { op: NAME, suffix: "", attrs, inputs });
    Some(calls)
}
