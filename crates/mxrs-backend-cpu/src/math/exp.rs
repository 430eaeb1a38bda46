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
    use crate::math::assert_within;

    #[test]
    fn within_2_units() {
        assert_within("exp", exp, f64::exp, -110.0..=100.0, 1.0);
        assert_within("exp_m1", exp_m1, f64::exp_m1, -110.0..=100.0, 2.0);
        assert_within("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -110.0..=110.0, 2.5);
    }
}
