//! Random numbers of many distributions. Each element of a result has its own stream of random blocks, so the numbers do not
//! depend on the number of threads. They are not MXNet's numbers: only the distributions are the same.

use crate::families::random::{normal, uniform};
use crate::numeric;
use mxrs_op::{RandomCall, RefOutput, RunMode};
use mxrs_types::{Error, Result};

/// The sequence of random blocks, of four random words each, that belongs to one element of a result.
pub struct Stream {
    random: RandomCall,
    next: u64,
}

/// The number of blocks that belong to one element. More would be those of the next element, but rejection methods need more
/// than this number only with a probability that is practically 0.
const BLOCKS: u64 = 1 << 20;

impl Stream {
    /// The stream of element number `index`.
    pub fn new(random: RandomCall, index: usize) -> Self {
        Self { random, next: (index as u64).wrapping_mul(BLOCKS) }
    }

    fn block(&mut self) -> [u32; 4] {
        self.next = self.next.wrapping_add(1);
        self.random.block(self.next - 1)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        let [a, b, ..] = self.block();
        uniform([a, b])
    }

    /// Normal with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        normal(self.block())
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang 2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if !shape.is_finite() {
            return shape;
        }
        if shape < 1.0 {
            let factor = (1.0 - self.uniform()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * factor;
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Poisson with this mean: by products of uniform numbers if it is small, else by rejection (Hörmann 1993).
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean.is_nan() || mean.is_infinite() {
            return mean;
        }
        if mean < 12.0 {
            let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
            while product > limit {
                product *= self.uniform();
                count += 1.0;
            }
            return count;
        }
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.02483 * b;
        let scale = 1.1239 + 1.1328 / (b - 3.4);
        let limit = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let (u, v) = (self.uniform() - 0.5, 1.0 - self.uniform());
            let rest = 0.5 - u.abs();
            let k = ((2.0 * a / rest + b) * u + mean + 0.43).floor();
            if rest >= 0.07 && v <= limit {
                return k;
            }
            if k < 0.0 || (rest < 0.013 && v > rest) {
                continue;
            }
            if (v * scale / (a / (rest * rest) + b)).ln() <= k * mean.ln() - mean - libm::lgamma(k + 1.0) {
                return k;
            }
        }
    }

    /// Number of successes in `n` experiments that succeed with probability `p`. The median of `n` uniform numbers, which has a
    /// beta distribution, says how half of them turned out (Devroye 1986, X.4.3), so the time is logarithmic in `n`.
    pub fn binomial(&mut self, mut n: u64, mut p: f64) -> u64 {
        let mut count = 0;
        while n > 32 && p > 0.0 && p < 1.0 {
            let median = n.div_ceil(2);
            let (below, above) = (self.gamma(median as f64), self.gamma((n + 1 - median) as f64));
            let at = below / (below + above);
            if at <= p {
                // The `median` smallest numbers are below `p`; the others are uniform between `at` and 1.
                count += median;
                n -= median;
                p = (p - at) / (1.0 - at);
            } else {
                n = median - 1;
                p /= at;
            }
        }
        match p {
            p if p >= 1.0 => count + n,
            p if p > 0.0 => count + (0..n).filter(|_| self.uniform() < p).count() as u64,
            _ => count,
        }
    }
}

/// Writes one number for each element.
///
/// # Errors
/// Fails without random numbers.
pub fn fill(output: &mut RefOutput<'_>, mode: RunMode, mut draw: impl FnMut(&mut Stream, usize) -> f64) -> Result<()> {
    let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
    let n = output.desc.shape.n_elements();
    let values: Vec<f64> = (0..n).map(|i| draw(&mut Stream::new(random, i), i)).collect();
    numeric::write(output, &values);
    Ok(())
}

/// A distribution with at most two parameters.
pub trait Law: 'static {
    /// Checks the parameters. An error holds the position of the refused parameter, and says what it must be.
    fn accepts(params: [f64; 2]) -> std::result::Result<(), (usize, &'static str)>;
    /// Draws a number.
    fn draw(stream: &mut Stream, params: [f64; 2]) -> f64;
}

