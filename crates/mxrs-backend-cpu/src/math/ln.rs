//! Natural logarithm.
//!
//! `x = 2^k m` with `m` from √½ to √2. With `f = m - 1` and `s = f / (2 + f)`, `ln m = f - (f²/2 - s (f²/2 + R))`,
//! where `R` is the remainder of the series of `ln((1 + s) / (1 - s))`. After four terms it is below 1e-8 of the
//! result.

const LN_2_HIGH: f32 = 0.693_145_75;
const LN_2_LOW: f32 = 1.428_606_8e-6;
/// Bits of √½.
const SQRT_HALF: u32 = 0x3f35_04f3;

/// Computes `ln(x)`: -∞ for 0, NaN for negative numbers.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let is_small = x < f32::MIN_POSITIVE;
    let scaled = if is_small { x * 16_777_216.0 } else { x };
    // Counting exponents from √½ puts `m` between √½ and √2.
    let bits = scaled.to_bits().wrapping_sub(SQRT_HALF);
    let k = ((bits as i32) >> 23) as f32 - if is_small { 24.0 } else { 0.0 };
    let m = f32::from_bits((bits & 0x007f_ffff).wrapping_add(SQRT_HALF));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * (2.0f32 / 9.0).mul_add(z, 2.0 / 7.0).mul_add(z, 2.0 / 5.0).mul_add(z, 2.0 / 3.0);
    let half_square = 0.5 * f * f;
    let small = s.mul_add(half_square + rest, k * LN_2_LOW);
    let result = k.mul_add(LN_2_HIGH, f - (half_square - small));
    let result = if x == f32::INFINITY { x } else { result };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    if x >= 0.0 { result } else { f32::NAN }
}

/// Computes `ln(1 + x)` for `x` from 0 to 1, also accurate for small `x`.
#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let y = 1.0 + x;
    // The second term corrects the rounding error of `1 + x`: the error times the slope of `ln` at `y`.
    ln(y) + (x - (y - 1.0)) / y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{assert_within, ulps};

    #[test]
    fn within_2_units() {
        assert_within("ln", ln, f64::ln, f32::MIN..=f32::MAX, 1.0);
        for i in 0..=1_000_000 {
            for x in [i as f32 * 1e-6, (-(i as f32) * 1e-4).exp()] {
                let error = ulps(ln_1p(x), f64::from(x).ln_1p());
                assert!(error <= 2.0, "ln_1p({x:e}) is {error} units off");
            }
        }
    }
}
