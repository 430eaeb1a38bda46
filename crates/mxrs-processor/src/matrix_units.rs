//! The processor's units for products of matrices (AMX), and the permission to use them.

use mxrs_sync::OnceLock;

/// Proof that this process may use the matrix units for bfloat16 and for 8-bit integers. Only [`MatrixUnits::request`] makes
/// a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixUnits(());

impl MatrixUnits {
    /// Asks the operating system once for the permission to use the matrix units. The permission is for all threads of the
    /// process.
    ///
    /// Returns `None` in these cases:
    /// - The processor has no matrix units for one of the two types.
    /// - The operating system refuses, for example because its version does not know the units.
    /// - The operating system is not Linux.
    pub fn request() -> Option<Self> {
        static PERMITTED: OnceLock<bool> = OnceLock::new();
        PERMITTED.get_or_init(is_permitted).then_some(Self(()))
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
fn is_permitted() -> bool {
    use crate::Feature;

    /// The operation of `arch_prctl` that requests the permission to use an extended part of the processor's state.
    const ARCH_REQ_XCOMP_PERM: libc::c_ulong = 0x1023;
    /// The part of the state that holds the matrices.
    const XFEATURE_XTILEDATA: libc::c_ulong = 18;
    if !(Feature::AmxTile.is_there() && Feature::AmxBf16.is_there() && Feature::AmxInt8.is_there()) {
        return false;
    }
    // SAFETY: this call takes two numbers and no pointer. It changes only which instructions the process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
fn is_permitted() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;

    #[test]
    fn a_permission_needs_units_and_does_not_change() {
        let first = MatrixUnits::request();
        assert_eq!(first, MatrixUnits::request());
        assert!(first.is_none() || Feature::AmxBf16.is_there() && Feature::AmxInt8.is_there());
    }
}
