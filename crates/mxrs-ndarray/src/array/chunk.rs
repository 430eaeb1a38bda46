//! The memory behind arrays, and its deletion.

use super::foreign::Foreign;
use crate::device::RegisteredDevice;
use crate::writes::Writes;
use mxrs_engine::{Engine, Var};
use mxrs_storage::Block;
use mxrs_types::DeviceEvent;
use std::sync::Arc;

/// The memory of a chunk.
pub(super) enum Memory {
    /// A block of host memory.
    Host(Block),
    /// A block of a device.
    Device(Box<OnDevice>),
    /// Host memory of other code.
    Foreign(Box<Foreign>),
}

/// A block that the host cannot access, and the device that copies to and from it.
pub(super) struct OnDevice {
    pub(super) block: Block,
    pub(super) home: Arc<RegisteredDevice>,
}

impl Memory {
    pub(super) fn of_block(block: Block, home: Option<&Arc<RegisteredDevice>>) -> Self {
        match home {
            None => Self::Host(block),
            Some(home) => Self::Device(Box::new(OnDevice { block, home: Arc::clone(home) })),
        }
    }

    /// Frees the memory, to be reused after these events.
    fn free_after(self, events: Vec<Arc<dyn DeviceEvent>>) {
        let block = match self {
            Self::Host(block) => block,
            Self::Device(on_device) => on_device.block,
            Self::Foreign(foreign) => {
                // The owner of the memory does not know the events, so they are waited for before the memory is given
                // back. There are events only if a task of a device has used the memory.
                for event in events {
                    // A failure is ignored here: it was or will be reported by a wait for the work.
                    let _ = event.wait();
                }
                return drop(foreign);
            }
        };
        if events.is_empty() { drop(block) } else { block.free_after(events) }
    }
}

/// Memory and the variable that orders its users. Dropping the last handle deletes the variable, which frees the memory
/// after all pending uses.
pub(super) struct Chunk {
    memory: Option<Memory>,
    pub(super) var: Var,
    pub(super) engine: Engine,
    pub(super) writes: Writes,
}

impl Chunk {
    pub(super) fn new(memory: Memory, var: Var, engine: Engine) -> Self {
        Self { memory: Some(memory), var, engine, writes: Writes::default() }
    }

    /// The first byte.
    pub(super) fn start(&self) -> *mut u8 {
        match &self.memory {
            Some(Memory::Host(block)) => block.as_ptr(),
            Some(Memory::Device(on_device)) => on_device.block.as_ptr(),
            Some(Memory::Foreign(foreign)) => foreign.start.as_ptr(),
            None => std::ptr::null_mut(),
        }
    }

    /// The block, if the memory belongs to the storage.
    pub(super) fn block(&self) -> Option<&Block> {
        match self.memory.as_ref()? {
            Memory::Host(block) => Some(block),
            Memory::Device(on_device) => Some(&on_device.block),
            Memory::Foreign(_) => None,
        }
    }

    /// The device that copies to and from the memory; `None` for host memory.
    pub(super) fn home(&self) -> Option<&Arc<RegisteredDevice>> {
        match self.memory.as_ref()? {
            Memory::Host(_) | Memory::Foreign(_) => None,
            Memory::Device(on_device) => Some(&on_device.home),
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            // Nothing waits here: the pool passes the events to the next owner of the memory. After the engine has stopped
            // the memory is freed immediately: `delete_var_with` runs or drops the closure.
            self.engine.delete_var_with(self.var.clone(), move |events| memory.free_after(events));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The enum does not make arrays in host memory large: it is one word larger than the block of memory in it.
    #[test]
    fn memory_is_a_block_and_one_word() {
        assert_eq!(size_of::<Option<Memory>>(), size_of::<Block>() + size_of::<usize>());
    }
}
