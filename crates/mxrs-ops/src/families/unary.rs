//! Declaration, in-place pair, samples and backward operators that elementwise operators with one input share.

use crate::dtypes::NUMBERS;
use crate::families::pairwise;
use crate::numeric;
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, Pointwise, RefInput, RefOutput, Sample};

/// Defines an operator `out[i] = f(data[i])` with the shape and type of its input. The caller adds the summary and the
/// reference kernel.
pub fn define(name: &'static str) -> OpDef {
    OpDef {
        dtypes: NUMBERS,
        inplace: &[(0, 0)],
        pointwise: Pointwise::Yes,
        accuracy: Accuracy::Elementwise,
        samples: || samples(-4.0, 4.0),
        ..OpDef::new(name)
    }
}

/// Defines a backward operator `out[i] = f(ograd[i], data[i])`, whose output may be written in place of ograd.
pub fn define_backward(name: &'static str) -> OpDef {
    OpDef { inputs: InputNames::Fixed(&["ograd", "data"]), inplace: &[(0, 0)], ..pairwise::define(name) }
}

/// Does the same as [`define_backward`], but the second input is the output of the forward call instead of data.
pub fn define_backward_of_output(name: &'static str) -> OpDef {
    OpDef { inputs: InputNames::Fixed(&["ograd", "out"]), ..define_backward(name) }
}

/// Applies `f(ograd, saved)`, computed in floats for all types. Integer results truncate and saturate.
pub fn apply_backward(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], f: impl Fn(f64, f64) -> f64) {
    let (ograd, saved) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    numeric::write(&mut outputs[0], &ograd.into_iter().zip(saved).map(|(g, x)| f(g, x)).collect::<Vec<f64>>());
}

/// Samples of the shapes that every elementwise kernel must handle, with uniform elements between the two bounds, and one
/// sample of [`special_values`].
pub fn samples(low: f64, high: f64) -> Vec<Sample> {
    let uniform = Fill::Uniform(low, high);
    vec![
        Sample::plain("matrix", &[&[3, 5]]).fill(0, uniform.clone()),
        Sample::plain("odd", &[&[2, 3, 7, 5]]).fill(0, uniform.clone()),
        Sample::plain("one", &[&[1]]).fill(0, uniform.clone()),
        Sample::plain("scalar", &[&[]]).fill(0, uniform),
        Sample::plain("empty", &[&[0, 3]]),
        Sample::plain("special", &[&[2, 4]]).fill(0, Fill::Values(special_values())),
    ]
}

/// Zeros of both signs, infinities, NaN, and ordinary numbers between them.
pub fn special_values() -> Vec<f64> {
    vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 1e-3]
}
