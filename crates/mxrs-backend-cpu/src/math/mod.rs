//! Functions of `f32` without branches, so that the compiler vectorizes loops over them. Each is within 2 units in the
//! last place of the exact result, the logistic function within 2.5; the tests compare with `f64`.

mod exp;
mod ln;
mod normal;
mod tanh;

pub use exp::{exp, exp_below, exp_m1, sigmoid};
pub use ln::{ln, ln_1p};
pub use normal::normal_below;
pub use tanh::tanh;

/// Distance of two floats in units in the last place of `exact`; values below the smallest normal number count like
/// that number.
#[cfg(test)]
pub(crate) fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got == rounded || (got.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    if !got.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    let exponent = exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
    (f64::from(got) - exact).abs() / (exponent - 23.0).exp2()
}

/// Checks a function on floats of every exponent and sign in a range, and on special values.
#[cfg(test)]
fn assert_within(
    name: &str,
    f: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    range: std::ops::RangeInclusive<f32>,
    bound: f64,
) {
    let mut worst = (0.0, 0.0f32);
    let specials = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, -1e-45];
    // The step between bit patterns is odd, so that the floats have all kinds of mantissas.
    let all = (0..=u32::MAX / 4_099).map(|i| f32::from_bits(i * 4_099)).filter(|x| range.contains(x));
    for x in specials.into_iter().chain(all) {
        let error = ulps(f(x), exact(f64::from(x)));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    assert!(worst.0 <= bound, "{name}({:e}) is {} units off", worst.1, worst.0);
}
