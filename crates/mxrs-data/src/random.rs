//! Random numbers that depend only on keys, not on the order of requests.

/// A stream of random numbers. Streams with the same keys are equal on every machine and in every version; streams with
/// different keys are independent.
///
/// ```
/// use mxrs_data::Random;
/// let mut random = Random::keyed(&[7, 1]);
/// assert_eq!(random.bits(), Random::keyed(&[7, 1]).bits());
/// assert!((0.0..1.0).contains(&random.unit()));
/// ```
///
/// The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). Its initial state
/// is a hash of the keys.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes the bits, so that every bit of the input affects the whole word.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The stream with these keys. Their order matters.
    pub fn keyed(keys: &[u64]) -> Self {
        let start = mix(STEP ^ keys.len() as u64);
        Self {
            state: keys.iter().fold(start, |state, key| mix(state.wrapping_add(STEP) ^ mix(key.wrapping_add(STEP)))),
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A uniformly distributed number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A uniformly distributed integer from 0 to `n - 1`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A uniformly distributed number in [low, high).
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        self.unit() as f32 * (high - low) + low
    }

    /// A uniformly distributed number in [`center - most`, `center + most`).
    pub fn around(&mut self, center: f32, most: f32) -> f32 {
        center + self.uniform(-most, most)
    }

    /// A normally distributed number with mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f32 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
    }

    /// Shuffles the values; all orders are equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for i in (1..values.len()).rev() {
            let j = self.below(i + 1);
            values.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_every_key_and_on_their_order() {
        let first = |keys: &[u64]| Random::keyed(keys).bits();
        let all =
            [first(&[]), first(&[0]), first(&[0, 0]), first(&[0, 1]), first(&[1, 0]), first(&[1]), first(&[u64::MAX])];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "{i}");
        }
        assert_eq!(first(&[3, 4]), first(&[3, 4]));
    }

    /// Counts the 24 orders of 4 values in 24 000 shuffles. Chi-square test: 23 degrees of freedom, 0.999 quantile 49.7.
    #[test]
    fn all_orders_are_equally_likely() {
        let mut seen = std::collections::HashMap::<[u8; 4], f64>::new();
        for epoch in 0..24_000 {
            let mut values = [0, 1, 2, 3];
            Random::keyed(&[7, epoch]).shuffle(&mut values);
            *seen.entry(values).or_default() += 1.0;
        }
        assert_eq!(seen.len(), 24);
        let chi_square: f64 = seen.values().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 49.7, "{chi_square}");
    }

    #[test]
    fn numbers_stay_in_range_and_fill_it() {
        let mut random = Random::keyed(&[1]);
        let (mut low, mut high, mut sum) = (1.0_f64, 0.0_f64, 0.0);
        for _ in 0..10_000 {
            let u = random.unit();
            (low, high, sum) = (low.min(u), high.max(u), sum + u);
            assert!((0.0..1.0).contains(&u) && random.below(7) < 7);
        }
        assert!(low < 1e-3 && high > 0.999 && (sum / 10_000.0 - 0.5).abs() < 0.015, "{low} {high} {sum}");
        let normals: Vec<f64> = (0..10_000).map(|_| f64::from(random.normal())).collect();
        let moment = |power: i32| normals.iter().map(|x| x.powi(power)).sum::<f64>() / 1e4;
        assert!(moment(1).abs() < 0.04 && (moment(2) - 1.0).abs() < 0.06 && (moment(4) - 3.0).abs() < 0.4);
        assert_eq!(random.around(3.0, 0.0), 3.0);
        assert_eq!((random.below(1), random.below(0)), (0, 0));
    }
}
