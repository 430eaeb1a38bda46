//! The distribution function of the standard normal distribution, `(1 + erf(x / √2)) / 2`.
//!
//! Let `t = |x| / √2`. Near 0, `erf(t)` is an odd polynomial. Farther out, `1 - erf(t) = e^(-r)`, where `r` is a polynomial
//! in `t`, so that small results keep their digits. Both polynomials minimize the largest error of `erf`.

use super::exp::exp;
use std::f32::consts::FRAC_1_SQRT_2;

/// The value of `t` above which the second polynomial is used.
const FAR: f32 = 0.927_734_4;

/// The probability that a number with the standard normal distribution is below `x`. The error is at most 1.2e-7, and from
/// -3 upward also at most 1e-5 of the result.
#[inline(always)]
pub fn normal_below(x: f32) -> f32 {
    let t = (x * FRAC_1_SQRT_2).abs();
    let square = t * t;
    let near = (-5.967_617e-4f32).mul_add(square, 4.991_194e-3).mul_add(square, -2.676_813_5e-2);
    let near = near.mul_add(square, 1.128_199_2e-1).mul_add(square, -3.761_253_4e-1).mul_add(square, 1.283_791_7e-1);
    let erf = near.mul_add(t, t);
    let high = (-1.728_534_7e-5f32).mul_add(t, 3.831_979_7e-4);
    let low = (-3.883_964_4e-3f32).mul_add(t, 2.425_462_2e-2);
    let r = high.mul_add(square, low).mul_add(t, -1.067_778_8e-1).mul_add(t, -6.348_467e-1);
    let r = r.mul_add(t, -1.287_175_1e-1).mul_add(t, -t);
    // The probability of a number above |x|: half of `1 - erf(t)`.
    let beyond = if t > FAR { 0.5 * exp(r) } else { 0.5 - 0.5 * erf };
    if x < 0.0 { beyond } else { 1.0 - beyond }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_ops::tables::Real;

    #[test]
    fn it_agrees_with_erf_in_double_precision() {
        for i in -60_000..=60_000 {
            let x = i as f32 * 1e-4;
            let exact = 0.5 * (1.0 + Real::erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2));
            let error = (f64::from(normal_below(x)) - exact).abs();
            assert!(error <= 1.2e-7, "{x}: {error}");
            assert!(x < -3.0 || error <= 1e-5 * exact, "{x}: {error} of {exact}");
        }
        assert_eq!((normal_below(f32::INFINITY), normal_below(f32::NEG_INFINITY)), (1.0, 0.0));
        assert!(normal_below(f32::NAN).is_nan());
    }
}
