//! Functions of `f64` that neither the standard library nor `libm` has, or that MXNet defines in another way.

/// The gamma function. It is NaN for negative integers, and infinity with the sign of `x` for 0.
pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// Rounds to the nearest integer; halves are rounded down, as MXNet does.
pub fn rint(x: f64) -> f64 {
    let (floor, ceil) = (x.floor(), x.ceil());
    if x - floor <= ceil - x { floor } else { ceil }
}

/// The derivative of the logarithm of the gamma function. NaN for 0 and negative integers.
///
/// Large arguments use the asymptotic series; smaller ones are shifted up by `ψ(x) = ψ(x + 1) - 1 / x`, and negative ones
/// are reflected by `ψ(x) = ψ(1 - x) - π / tan(π x)`.
pub fn digamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x).tan();
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 12.0 {
        shift += 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    // Bernoulli numbers B(2k) / (2k) for k from 1 to 7.
    const TERMS: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];
    let series = TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * z);
    x.ln() - 0.5 / x - series - shift
}

/// Inverse of the error function: ±∞ at ±1, NaN outside.
///
/// Winitzki's approximation is within 2e-3. Halley's method, whose error falls with the third power, makes it exact in
/// three steps. Next to ±1 it uses `erfc`, which keeps all digits there.
pub fn erf_inv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return y * f64::INFINITY;
    }
    if y == 0.0 {
        return y;
    }
    let magnitude = y.abs();
    let rest = 1.0 - magnitude;
    let log = (rest * (1.0 + magnitude)).ln();
    let a = 0.147;
    let half = 2.0 / (std::f64::consts::PI * a) + log / 2.0;
    let mut x = ((half * half - log / a).sqrt() - half).sqrt();
    for _ in 0..3 {
        let error = if magnitude < 0.5 { libm::erf(x) - magnitude } else { rest - libm::erfc(x) };
        let step = error / (std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp());
        x -= step / (1.0 + x * step);
    }
    x.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_of_known_arguments() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let ln_2 = std::f64::consts::LN_2;
        let known = [
            (1.0, -EULER),
            (0.5, -EULER - 2.0 * ln_2),
            (2.0, 1.0 - EULER),
            (-0.5, 2.0 - EULER - 2.0 * ln_2),
            (0.25, -EULER - std::f64::consts::FRAC_PI_2 - 3.0 * ln_2),
        ];
        for (x, expected) in known {
            assert!((digamma(x) - expected).abs() < 1e-13 * expected.abs(), "digamma({x}) is {}", digamma(x));
        }
        assert!(digamma(0.0).is_nan() && digamma(-3.0).is_nan());
    }

    #[test]
    fn the_inverse_of_erf_inverts_it() {
        for i in 1..4000 {
            let y = f64::from(i - 2000) / 2000.0;
            assert!((libm::erf(erf_inv(y)) - y).abs() <= 4.0 * f64::EPSILON * y.abs(), "{y}");
        }
        let x = erf_inv(1.0 - 1e-12);
        assert!((libm::erfc(x) - 1e-12).abs() < 1e-15, "{x}");
        assert_eq!((erf_inv(1.0), erf_inv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert!(erf_inv(1.5).is_nan() && erf_inv(f64::NAN).is_nan());
    }

    #[test]
    fn halves_round_down() {
        assert_eq!([0.5, 1.5, -1.5, 2.4, 2.6, -0.5].map(rint), [0.0, 1.0, -2.0, 2.0, 3.0, -1.0]);
    }
}
