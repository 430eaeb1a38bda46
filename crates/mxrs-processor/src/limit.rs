//! A limit on the instructions that this process uses, for comparisons with processors that have fewer.

use crate::isa::detect;
use crate::{Feature, Set};
use mxrs_types::{Error, Result};
use std::sync::OnceLock;

/// The widest set that kernels may use, and whether a call of [`limit`] chose it.
static WIDEST: OnceLock<(Set, bool)> = OnceLock::new();

/// Limits this process to the instructions of `set`: [`Isa::best`](crate::Isa::best) returns at most this set, and features
/// that the set does not include count as missing. A program that calls this function does so before anything else.
///
/// # Errors
/// Fails if kernels may already have been chosen with other instructions, or if an earlier call set a different limit.
pub fn limit(set: Set) -> Result<()> {
    let wanted = (detect().min(set), true);
    let got = WIDEST.get_or_init(|| wanted);
    if *got == wanted {
        return Ok(());
    }
    let expected = "a limit before the first use of the processor's features, and only one";
    let before = if got.1 { format!("{:?}", got.0) } else { "the first use".to_owned() };
    Err(Error::invalid("limit of instructions", format!("{set:?} after {before}"), expected))
}

/// The widest set that kernels may use.
pub fn widest() -> Set {
    WIDEST.get_or_init(|| (detect(), false)).0
}

/// Whether the limit, if there is one, lets kernels use a feature.
pub fn allows(feature: Feature) -> bool {
    let (set, is_limited) = *WIDEST.get_or_init(|| (detect(), false));
    !is_limited
        || match set {
            Set::Portable => false,
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => feature == Feature::Avx2,
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => matches!(feature, Feature::Avx2 | Feature::Avx512Core),
        }
}
