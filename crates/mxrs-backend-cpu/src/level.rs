//! The vector instructions that the loops use, chosen once when the backend is made.
//!
//! A loop is a [`Loop`]. Its body is written once, inlined into one function per instruction set, and vectorized there
//! by the compiler. Bodies fuse multiplications and additions only explicitly (`mul_add`), so all instruction sets give
//! the same bits.

use mxrs_processor::{Isa, Set};

/// An instruction set that this processor has. The set of AVX-512 includes
/// [`Avx512Core`](mxrs_processor::Feature::Avx512Core), because loops over bytes and halves need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Isa);

impl Level {
    /// The set that every processor has.
    pub const PORTABLE: Self = Self(Isa::PORTABLE);

    /// All sets that this processor has, the widest last.
    pub fn available() -> Vec<Self> {
        let is_whole = |isa: &Isa| match isa.set() {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => mxrs_processor::Feature::Avx512Core.is_there(),
            _ => true,
        };
        Isa::available().into_iter().filter(is_whole).map(Self).collect()
    }

    /// The widest set that this processor has.
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::PORTABLE)
    }

    /// The set's name in traces, such as `avx512`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Runs a loop with these instructions.
    pub(crate) fn run<L: Loop>(self, body: L) -> L::Output {
        match self.0.set() {
            Set::Portable => body.run(),
            // SAFETY: an `Isa` with this set exists only if the processor has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { with_avx2(body) },
            // SAFETY: `available` makes a `Level` with this set only if the processor has the four parts of AVX-512
            // that `with_avx512` needs. An `Isa` with this set exists only if the processor also has AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { with_avx512(body) },
        }
    }
}

/// A loop with its operands. `run` must be `#[inline(always)]`, and so must everything that it calls per element.
pub(crate) trait Loop {
    /// The type of the value that the loop returns; it may also write to its operands.
    type Output;
    /// Runs the loop.
    fn run(self) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<L: Loop>(body: L) -> L::Output {
    body.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn with_avx512<L: Loop>(body: L) -> L::Output {
    body.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_level_is_available() {
        let levels = Level::available();
        assert!(levels.contains(&Level::best()) && levels.contains(&Level::PORTABLE));
        assert!(levels.is_sorted());
    }
}
