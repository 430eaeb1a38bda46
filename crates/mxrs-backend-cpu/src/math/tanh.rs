//! Hyperbolic tangent. Below 0.6 it is `x + x³ P(x²)` with a polynomial `P` of degree 4 that minimizes the relative error
//! (3e-9; Remez's algorithm); from 0.6 on, `1 - 2 / (e^2x + 1)`.

use super::exp;

/// Coefficients of `P`, lowest first.
const P: [f32; 5] = [-3.333_33e-1, 1.333_192_4e-1, -5.378_383e-2, 2.079_597_2e-2, -5.895_158e-3];

/// `tanh(x)`.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let z = x * x;
    let p = P[4].mul_add(z, P[3]).mul_add(z, P[2]).mul_add(z, P[1]).mul_add(z, P[0]);
    let small = (x * z).mul_add(p, x);
    let magnitude = x.abs();
    let large = (1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0)).copysign(x);
    if magnitude < 0.6 { small } else { large }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::assert_within;

    #[test]
    fn within_2_units() {
        assert_within("tanh", tanh, f64::tanh, f32::MIN..=f32::MAX, 2.0);
    }
}
