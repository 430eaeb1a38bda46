//! The random number generator Philox 4×32-10, many blocks at a time in vector registers, with the same bits as
//! [`mxrs_op::RandomCall`].

use crate::level::{Level, Loop};
use mxrs_op::RandomCall;

/// Number of blocks that are computed together.
pub const BLOCKS: usize = 16;
/// Number of words in [`BLOCKS`] blocks.
pub const WORDS: usize = 4 * BLOCKS;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Writes the uniform numbers of a call from number `start` on, as [`RandomCall::uniform`] defines them. `start` is a
/// multiple of 4.
pub fn fill_uniform(level: Level, random: RandomCall, start: u64, to: &mut [f32]) {
    debug_assert!(start.is_multiple_of(4));
    level.run(UniformLoop { random, first_block: start / 4, to });
}

struct UniformLoop<'a> {
    random: RandomCall,
    first_block: u64,
    to: &'a mut [f32],
}

impl Loop for UniformLoop<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (i, to) in self.to.chunks_mut(WORDS).enumerate() {
            let words = uniform_blocks(self.random, self.first_block + (i * BLOCKS) as u64);
            let mut uniform = [0.0f32; WORDS];
            for b in 0..BLOCKS {
                for w in 0..4 {
                    uniform[4 * b + w] = words[w][b];
                }
            }
            to.copy_from_slice(&uniform[..to.len()]);
        }
    }
}

/// The uniform numbers of blocks `first..`. The number from word `w` of block `first + b` is at `[w][b]`.
#[inline(always)]
pub fn uniform_blocks(random: RandomCall, first: u64) -> [[f32; BLOCKS]; 4] {
    // Vector instructions convert only signed integers; 24 bits are never negative.
    let words = blocks(random, first);
    let mut uniform = [[0.0; BLOCKS]; 4];
    for (uniform, words) in uniform.iter_mut().zip(&words) {
        for b in 0..BLOCKS {
            uniform[b] = (words[b] as u32 >> 8) as i32 as f32 * (1.0 / 16_777_216.0);
        }
    }
    uniform
}

/// Computes blocks `first..`; word `w` of block `first + b` is the lower half of the number at `[w][b]`. The upper half may
/// be anything: the vector instruction for products reads only the lower halves of 64-bit numbers. In this form, words need
/// not be moved between rounds.
#[inline(always)]
fn blocks(random: RandomCall, first: u64) -> [[u64; BLOCKS]; 4] {
    const LOWER: u64 = 0xFFFF_FFFF;
    let mut counter = [[0u64; BLOCKS]; 4];
    for b in 0..BLOCKS {
        let index = first.wrapping_add(b as u64);
        counter[0][b] = index;
        counter[1][b] = index >> 32;
        counter[2][b] = random.number;
        counter[3][b] = random.number >> 32;
    }
    let mut key = [random.seed as u32, (random.seed >> 32) as u32];
    for _ in 0..10 {
        for b in 0..BLOCKS {
            let x = (counter[0][b] & LOWER) * u64::from(MULTIPLIERS[0]);
            let y = (counter[2][b] & LOWER) * u64::from(MULTIPLIERS[1]);
            counter[0][b] = (y >> 32) ^ counter[1][b] ^ u64::from(key[0]);
            counter[1][b] = y;
            counter[2][b] = (x >> 32) ^ counter[3][b] ^ u64::from(key[1]);
            counter[3][b] = x;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_call() {
        for level in Level::available() {
            for (seed, number) in [(1, 2), (u64::MAX, 0x1234_5678_9abc_def0)] {
                let random = RandomCall { seed, number };
                for start in [0u64, 4, 400, (1 << 34) - 8] {
                    let mut numbers = [0.0; 150];
                    fill_uniform(level, random, start, &mut numbers);
                    for (i, x) in numbers.iter().enumerate() {
                        assert_eq!(*x, random.uniform(start + i as u64), "{} {seed} {start} {i}", level.name());
                    }
                }
            }
        }
    }
}
