//! `e^x`, `e^x - 1` and the logistic function.
//!
//! `x = n ln 2 + r` with `|r| <= ln 2 / 2`, and `e^r - 1 = r + r² q(r)` with a polynomial `q` of degree 4 that
//! minimizes the relative error of `e^r` (3e-9; Remez's algorithm).

/// Coefficients of `q`, lowest first.
const Q: [f32; 5] = [4.999_999_3e-1, 1.666_652e-1, 4.166_839_4e-2, 8.368_78e-3, 1.381_446_7e-3];
/// Adding this number to a float rounds the float to an integer, which is then in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;
const LN_2_HIGH: f32 = 0.693_145_75;
const LN_2_LOW: f32 = 1.428_606_8e-6;

/// Returns `(n, e^r - 1)` for `x` in the range in which `2^n` does not overflow or vanish.
#[inline(always)]
fn reduce(x: f32) -> (i32, f32) {
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let q = Q[4].mul_add(r, Q[3]).mul_add(r, Q[2]).mul_add(r, Q[1]).mul_add(r, Q[0]);
    (shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32, (r * r).mul_add(q, r))
}

/// `2^n` for `n` from -126 to 127.
#[inline(always)]
fn power_of_2(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// `x` limited to the bounds; NaN stays NaN.
#[inline(always)]
fn within(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// Computes `e^x`; outside the range of floats, 0 or ∞.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (n, less_1) = reduce(within(x, -104.0, 89.0));
    // Multiplies in two steps, because `2^n` alone may be outside the range of normal numbers.
    let half = n >> 1;
    (less_1 + 1.0) * power_of_2(half) * power_of_2(n.wrapping_sub(half))
}

/// The logarithm of the smallest normal number, rounded towards 0.
const LN_MIN: f32 = -87.336_54;

/// Computes `e^x` for `x` up to 0 with fewer instructions than [`exp`]. Below the smallest normal number the result is 0.
#[inline(always)]
pub fn exp_below(x: f32) -> f32 {
    let limited = if x < LN_MIN { LN_MIN } else { x };
    let shifted = limited.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, limited));
    let q = Q[4].mul_add(r, Q[3]).mul_add(r, Q[2]).mul_add(r, Q[1]).mul_add(r, Q[0]);
    let power_of_r = (r * r).mul_add(q, r) + 1.0;
    // The low bits of `shifted` are `n`, and the lowest nine bits of `ROUND` are 0. `n` is at least -126.
    let power = power_of_r * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < LN_MIN { 0.0 } else { power }
}

/// Computes `e^x - 1`, also accurate for small `x`.
#[inline(always)]
pub fn exp_m1(x: f32) -> f32 {
    // `x` is limited to 88, for which the power `2^n` is `2^127` and so still finite. For larger `x`, `exp` gives the
    // result.
    let (n, less_1) = reduce(within(x, -30.0, 88.0));
    let power = power_of_2(n);
    let result = less_1.mul_add(power, power - 1.0);
    let result = if x == 0.0 { x } else { result };
    if x > 88.0 { exp(x) } else { result }
}

/// Computes `1 / (1 + e^-x)`, also accurate next to 0.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{assert_within, ulps};

    #[test]
    fn powers_of_numbers_up_to_0_are_within_1_unit() {
        let negative = (0..=u32::MAX / 2 / 1_021).map(|i| f32::from_bits(0x8000_0000 | (i * 1_021)));
        let is_number = |x: &f32| !x.is_nan();
        for x in negative.filter(is_number).chain([0.0, -0.0, LN_MIN, LN_MIN.next_down(), LN_MIN.next_up()]) {
            let exact = f64::from(x).exp();
            let is_close = if x < LN_MIN { exp_below(x) == 0.0 } else { ulps(exp_below(x), exact) <= 1.0 };
            assert!(is_close, "{x:e}: {:e}, expected {exact:e}", exp_below(x));
        }
        for nan in [f32::NAN, f32::from_bits(0xffff_ffff), f32::from_bits(0x7f80_0001)] {
            assert!(exp_below(nan).is_nan());
        }
    }

    #[test]
    fn within_2_units() {
        assert_within("exp", exp, f64::exp, -110.0..=100.0, 1.0);
        assert_within("exp_m1", exp_m1, f64::exp_m1, -110.0..=100.0, 2.0);
        assert_within("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -110.0..=110.0, 2.5);
    }
}
