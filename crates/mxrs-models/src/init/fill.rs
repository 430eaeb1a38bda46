//! The random numbers of one variable.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The random stream of one variable.
pub(super) struct Stream(ChaCha8Rng);

impl Stream {
    /// Makes a stream that depends only on the seed and the name.
    pub fn new(seed: u64, name: &str) -> Self {
        // The hash is FNV-1a; any other fixed function of the name would be as good.
        let hash =
            name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&hash.to_le_bytes());
        key[16..24].copy_from_slice(&(name.len() as u64).to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A random number in `[0, 1)`, a multiple of 2^-24.
    fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// Fills `out` with numbers of the distribution `kind`.
    pub fn draw(&mut self, kind: super::RandomKind, scale: f32, out: &mut [f32]) {
        match kind {
            super::RandomKind::Uniform => self.uniform(scale, out),
            super::RandomKind::Gaussian => self.normal(scale, out),
        }
    }

    /// Fills `out` with numbers uniformly distributed in `[-scale, scale)`.
    pub fn uniform(&mut self, scale: f32, out: &mut [f32]) {
        out.iter_mut().for_each(|v| *v = (2.0 * self.unit() - 1.0) * scale);
    }

    /// Fills `out` with normally distributed numbers of standard deviation `sigma` (method of Box and Muller).
    pub fn normal(&mut self, sigma: f32, out: &mut [f32]) {
        for pair in out.chunks_mut(2) {
            let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt() * sigma;
            let (sin, cos) = (std::f32::consts::TAU * self.unit()).sin_cos();
            for (v, direction) in pair.iter_mut().zip([cos, sin]) {
                *v = radius * direction;
            }
        }
    }
}
