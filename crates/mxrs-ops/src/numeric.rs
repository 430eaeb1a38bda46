//! Reference arithmetic: tensors as vectors of `f64`, or of `i64` for integer types.
//!
//! Floats are widened exactly, computed in `f64` and rounded once at the end, so a reference kernel is at least as
//! accurate as any kernel that is compared with it. Integers are computed in wrapping 64-bit arithmetic and keep the
//! low bits.

use mxrs_op::{RefInput, RefOutput, elements};
use mxrs_types::DType;

/// The value of [`mxrs_op::OpDef::reference`] for a kernel that only calls a function: `reference!(numeric::map, f, g)`
/// is a kernel that calls `numeric::map(inputs, outputs, f, g)`. With the word `params` after the function's name, the
/// kernel passes the parameters of the call before its inputs.
macro_rules! reference {
    ($function:path, params $(, $argument:expr)*) => {
        Some(|params, inputs, outputs, _| {
            $function(params, inputs, outputs $(, $argument)*);
            Ok(())
        })
    };
    ($function:path $(, $argument:expr)*) => {
        Some(|_, inputs, outputs, _| {
            $function(inputs, outputs $(, $argument)*);
            Ok(())
        })
    };
}
pub(crate) use reference;

/// The elements of an input.
pub fn read(input: &RefInput<'_>) -> Vec<f64> {
    elements::read_f64(input.bytes, input.desc.dtype)
}

/// Writes the elements of an output.
pub fn write(output: &mut RefOutput<'_>, values: &[f64]) {
    elements::write_f64(values, output.desc.dtype, output.bytes);
}

/// The elements of an integer input.
pub fn read_integers(input: &RefInput<'_>) -> Vec<i64> {
    elements::read_i64(input.bytes, input.desc.dtype)
}

/// Writes the elements of an integer output.
pub fn write_integers(output: &mut RefOutput<'_>, values: &[i64]) {
    elements::write_i64(values, output.desc.dtype, output.bytes);
}

/// Computes `out[i] = f(x[i])`, with one function for floats and one for integers.
pub fn map(
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    float: impl Fn(f64) -> f64,
    integer: impl Fn(i64) -> i64,
) {
    if inputs[0].desc.dtype.is_float() {
        let values: Vec<f64> = read(&inputs[0]).into_iter().map(float).collect();
        write(&mut outputs[0], &values);
    } else {
        let values: Vec<i64> = read_integers(&inputs[0]).into_iter().map(integer).collect();
        write_integers(&mut outputs[0], &values);
    }
}

/// Computes `out[i] = f(x[i])` in floats for all types. Integer results truncate and saturate.
pub fn map_float(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], float: impl Fn(f64) -> f64) {
    let values: Vec<f64> = read(&inputs[0]).into_iter().map(float).collect();
    write(&mut outputs[0], &values);
}

/// Computes `out[i] = f(a[i], b[i])`, with one function for floats and one for integers.
pub fn zip(
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    float: impl Fn(f64, f64) -> f64,
    integer: impl Fn(i64, i64) -> i64,
) {
    if inputs[0].desc.dtype.is_float() {
        let (a, b) = (read(&inputs[0]), read(&inputs[1]));
        write(&mut outputs[0], &a.into_iter().zip(b).map(|(a, b)| float(a, b)).collect::<Vec<_>>());
    } else {
        let (a, b) = (read_integers(&inputs[0]), read_integers(&inputs[1]));
        write_integers(&mut outputs[0], &a.into_iter().zip(b).map(|(a, b)| integer(a, b)).collect::<Vec<_>>());
    }
}

/// The value rounded to `dtype` and converted back.
pub fn rounded_to(dtype: DType, value: f64) -> f64 {
    let mut word = 0u64;
    let bytes = &mut bytemuck::bytes_of_mut(&mut word)[..dtype.size_of()];
    elements::write_f64(&[value], dtype, bytes);
    elements::read_f64(bytes, dtype)[0]
}

/// The lowest finite number of a float type; 0 for other types.
pub fn lowest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => -65504.0,
        // The lowest f32 with the low half of its bits cleared.
        DType::BF16 => f64::from(f32::from_bits(0xFF7F_0000)),
        DType::F32 => f64::from(f32::MIN),
        DType::F64 => f64::MIN,
        _ => 0.0,
    }
}

/// Divides integers: truncates toward zero; division by zero gives 0.
pub fn divide_integers(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

/// The remainder of integers with the sign of the divisor; 0 if the divisor is 0.
pub fn modulo_integers(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// The larger number; NaN if either is NaN.
pub fn max_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller number; NaN if either is NaN.
pub fn min_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `max(x, 0)`; NaN stays NaN.
pub fn relu(x: f64) -> f64 {
    max_nan(x, 0.0)
}

/// `x` limited to the bounds. NaN stays NaN. If `low` is above `high`, the result is `high`.
pub fn clip(x: f64, low: f64, high: f64) -> f64 {
    match x {
        x if x > high => high,
        x if x < low => low,
        x => x,
    }
}

/// The sign of `x`: -1, 0 or 1; 0 for NaN, as in MXNet's `sign`.
pub fn sign(x: f64) -> f64 {
    f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
}

/// Copies the bytes of the first input to the first output, for operators that do not change the elements.
pub fn copy_bytes(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
    outputs[0].bytes.copy_from_slice(inputs[0].bytes);
}

/// Softmax of one row: `e^((x - max) / temperature)`, divided by its sum. An empty row stays empty.
pub fn softmax_row(row: &mut [f64], temperature: f64) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, max_nan);
    row.iter_mut().for_each(|v| *v = ((*v - max) / temperature).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_through_the_type() {
        assert_eq!(rounded_to(DType::F32, 0.1), f64::from(0.1f32));
        assert_eq!(rounded_to(DType::I8, 2.9), 2.0);
        assert_eq!(rounded_to(DType::F64, 0.1), 0.1);
        assert_eq!(rounded_to(DType::F16, 1e6), f64::INFINITY);
    }

    #[test]
    fn nan_wins_comparisons() {
        for f in [max_nan, min_nan] {
            assert!(f(f64::NAN, 1.0).is_nan() && f(1.0, f64::NAN).is_nan());
        }
        assert!(relu(f64::NAN).is_nan());
        assert_eq!(relu(-1.0), 0.0);
    }

    #[test]
    fn softmax_sums_to_one_even_for_large_inputs() {
        let mut row = [1000.0, 1000.0];
        softmax_row(&mut row, 1.0);
        assert_eq!(row, [0.5, 0.5]);
    }
}
