//! The rounding policy of a pool: the block size for a request.

use super::best_fit::{HOST_GRANULE, granule};
use crate::config::PoolConfig;
use mxrs_types::DeviceKind;
use mxrs_types::PoolKind;

/// The size of the block for a request, and the key under which it is kept when free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeClass {
    /// Requests with equal keys can use each other's blocks. A larger request never has a smaller key.
    pub(crate) key: usize,
    pub(crate) block_bytes: usize,
}

/// A rounding policy. Its numbers come from validated settings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rounding {
    /// Rounds to multiples of `page`, and above `large` to multiples of `large`; the key is the size.
    Naive { page: usize, large: usize },
    /// Rounds sizes up to `2^cutoff` to powers of two, at least `2^page_log2`, and larger sizes to multiples of `2^cutoff`.
    /// The keys number the block sizes in ascending order.
    Round { page_log2: u32, cutoff: u32 },
    /// Does not round.
    Exact,
    /// Rounds to multiples of `bytes`; the key is the size.
    Granules { bytes: usize },
}

impl Rounding {
    pub(crate) fn new(config: &PoolConfig) -> Self {
        match config.kind {
            PoolKind::Naive => Self::Naive { page: config.page_size, large: config.large_alloc_round_size },
            PoolKind::Round => Self::Round { page_log2: config.page_size.ilog2(), cutoff: config.round_linear_cutoff },
            PoolKind::Unpooled => Self::Exact,
            PoolKind::BestFit => Self::Granules { bytes: HOST_GRANULE },
        }
    }

    /// The rounding policy that `config` sets for a kind of device. Calls [`new`](Self::new).
    pub(crate) fn on(kind: DeviceKind, config: &PoolConfig) -> Self {
        match Self::new(config) {
            Self::Granules { .. } => Self::Granules { bytes: granule(kind) },
            other => other,
        }
    }

    /// The class of a request of `size ≥ 1` bytes; `None` if its block would not fit into the address space.
    #[inline]
    pub(crate) fn class(&self, size: usize) -> Option<SizeClass> {
        match *self {
            Self::Naive { page, large } => {
                let pages = round_up(size, page)?;
                let block_bytes = if pages > large { round_up(pages, large)? } else { pages };
                Some(SizeClass { key: block_bytes, block_bytes })
            }
            Self::Round { page_log2, cutoff } => {
                // The bit length of size - 1 is the base-2 logarithm of size, rounded up.
                let log2 = usize::BITS - size.saturating_sub(1).leading_zeros();
                if log2 <= cutoff {
                    let bucket = log2.max(page_log2);
                    Some(SizeClass { key: bucket as usize, block_bytes: 1usize.checked_shl(bucket)? })
                } else {
                    let unit = 1usize.checked_shl(cutoff)?;
                    let n_units = size.div_ceil(unit);
                    Some(SizeClass { key: cutoff as usize + n_units - 1, block_bytes: n_units.checked_mul(unit)? })
                }
            }
            Self::Exact => Some(SizeClass { key: size, block_bytes: size }),
            Self::Granules { bytes } => {
                let block_bytes = round_up(size, bytes).filter(|&bytes| isize::try_from(bytes).is_ok())?;
                Some(SizeClass { key: block_bytes, block_bytes })
            }
        }
    }
}

/// The next multiple of `unit`; avoids a division if `unit` is a power of two, the usual case.
#[inline]
fn round_up(size: usize, unit: usize) -> Option<usize> {
    if unit.is_power_of_two() {
        return Some(size.checked_add(unit - 1)? & !(unit - 1));
    }
    size.checked_next_multiple_of(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes around every power of two and around the relevant multiples.
    fn sizes() -> impl Strategy<Value = usize> {
        prop_oneof![
            1usize..70_000,
            (5u32..40, -3i64..4).prop_map(|(log2, off)| ((1i64 << log2) + off).max(1) as usize),
            (1usize..5000, 0usize..3).prop_map(|(k, off)| k * (1 << 24) + off),
            1usize..1 << 45,
        ]
    }

    fn configs() -> impl Strategy<Value = PoolConfig> {
        let naive = (5u32..16, 0u32..8).prop_map(|(page, factor)| PoolConfig {
            page_size: 1 << page,
            large_alloc_round_size: 1 << (page + factor),
            ..PoolConfig::of_kind(PoolKind::Naive)
        });
        let round = (5u32..20, 20u32..35).prop_map(|(page, cutoff)| PoolConfig {
            page_size: 1 << page,
            round_linear_cutoff: cutoff,
            ..PoolConfig::of_kind(PoolKind::Round)
        });
        prop_oneof![naive, round]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 512 }))]

        /// S4: a block is at least as large as its request; each key has one block size; keys grow with sizes; and a request
        /// of exactly the block's size has the same key.
        #[test]
        fn s4_keys_and_sizes_agree(config in configs(), a in sizes(), b in sizes()) {
            let rounding = Rounding::new(&config);
            let (small, large) = (a.min(b), a.max(b));
            let (class_small, class_large) = (rounding.class(small).unwrap(), rounding.class(large).unwrap());
            prop_assert!(class_small.block_bytes >= small);
            prop_assert!(class_small.key <= class_large.key);
            if class_small.key == class_large.key {
                prop_assert_eq!(class_small.block_bytes, class_large.block_bytes);
            }
            prop_assert_eq!(rounding.class(class_large.block_bytes).unwrap(), class_large);
        }
    }

    #[test]
    fn sizes_that_fit_no_address_are_refused() {
        let naive = Rounding::new(&PoolConfig::default());
        let round = Rounding::new(&PoolConfig::of_kind(PoolKind::Round));
        for size in [usize::MAX, usize::MAX - 4094, usize::MAX - (1 << 20)] {
            assert_eq!(naive.class(size), None);
            assert_eq!(round.class(size), None);
        }
        assert_eq!(Rounding::Exact.class(usize::MAX).unwrap().block_bytes, usize::MAX);
    }
}
