//! Where the bytes of device addresses are.

use super::SimulatedMemory;
#[cfg(all(target_os = "linux", not(miri)))]
use super::hidden::HiddenMemory;
#[cfg(all(target_os = "linux", not(miri)))]
use std::sync::Arc;

impl SimulatedMemory {
    /// Uses addresses that fault when the host touches them, on Linux. Copies and launches find the bytes with
    /// [`reach`](Self::reach). On other systems and under Miri the host can still access the memory.
    ///
    /// # Panics
    /// Panics for a host device, and if the system refuses the addresses.
    #[must_use]
    pub fn hidden(self) -> Self {
        assert!(!self.device.is_host(), "{}: the host uses memory of the host", self.device);
        #[cfg(all(target_os = "linux", not(miri)))]
        return match HiddenMemory::new(self.device, self.total_bytes) {
            Ok(memory) => {
                let memory = Arc::new(memory);
                Self { hidden: Some(Arc::clone(&memory)), backing: Some(memory), ..self }
            }
            Err(error) => panic!("{error}"),
        };
        #[cfg(not(all(target_os = "linux", not(miri))))]
        self
    }

    /// Whether the host gets a fault when it touches the memory.
    pub fn is_hidden(&self) -> bool {
        #[cfg(all(target_os = "linux", not(miri)))]
        return self.hidden.is_some();
        #[cfg(not(all(target_os = "linux", not(miri))))]
        false
    }

    /// The address at which the host finds the byte of a device address, if the memory is [`hidden`](Self::hidden); `None`
    /// for other addresses. Only launches may use the result, and only as they may use the device address.
    pub fn reach(&self, address: *mut u8) -> Option<*mut u8> {
        #[cfg(all(target_os = "linux", not(miri)))]
        return self.hidden.as_ref()?.reach(address);
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = address;
            None
        }
    }
}
