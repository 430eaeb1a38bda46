//! The vector instructions that the loops use, detected once when the backend is made.
//!
//! A loop is a [`Loop`]. Its body is written once, inlined into one function per instruction set, and vectorized there
//! by the compiler. Bodies fuse multiplications and additions only explicitly (`mul_add`), so all instruction sets give
//! the same bits.

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The set that every processor has.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// All sets that this processor has, the widest last.
    pub fn available() -> Vec<Self> {
        let mut levels = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            levels.push(Self(Set::Avx2));
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if wide {
                levels.push(Self(Set::Avx512));
            }
        }
        levels
    }

    /// The widest set that this processor has.
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::PORTABLE)
    }

    /// The set's name in traces, such as `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }

    /// Runs a loop with these instructions.
    pub(crate) fn run<L: Loop>(self, body: L) -> L::Output {
        match self.0 {
            Set::Portable => body.run(),
            // SAFETY: only `available` makes this value, after it has detected AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { with_avx2(body) },
            // SAFETY: only `available` makes this value, after it has detected AVX2, FMA and the four parts of AVX-512.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { with_avx512(body) },
        }
    }
}

/// A loop with its operands. `run` must be `#[inline(always)]`, and so must everything that it calls per element.
pub(crate) trait Loop {
    /// What the loop returns, in addition to what it writes.
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
