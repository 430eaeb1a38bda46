//! Random numbers that depend only on seed, call and position: Philox 4×32-10 (Salmon, Moraes, Dror and Shaw, "Parallel
//! random numbers: as easy as 1, 2, 3", SC'11).
//!
//! A call of a random operator gets a [`RandomCall`]: a seed, and a number that no other call with that seed has. Element
//! `i` of the result uses words of block `i / 4` (or another fixed rule that the kernel documents), so the bits do not
//! depend on the number of threads, and the same call gives the same numbers again. The generator is implemented in this
//! crate because the published crate is an unmaintained sketch (`philox` 0.0.0, 2019), and because the bits must be those
//! of a GPU's generator.

/// The seed and number of one call of a random operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RandomCall {
    /// Seed of the device's generator.
    pub seed: u64,
    /// Number of the call under this seed.
    pub number: u64,
}

impl RandomCall {
    /// The block with this index: four independent words of 32 uniform bits.
    pub fn block(self, index: u64) -> [u32; 4] {
        let counter = [index as u32, (index >> 32) as u32, self.number as u32, (self.number >> 32) as u32];
        philox(counter, [self.seed as u32, (self.seed >> 32) as u32])
    }

    /// The word with this index in the sequence of all blocks.
    pub fn word(self, index: u64) -> u32 {
        self.block(index / 4)[(index % 4) as usize]
    }

    /// Element `index` as a number uniform in `[0, 1)` with 24 bits, exact in an `f32`.
    pub fn uniform(self, index: u64) -> f32 {
        (self.word(index) >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}

/// Applies ten rounds of Philox 4×32.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    for _ in 0..10 {
        let a = u64::from(counter[0]) * u64::from(MULTIPLIERS[0]);
        let b = u64::from(counter[2]) * u64::from(MULTIPLIERS[1]);
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the known answers published with Random123.
    #[test]
    fn known_answers() {
        let pi = ([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        let cases = [
            (([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            (([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ];
        for ((counter, key), expected) in cases {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn calls_under_one_seed_differ() {
        let a = RandomCall { seed: 7, number: 1 };
        let b = RandomCall { seed: 7, number: 2 };
        assert!((0..1000).all(|i| a.block(i) != b.block(i)));
        assert!((0..1000).all(|i| (0.0..1.0).contains(&a.uniform(i))));
    }
}