macro_rules! laws {
    ($($(#[$doc:meta])* $type:ident ($a:ident, $b:ident) [$($at:literal: $accepted:expr, $expected:literal);*]
        |$stream:ident| $draw:expr;)*) => {
        $($(#[$doc])*
        pub struct $type;

        impl Law for $type {
            fn accepts([$a, $b]: [f64; 2]) -> std::result::Result<(), (usize, &'static str)> {
                let _ = ($a, $b);
                // Matching on the result of the comparison also refuses NaN, for which every comparison is false.
                $(match $accepted {
                    true => {}
                    false => return Err(($at, $expected)),
                })*
                Ok(())
            }
            fn draw($stream: &mut Stream, [$a, $b]: [f64; 2]) -> f64 {
                let _ = $b;
                $draw
            }
        })*
    };
}

laws! {
    /// Uniform from `low` to `high`.
    Uniform (low, high) [1: high >= low, "a number from low on"] |stream| low + (high - low) * stream.uniform();
    /// Normal with a mean and a standard deviation.
    Normal (mean, deviation) [1: deviation >= 0.0, "a number that is not negative"] |stream| mean + deviation * stream.normal();
    /// Exponential with a rate.
    Exponential (rate, _unused) [0: rate > 0.0, "a positive number"] |stream| stream.exponential() / rate;
    /// Gamma with a shape and a scale.
    Gamma (shape, scale) [0: shape > 0.0, "a positive number"; 1: scale > 0.0, "a positive number"]
        |stream| scale * stream.gamma(shape);
    /// Poisson with a mean.
    Poisson (mean, _unused) [0: mean >= 0.0, "a number that is not negative"] |stream| stream.poisson(mean);
    /// The number of failures before `k` successes with probability `p`.
    NegativeBinomial (k, p) [0: k >= 0.0, "a number that is not negative"; 1: p > 0.0 && p <= 1.0, "a probability above 0"]
        |stream| if p >= 1.0 || k == 0.0 { 0.0 } else {
            let mean = stream.gamma(k) * (1.0 - p) / p;
            stream.poisson(mean)
        };
    /// Negative binomial with a mean and a dispersion.
    GeneralizedNegativeBinomial (mean, dispersion) [0: mean >= 0.0, "a number that is not negative";
        1: dispersion >= 0.0, "a number that is not negative"]
        |stream| if dispersion == 0.0 { stream.poisson(mean) } else {
            let mean = stream.gamma(1.0 / dispersion) * dispersion * mean;
            stream.poisson(mean)
        };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance are those of the distribution, within five standard errors.
    #[test]
    fn binomial_numbers_have_their_moments() {
        let n_draws = 20_000;
        for (n, p) in [(20, 0.5), (100, 0.3), (1_000_000, 0.9), ((1 << 31) - 1, 1e-8), (1 << 40, 0.25)] {
            let random = RandomCall { seed: 5, number: 1 };
            let counts: Vec<f64> = (0..n_draws).map(|i| Stream::new(random, i).binomial(n, p) as f64).collect();
            let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
            let found = counts.iter().sum::<f64>() / n_draws as f64;
            let spread = counts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n_draws as f64;
            assert!(
                (found - mean).abs() < 5.0 * (variance / n_draws as f64).sqrt(),
                "{n} {p}: {found}, expected {mean}"
            );
            let kurtosis = 3.0 + (1.0 - 6.0 * p * (1.0 - p)) / variance;
            let error = variance * ((kurtosis - 1.0) / n_draws as f64).sqrt();
            assert!((spread - variance).abs() < 5.0 * error, "{n} {p}: variance {spread}, expected {variance}");
        }
        let certain = |p: f64| Stream::new(RandomCall { seed: 5, number: 1 }, 0).binomial(1 << 60, p);
        assert_eq!([0.0, 1.0, f64::NAN].map(certain), [0, 1 << 60, 0]);
    }
}
