//! Discrete Fourier transforms of the last axis. The two parts of a complex number lie side by side: real, imaginary.
//!
//! - `_contrib_fft`: `out[k] = Σ data[m] · e^(-2πi · k · m / d)`. The last axis of data has `d` real numbers, that of out `d` complex
//!   ones, which are `2 · d` elements.
//! - `_contrib_ifft`: the real part of `out[m] = Σ data[k] · e^(2πi · k · m / d)`. The last axis of data has `d` complex numbers, that
//!   of out `d` real ones. The sum is not divided by `d`, so `_contrib_ifft` of `_contrib_fft` of data is `d` times data.
//!
//! Data has 2 or 4 axes. Any `d` is computed in `O(d · log d)` steps, also a prime number.
//!
//! Gradient: each operator computes the gradient of the other one.
//!
//! MXNet: has these operators only on GPUs. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::call_with_params;
use crate::inference::{OP, learn_dim, require_ndim};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};
use rustfft::num_complex::Complex64;
use rustfft::{FftDirection, FftPlannerScalar};

op_params! {
    /// Parameters of `_contrib_fft` and `_contrib_ifft`.
    pub struct FourierParams for "_contrib_fft" {
        /// Number of transforms that MXNet computes at once; read and ignored.
        compute_size: i32 = 128,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[define_fft, define_ifft];

/// Defines the operator `_contrib_fft`.
fn define_fft() -> OpDef {
    OpDef {
        summary: "Fourier transform of the last axis",
        infer_shape: |_, inputs, outputs| infer_shape(&mut inputs[0], &mut outputs[0], ["data", "output"]),
        dtypes: FLOATS,
        accuracy: Accuracy::Product,
        gradient: Gradient::By(|_, scope| Ok(vec![Some(call_with_params(scope, "_contrib_ifft", &[])?)])),
        reference: Some(run_fft),
        samples: || samples(1),
        ..OpDef::new("_contrib_fft").params::<FourierParams>()
    }
}

/// Defines the operator `_contrib_ifft`.
fn define_ifft() -> OpDef {
    OpDef {
        summary: "real part of the inverse Fourier transform of the last axis, not scaled",
        infer_shape: |_, inputs, outputs| infer_shape(&mut outputs[0], &mut inputs[0], ["output", "data"]),
        dtypes: FLOATS,
        accuracy: Accuracy::Product,
        precision_float16: Some(Precision::follows),
        gradient: Gradient::By(|_, scope| Ok(vec![Some(call_with_params(scope, "_contrib_fft", &[])?)])),
        reference: Some(run_ifft),
        samples: || samples(2),
        ..OpDef::new("_contrib_ifft").params::<FourierParams>()
    }
}

/// Infers the shapes of a tensor of real numbers and of its transform. `names` are the arguments that the two shapes belong to.
fn infer_shape(real: &mut PartialShape, complex: &mut PartialShape, names: [&str; 2]) -> Result<()> {
    let Some(ndim) = real.ndim().or(complex.ndim()) else { return Ok(()) };
    if ndim != 2 && ndim != 4 {
        return Err(Error::shape(OP, "data", "2 or 4 axes", format!("{ndim} axes")));
    }
    require_ndim(real, ndim, names[0])?;
    require_ndim(complex, ndim, names[1])?;
    let last = ndim - 1;
    if complex.dim(last).is_some_and(|size| !size.is_multiple_of(2)) {
        return Err(Error::shape(OP, names[1], "an even number of elements on the last axis", &*complex));
    }
    learn_dim(real, last, complex.dim(last).map(|size| size / 2), names[0])?;
    learn_dim(complex, last, real.dim(last).and_then(|size| size.checked_mul(2)), names[1])?;
    for axis in 0..last {
        learn_dim(real, axis, complex.dim(axis), names[0])?;
        learn_dim(complex, axis, real.dim(axis), names[1])?;
    }
    Ok(())
}

/// Transforms each row of `length` numbers, without scaling. The plan uses the same instructions on every processor, so the bits
/// of results do not depend on it.
fn transform(numbers: &mut [Complex64], length: usize, direction: FftDirection) {
    if length > 0 && !numbers.is_empty() {
        FftPlannerScalar::<f64>::new().plan_fft(length, direction).process(numbers);
    }
}

fn run_fft(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let length = inputs[0].desc.shape.last().copied().unwrap_or(0);
    let mut numbers: Vec<Complex64> =
        numeric::read(&inputs[0]).into_iter().map(|real| Complex64::new(real, 0.0)).collect();
    transform(&mut numbers, length, FftDirection::Forward);
    let parts: Vec<f64> = numbers.iter().flat_map(|number| [number.re, number.im]).collect();
    numeric::write(&mut outputs[0], &parts);
    Ok(())
}

fn run_ifft(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let length = outputs[0].desc.shape.last().copied().unwrap_or(0);
    let parts = numeric::read(&inputs[0]);
    let mut numbers: Vec<Complex64> = parts.chunks_exact(2).map(|part| Complex64::new(part[0], part[1])).collect();
    transform(&mut numbers, length, FftDirection::Inverse);
    let real: Vec<f64> = numbers.iter().map(|number| number.re).collect();
    numeric::write(&mut outputs[0], &real);
    Ok(())
}

/// Samples whose last axes have `times` elements for each number.
fn samples(times: usize) -> Vec<Sample> {
    let of = |name, outer: &[usize], length: usize| {
        let shape = [outer, &[length * times]].concat();
        Sample::plain(name, &[&shape])
    };
    vec![
        of("rows", &[3], 4),
        of("images", &[2, 1, 3], 6),
        of("prime", &[2], 13),
        of("one", &[3], 1),
        of("no_rows", &[0], 4),
        of("no_columns", &[3], 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn transforms_are_the_sums_of_their_definition() {
        for length in (1..=20).chain([97, 128]) {
            let rows = 2;
            let number = |i: usize| Complex64::new((i * 7 % 11) as f64 - 5.0, (i * 5 % 13) as f64 - 6.0);
            let numbers: Vec<Complex64> = (0..rows * length).map(number).collect();
            for (direction, sign) in [(FftDirection::Forward, -1.0), (FftDirection::Inverse, 1.0)] {
                let mut found = numbers.clone();
                transform(&mut found, length, direction);
                for (i, found) in found.iter().enumerate() {
                    let (row, k) = (i / length, i % length);
                    let term = |m: usize| {
                        let angle = sign * std::f64::consts::TAU * (k * m % length) as f64 / length as f64;
                        numbers[row * length + m] * Complex64::new(angle.cos(), angle.sin())
                    };
                    let expected = (0..length).map(term).fold(Complex64::new(0.0, 0.0), |sum, term| sum + term);
                    let wrong = *found - expected;
                    assert!(wrong.re.abs() + wrong.im.abs() < 1e-9, "{length}: {found:?}, expected {expected:?}");
                }
            }
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for (define, dims) in [(DEFINITIONS[0], &[2, 3, 4][..]), (DEFINITIONS[0], &[4]), (DEFINITIONS[1], &[2, 5])] {
            let op = define();
            let params = op.parse(&Attrs::new()).expect("all have defaults");
            let mut inputs = [PartialShape::new(dims.iter().map(|size| Some(*size)))];
            let error = op.infer_shapes(&params, &mut inputs, &mut [PartialShape::unknown()]);
            assert!(error.is_err(), "{} of {dims:?}", op.name);
        }
    }

    #[test]
    fn shapes_follow_in_both_directions() {
        let op = define_ifft();
        let params = op.parse(&Attrs::new()).expect("all have defaults");
        let mut inputs = [PartialShape::unknown()];
        op.infer_shapes(&params, &mut inputs, &mut [PartialShape::new([Some(3), Some(5)])]).expect("a possible call");
        assert_eq!(inputs[0].to_string(), "(3, 10)");
    }
}
