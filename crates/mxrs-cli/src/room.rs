//! Checks whether the memory that the command line requests is available. Systems that overcommit grant more memory than
//! they have, and later kill the process that writes to it.

use mxrs::Result;
use mxrs::storage::{DeviceMemory, HostMemory};
use mxrs::types::{Device, Error};
use std::hint::black_box;

/// Returns an error if `bytes` is more memory than this machine has, or more than the process may use. `None` means more than
/// a `u64` can count. Memory in use counts as available, because it may be freed.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`](mxrs::types::ErrorKind::OutOfMemory) if the memory is not available.
pub fn expect(what: &str, bytes: Option<u64>) -> Result<()> {
    let total = HostMemory::default().info().total;
    let requested = bytes.unwrap_or(u64::MAX);
    if requested <= total && is_granted(requested) {
        return Ok(());
    }
    let hint = format!("{what} would take more than the {total} bytes of this machine");
    Err(Error::out_of_memory(Device::cpu(0), requested, hint))
}

/// Whether the system grants an allocation of this many bytes, which is freed immediately.
fn is_granted(bytes: u64) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let granted = usize::try_from(bytes).is_ok_and(|bytes| probe.try_reserve_exact(bytes).is_ok());
    // `black_box` keeps the compiler from removing the unused allocation.
    black_box(probe.as_ptr());
    granted
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::types::ErrorKind;

    #[test]
    fn what_no_machine_has_is_refused() {
        assert_eq!(expect("a page", Some(4096)), Ok(()));
        for bytes in [Some(1 << 60), None] {
            let error = expect("a picture", bytes).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
            assert!(error.to_string().contains("a picture would take more"), "{error}");
        }
    }
}
